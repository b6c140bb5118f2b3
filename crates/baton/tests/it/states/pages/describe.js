// One text for one value, in which everything that a script can tell apart reads differently.
const digest = async (bytes) => {
  if (bytes.length <= 24) return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  // A copy, because the buffer may be one that grows.
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes.slice().buffer)));
  return `${bytes.length} bytes ${[...sum.slice(0, 8)].map((byte) => byte.toString(16)).join("")}`;
};
const tellText = async (text) => {
  if (text.length <= 60) return JSON.stringify(text);
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return `${JSON.stringify(text.slice(0, 20))}… ${await digest(new Uint8Array(units.buffer))}`;
};

async function describe(root) {
  const seen = new Map();
  const tell = async (value) => {
    if (typeof value === "string") return tellText(value);
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    if (value === null || typeof value !== "object") return String(value);
    if (seen.has(value)) return `#${seen.get(value)}`;
    seen.set(value, seen.size);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    const own = Object.getPrototypeOf(value)?.constructor?.name;
    return `${own === tag ? tag : `${tag} of ${own}`}(${await inside(value, tag)})`;
  };
  const all = async (values) => {
    const told = [];
    for (const value of values) told.push(await tell(value));
    return told.join(", ");
  };
  const properties = async (value) => {
    const told = [];
    for (const name of Reflect.ownKeys(value)) {
      const { enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(value, name);
      const flags = enumerable && writable && configurable ? "" : ` e${+enumerable}w${+writable}c${+configurable}`;
      told.push(`${await tellText(String(name))}${flags}: ${await tell(value[name])}`);
    }
    return told.join(", ");
  };
  const inside = async (value, tag) => {
    if (value instanceof Date) return tell(value.getTime());
    if (value instanceof RegExp) return `${await tellText(value.source)} ${value.flags} ${value.lastIndex}`;
    if (value instanceof Map) return all([...value].flat());
    if (value instanceof Set) return all([...value]);
    if (value instanceof ArrayBuffer) {
      return `${await digest(new Uint8Array(value))}${value.resizable ? ` up to ${value.maxByteLength}` : ""}`;
    }
    if (ArrayBuffer.isView(value)) {
      return `${await tell(value.buffer)}, ${value.byteOffset}, ${value.byteLength}${follows(value) ? " and on" : ""}`;
    }
    if (value instanceof Blob) {
      const file = value instanceof File ? `${await tellText(value.name)}, ${value.lastModified}, ` : "";
      return `${file}${await tellText(value.type)}, ${await digest(new Uint8Array(await value.arrayBuffer()))}`;
    }
    if (value instanceof CryptoKey) return describeKey(value);
    for (const box of [Boolean, Number, String, BigInt]) {
      if (value instanceof box) return tell(value.valueOf());
    }
    return properties(value);
  };
  return tell(root);
}

// Whether a view grows with its buffer.
function follows(view) {
  const { buffer, byteLength } = view;
  if (!buffer.resizable) return false;
  const length = buffer.byteLength;
  buffer.resize(buffer.maxByteLength);
  const grew = view.byteLength !== byteLength;
  buffer.resize(length);
  return grew;
}

async function describeKey(key) {
  const { type, extractable, algorithm, usages } = key;
  const bytes = (_, value) => (value instanceof Uint8Array ? [...value] : value);
  const jwk = extractable ? Object.entries(await crypto.subtle.exportKey("jwk", key)).sort() : [];
  return JSON.stringify([type, extractable, algorithm, usages, await tellText(JSON.stringify(jwk))], bytes);
}
