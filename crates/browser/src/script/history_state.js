// `history.state`, which can be anything that structured cloning carries.
const historyState = (() => {
  const LIMIT = 1024 * 1024;
  const lost = (kind) => ({ root: { ref: 0 }, heap: [{ type: "lost", kind }] });

  const read = async () => {
    if (history.state === null) return null;
    try {
      const value = await baton.encode(history.state);
      return JSON.stringify(value).length <= LIMIT ? value : lost("more than 1 MiB of it");
    } catch {
      return lost("history.state");
    }
  };

  // The browser's name for the current entry: another one also when its state is replaced.
  const entry = () => self.navigation?.currentEntry?.id ?? "";

  return { read, entry };
})();

// What the page's own scripts are told.
async function tellState() {
  return JSON.stringify({ entry: historyState.entry(), state: await historyState.read() });
}
