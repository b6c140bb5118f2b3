// Cache Storage: list the caches of this storage key, and read one whole.
const cacheStorage = (() => {
  // Pages that are no secure context have none.
  const names = async () => (typeof caches === "undefined" ? [] : caches.keys());

  // Opens what exists: opening makes a cache that does not.
  const open = async (name) => ((await caches.has(name)) ? caches.open(name) : null);

  const size = async (name) => (await (await open(name))?.keys())?.length;

  // Every request with its response. Both lists have the same order; a cache that changes in between
  // is looked at again.
  const list = async (cache) => {
    const look = (keys) => keys.map(({ url }) => url).join("\n");
    for (let attempt = 0; attempt < 3; attempt++) {
      const keys = await cache.keys();
      const responses = await cache.matchAll();
      const again = await cache.keys();
      if (responses.length === keys.length && look(keys) === look(again)) {
        return keys.map((request, at) => [request, responses[at]]);
      }
    }
    throw new Error("expected it to stay as it is while it is read, found it changing");
  };

  const readResponse = async (response, budget, spent) => {
    // Of a response to a request that was not meant for scripts, nothing can be read.
    if (response.status === 0) return { type: "lost", kind: response.type };
    let body = "";
    try {
      if (response.body) body = await limits.readBytes(response.body, budget, spent);
    } catch (error) {
      if (error instanceof TypeError) return { type: "lost", kind: "unreadable" };
      throw error;
    }
    const { status, statusText } = response;
    return { type: "whole", status, statusText, headers: [...response.headers], body };
  };

  const read = async (name, budget = { left: Infinity }) => {
    const cache = await limits.within(open(name));
    if (!cache) return null;
    const spent = { sum: 0 };
    const entries = [];
    for (const [request, found] of await limits.within(list(cache))) {
      const entry = { url: request.url, headers: [...request.headers] };
      const response = await readResponse(found, budget, spent);
      const characters = JSON.stringify({ ...entry, ...response, body: "" }).length;
      spent.sum += characters;
      limits.spend(budget, characters, spent.sum);
      entries.push({ ...entry, response });
    }
    return { name: baton.encodeText(name), entries };
  };

  return { names, open, size, read };
})();
