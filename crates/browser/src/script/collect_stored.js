// Reads the caches, the files or the service worker registrations of this storage key: one of them in
// one call.
async function collectStored({ origin, wantCaches, wantFiles, wantWorkers }) {
  limits.expect(origin);
  const failures = [];
  const failed = (name, error) => {
    const reason = String(error).toWellFormed();
    failures.push({ name, reason, lasting: error instanceof limits.TooLarge });
  };

  const collectCaches = async ({ all, named, known, room }) => {
    const result = { names: null, caches: [] };
    const names = await limits.within(cacheStorage.names()).catch((error) => {
      // A page that may have none says so. What is late, or fails in passing, is asked again.
      if (limits.isRefusal(error)) return null;
      throw error;
    });
    if (names === null) return result;
    result.names = names.map(baton.encodeText);
    const isNamed = (name) => named.some((one) => baton.decodeText(one) === name);
    const asKnown = (name) => known.find((one) => baton.decodeText(one.name) === name);
    const budget = limits.budget("caches", room);
    for (const name of names) {
      try {
        const before = all || isNamed(name) ? undefined : asKnown(name);
        // Events tell of entries, but not of a cache that was deleted and made again empty.
        if (before && (await limits.within(cacheStorage.size(name))) === before.entries) continue;
        const cache = await cacheStorage.read(name, budget);
        if (cache) result.caches.push(cache);
      } catch (error) {
        failed(baton.encodeText(name), error);
      }
    }
    return result;
  };

  const collectFiles = async ({ known, room }) => {
    try {
      const found = await limits.within(fileSystem.list());
      const look = await fileSystem.look(found).catch(() => null);
      if (look !== null && look === known) return { look, files: null };
      const budget = limits.budget("files", room);
      const fail = (path, error) => failed(path.join("/"), error);
      return { look, files: await fileSystem.read(found, budget, fail) };
    } catch (error) {
      failed("", error);
      return { look: null, files: null };
    }
  };

  const result = { caches: null, files: null, workers: null, mute: false, failures };
  if (wantCaches) {
    result.caches = await collectCaches(wantCaches).catch((error) => {
      failed("", error);
      return null;
    });
  }
  if (wantFiles) result.files = await collectFiles(wantFiles);
  if (wantWorkers && registrations.container()) {
    result.workers = await registrations.list().catch((error) => {
      // The document of a blob is of a site with workers, and may not speak of them.
      if (error?.name === "InvalidStateError") result.mute = true;
      else failed("", error);
      return null;
    });
  }
  return JSON.stringify(result);
}
