Object.assign(kinds, { "sessionStorage: of a second tab": session("tab", "second") });
