// A kind of state is two functions: `fill` writes it, `check` says whether it is there. A check
// never writes what it looks for: it opens nothing that is not there.
const kinds = {};
const later = new Date(Date.now() + 30 * 86400e3).toUTCString();
const bytes = (...numbers) => new Uint8Array(numbers);
const equal = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);
const inTime = (promise, ms = 10000) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(reject, ms, new Error("too late")))]);

// Fills every kind of this page, and of the frame in it. Says "done", or which kinds were refused.
async function fill() {
  const refused = [];
  for (const [name, kind] of Object.entries(kinds)) {
    await inTime(kind.fill()).catch((error) => refused.push(`${name} (${error})`));
  }
  const inFrame = frames.length ? await askFrame("fill") : "done";
  return [...refused, inFrame].filter((said) => said !== "done").join(", ") || "done";
}

// What is there: { name of a kind: whether it is as it was filled }.
async function check() {
  const found = {};
  for (const [name, kind] of Object.entries(kinds)) {
    found[name] = await inTime(kind.check()).then(Boolean, () => false);
  }
  return frames.length ? { ...found, ...(await askFrame("check").catch(() => ({}))) } : found;
}

const frameIsThere = new Promise((resolve) => {
  addEventListener("message", ({ data }) => data === "here" && resolve());
});

async function askFrame(call) {
  await inTime(frameIsThere);
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  frames[0].postMessage(call, "*", [port2]);
  return inTime(answer, 60000);
}

// The frame's side: it answers what is asked of it.
function answerParent() {
  addEventListener("message", async ({ data, ports: [port] }) =>
    port.postMessage(await (data === "fill" ? fill() : check())));
  parent.postMessage("here", "*");
}

// One item of localStorage or sessionStorage.
const item = (area, name, value) => ({
  fill: async () => area().setItem(name, value),
  check: async () => area().getItem(name) === value,
});
const local = (name, value) => item(() => localStorage, name, value);
const session = (name, value) => item(() => sessionStorage, name, value);
