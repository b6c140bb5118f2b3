// The page side of `baton_session::value`: encodes and decodes what structured cloning carries.
// Runs in an isolated world, so that no page script can change what it calls.
const baton = (() => {
  const bytesToBase64 = (bytes) => {
    let binary = "";
    for (let at = 0; at < bytes.length; at += 0x8000) {
      binary += String.fromCharCode.apply(null, bytes.subarray(at, at + 0x8000));
    }
    return btoa(binary);
  };
  const base64ToBytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

  // A string that is valid Unicode stays a string; any other travels as UTF-16 in base64.
  const encodeText = (string) => {
    if (string.isWellFormed()) return string;
    const bytes = new Uint8Array(string.length * 2);
    for (let at = 0; at < string.length; at++) {
      const unit = string.charCodeAt(at);
      bytes[2 * at] = unit & 0xff;
      bytes[2 * at + 1] = unit >> 8;
    }
    return { utf16: bytesToBase64(bytes) };
  };
  const decodeText = (text) => {
    if (typeof text === "string") return text;
    const bytes = base64ToBytes(text.utf16);
    let string = "";
    for (let at = 0; at < bytes.length; at += 2) {
      string += String.fromCharCode(bytes[at] | (bytes[at + 1] << 8));
    }
    return string;
  };

  const encodePrimitive = (value) => {
    switch (typeof value) {
      case "undefined":
        return { undefined: true };
      case "bigint":
        return { bigint: String(value) };
      case "string":
        return encodeText(value);
      case "number":
        if (Object.is(value, -0)) return { number: "-0" };
        return Number.isFinite(value) ? value : { number: String(value) };
      default:
        return value;
    }
  };

  const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  // Encodes one value. Waits for blobs and keys only after the whole graph was walked.
  const encode = async (root) => {
    const heap = [];
    const seen = new Map();
    const open = [];
    const waiting = [];
    const node = (value) => {
      if (value === null || typeof value !== "object") return encodePrimitive(value);
      if (!seen.has(value)) {
        seen.set(value, heap.length);
        open.push([value, heap.length]);
        heap.push(null);
      }
      return { ref: seen.get(value) };
    };
    const properties = (value) =>
      Object.keys(value).map((key) => [encodeText(key), node(value[key])]);
    const later = (position, promise) => {
      waiting.push(promise.then((object) => (heap[position] = object)));
    };
    const readBytes = async (blob) => bytesToBase64(new Uint8Array(await blob.arrayBuffer()));

    const object = (value, position) => {
      if (Array.isArray(value)) {
        return { type: "array", length: value.length, entries: properties(value) };
      }
      if (value instanceof Date) return { type: "date", time: node(value.getTime()) };
      if (value instanceof RegExp) {
        return { type: "regexp", source: encodeText(value.source), flags: value.flags };
      }
      if (value instanceof Map) {
        return { type: "map", entries: [...value].map(([k, v]) => [node(k), node(v)]) };
      }
      if (value instanceof Set) return { type: "set", values: [...value].map(node) };
      if (value instanceof Error) {
        const own = (name) => (Object.hasOwn(value, name) ? node(value[name]) : node(undefined));
        const name = Object.hasOwn(ERRORS, value.name) ? value.name : "Error";
        const error = { type: "error", name, message: own("message"), stack: own("stack"), cause: own("cause") };
        return Object.hasOwn(value, "cause") && value.cause === undefined ? { ...error, caused: true } : error;
      }
      if (value instanceof ArrayBuffer) {
        const bytes = bytesToBase64(new Uint8Array(value));
        return value.resizable
          ? { type: "array_buffer", bytes, max: value.maxByteLength }
          : { type: "array_buffer", bytes };
      }
      if (ArrayBuffer.isView(value)) {
        const kind = value[Symbol.toStringTag];
        const length = kind === "DataView" ? value.byteLength : value.length;
        const view = { type: "view", kind, buffer: node(value.buffer), offset: value.byteOffset, length };
        return follows(value) ? { ...view, follows: true } : view;
      }
      if (value instanceof File) {
        const { name, type: mime, lastModified: modified } = value;
        later(position, readBytes(value).then((bytes) => (
          { type: "file", name: encodeText(name), mime, modified, bytes })));
        return null;
      }
      if (value instanceof Blob) {
        later(position, readBytes(value).then((bytes) => ({ type: "blob", mime: value.type, bytes })));
        return null;
      }
      if (typeof CryptoKey !== "undefined" && value instanceof CryptoKey) {
        if (!value.extractable) return { type: "lost", kind: "CryptoKey" };
        later(position, encodeKey(value));
        return null;
      }
      for (const [box, unbox] of BOXES) {
        if (value instanceof box) return { type: "boxed", value: node(unbox.call(value)) };
      }
      const prototype = Object.getPrototypeOf(value);
      if (prototype === Object.prototype || prototype === null) {
        return { type: "object", entries: properties(value) };
      }
      return { type: "lost", kind: String(value[Symbol.toStringTag] ?? prototype?.constructor?.name) };
    };

    const start = node(root);
    while (open.length > 0) {
      const [value, position] = open.pop();
      heap[position] = object(value, position);
    }
    await Promise.all(waiting);
    return heap.length > 0 ? { root: start, heap } : { root: start };
  };

  // Whether a view ends where its buffer ends, also when that is resized: no property tells. Nothing
  // else runs meanwhile, and afterwards everything is as it was.
  const follows = (view) => {
    const { buffer, byteLength } = view;
    if (!buffer.resizable) return false;
    const bytes = new Uint8Array(buffer).slice();
    buffer.resize(bytes.length < buffer.maxByteLength ? buffer.maxByteLength : 0);
    const followed = view.byteLength !== byteLength;
    buffer.resize(bytes.length);
    new Uint8Array(buffer).set(bytes);
    return followed;
  };

  const BOXES = [
    [Boolean, Boolean.prototype.valueOf],
    [Number, Number.prototype.valueOf],
    [String, String.prototype.valueOf],
    [BigInt, BigInt.prototype.valueOf],
  ];

  const encodeKey = async (key) => {
    const { name, hash, namedCurve, length } = key.algorithm;
    const algorithm = { name };
    if (hash) algorithm.hash = hash.name;
    if (namedCurve) algorithm.namedCurve = namedCurve;
    if (length) algorithm.length = length;
    const jwk = JSON.stringify(await crypto.subtle.exportKey("jwk", key));
    return { type: "crypto_key", jwk, algorithm: JSON.stringify(algorithm), usages: [...key.usages] };
  };

  const decodePrimitive = (node) => {
    if (node === null || typeof node !== "object") return node;
    if ("undefined" in node) return undefined;
    if ("bigint" in node) return BigInt(node.bigint);
    if ("number" in node) return Number(node.number);
    return decodeText(node);
  };

  // Decodes one value: first every object empty, then what they refer to.
  const decode = async ({ root, heap = [] }) => {
    const objects = [];
    const node = (n) => (n !== null && typeof n === "object" && "ref" in n ? objects[n.ref] : decodePrimitive(n));
    const define = (target, key, value) =>
      Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    const create = async (o) => {
      switch (o.type) {
        case "object":
          return {};
        case "array":
          return new Array(o.length);
        case "date":
          return new Date(decodePrimitive(o.time));
        case "regexp":
          return new RegExp(decodeText(o.source), o.flags);
        case "map":
          return new Map();
        case "set":
          return new Set();
        case "error":
          return decodeError(o);
        case "boxed":
          return Object(decodePrimitive(o.value));
        case "array_buffer":
          return decodeBuffer(o);
        case "blob":
          return new Blob([base64ToBytes(o.bytes)], { type: o.mime });
        case "file":
          return new File([base64ToBytes(o.bytes)], decodeText(o.name), { type: o.mime, lastModified: o.modified });
        case "crypto_key":
          return crypto.subtle.importKey("jwk", JSON.parse(o.jwk), JSON.parse(o.algorithm), true, o.usages);
        default:
          return undefined;
      }
    };
    for (const o of heap) objects.push(await create(o));
    heap.forEach((o, at) => {
      if (o.type !== "view") return;
      const View = globalThis[o.kind];
      objects[at] = o.follows ? new View(node(o.buffer), o.offset) : new View(node(o.buffer), o.offset, o.length);
    });
    heap.forEach((o, at) => {
      const target = objects[at];
      if (o.type === "object" || o.type === "array") {
        for (const [key, value] of o.entries) define(target, decodeText(key), node(value));
      } else if (o.type === "map") {
        for (const [key, value] of o.entries) target.set(node(key), node(value));
      } else if (o.type === "set") {
        for (const value of o.values) target.add(node(value));
      } else if (o.type === "error") {
        const cause = node(o.cause);
        if (cause !== undefined || o.caused) Object.defineProperty(target, "cause", { value: cause, writable: true, configurable: true });
      }
    });
    return node(root);
  };

  const decodeError = (o) => {
    const message = decodePrimitive(o.message);
    const error = message === undefined ? new ERRORS[o.name]() : new ERRORS[o.name](message);
    const stack = decodePrimitive(o.stack);
    // Its own tells of this script.
    if (stack === undefined) delete error.stack;
    else Object.defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
    return error;
  };

  const decodeBuffer = (o) => {
    const bytes = base64ToBytes(o.bytes);
    if (o.max === undefined) return bytes.buffer;
    const buffer = new ArrayBuffer(bytes.length, { maxByteLength: o.max });
    new Uint8Array(buffer).set(bytes);
    return buffer;
  };

  // One text for one encoded value, whatever the order of an object's keys.
  const stable = (json) =>
    JSON.stringify(json, (_, value) =>
      value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value);

  const hasLoss = ({ heap = [] }) => heap.some((object) => object.type === "lost");

  return { bytesToBase64, base64ToBytes, encodeText, decodeText, encode, decode, stable, hasLoss };
})();
