// Writes a state as a site would. Each kind is left out now and then.
const KINDS = { local: fillLocal, databases: fillDatabases, caches: fillCaches, files: fillFiles, workers: fillWorkers, cookies: fillCookies };

// Fills everything of this page's storage key, and of the frames in it. Says what was refused.
async function fill(seed) {
  const refused = [];
  for (const [name, write] of Object.entries({ ...KINDS, session: fillSession })) {
    const dice = diceOf(`${seed} ${name}`);
    if (dice.roll(8) === 0) continue;
    await write(dice).catch((error) => refused.push(`${location.href} ${name}: ${error}`));
  }
  if (window === top) await fillKinds(diceOf(`${seed} kinds`));
  const inside = await askFrames((at) => ["fill", `${seed}.${at}`]);
  return [...refused, ...inside.flat()];
}

async function fillLocal(dice) {
  for (let at = dice.roll(9); at > 0; at--) localStorage.setItem(dice.text(), dice.text());
  if (dice.roll(6) === 0) localStorage.setItem("large", "ż\ud800".repeat(300_000));
}
// Chromium itself puts U+FFFD in the place of half a pair in a name here, as soon as the tab has been at
// another site and is back. Values, and names of localStorage, stay.
async function fillSession(dice) {
  for (let at = dice.roll(9); at > 0; at--) sessionStorage.setItem(dice.text().toWellFormed(), dice.text());
}

async function fillDatabases(dice) {
  for (const name of dice.some(TEXTS, dice.roll(4))) await fillDatabase(dice, name);
}

const HEADERS = [
  ["X-Own", "yes"], ["X-Own", "again"], ["x-latin", "\u00e9\u00ff"], ["Content-Type", "text/plain; charset=x"],
  ["Vary", "X-Lang"], ["Vary", "Accept, X-Lang"], ["X-Empty", ""], ["Cache-Control", "no-store"],
];
async function fillCaches(dice) {
  for (const name of dice.some(TEXTS, dice.roll(4))) {
    const cache = await caches.open(name);
    for (let at = dice.roll(6); at > 0; at--) await cache.put(makeRequest(dice), makeResponse(dice));
  }
}
function makeRequest(dice) {
  const url = dice.one(["/kept", "/kept?q=1", "/kept?q=%00&ż", "/kept#part", "/żółć/", "http://elsewhere.test/x", "https://s.test:8443/"]);
  return new Request(url, { headers: dice.some([["X-Lang", "pl"], ["X-Lang", "ja"], ["Accept", "*/*"], ["X-\u0041", "\u00e9"]], dice.roll(3)) });
}
function makeResponse(dice) {
  const status = dice.one([200, 200, 201, 204, 205, 301, 304, 404, 500, 599]);
  const body = dice.one([null, "", dice.bytes(30), dice.bytes(90000), new Blob(["typed"], { type: "text/x" })]);
  const init = { status, statusText: dice.one(["", "OK", "\u00e9 \u00ff"]), headers: dice.some(HEADERS, dice.roll(4)) };
  return new Response([204, 205, 304].includes(status) ? null : body, init);
}

const NAMES = ["a", "A", "żółć.txt", "日本 🎼", ".hidden", "two words ", "e\u0301", "\u00e9", "%2e", "a\u202eb", "x".repeat(200), "con"];
async function fillFiles(dice, folder, depth = 2) {
  folder ??= await navigator.storage.getDirectory();
  for (const name of dice.some(NAMES, dice.roll(4))) {
    if (depth > 0 && dice.roll(3) === 0) {
      await fillFiles(dice, await folder.getDirectoryHandle(name, { create: true }).catch(() => folder), depth - 1);
      continue;
    }
    // Where a folder of that name stands already there is no file.
    const file = await folder.getFileHandle(name, { create: true }).catch(() => null);
    const writable = await file?.createWritable();
    await writable?.write(dice.bytes(dice.one([0, 1, 100, 100000])));
    await writable?.close();
  }
}

async function fillWorkers(dice) {
  for (const scope of dice.some(["/", "/state", "/scoped/", "/scoped/deep/?q"], dice.roll(3))) {
    const type = dice.one(["classic", "module"]);
    const updateViaCache = dice.one(["imports", "all", "none"]);
    const script = `/worker.js?n=${dice.roll(100)}&type=${type}&parts=${dice.roll(3)}`;
    const made = await navigator.serviceWorker.register(script, { scope, type, updateViaCache });
    const worker = made.installing ?? made.waiting ?? made.active;
    while (worker.state !== "activated") await new Promise((resolve) => (worker.onstatechange = resolve));
    if (dice.roll(2)) await made.navigationPreload.setHeaderValue(dice.one(["", "yes", "a b"]));
    if (dice.roll(2)) await made.navigationPreload.enable();
  }
}

function makeCookie(dice) {
  const lasts = ["", "; Max-Age=2592000", "; Max-Age=99999999999", "; Expires=Wed, 01 Jan 2031 00:00:00 GMT"];
  const rules = [
    "; SameSite=Strict", "; SameSite=Lax", "; SameSite=None; Secure", "", "; SameSite=None; Secure; Partitioned",
  ];
  const value = dice.one(["", "plain", "\"a b\"", "a=b==", "żółć 🎼", "%00;", "a, b", "{\"a\":1}", " in the middle ", "v".repeat(3000)]);
  const name = dice.one(["sid", "sid", "Sid", "ż", "a[b]", "%20", "", "__host"]);
  const host = location.hostname;
  const where = dice.one(["; Path=/", "; Path=/", "; Path=/scoped", "; Path=/scoped/deep", "", `; Path=/; Domain=${host}`]);
  const only = `${dice.one(["", "; HttpOnly"])}${dice.one(["", "", "; Secure"])}${dice.one(["", "; Priority=High", "; Priority=Low"])}`;
  const ends = dice.one(lasts);
  if (dice.roll(6) === 0) return `__Host-${name}=${value}; Secure; Path=/${dice.one(rules)}${ends}`;
  if (dice.roll(8) === 0) return `__Secure-${name}=${value}; Secure${where}${dice.one(rules)}${ends}`;
  return `${name}=${value}${where}${only}${dice.one(rules)}${ends}`;
}
async function fillCookies(dice) {
  const lines = dice.times(9, () => makeCookie(dice));
  // Some are set by the site, and some by its script; what may not be set is not there.
  for (const line of lines.splice(0, dice.roll(3))) document.cookie = line;
  await fetch("/set", { method: "POST", body: JSON.stringify(lines) });
}
