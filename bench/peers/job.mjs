// What a driver is asked for, and how it answers: one JSON object as its argument, and another as the
// last line of its output.
//
// job: { task: "keep" | "bare" | "restore", way, chromium, packages, folder,
//        fill: [3 addresses], tabs: [3 addresses], passkey: an address,
//        state: a file in Playwright's format, origins: [addresses that fill], page }
export const job = JSON.parse(process.argv[2]);

export const answer = (found) => console.log(JSON.stringify(found));

// What the site judges last and apart: a tool without an authenticator is refused there.
export const places = () => [...job.fill, job.passkey];

// Whether a browser that was just started has the tabs by itself.
export const tabsKept = (found) => ({ "tabs, in order": JSON.stringify(found) === JSON.stringify(job.tabs) });

// Does the task in the way that is asked for.
export async function run(ways) {
  const way = ways[job.task]?.[job.way];
  if (!way) throw new Error(`expected a way to ${job.task}, found ${job.way}`);
  answer(await way());
}

// Milliseconds of something, which must leave a page behind that finds its items.
export async function timed(run) {
  const start = performance.now();
  const items = await run();
  const expected = job.task === "bare" ? 0 : 20;
  if (items !== expected) throw new Error(`expected a page with ${expected} items, found ${items}`);
  return performance.now() - start;
}
