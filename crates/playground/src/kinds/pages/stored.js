// What a site keeps beside cookies, web storage and databases.
const cached = {
  fill: async () => (await caches.open("shell")).put("/kept", new Response(bytes(0, 255), { headers: { "X-Own": "yes" } })),
  check: async () => {
    const found = await caches.match("/kept", { cacheName: "shell" });
    return found.headers.get("X-Own") === "yes" && equal(new Uint8Array(await found.arrayBuffer()), [0, 255]);
  },
};

const filed = {
  fill: async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("notes", { create: true });
    const writable = await (await folder.getFileHandle("żółć.txt", { create: true })).createWritable();
    await writable.write("Dear Ada");
    await writable.close();
  },
  check: async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("notes");
    return (await (await (await folder.getFileHandle("żółć.txt")).getFile()).text()) === "Dear Ada";
  },
};

// The worker answers for its page: who is asked over the network says something else.
const worker = {
  fill: async () => {
    await navigator.serviceWorker.register("/worker.js");
    await navigator.serviceWorker.ready;
  },
  check: async () => (await (await fetch("/by-whom")).text()) === "by the worker",
};
