// What a page sees of its environment, and of the history entry at which it stands. A time zone goes by
// the name that is wanted where that is another name of it, as Asia/Kathmandu is of Asia/Katmandu. Who the
// browser says that it is, it tells when it is asked for.
async function inspect({ timezone, identity } = {}) {
  const zone = (name) => new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  const goesBy = (name) => {
    try {
      return zone(name) === zone();
    } catch {
      return false;
    }
  };
  // About what a site has to ask, and a page can tell without asking.
  const WISHES = {
    camera: {},
    "captured-surface-control": {},
    "clipboard-read": {},
    geolocation: {},
    "idle-detection": {},
    "local-fonts": {},
    microphone: {},
    midi: {},
    "midi-sysex": { name: "midi", sysex: true },
    notifications: {},
    "persistent-storage": {},
    "window-management": {},
  };
  const permissions = {};
  const ask = async ([name, wish]) => {
    try {
      permissions[name] = (await navigator.permissions.query({ name, ...wish })).state;
    } catch {
      // A browser that does not know it.
    }
  };
  // Elsewhere much is denied whatever was decided.
  if (isSecureContext) await Promise.all(Object.entries(WISHES).map(ask));
  const HINTS = ["architecture", "bitness", "fullVersionList", "model", "platformVersion", "wow64"];
  const prefers = (what) => matchMedia(`(prefers-${what})`).matches;
  const says = async () => ({
    // In secure contexts only.
    metadata: await navigator.userAgentData?.getHighEntropyValues(HINTS),
    platform: navigator.platform,
    languages: navigator.languages,
    deviceScaleFactor: devicePixelRatio,
    maxTouchPoints: navigator.maxTouchPoints,
    colorScheme: prefers("color-scheme: dark") ? "dark" : "light",
    reducedMotion: prefers("reduced-motion: reduce"),
    hardwareConcurrency: navigator.hardwareConcurrency,
  });
  const who = identity ? await says() : undefined;
  // From here on nothing is waited for, or a page that moves would be seen half here and half there.
  const entries = self.navigation?.entries() ?? [];
  const at = self.navigation?.currentEntry?.index ?? 0;
  // How many entries on one side show this document.
  const shared = (step) => {
    let count = 0;
    while (entries[at + step * (count + 1)]?.sameDocument) count++;
    return count;
  };
  const sight = {
    url: location.href,
    visible: document.visibilityState === "visible",
    viewport: { width: innerWidth, height: innerHeight },
    timezone: timezone && goesBy(timezone) ? timezone : zone(),
    locale: navigator.language,
    userAgent: navigator.userAgent,
    identity: who,
    permissions,
    history: {
      scroll: { x: Math.round(scrollX), y: Math.round(scrollY) },
      known: { before: at, after: Math.max(0, entries.length - at - 1) },
      shared: { before: shared(-1), after: shared(1) },
    },
  };
  // Of an entry that came later, the browser tells this world what it told it of the first.
  self.batonFirstEntry ??= historyState.entry();
  sight.history.entry = historyState.entry();
  if (sight.history.entry === self.batonFirstEntry) sight.history.state = await historyState.read();
  else sight.history.stale = true;
  return JSON.stringify(sight);
}
