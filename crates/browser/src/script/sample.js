// Tells what a document stores for as long as nobody hears the events of its storage: a few times a
// second, more often once it may be leaving, and when it leaves. What it tells bears `mark`.
function sample({ origin, mark }) {
  limits.expect(origin);
  // How many characters both areas may have together, so that a look is cheap, and all of it is told
  // in one message of at most six times as many.
  const LARGEST = 4_000_000;
  // How long it rests after a look; in milliseconds. Whoever leaves is looked at more often: nothing
  // that it does at its very end reaches us.
  const STAYING = { pause: 250, share: 100 };
  const LEAVING = { pause: 10, share: 10 };
  // How long it goes on, and how long it may take until it has left, or events are heard.
  const LIFE = 60_000;
  const GRACE = 10_000;

  const areas = { local: () => localStorage, session: () => sessionStorage };
  const look = () => {
    const found = { size: 0 };
    for (const [name, open] of Object.entries(areas)) {
      const entries = new Map();
      try {
        const storage = open();
        for (let at = 0; at < storage.length; at++) {
          const key = storage.key(at);
          const value = storage.getItem(key);
          entries.set(key, value);
          found.size += key.length + value.length;
        }
        found[name] = entries;
      } catch {
        // Storage that the user switched off: there is nothing to tell.
      }
    }
    return found;
  };
  const changes = (before, now) => {
    if (!now) return null;
    const isNew = ([key, value]) => before?.get(key) !== value;
    const set = [...now].filter(isNew).map((entry) => entry.map(baton.encodeText));
    const gone = [...(before?.keys() ?? [])].filter((key) => !now.has(key));
    if (before && !set.length && !gone.length) return null;
    return { whole: !before, set, removed: gone.map(baton.encodeText) };
  };

  let known = null;
  let took = 0;
  let pace = STAYING;
  let timer;
  let calm;
  const began = performance.now();
  const listeners = new AbortController();
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(calm);
    listeners.abort();
  };
  const tell = (ends) => {
    const start = performance.now();
    const found = look();
    const large = found.size > LARGEST;
    const local = changes(known?.local, found.local);
    const session = changes(known?.session, found.session);
    known = found;
    if (ends || large || local || session) {
      const told = { mark, ends: ends || large, large };
      const text = JSON.stringify({ ...told, local, session });
      batonSample(text.length > 6 * LARGEST ? JSON.stringify(told) : text);
    }
    took = performance.now() - start;
    schedule();
  };
  const schedule = () => {
    clearTimeout(timer);
    if (listeners.signal.aborted) return;
    timer = setTimeout(tick, Math.max(pace.pause, took * pace.share));
  };
  const tick = () => {
    const age = performance.now() - began;
    // Whoever hears of the end listens to events again, a moment later. Nobody may be there.
    if (age > LIFE + GRACE) return stop();
    tell(age > LIFE);
  };
  const leave = () => {
    pace = LEAVING;
    clearTimeout(calm);
    calm = setTimeout(() => (pace = STAYING), GRACE);
    tell(true);
  };
  const end = () => {
    stop();
    tell(true);
  };

  // The one that a muting before this one may have left.
  globalThis.batonStopSampling?.();
  globalThis.batonStopSampling = stop;
  const fits = look().size <= LARGEST;
  if (fits) {
    const how = { capture: true, signal: listeners.signal };
    addEventListener("beforeunload", leave, how);
    addEventListener("pagehide", end, how);
    schedule();
  }
  return JSON.stringify(fits);
}
