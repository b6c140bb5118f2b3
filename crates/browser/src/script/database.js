// IndexedDB in promises: list, open, read one database whole.
const databases = (() => {
  const done = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const committed = (transaction) =>
    new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("transaction aborted"));
    });

  // Opens what exists. A database that vanished meanwhile is not created again.
  const openNow = async (name) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.transaction.abort();
    const database = await done(request).catch((error) => {
      if (error.name === "AbortError") return null;
      throw error;
    });
    // A page that upgrades or deletes the database must not wait for us.
    if (database) database.onversionchange = () => database.close();
    return database;
  };
  const open = async (name) => {
    const opening = openNow(name);
    return limits.within(opening).catch((error) => {
      opening.then((late) => late?.close(), () => {});
      throw error;
    });
  };

  const names = async () => (await indexedDB.databases()).map(({ name }) => name).sort();

  const keyPath = (path) => {
    if (path === null) return null;
    return typeof path === "string" ? baton.encodeText(path) : [...path].map(baton.encodeText);
  };

  const schema = (store) => ({
    name: baton.encodeText(store.name),
    keyPath: keyPath(store.keyPath),
    autoIncrement: store.autoIncrement,
    indexes: [...store.indexNames].map((name) => {
      const index = store.index(name);
      return {
        name: baton.encodeText(name),
        keyPath: keyPath(index.keyPath),
        unique: index.unique,
        multiEntry: index.multiEntry,
      };
    }),
  });

  // Whether a database is as it was, as far as that can be told without reading it. Events tell of
  // records, but not of a database that was upgraded, or deleted and made again empty.
  const looksLike = async (name, version, known) => {
    if (version !== known.version) return false;
    const database = await open(name);
    if (!database) return false;
    try {
      const storeNames = [...database.objectStoreNames];
      if (storeNames.length !== known.stores.length) return false;
      if (storeNames.length === 0) return true;
      const transaction = database.transaction(storeNames, "readonly");
      const counts = storeNames.map((store) => done(transaction.objectStore(store).count()));
      const found = await limits.within(Promise.all(counts));
      return known.stores.every((store, at) =>
        baton.decodeText(store.name) === storeNames[at] && store.records === found[at]);
    } finally {
      database.close();
    }
  };

  // Reads every store in one transaction, so that the stores fit each other. Blobs are read after
  // it: waiting for one inside would end the transaction.
  const readRaw = async (database) => {
    const storeNames = [...database.objectStoreNames];
    if (storeNames.length === 0) return [];
    const transaction = database.transaction(storeNames, "readonly");
    const stores = storeNames.map((storeName) => transaction.objectStore(storeName));
    const reads = stores.map((store) => Promise.all([done(store.getAllKeys()), done(store.getAll())]));
    const schemas = stores.map(schema);
    const found = await limits.within(Promise.all(reads));
    return found.map(([keys, values], at) => ({ ...schemas[at], keys, values }));
  };

  const read = async (name, budget = { left: Infinity }) => {
    const database = await open(name);
    if (!database) return null;
    try {
      const version = database.version;
      const stores = [];
      let sum = 0;
      for (const { keys, values, ...store } of await readRaw(database)) {
        const records = [];
        for (const [row, key] of keys.entries()) {
          const record = { key: await baton.encode(key), value: await baton.encode(values[row]) };
          const characters = JSON.stringify(record).length;
          sum += characters;
          limits.spend(budget, characters, sum);
          records.push(record);
        }
        stores.push({ ...store, records });
      }
      return { name: baton.encodeText(name), version, stores };
    } finally {
      database.close();
    }
  };

  return { done, committed, open, names, looksLike, read };
})();
