// Values of every kind that the structured clone knows and a script can read again.

// Makes a value. `pool` holds what was made before: what is taken from it is one object in two
// places, or one that holds itself.
async function makeValue(dice, pool = [], depth = 3) {
  if (pool.length > 0 && dice.roll(6) === 0) return dice.one(pool);
  if (dice.roll(3) === 0) return makePrimitive(dice);
  const holders = depth > 0 ? HOLDERS : [];
  return dice.one([...LEAVES, ...holders, ...holders])(dice, pool, depth - 1);
}

function makePrimitive(dice) {
  return dice.one([
    undefined, null, true, false, 0, -0, 1, -1.5, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308,
    2 ** 53, -(2 ** 31), 0.1, 0n, -1n, 2n ** 64n, -(2n ** 200n), "", dice.text(), dice.text(),
  ]);
}

const kept = (pool, object) => (pool.push(object), object);

async function makeObject(dice, pool, depth) {
  const made = kept(pool, {});
  for (const name of dice.times(4, () => dice.one([dice.text(), "7", "z", "a"]))) {
    const value = await makeValue(dice, pool, depth);
    Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return made;
}

const HOLDERS = [
  makeObject,
  async function array(dice, pool, depth) {
    const made = kept(pool, []);
    for (let at = dice.roll(5); at > 0; at--) made.push(await makeValue(dice, pool, depth));
    if (dice.roll(3) === 0) made.length += dice.one([1, 3, 100000]);
    if (dice.roll(3) === 0) made[made.length + dice.roll(5)] = await makeValue(dice, pool, depth);
    if (dice.roll(4) === 0) made.named = await makeValue(dice, pool, depth);
    return made;
  },
  async function map(dice, pool, depth) {
    const made = kept(pool, new Map());
    for (let at = dice.roll(4); at > 0; at--) {
      made.set(await makeValue(dice, pool, depth), await makeValue(dice, pool, depth));
    }
    return made;
  },
  async function set(dice, pool, depth) {
    const made = kept(pool, new Set());
    for (let at = dice.roll(4); at > 0; at--) made.add(await makeValue(dice, pool, depth));
    return made;
  },
  async function error(dice, pool, depth) {
    const kind = dice.one([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]);
    const made = kept(pool, dice.roll(3) ? new kind(dice.text()) : new kind());
    if (dice.roll(3) === 0) made.cause = await makeValue(dice, pool, depth);
    if (dice.roll(3) === 0) made.stack = dice.text();
    if (dice.roll(4) === 0) delete made.stack;
    if (dice.roll(4) === 0) made.name = dice.one(["TypeError", "Own", ""]);
    return made;
  },
  async function chain(dice, pool, depth) {
    let made = await makeValue(dice, pool, depth);
    for (let at = dice.one([20, 300]); at > 0; at--) made = at % 2 ? [made] : { next: made };
    return made;
  },
];

const VIEWS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView, DataView, DataView,
];

const LEAVES = [
  async function date(dice, pool) {
    return kept(pool, new Date(dice.one([0, -1, 86400123, 8.64e15, -8.64e15, NaN])));
  },
  async function regexp(dice, pool) {
    const made = [
      /a+/gi, /(?<name>x)\/[^/]/dsuy, new RegExp(""), new RegExp("\n/"), /[\p{L}--[a-z]]/v, new RegExp("\ud83d"),
    ];
    return kept(pool, dice.one(made));
  },
  async function boxed(dice, pool) {
    return kept(pool, Object(dice.one([true, false, -0, NaN, 1.5, 2n ** 70n, "", dice.text()])));
  },
  async function buffer(dice, pool) {
    return kept(pool, makeBuffer(dice));
  },
  async function view(dice, pool) {
    const buffers = pool.filter((one) => one instanceof ArrayBuffer && one.byteLength >= 16);
    const buffer = buffers.length > 0 && dice.roll(2) ? dice.one(buffers) : kept(pool, makeBuffer(dice, 16));
    const View = dice.one(VIEWS);
    const offset = 8 * dice.roll(2);
    // One without a length ends where its buffer ends, also when that grows.
    return kept(pool, dice.roll(2) ? new View(buffer, offset) : new View(buffer, offset, dice.roll(2)));
  },
  async function blob(dice, pool) {
    const type = dice.one(["", "text/plain", "Image/PNG; x=\"y\"", "żółć"]);
    return kept(pool, new Blob([dice.bytes(dice.one([0, 9, 70000]))], { type }));
  },
  async function file(dice, pool) {
    const lastModified = dice.one([0, 5, 1795316360463]);
    return kept(pool, new File([dice.bytes(20)], dice.text(), { type: dice.one(["", "text/html"]), lastModified }));
  },
  async function key(dice, pool) {
    return kept(pool, await makeKey(dice));
  },
];

function makeBuffer(dice, least = 0) {
  const length = least + 8 * dice.roll(4);
  const max = dice.roll(3) === 0 ? { maxByteLength: length + 8 * (1 + dice.roll(3)) } : undefined;
  const made = new ArrayBuffer(length, max);
  new Uint8Array(made).set(Uint8Array.from({ length }, () => dice.roll(256)));
  return made;
}

// Of a pair, either half.
async function makeKey(dice) {
  const subtle = crypto.subtle;
  const rsa = { modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]) };
  const [algorithm, usages] = dice.one([
    [{ name: "AES-GCM", length: 256 }, ["encrypt", "decrypt"]],
    [{ name: "AES-KW", length: 128 }, ["wrapKey", "unwrapKey"]],
    [{ name: "HMAC", hash: "SHA-512" }, ["sign", "verify"]],
    [{ name: "HMAC", hash: "SHA-1", length: 9 }, ["verify"]],
    [{ name: "ECDSA", namedCurve: "P-384" }, ["sign", "verify"]],
    [{ name: "ECDH", namedCurve: "P-256" }, ["deriveBits"]],
    [{ name: "Ed25519" }, ["sign", "verify"]],
    [{ name: "X25519" }, ["deriveKey"]],
    [{ name: "RSA-OAEP", hash: "SHA-256", ...rsa }, ["decrypt", "unwrapKey"]],
    [{ name: "RSA-PSS", hash: "SHA-1", ...rsa }, ["sign"]],
  ]);
  const made = await subtle.generateKey(algorithm, true, usages);
  return made.privateKey ? dice.one([made.privateKey, made.publicKey]) : made;
}
