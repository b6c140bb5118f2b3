// Writes databases as a site would: shapes, records, and how far a store has counted.
const request = (asked) => new Promise((resolve, reject) => {
  asked.onsuccess = () => resolve(asked.result);
  asked.onerror = (event) => (event.preventDefault(), reject(asked.error));
});
const ended = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = () => reject(transaction.error ?? new Error("taken back"));
});

function makeRecordKey(dice, depth = 2) {
  const simple = [
    0, -1, 1, 2, 3, 1.5, 5e-324, 2 ** 53, Infinity, -Infinity, "", dice.text(), dice.text(), new Date(86400123),
    new Date(-8.64e15), dice.bytes(5).buffer, new Uint8Array(0).buffer,
  ];
  if (depth === 0 || dice.roll(4)) return dice.one(simple);
  return dice.times(3, () => makeRecordKey(dice, depth - 1));
}

const PATHS = ["id", "a.b", "żółć", "tag"];
const NUMBERED = { autoIncrement: true };

function makeShape(dice) {
  const options = () => dice.one([
    {}, {}, NUMBERED, NUMBERED, { keyPath: "id" }, { keyPath: "a.b" }, { keyPath: "" }, { keyPath: ["id", "a.b"] },
    { keyPath: "id", ...NUMBERED }, { keyPath: "a.b", ...NUMBERED }, { keyPath: "size" },
  ]);
  const index = (name) => {
    const keyPath = dice.one([...PATHS, "", ["tag", "id"], ["a.b"]]);
    const multiEntry = typeof keyPath === "string" && dice.roll(2) === 0;
    return { name, keyPath, unique: dice.roll(2) === 0, multiEntry };
  };
  const names = dice.some(TEXTS, dice.roll(4));
  return {
    version: dice.one([1, 1, 2, 77, 2 ** 53 - 1]),
    stores: names.map((name) => ({ name, ...options(), indexes: dice.some(TEXTS, dice.roll(3)).map(index) })),
  };
}

async function makeRecord(dice, { keyPath, autoIncrement }) {
  const key = makeRecordKey(dice);
  if (keyPath === "") return { value: key };
  if (keyPath === "size") return { value: dice.one([new Blob([dice.bytes(99)]), new File([dice.bytes(99)], "f"), { size: key }]) };
  const tag = dice.one([makeRecordKey(dice), [1, "two", [3]], undefined]);
  const value = dice.roll(3) ? { value: await makeValue(dice), tag } : await makeValue(dice);
  if (!keyPath) return autoIncrement && dice.roll(2) ? { value } : { value, key };
  const held = { żółć: dice.text(), ...(value instanceof Object ? { held: value } : value), tag };
  const counts = autoIncrement && dice.roll(2);
  if (counts) return { value: held };
  return { value: { ...held, id: key, a: { b: dice.roll(2) ? key : dice.text() } } };
}

async function fillDatabase(dice, name) {
  const { version, stores } = makeShape(dice);
  await request(indexedDB.deleteDatabase(name));
  const opening = indexedDB.open(name, version);
  opening.onupgradeneeded = () => {
    for (const { name, indexes, keyPath = null, autoIncrement = false } of stores) {
      const store = opening.result.createObjectStore(name, { keyPath, autoIncrement });
      for (const { name, keyPath, unique, multiEntry } of indexes) store.createIndex(name, keyPath, { unique, multiEntry });
    }
  };
  const db = await request(opening);
  for (const shape of stores) await fillStore(dice, db, shape);
  db.close();
}

// One value of each kind, for none of which anybody has to wait until chance brings it.
async function fillKinds(dice) {
  const name = "one of each kind";
  await request(indexedDB.deleteDatabase(name));
  const opening = indexedDB.open(name);
  opening.onupgradeneeded = () => opening.result.createObjectStore("kinds", NUMBERED);
  const db = await request(opening);
  const made = [Object(2n ** 70n), new Float64Array(makeBuffer(dice)), new DataView(makeBuffer(dice))];
  for (const make of [...LEAVES, ...HOLDERS]) made.push(await make(dice, [], 2));
  const transaction = db.transaction("kinds", "readwrite", { durability: "strict" });
  const end = ended(transaction);
  for (const one of made) transaction.objectStore("kinds").put([one, one]);
  await end;
  db.close();
}

// A record that the store refuses, because a unique index has its key, is one that is not there.
async function fillStore(dice, db, shape) {
  const records = [];
  for (let at = dice.roll(7); at > 0; at--) records.push(await makeRecord(dice, shape));
  const transaction = db.transaction(shape.name, "readwrite", { durability: "strict" });
  const end = ended(transaction);
  const store = transaction.objectStore(shape.name);
  const keys = records.map(async ({ key, value }) => {
    try {
      return await request(key === undefined ? store.put(value) : store.put(value, key));
    } catch {
      return undefined;
    }
  });
  // What is deleted is gone, but it was counted.
  const written = (await Promise.all(keys)).filter((key) => key !== undefined);
  for (const key of dice.some(written, dice.roll(3))) store.delete(key);
  await end;
}
