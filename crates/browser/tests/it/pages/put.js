// Puts one record into a database named after whoever writes, and says when it is on disk.
const put = (name, value) =>
  new Promise((done, failed) => {
    const open = indexedDB.open(name, 1);
    open.onupgradeneeded = () => open.result.createObjectStore("store");
    open.onerror = () => failed(open.error);
    open.onsuccess = () => {
      const transaction = open.result.transaction("store", "readwrite");
      transaction.objectStore("store").put(value, "key");
      transaction.oncomplete = () => {
        open.result.close();
        done("done");
      };
    };
  });
