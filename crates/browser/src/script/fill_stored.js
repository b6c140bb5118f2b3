// Makes one cache, the files, or one service worker registration of this storage key equal to what a
// snapshot says, and says what it did. Never touches what is equal already.
async function fillStored({ origin, cache, files, registration }) {
  if (self.origin !== origin) {
    throw new Error(`expected a document of ${origin}, found one of ${self.origin}`);
  }
  const isLost = ({ response }) => response.type === "lost";

  // Of the headers of a request, a script can set some only; the others do not count.
  const asRequest = ({ url, headers = [] }) => new Request(url, { headers });
  const comparable = (entry) =>
    baton.stable({ ...entry, headers: [...asRequest(entry).headers] });

  const asResponse = ({ status, statusText, headers, body }) => {
    const bytes = [204, 205, 304].includes(status) ? null : baton.base64ToBytes(body);
    return new Response(bytes, { status, statusText, headers });
  };

  // What a cache needs to become `wanted`, in its order. A response that could not be captured is
  // kept where it is there.
  const cacheDifference = (found, wanted) => {
    const present = new Set(found.map(({ url }) => url));
    const lostUrls = new Set(wanted.filter(isLost).map(({ url }) => url));
    const reachable = wanted.filter((entry) => !isLost(entry) || present.has(entry.url));
    const isSame = (entry, other) =>
      isLost(other) ? entry.url === other.url : comparable(entry) === comparable(other);
    const remove = [];
    let kept = 0;
    for (const entry of found) {
      if (kept < reachable.length && isSame(entry, reachable[kept])) kept++;
      else if (!lostUrls.has(entry.url)) remove.push(entry);
    }
    const put = reachable.slice(kept).filter((entry) => !isLost(entry));
    return { remove, put, lost: wanted.length - reachable.length };
  };

  const fillCache = async (wanted) => {
    const result = { changed: 0, lost: 0 };
    const name = baton.decodeText(wanted.name);
    const found = await cacheStorage.read(name);
    const { remove, put, lost } = cacheDifference(found?.entries ?? [], wanted.entries);
    result.lost = lost;
    result.changed = remove.length + put.length + (found ? 0 : 1);
    if (result.changed === 0) return result;
    const target = await caches.open(name);
    for (const entry of remove) await target.delete(asRequest(entry), { ignoreVary: true });
    for (const entry of put) await target.put(asRequest(entry), asResponse(entry.response));
    const again = cacheDifference((await cacheStorage.read(name)).entries, wanted.entries);
    if (again.remove.length + again.put.length > 0) result.error = "the entries read back differ";
    return result;
  };

  const filesByPath = (list) => new Map(list.map((file) => [JSON.stringify(file.path), file]));
  const readFiles = async () => {
    const failed = (path, error) => { throw error; };
    return filesByPath(await fileSystem.read(await fileSystem.list(), undefined, failed));
  };
  const isSameFile = (a, b) => a?.type === b?.type && a?.bytes === b?.bytes;
  const folderOf = async (path) => {
    let folder = await navigator.storage.getDirectory();
    for (const name of path) folder = await folder.getDirectoryHandle(name, { create: true });
    return folder;
  };

  const writeFile = async ({ path, type, bytes }) => {
    if (type === "folder") return folderOf(path);
    const folder = await folderOf(path.slice(0, -1));
    const file = await folder.getFileHandle(path.at(-1), { create: true });
    const writable = await file.createWritable();
    await writable.write(baton.base64ToBytes(bytes));
    return writable.close();
  };

  const fillFiles = async (wanted) => {
    const result = { changed: 0, lost: 0 };
    const target = filesByPath(wanted);
    const found = await readFiles();
    // What stands in the way goes first, the outermost folders before what is in them.
    const extra = [...found].filter(([at, { type }]) => target.get(at)?.type !== type);
    const removed = [];
    for (const [, { path }] of extra.sort(([, a], [, b]) => a.path.length - b.path.length)) {
      if (removed.some((above) => above.every((name, at) => name === path[at]))) continue;
      await (await folderOf(path.slice(0, -1))).removeEntry(path.at(-1), { recursive: true });
      removed.push(path);
    }
    const different = [...target].filter(([at, file]) => !isSameFile(found.get(at), file));
    for (const [, file] of different) await writeFile(file);
    result.changed = extra.length + different.length;
    if (result.changed === 0) return result;
    const again = await readFiles();
    const isEqual = again.size === target.size &&
      [...target].every(([at, file]) => isSameFile(again.get(at), file));
    if (!isEqual) result.error = "the files read back differ";
    return result;
  };

  // Waits until a worker is in force. In an isolated world there is no `ready`.
  const ACTIVATION = 10_000;
  const activated = (worker) =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (worker.state === "activated") resolve();
        if (worker.state === "redundant") reject(new Error("expected the worker to be taken, found it given up"));
      };
      const late = () => reject(new Error(`expected the worker to be in force within ${ACTIVATION} ms, found it ${worker.state}`));
      setTimeout(late, ACTIVATION);
      worker.addEventListener("statechange", look);
      look();
    });

  const fillRegistration = async ({ workerType, register, ...wanted }) => {
    const result = { changed: 0, lost: 0 };
    const find = async () => (await registrations.list()).find(({ scope }) => scope === wanted.scope);
    const isEqual = (found) => found && baton.stable(found) === baton.stable(wanted);
    const found = await find();
    if (isEqual(found)) return result;
    const { scope, scriptUrl, updateViaCache, navigationPreload } = wanted;
    const isThere = found?.scriptUrl === scriptUrl && found.updateViaCache === updateViaCache;
    if (!isThere && !register) return { ...result, pending: true };
    result.changed = 1;
    const container = registrations.container();
    const made = isThere
      ? await container.getRegistration(scope)
      : await container.register(scriptUrl, { scope, type: workerType, updateViaCache });
    await activated(made.installing ?? made.waiting ?? made.active);
    const { enabled, header } = navigationPreload;
    await made.navigationPreload.setHeaderValue(header);
    await made.navigationPreload[enabled ? "enable" : "disable"]();
    if (!isEqual(await find())) result.error = "the registration read back differs";
    return result;
  };

  const fillOne = () => {
    if (cache) return fillCache(cache);
    return files ? fillFiles(files) : fillRegistration(registration);
  };
  const failed = (error) => ({ changed: 0, lost: 0, error: String(error).toWellFormed() });
  return JSON.stringify(await fillOne().catch(failed));
}
