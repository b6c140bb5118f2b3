Object.assign(kinds, {
  "sessionStorage: of a site the tab was at before": session("earlier", "visited"),
  "localStorage: of a site that no tab shows": local("earlier", "elsewhere"),
});
