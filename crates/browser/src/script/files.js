// The origin private file system: list it, and read it whole.
const fileSystem = (() => {
  // Pages that are no secure context have none.
  const exists = () => Boolean(navigator.storage?.getDirectory);

  // Every folder and file below `folder`, with its path.
  const walk = async (folder, above = []) => {
    const found = [];
    for await (const [name, handle] of folder.entries()) {
      const path = [...above, name];
      found.push({ path, handle });
      if (handle.kind === "directory") found.push(...(await walk(handle, path)));
    }
    return found;
  };
  const list = async () => (exists() ? walk(await navigator.storage.getDirectory()) : []);

  // How all of it looks, as far as that can be told without reading it. A file that was written just
  // now could be written again in the same instant: then nothing is said.
  const look = async (found) => {
    const lines = [];
    for (const { path, handle } of found) {
      if (handle.kind === "directory") {
        lines.push([path]);
        continue;
      }
      const { size, lastModified } = await handle.getFile();
      if (Math.abs(Date.now() - lastModified) < 20) return null;
      lines.push([path, size, lastModified]);
    }
    return JSON.stringify(lines.sort());
  };

  // Reads it whole. A file that somebody holds costs itself only.
  const read = async (found, budget = { left: Infinity }, failed = () => {}) => {
    const spent = { sum: 0 };
    const files = [];
    for (const { path, handle } of found) {
      const characters = JSON.stringify(path).length;
      spent.sum += characters;
      limits.spend(budget, characters, spent.sum);
      if (handle.kind === "directory") {
        files.push({ path, type: "folder" });
        continue;
      }
      try {
        const file = await handle.getFile();
        const bytes = await limits.readBytes(file.stream(), budget, spent);
        files.push({ path, type: "file", bytes });
      } catch (error) {
        if (error instanceof limits.TooLarge) throw error;
        failed(path, error);
      }
    }
    return files;
  };

  return { list, look, read };
})();
