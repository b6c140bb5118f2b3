// Reads a state back, in lines of a place and a text. It knows nothing of how Baton reads: only what a
// site could see.
const quoted = (text) => (text.length > 60 ? `${JSON.stringify(text.slice(0, 20))}… of ${text.length}` : JSON.stringify(text));

// What this page's storage key holds, and what those of the frames in it hold.
async function look() {
  const lines = {};
  const tell = (place, text) => (lines[`${place}`] = text);
  await lookAtArea(localStorage, (place, text) => tell(`localStorage ${place}`, text));
  for (const read of [lookAtDatabases, lookAtCaches, lookAtFiles, lookAtWorkers, lookAtCookies]) await read(tell);
  return withFrames(lines, "look");
}

// What this tab holds for itself.
async function lookAtSession() {
  const lines = {};
  await lookAtArea(sessionStorage, (place, text) => (lines[`sessionStorage ${place}`] = text));
  return withFrames(lines, "lookAtSession");
}

async function withFrames(lines, call) {
  const told = Object.entries(lines).map(([place, text]) => [`${location.host} ${place}`, text]);
  const inside = await askFrames(() => [call]);
  const below = inside.flatMap(Object.entries).map(([place, text]) => [`${location.host} > ${place}`, text]);
  return Object.fromEntries([...told, ...below]);
}

async function lookAtArea(area, tell) {
  for (let at = 0; at < area.length; at++) tell(JSON.stringify(area.key(at)), await tellText(area.getItem(area.key(at))));
}

async function lookAtDatabases(tell) {
  for (const { name, version } of await indexedDB.databases()) {
    const place = `IndexedDB ${quoted(name)}`;
    tell(place, `version ${version}`);
    const db = await request(indexedDB.open(name));
    for (const store of db.objectStoreNames) await lookAtStore(db, store, `${place} ${quoted(store)}`, tell);
    db.close();
  }
}

async function lookAtStore(db, name, place, tell) {
  const store = db.transaction(name).objectStore(name);
  const indexes = [...store.indexNames].map((name) => store.index(name));
  const shapes = indexes.map(({ name, keyPath, unique, multiEntry }) => [name, keyPath, unique, multiEntry]);
  const [keys, values] = await Promise.all([request(store.getAllKeys()), request(store.getAll())]);
  tell(place, await describe([store.keyPath, store.autoIncrement, shapes]));
  for (const [at, key] of keys.entries()) tell(`${place} at ${await describe(key)}`, await describe(values[at]));
  for (const { name: index } of indexes) {
    tell(`${place} by ${quoted(index)}`, await describe(await entries(db, name, index)));
  }
  if (store.autoIncrement) tell(`${place} next`, await nextNumber(db, name));
}

async function entries(db, store, index) {
  const found = [];
  const asked = db.transaction(store).objectStore(store).index(index).openKeyCursor();
  for (let cursor = await request(asked); cursor; cursor = await request(asked)) {
    found.push([cursor.key, cursor.primaryKey]);
    cursor.continue();
  }
  return found;
}

// The number that the next record would get, in a transaction that is taken back.
async function nextNumber(db, name) {
  const transaction = db.transaction(name, "readwrite");
  const end = ended(transaction).catch(() => {});
  const store = transaction.objectStore(name);
  const next = await request(store.add({})).then(String, (error) => error.name);
  transaction.abort();
  await end;
  return next;
}

async function lookAtCaches(tell) {
  const names = await caches.keys();
  if (names.length > 0) tell("caches", await describe(names));
  for (const name of names) {
    const cache = await caches.open(name);
    for (const [at, request] of (await cache.keys()).entries()) {
      const response = (await cache.matchAll())[at];
      const { status, statusText, headers, body } = response;
      const asked = [request.url, request.method, [...request.headers]];
      const found = [status, statusText, [...headers], body === null, await response.arrayBuffer()];
      tell(`cache ${quoted(name)} ${at}`, await describe([asked, found]));
    }
  }
}

async function lookAtFiles(tell, folder, above = "file ") {
  folder ??= await navigator.storage.getDirectory();
  for await (const [name, handle] of folder.entries()) {
    const place = `${above}${quoted(name)}`;
    if (handle.kind === "directory") {
      tell(place, "folder");
      await lookAtFiles(tell, handle, `${place}/`);
    } else tell(place, await digest(new Uint8Array(await (await handle.getFile()).arrayBuffer())));
  }
}

// What each worker is, by its registration and by its own words.
async function lookAtWorkers(tell) {
  for (const registration of await navigator.serviceWorker.getRegistrations()) {
    const { scope, updateViaCache, active, waiting, installing, navigationPreload } = registration;
    const { enabled, headerValue } = await navigationPreload.getState();
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    active?.postMessage("who", [port2]);
    const says = active ? await inTime(answer).catch(String) : "none";
    const others = [waiting, installing].map((worker) => worker?.scriptURL);
    tell(`worker ${scope}`, await describe([active?.scriptURL, others, updateViaCache, enabled, headerValue, says]));
  }
}

// What the site is sent at some paths, and what its scripts are told.
async function lookAtCookies(tell) {
  for (const path of ["/cookies", "/scoped/cookies", "/scoped/deep/cookies"]) {
    const sent = await (await fetch(path, { cache: "no-store" })).text();
    tell(`cookies sent to ${path}`, await describe(sent.split("; ")));
  }
  tell("cookies", await describe(document.cookie.split("; ").sort()));
}
