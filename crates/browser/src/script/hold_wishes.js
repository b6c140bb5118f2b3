// Holds what a page wishes for and a person has to allow, until that was answered, in the page's own world: there
// its scripts call it. What they can do to it they do to themselves: it decides nothing, and when it lets go, the
// browser is asked as ever.
function holdWishes({ binding, limit }) {
  const KEY = Symbol.for("baton.wishes");
  try {
    // One of somebody who left without a word.
    self[KEY]?.end();
  } catch {
    // It is the page's own.
  }
  if (!self.isSecureContext || !navigator.permissions) return;
  const query = navigator.permissions.query.bind(navigator.permissions);
  const undo = [];
  let isOn = true;
  let last = Promise.resolve();
  let standing;
  const stateOf = async (name) => {
    try {
      return (await query(name === "midi-sysex" ? { name: "midi", sysex: true } : { name })).state;
    } catch {
      return "denied";
    }
  };
  // A new document can tell a moment after it has begun.
  const tell = (asked) => {
    if (standing !== asked) return;
    if (typeof self[binding] === "function") self[binding](asked.words);
    else setTimeout(tell, 20, asked);
  };
  const ask = async (names) => {
    const states = await Promise.all(names.map(stateOf));
    // What was decided, or cannot be allowed here, is no question.
    if (!isOn || !states.includes("prompt") || states.includes("denied")) return;
    const words = names.join(" ");
    await new Promise((resolve) => {
      standing = { words, resolve };
      setTimeout(resolve, limit);
      tell(standing);
    });
    standing = undefined;
  };
  // One after the other: a person answers one question at a time.
  const inTurn = (...names) => (last = last.then(() => ask(names)));
  const wrap = (owner, name, around) => {
    const original = owner?.[name];
    if (typeof original !== "function") return;
    const method = {
      [name](...args) {
        return around.call(this, (...given) => Reflect.apply(original, this, given), args);
      },
    }[name];
    owner[name] = method;
    undo.push(() => {
      if (owner[name] === method) owner[name] = original;
    });
  };
  const promised = (namesOf) =>
    async function (original, args) {
      const names = namesOf(args);
      if (names.length > 0) await inTurn(...names);
      return original(...args);
    };

  const geolocation = self.Geolocation?.prototype;
  wrap(geolocation, "getCurrentPosition", (original, args) => {
    // It says itself what is wrong with this.
    if (typeof args[0] !== "function") return original(...args);
    inTurn("geolocation").then(() => original(...args));
  });
  const watches = new Map();
  let nextWatch = 2 ** 30;
  wrap(geolocation, "watchPosition", (original, args) => {
    if (typeof args[0] !== "function") return original(...args);
    const id = nextWatch++;
    watches.set(id, undefined);
    inTurn("geolocation").then(() => watches.has(id) && watches.set(id, original(...args)));
    return id;
  });
  wrap(geolocation, "clearWatch", (original, [id]) => {
    if (!watches.has(id)) return original(id);
    const known = watches.get(id);
    watches.delete(id);
    if (known !== undefined) original(known);
  });
  const keepsClearing = undo.pop();
  wrap(self.Notification, "requestPermission", promised(() => ["notifications"]));
  const media = ([wanted]) => [...(wanted?.video ? ["camera"] : []), ...(wanted?.audio ? ["microphone"] : [])];
  wrap(self.MediaDevices?.prototype, "getUserMedia", promised(media));
  for (const name of ["read", "readText"]) wrap(self.Clipboard?.prototype, name, promised(() => ["clipboard-read"]));
  const midi = ([wanted]) => [wanted?.sysex ? "midi-sysex" : "midi"];
  wrap(Navigator.prototype, "requestMIDIAccess", promised(midi));

  const value = {
    settle(words) {
      if (standing?.words === words) standing.resolve();
    },
    end() {
      isOn = false;
      standing?.resolve();
      for (const step of undo) step();
      // What is watched by a number of ours is ended by it, later too.
      if (watches.size === 0) keepsClearing?.();
      delete self[KEY];
      delete self[binding];
    },
  };
  Object.defineProperty(self, KEY, { value, configurable: true });
}
