Object.assign(kinds, {
  "third party: partitioned cookie": {
    fill: () => fetch("/set-partitioned"),
    check: async () => (await sentTo("/cookies")).includes("chips=c"),
  },
  "third party: localStorage": local("frame", "third party"),
  "third party: sessionStorage": session("frame", "third party"),
  "third party: IndexedDB": value("third", () => new Map([[1, 2]]), (v) => v.get(1) === 2),
  "third party: cache": cached,
  "third party: file (OPFS)": filed,
  "third party: service worker": worker,
});
answerParent();
