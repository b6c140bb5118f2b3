// What an app keeps in a database of its own: `note` adds a line, `notes` says them all.
const opened = () => new Promise((resolve, reject) => {
  const request = indexedDB.open("notes", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("notes", { autoIncrement: true });
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const note = async (text) => {
  const database = await opened();
  const transaction = database.transaction("notes", "readwrite", { durability: "strict" });
  transaction.objectStore("notes").add(text);
  await new Promise((resolve) => (transaction.oncomplete = resolve));
  database.close();
  return "noted";
};
const notes = async () => {
  const database = await opened();
  const request = database.transaction("notes").objectStore("notes").getAll();
  await new Promise((resolve) => (request.onsuccess = resolve));
  database.close();
  return request.result.join();
};
