// The page: frames as its address asks for them, and a way to ask what is in them. It writes nothing
// unless it is told to.
const inTime = (promise) =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 60_000, new Error("too late")))]);

const CALLS = { fill, look, lookAtSession };
addEventListener("message", async ({ data: [call, ...rest], ports: [port] }) => {
  port.postMessage(await CALLS[call](...rest).then((said) => ({ said }), (error) => ({ failed: String(error) })));
});

async function askFrames(ask) {
  const answers = Array.from(frames, async (frame, at) => {
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    frame.postMessage(ask(at), "*", [port2]);
    const { said, failed } = await inTime(answer);
    if (failed) throw new Error(`in frame ${at}: ${failed}`);
    return said;
  });
  return Promise.all(answers);
}

const asked = new URL(location.href).searchParams;
document.title = `page ${asked.get("at") ?? ""}`;
for (const address of asked.getAll("in")) {
  const frame = document.createElement("iframe");
  frame.src = address;
  document.body.append(frame);
}

// One step of the tab's own: an entry of history that shows the same document.
async function stepInside(seed) {
  const dice = diceOf(seed);
  let state;
  // What sites keep there is an object as a rule. Of a blob there, Chromium keeps nothing once the page
  // is left.
  do state = await (dice.roll(2) ? makeObject : makeValue)(dice, [], 2);
  while (/\b(Blob|File)\(/.test(await describe(state)));
  const address = new URL(location.href);
  address.searchParams.set("at", seed);
  address.hash = dice.one(["", "part", "żółć"]);
  const call = dice.one(["pushState", "pushState", "replaceState"]);
  try {
    history[call](state, "", address);
  } catch (error) {
    // Not every value may stand there.
    history[call](String(error), "", address);
  }
  document.title = `page ${seed}`;
  return call;
}

// Goes to another page: this one again, or in the whole tab what a frame shows.
function leaveFor(frame, seed) {
  const address = new URL(frame === null ? location : asked.getAll("in")[frame] ?? location);
  for (const name of ["tab", "dir"]) address.searchParams.set(name, asked.get(name));
  address.searchParams.set("at", seed);
  setTimeout(() => (location = address));
}

// How far the page is scrolled, what `history.state` is, and what the page sees of the world.
async function here() {
  return { scroll: `${Math.round(scrollX)},${Math.round(scrollY)}`, state: await describe(history.state) };
}
// The place is not asked here: now and then a page that was loaded behind another one and then brought to
// the front got no answer within 15 s, and nobody knows why yet. The captures have it.
const world = () => {
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  const { userAgent, languages } = navigator;
  return JSON.stringify([timeZone, locale, userAgent, languages, innerWidth, innerHeight]);
};
