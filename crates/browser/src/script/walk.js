// Makes history entries of this blank document: the first in its own place, each other one after it.
// Afterwards the document stands at the last of them.
async function walk({ at, entries }) {
  if (location.href !== at) throw new Error("expected our own document, found another one");
  const states = [];
  for (const { state } of entries) {
    states.push(state && !baton.hasLoss(state) ? await baton.decode(state) : null);
  }
  // Room to scroll.
  const room = (side) => Math.max(...entries.map(({ scroll }) => Math.abs(scroll?.[side] ?? 0)));
  const body = document.body.style;
  body.margin = "0";
  body.width = `${room("x") + 2 * innerWidth}px`;
  body.height = `${room("y") + 2 * innerHeight}px`;
  document.documentElement.dir = entries.some(({ scroll }) => scroll?.x < 0) ? "rtl" : "ltr";
  for (const [nth, { url, title, scroll }] of entries.entries()) {
    try {
      if (nth === 0) history.replaceState(states[nth], "", url);
      else history.pushState(states[nth], "", url);
    } catch {
      return JSON.stringify({ error: "expected the browser to take each entry, found one refused" });
    }
    document.title = title ?? "";
    scrollTo(scroll?.x ?? 0, scroll?.y ?? 0);
  }
  return "{}";
}
