// How much of a page is read at once, and how long it may take.
const limits = (() => {
  // How many characters of JSON one database, one cache or all files may have, and all that are read
  // at once: three bytes each, for what the browser takes and what we take in one message.
  const LARGEST = 30_000_000;
  const BUDGET = 60_000_000;
  // What one look may read; less where the looks of many pages together have a bound.
  const budget = (of, room = BUDGET) => ({ left: Math.min(BUDGET, room), of });
  class TooLarge extends Error {}
  const spend = (budget, characters, sum) => {
    budget.left -= characters;
    if (sum > LARGEST) {
      throw new TooLarge(`expected at most ${LARGEST} characters of JSON, found more`);
    }
    if (budget.left < 0) throw new Error(`there was no room beside the other ${budget.of}`);
  };

  // A page can hold what it stores for as long as it likes: then it is not read now.
  const LIMIT = 3000;
  const within = (promise) =>
    new Promise((resolve, reject) => {
      const reason = `expected the page to let go of it within ${LIMIT} ms`;
      const timer = setTimeout(() => reject(new Error(reason)), LIMIT);
      promise.then(resolve, reject).finally(() => clearTimeout(timer));
    });

  // Whether a page may have none at all, which another try would not change.
  const isRefusal = (error) =>
    error?.name === "SecurityError" || /denied permission/.test(String(error));

  // Between the question whose document this is and the answer, another one can have come.
  const expect = (origin) => {
    if (self.origin !== "null" && self.origin !== origin) {
      throw new Error(`expected a document of ${origin}, found one of ${self.origin}`);
    }
  };

  // The bytes of a stream or a blob in base64, within the budget; `spent` counts for one whole.
  const readBytes = async (stream, budget, spent) => {
    const reader = stream.getReader();
    const chunks = [];
    try {
      for (;;) {
        const { done, value } = await within(reader.read());
        if (done) break;
        const characters = Math.ceil((value.length * 4) / 3);
        spent.sum += characters;
        spend(budget, characters, spent.sum);
        chunks.push(value);
      }
    } catch (error) {
      reader.cancel().catch(() => {});
      throw error;
    }
    return baton.bytesToBase64(new Uint8Array(await new Blob(chunks).arrayBuffer()));
  };

  return { LARGEST, budget, TooLarge, spend, within, isRefusal, expect, readBytes };
})();
