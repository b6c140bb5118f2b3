const done = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve("done");
  transaction.onabort = () => reject(transaction.error);
});

const open = (name, version, upgrade) => new Promise((resolve, reject) => {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => upgrade(request.result, request.transaction);
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const remove = (name) => new Promise((resolve) => {
  indexedDB.deleteDatabase(name).onsuccess = () => resolve("done");
});

const make = (db) => {
  db.createObjectStore("keyed");
  db.createObjectStore("numbered", { autoIncrement: true });
};

// A database with so many records.
async function fill(name, count) {
  const db = await open(name, 1, make);
  const transaction = db.transaction("keyed", "readwrite");
  for (let key = 0; key < count; key++) transaction.objectStore("keyed").put("value", key);
  await done(transaction);
  db.close();
  return "done";
}

async function upgrade(db, at) {
  const { name, version } = db;
  db.close();
  return open(name, version + 1, (db, transaction) => {
    if (at % 2) transaction.objectStore("keyed").clear();
    else if (!db.objectStoreNames.contains("later")) db.createObjectStore("later");
  });
}

async function write(name, at) {
  let db = await open(name, undefined, make);
  if (at % 7 === 0) db = await upgrade(db, at);
  const transaction = db.transaction(["keyed", "numbered"], "readwrite");
  const [keyed, numbered] = ["keyed", "numbered"].map((store) => transaction.objectStore(store));
  if (at % 11 === 0) keyed.clear();
  else if (at % 2) keyed.put({ at }, at % 5);
  else numbered.add({ at });
  if (at % 13 === 0) numbered.clear();
  const end = done(transaction);
  if (at % 17 === 0) transaction.abort();
  await end.catch(() => {});
  db.close();
}

async function cache(name, at) {
  if (at % 7 === 0) await caches.delete(name);
  const cache = await caches.open(name);
  if (at % 5 === 0) await cache.delete("/entry" + (at % 3));
  else if (at % 7) await cache.put("/entry" + (at % 3), new Response("body" + at));
}

async function file(name, at) {
  const root = await navigator.storage.getDirectory();
  if (at % 4 === 0) return root.removeEntry(name, { recursive: true }).catch(() => {});
  const folder = await root.getDirectoryHandle(name, { create: true });
  if (at % 4 === 1) return;
  const file = await folder.getFileHandle("file" + (at % 3), { create: true });
  const writable = await file.createWritable();
  await writable.write("content" + at);
  await writable.close();
}

// One change of some kind.
async function change(kind, a, b) {
  const key = "key" + (a % 7);
  if (kind === 0) localStorage.setItem(key, "value" + b);
  else if (kind === 1) localStorage.removeItem(key);
  else if (kind === 2 && b % 5 === 0) localStorage.clear();
  else if (kind === 2) localStorage.setItem(key, "\ud800" + b);
  else if (kind === 3) sessionStorage.setItem(key, "value" + b);
  else if (kind === 4) sessionStorage.removeItem(key);
  else if (kind === 5 && b % 3 === 0) await remove("database" + (a % 3));
  else if (kind === 9 || kind === 10) await cache("cache" + (a % 2), b);
  else if (kind === 11 || kind === 12) await file("folder" + (a % 2), b);
  else await write("database" + (a % 3), b);
  return "done";
}

// What localStorage holds, for tabs to be compared.
const held = () => JSON.stringify(Object.entries(localStorage).sort());

// Asks the frame of another site.
function ask(...call) {
  return new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data), { once: true });
    frames[0].postMessage(call, "*");
  });
}

// One change there.
const inside = (...args) => ask("change", ...args);

if (parent !== self) {
  const calls = { change, held };
  addEventListener("message", async ({ data: [name, ...args], source }) => {
    source.postMessage(await calls[name](...args), "*");
  });
}
