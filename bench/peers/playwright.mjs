// Playwright: what `storageState()` and a profile keep, and how long a large state takes.
import { createRequire } from "node:module";
import { job, places, run, tabsKept, timed } from "./job.mjs";

const { chromium } = createRequire(`${job.packages}/`)("playwright-core");
const launch = () => chromium.launch({ executablePath: job.chromium });

async function visit(context, url, call) {
  const page = await context.newPage();
  await page.goto(url);
  return [page, await page.evaluate(call)];
}

async function fill(context) {
  const pages = [];
  for (const url of places()) pages.push((await visit(context, url, "fill()"))[0]);
  await pages.pop().close();
  await pages.pop().goto(job.tabs[2]);
}

// It opens no tabs by itself: they are opened where they were, and counted as lost.
async function check(context) {
  const kept = tabsKept(context.pages().map((page) => page.url()));
  for (const url of places()) Object.assign(kept, (await visit(context, url, "check()"))[1]);
  return kept;
}

// What holds itself makes a whole state unreadable to it: such a database is left out.
function withoutCycles(state) {
  const isTree = (database) => {
    try { return Boolean(JSON.stringify(database)); } catch { return false; }
  };
  for (const origin of state.origins) origin.indexedDB = origin.indexedDB?.filter(isTree);
  return state;
}

// What is there after the state went through `storageState(options)` and another browser.
async function keepByState(options) {
  let browser = await launch();
  let context = await browser.newContext();
  if (options.credentials) await context.credentials.install();
  await fill(context);
  const storageState = withoutCycles(await context.storageState(options));
  await browser.close();

  browser = await launch();
  const kept = await check(await browser.newContext({ storageState }));
  await browser.close();
  return kept;
}

const launchProfile = () => chromium.launchPersistentContext(`${job.folder}/profile`, { executablePath: job.chromium });

async function keepByProfile() {
  let context = await launchProfile();
  await fill(context);
  await context.close();
  context = await launchProfile();
  const kept = await check(context);
  await context.close();
  return kept;
}

// From the start of the browser until a page is there with its items.
async function restoreState(storageState) {
  let browser;
  const took = await timed(async () => {
    browser = await launch();
    return (await visit(await browser.newContext({ storageState }), job.page, "localStorage.length"))[1];
  });
  await browser.close();
  return took;
}

async function restoreProfile() {
  let context = await launchProfile();
  for (const url of job.origins) await (await visit(context, url, "document.title"))[0].close();
  await context.close();
  const took = await timed(async () => {
    context = await launchProfile();
    return (await visit(context, job.page, "localStorage.length"))[1];
  });
  await context.close();
  return took;
}

await run({
  keep: {
    "storageState()": () => keepByState({}),
    "storageState({ indexedDB: true })": () => keepByState({ indexedDB: true }),
    "storageState({ indexedDB: true, opfs: true, credentials: true })":
      () => keepByState({ indexedDB: true, opfs: true, credentials: true }),
    "launchPersistentContext(), closed gracefully": keepByProfile,
  },
  bare: { "newContext()": () => restoreState() },
  restore: {
    "newContext({ storageState })": () => restoreState(job.state),
    "launchPersistentContext()": restoreProfile,
  },
});
