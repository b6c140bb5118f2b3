// What a driver is asked for, and how it answers: one JSON object as its argument, and another as the
// last line of its output.
//
// job: { task: "keep" | "bare" | "restore", chromium, packages, folder, fill: [3 addresses], tabs: [3 addresses],
//        origins: [addresses], page }
export const job = JSON.parse(process.argv[2]);

export const answer = (found) => console.log(JSON.stringify(found));

// What Playwright and agent-browser both read: 20 items in each origin, and a thousand cookies.
export function largeState() {
  const expires = Math.floor(Date.now() / 1000) + 86400;
  const hosts = job.origins.map((origin) => new URL(origin).hostname);
  const cookies = Array.from({ length: 1000 }, (_, n) => ({
    name: `cookie${n}`, value: `value of ${n}`, domain: hosts[n % hosts.length], path: "/",
    expires, httpOnly: false, secure: false, sameSite: "Lax",
  }));
  const localStorage = Array.from({ length: 20 }, (_, n) => ({ name: `item ${n}`, value: `value of ${n} `.repeat(4) }));
  return { cookies, origins: job.origins.map((origin) => ({ origin: new URL(origin).origin, localStorage })) };
}

// Milliseconds of something, which must leave a page behind that finds its items.
export async function timed(run) {
  const start = performance.now();
  const items = await run();
  const expected = job.task === "bare" ? 0 : 20;
  if (items !== expected) throw new Error(`expected a page with ${expected} items, found ${items}`);
  return performance.now() - start;
}
