// IndexedDB: how a database is made, its keys, and each kind of value that the structured clone knows.
const request = (asked) => new Promise((resolve, reject) => {
  asked.onsuccess = () => resolve(asked.result);
  asked.onerror = () => reject(asked.error);
});

// Opens a database; without `upgrade` only one that is there.
async function open(name, version, upgrade) {
  const there = (await indexedDB.databases()).some((database) => database.name === name);
  if (!there && !upgrade) throw new Error(`there is no database ${name}`);
  const opening = indexedDB.open(name, version);
  opening.onupgradeneeded = () => upgrade(opening.result);
  return request(opening);
}

async function write(name, store, change) {
  const db = await open(name, 1, (db) => db.createObjectStore(store));
  const transaction = db.transaction(store, "readwrite", { durability: "strict" });
  const done = new Promise((resolve) => (transaction.oncomplete = resolve));
  change(transaction.objectStore(store));
  await done;
  db.close();
}

async function read(name, store, key) {
  const db = await open(name);
  try {
    return await request(db.transaction(store).objectStore(store).get(key));
  } finally {
    db.close();
  }
}

// One value, in a database of its own, so that none stands in another's way.
const value = (name, make, is) => ({
  fill: async () => {
    const made = await make();
    await write(name, "values", (store) => store.put(made, "key"));
  },
  check: async () => is(await read(name, "values", "key")),
});

const secret = (extractable) => crypto.subtle.importKey(
  "raw", bytes(...Array(32).keys()), "AES-GCM", extractable, ["encrypt", "decrypt"]);

async function works(key, extractable) {
  const seal = async (key) => new Uint8Array(
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: bytes(1) }, key, bytes(7)));
  return key.extractable === extractable && equal(await seal(key), await seal(await secret(true)));
}

const cycle = () => {
  const one = { name: "one", list: [] };
  one.list.push(one, one.list);
  return one;
};

const at = new Date(86400123);
const values = {
  "IndexedDB: Date": value("date", () => at, (v) => v instanceof Date && +v === +at),
  "IndexedDB: Map": value("map", () => new Map([["k", { v: 1 }]]), (v) => v.size === 1 && v.get("k").v === 1),
  "IndexedDB: Set": value("set", () => new Set([1, "two"]), (v) => v.size === 2 && v.has("two")),
  "IndexedDB: BigInt": value("bigint", () => -(2n ** 70n), (v) => v === -(2n ** 70n)),
  "IndexedDB: RegExp": value("regexp", () => /a+/gi, (v) => v.source === "a+" && v.flags === "gi"),
  "IndexedDB: Error": value("error", () => new TypeError("typed"), (v) => v instanceof TypeError && v.message === "typed"),
  "IndexedDB: typed array": value("typed", () => new Float64Array([1.5, -2]), (v) => v instanceof Float64Array && equal([...v], [1.5, -2])),
  "IndexedDB: ArrayBuffer": value("buffer", () => bytes(1, 0, 255).buffer, (v) => v instanceof ArrayBuffer && equal(new Uint8Array(v), [1, 0, 255])),
  "IndexedDB: Blob": value("blob", () => new Blob(["blob"], { type: "text/plain" }), async (v) => v.type === "text/plain" && (await v.text()) === "blob"),
  "IndexedDB: File": value("file", () => new File(["file"], "f.txt", { lastModified: 5 }), async (v) => v.name === "f.txt" && v.lastModified === 5 && (await v.text()) === "file"),
  "IndexedDB: an object that holds itself": value("cyclic", cycle, (v) => v.list[0] === v && v.list[1] === v.list),
  "IndexedDB: undefined": value("undefined", () => ({ u: undefined }), (v) => "u" in v && v.u === undefined),
  "IndexedDB: -0": value("minus zero", () => -0, (v) => Object.is(v, -0)),
  "IndexedDB: NaN and Infinity": value("nan", () => [NaN, -Infinity], (v) => Number.isNaN(v[0]) && v[1] === -Infinity),
  "IndexedDB: sparse array": value("sparse", () => [1, , 3], (v) => v.length === 3 && !(1 in v) && v[2] === 3),
  "IndexedDB: lone surrogate": value("lone", () => "\ud83d", (v) => v === "\ud83d"),
  "IndexedDB: CryptoKey, extractable": value("key", () => secret(true), (v) => works(v, true)),
  "IndexedDB: CryptoKey, not extractable": value("sealed key", () => secret(false), (v) => works(v, false)),
};

const falsy = [0, "", false, null];
const keys = () => [0, "", at, bytes(9).buffer, [1, ["nested"]], -Infinity];

const shape = {
  "IndexedDB: falsy values": {
    fill: () => write("falsy", "values", (store) => falsy.forEach((value, at) => store.put(value, at + 1))),
    check: async () => (await Promise.all(falsy.map((_, at) => read("falsy", "values", at + 1)))).every((value, at) => value === falsy[at]),
  },
  "IndexedDB: keys of every type": {
    fill: () => write("keys", "values", (store) => keys().forEach((key, at) => store.put(`value ${at}`, key))),
    check: async () => (await Promise.all(keys().map((key) => read("keys", "values", key)))).every((value, at) => value === `value ${at}`),
  },
  "IndexedDB: version, stores and key paths": {
    fill: fillShape,
    check: () => inShape((db, store) => db.version === 3 && equal([...db.objectStoreNames], ["counted", "people"])
      && equal(store("people").keyPath, ["id", "at.day"]) && store("counted").autoIncrement),
  },
  "IndexedDB: indexes": {
    fill: async () => {},
    check: () => inShape(async (db, store) => {
      const [tags, name] = ["by tag", "by name"].map((index) => store("people").index(index));
      return tags.multiEntry && name.unique && (await request(tags.get("y"))).name === "Ada" && (await request(name.get("Ada"))).id === 1;
    }),
  },
  "IndexedDB: next number": { fill: async () => {}, check: checkNumber },
};

async function fillShape() {
  const db = await open("shape", 3, (db) => {
    const people = db.createObjectStore("people", { keyPath: ["id", "at.day"] });
    people.createIndex("by tag", "tags", { multiEntry: true });
    people.createIndex("by name", "name", { unique: true });
    db.createObjectStore("counted", { keyPath: "id", autoIncrement: true });
  });
  const transaction = db.transaction(["people", "counted"], "readwrite");
  const done = new Promise((resolve) => (transaction.oncomplete = resolve));
  transaction.objectStore("people").put({ id: 1, at: { day: at }, name: "Ada", tags: ["x", "y"] });
  const counted = transaction.objectStore("counted");
  for (let n = 0; n < 5; n++) counted.put({ n });
  counted.delete(5);
  await done;
  db.close();
}

async function inShape(is) {
  const db = await open("shape");
  try {
    const transaction = db.transaction(["people", "counted"]);
    return await is(db, (store) => transaction.objectStore(store));
  } finally {
    db.close();
  }
}

// The number that the next record would get: one is added in a transaction that is taken back.
async function checkNumber() {
  const db = await open("shape");
  const transaction = db.transaction("counted", "readwrite");
  const ended = new Promise((resolve) => (transaction.onabort = resolve));
  const next = await request(transaction.objectStore("counted").add({}));
  transaction.abort();
  await ended;
  db.close();
  return next === 6;
}
