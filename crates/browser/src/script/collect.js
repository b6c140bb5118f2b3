// Reads what one frame can see of its storage key. One call, one JSON text.
async function collect({ origin, wantLocal, wantSession, wantDatabases }) {
  limits.expect(origin);
  const area = (open) => {
    try {
      const storage = open();
      const entries = [];
      for (let at = 0; at < storage.length; at++) {
        const key = storage.key(at);
        entries.push([baton.encodeText(key), baton.encodeText(storage.getItem(key))]);
      }
      return entries;
    } catch {
      // An opaque origin, or storage that the user switched off: there is nothing to keep.
      return null;
    }
  };

  const areas = { local: null, session: null };
  const result = { ...areas, databases: [], names: null, unlisted: null, failures: [] };
  const collectDatabases = async ({ all, named, known, room }) => {
    const listed = await indexedDB.databases().catch((error) => {
      // A page that may have none says so. What fails in passing is asked again.
      if (!limits.isRefusal(error)) result.unlisted = String(error).toWellFormed();
      return null;
    });
    result.names = listed && listed.map(({ name }) => baton.encodeText(name));
    const isNamed = (name) => named.some((one) => baton.decodeText(one) === name);
    const asKnown = (name) => known.find((one) => baton.decodeText(one.name) === name);
    const budget = limits.budget("databases", room);
    const collectOne = async ({ name, version }) => {
      try {
        const before = all || isNamed(name) ? undefined : asKnown(name);
        if (before && (await databases.looksLike(name, version, before))) return;
        const database = await databases.read(name, budget);
        if (database) result.databases.push(database);
      } catch (error) {
        const reason = String(error).toWellFormed();
        const lasting = error instanceof limits.TooLarge;
        result.failures.push({ database: baton.encodeText(name), reason, lasting });
      }
    };
    // All at once: one that the page holds does not keep the others waiting.
    await Promise.all((listed ?? []).map(collectOne));
  };

  if (wantLocal) result.local = area(() => localStorage);
  if (wantSession) result.session = area(() => sessionStorage);
  if (wantDatabases !== null) await collectDatabases(wantDatabases);
  return JSON.stringify(result);
}
