// Makes the storage of this document's storage key equal to what a snapshot says, and says what it
// found and what it did. Never touches what is equal already.
async function fill({ origin, local, session, databases: wantedDatabases }) {
  if (self.origin !== origin) {
    throw new Error(`expected a document of ${origin}, found one of ${self.origin}`);
  }
  const fillArea = (open, wanted) => {
    try {
      const storage = open();
      const target = new Map(wanted.map(([k, v]) => [baton.decodeText(k), baton.decodeText(v)]));
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at));
      const extra = keys.filter((key) => !target.has(key));
      const different = [...target].filter(([key, value]) => storage.getItem(key) !== value);
      // Everything goes before anything comes: a full area has no room for both.
      for (const key of [...extra, ...different.map(([key]) => key)]) storage.removeItem(key);
      for (const [key, value] of different) storage.setItem(key, value);
      const equal = storage.length === target.size &&
        [...target].every(([key, value]) => storage.getItem(key) === value);
      const changed = extra.length + different.length;
      return equal ? { changed } : { changed, error: "the entries read back differ" };
    } catch (error) {
      return { changed: 0, error: String(error).toWellFormed() };
    }
  };

  const byName = (list) =>
    [...list].sort((a, b) => (baton.stable(a.name) < baton.stable(b.name) ? -1 : 1));
  const schemaOf = (database) =>
    baton.stable({
      version: database.version,
      stores: byName(database.stores).map(({ name, keyPath, autoIncrement, indexes }) => (
        { name, keyPath, autoIncrement, indexes: byName(indexes) })),
    });

  // What a store needs to become `wanted`. A record that could not be captured whole keeps the
  // value that is on disk.
  const difference = (found, wanted) => {
    const at = new Map(found.records.map((record) => [baton.stable(record.key), record]));
    const put = [];
    let lost = 0;
    for (const record of wanted.records) {
      const key = baton.stable(record.key);
      const existing = at.get(key);
      at.delete(key);
      if (baton.hasLoss(record.value)) {
        if (!existing) lost++;
      } else if (!existing || baton.stable(existing.value) !== baton.stable(record.value)) {
        put.push(record);
      }
    }
    return { put, remove: [...at.values()].map((record) => record.key), lost };
  };

  const create = async (wanted) => {
    const name = baton.decodeText(wanted.name);
    await databases.done(indexedDB.deleteDatabase(name));
    const request = indexedDB.open(name, wanted.version);
    const path = (keyPath) => Array.isArray(keyPath) ? keyPath.map(baton.decodeText) : baton.decodeText(keyPath);
    request.onupgradeneeded = () => {
      for (const store of wanted.stores) {
        const options = { autoIncrement: store.autoIncrement };
        if (store.keyPath !== null) options.keyPath = path(store.keyPath);
        const created = request.result.createObjectStore(baton.decodeText(store.name), options);
        for (const index of store.indexes) {
          const { unique, multiEntry } = index;
          created.createIndex(baton.decodeText(index.name), path(index.keyPath), { unique, multiEntry });
        }
      }
    };
    (await databases.done(request)).close();
  };

  const setAt = (target, path, value) => {
    const steps = path.split(".");
    const last = steps.pop();
    const holder = steps.reduce((object, step) => (object[step] = {}), target);
    holder[last] = value;
    return target;
  };

  // The key that a generator gave out last. It stands at 2 ** 53 + 1 when it has none left, which a
  // number tells as 2 ** 53; it stands at that where the key before is there, and hardly otherwise.
  const LAST = 2 ** 53;
  const lastKey = (nextKey, highest) => (nextKey === LAST && highest !== LAST - 1 ? LAST : nextKey - 1);

  // Raises the key generator by writing a key and removing it again.
  const raiseGenerator = (store, key) => {
    if (store.keyPath === null) store.put(0, key);
    else store.put(setAt({}, store.keyPath, key));
    store.delete(key);
  };

  const writeStore = (store, { keys, records }, { nextKey, records: all }) => {
    // Everything goes before anything comes: else two records could meet in a unique index.
    for (const key of keys) store.delete(key);
    for (const [key, value] of records) {
      if (store.keyPath === null) store.put(value, key);
      else store.put(value);
    }
    const numbers = all.map(({ key }) => key.root).filter((key) => typeof key === "number");
    const highest = numbers.reduce((most, key) => Math.max(most, key), 0);
    const last = lastKey(nextKey, highest);
    if (store.autoIncrement && last > highest) raiseGenerator(store, last);
  };

  const write = async (wanted, differences) => {
    const decoded = [];
    for (const { put, remove } of differences) {
      const records = [];
      for (const { key, value } of put) {
        records.push([await baton.decode(key), await baton.decode(value)]);
      }
      const keys = await Promise.all(remove.map(baton.decode));
      decoded.push({ records, keys: [...keys, ...records.map(([key]) => key)] });
    }
    const database = await databases.open(baton.decodeText(wanted.name));
    try {
      if (wanted.stores.length === 0) return;
      const names = wanted.stores.map((store) => baton.decodeText(store.name));
      const transaction = database.transaction(names, "readwrite", { durability: "strict" });
      const end = databases.committed(transaction);
      try {
        decoded.forEach((changes, at) =>
          writeStore(transaction.objectStore(names[at]), changes, wanted.stores[at]));
      } catch (error) {
        // What was asked for so far would be committed, half of it.
        transaction.abort();
        await end.catch(() => {});
        throw error;
      }
      await end;
    } finally {
      database.close();
    }
  };

  const compare = (found, wanted) =>
    wanted.stores.map((store) => {
      const name = baton.stable(store.name);
      return difference(found.stores.find((one) => baton.stable(one.name) === name), store);
    });
  const isEqual = (differences) => differences.every(({ put, remove }) => put.length + remove.length === 0);

  const fillDatabase = async (wanted) => {
    const result = { name: wanted.name, changed: 0, lost: 0, recreated: false };
    try {
      const names = await databases.names();
      const exists = names.includes(baton.decodeText(wanted.name));
      let found = exists ? await databases.read(baton.decodeText(wanted.name)) : null;
      if (!found || schemaOf(found) !== schemaOf(wanted)) {
        await create(wanted);
        result.recreated = found !== null;
        found = { ...wanted, stores: wanted.stores.map((store) => ({ ...store, records: [] })) };
        result.changed++;
      }
      const differences = compare(found, wanted);
      result.lost = differences.reduce((sum, { lost }) => sum + lost, 0);
      result.changed += differences.reduce((sum, { put, remove }) => sum + put.length + remove.length, 0);
      if (result.changed > 0) {
        await write(wanted, differences);
        const again = await databases.read(baton.decodeText(wanted.name));
        if (!isEqual(compare(again, wanted))) result.error = "the records read back differ";
      }
    } catch (error) {
      result.error = String(error).toWellFormed();
    }
    return result;
  };

  const result = { local: null, session: null, databases: [] };
  if (local) result.local = fillArea(() => localStorage, local);
  if (session) result.session = fillArea(() => sessionStorage, session);
  for (const database of wantedDatabases) result.databases.push(await fillDatabase(database));
  return JSON.stringify(result);
}
