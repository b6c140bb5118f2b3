// Fills caches, files and service workers; each function says "done" when it is on disk.
const text = (body, headers = {}, status = 200) =>
  new Response(body, { status, statusText: "Fine", headers });

async function fillCaches() {
  const first = await caches.open("first \ud800 żółć");
  await first.put("/plain?a=1", text("plain", { "Content-Type": "text/plain", "X-Own": "é" }));
  await first.put("/empty", text(null, {}, 204));
  await first.put("/bytes", new Response(new Uint8Array([0, 255, 128, 10])));
  const request = new Request("/vary", { headers: { "X-Lang": "ja" } });
  await first.put(request, text("ja", { Vary: "X-Lang" }));
  await caches.open("empty");
  return "done";
}

async function putOpaque(url) {
  const cache = await caches.open("opaque");
  await cache.put("/before", text("before"));
  await cache.put("/opaque", await fetch(url, { mode: "no-cors" }));
  return "done";
}

async function put(name, url, body) {
  await (await caches.open(name)).put(url, text(body));
  return "done";
}

async function write(path, content) {
  let folder = await navigator.storage.getDirectory();
  const names = path.split("/");
  const last = names.pop();
  for (const name of names) folder = await folder.getDirectoryHandle(name, { create: true });
  if (last === "") return "done";
  const file = await folder.getFileHandle(last, { create: true });
  const writable = await file.createWritable();
  await writable.write(content);
  await writable.close();
  return "done";
}

async function fillFiles() {
  await write("notes/żółć.txt", "Dear Ada");
  await write("notes/deep/bytes", new Uint8Array([0, 255, 7]));
  await write("empty folder/", "");
  await write("empty", "");
  return "done";
}

// Ends when the worker answers for its scope.
async function register(url, options) {
  const registration = await navigator.serviceWorker.register(url, options);
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  while (worker.state !== "activated") {
    await new Promise((resolve) => worker.addEventListener("statechange", resolve, { once: true }));
  }
  await registration.navigationPreload.setHeaderValue("preload of " + new URL(registration.scope).pathname);
  return "done";
}

const ask = (url) => fetch(url).then((answer) => answer.text());

// The same in the frame of another site.
function inside(...args) {
  return new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data), { once: true });
    frames[0].postMessage(args, "*");
  });
}

if (parent !== self) {
  const all = { fillCaches, fillFiles, put, write, register, ask };
  addEventListener("message", async ({ data: [name, ...args], source }) =>
    source.postMessage(await all[name](...args).catch(String), "*"));
}
