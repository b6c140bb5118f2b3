// Choices that a seed decides: the same seed makes the same state again.
function diceOf(seed) {
  let state = 2166136261;
  for (const unit of seed) state = Math.imul(state ^ unit.codePointAt(0), 16777619);
  // Mulberry32.
  const roll = (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  const one = (list) => list[roll(list.length)];
  // So many different ones of a list, in any order.
  const some = (list, count) => {
    const left = [...list];
    const taken = [];
    while (taken.length < count && left.length > 0) taken.push(...left.splice(roll(left.length), 1));
    return taken;
  };
  const times = (most, make) => Array.from({ length: roll(most + 1) }, make);
  const bytes = (most) => Uint8Array.from({ length: roll(most + 1) }, () => roll(256));
  const text = () => (roll(4) ? one(TEXTS) : String.fromCharCode(...times(8, () => one(UNITS))));
  return { roll, one, some, times, bytes, text };
}

// What is easily lost on the way: nothing, NUL, halves of a pair, what has a meaning elsewhere, two
// ways to write one letter, what is long.
const TEXTS = [
  "", " ", "plain", "żółć", "日本 🎼", "nul \0", "a\0b", "\ud83d", "lone \udc00 in it", "\udc00\ud83d",
  "__proto__", "constructor", "length", "getItem", "0", "-0", "null", "{\"root\":1}", "</script><!--",
  "\"quoted\" 'twice'", "back\\slash \\u0041", "\n\r\t\v", "\u2028\u2029", "\ufeffmark", "\uffff\ufffe",
  "\u00e9 e\u0301", "\u202eright to left", "%00%C3%A9", "a".repeat(5000), "🎼".repeat(400), "\u0080\u009f",
];
const UNITS = [0, 9, 10, 34, 39, 47, 92, 97, 127, 128, 233, 0x2028, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfffd, 0xffff];
