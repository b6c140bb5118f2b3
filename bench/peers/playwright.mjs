// Playwright: what `storageState()` keeps, and how long a context with a large one takes.
import { createRequire } from "node:module";
import { answer, job, largeState, timed } from "./job.mjs";

const { chromium } = createRequire(`${job.packages}/`)("playwright-core");
const launch = () => chromium.launch({ executablePath: job.chromium });

async function visit(context, url, call) {
  const page = await context.newPage();
  await page.goto(url);
  return [page, await page.evaluate(call)];
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
async function keep(options) {
  let browser = await launch();
  let context = await browser.newContext();
  let page;
  for (const url of job.fill) [page] = await visit(context, url, "fill()");
  await page.goto(job.tabs[2]);
  const storageState = withoutCycles(await context.storageState(options));
  await browser.close();

  browser = await launch();
  context = await browser.newContext({ storageState });
  const kept = {};
  // It opens no tabs by itself: they are opened where they were, and counted as lost.
  for (const url of job.fill) Object.assign(kept, (await visit(context, url, "check()"))[1]);
  await browser.close();
  return kept;
}

// From the start of the browser until a page is there with its items.
async function restore(state) {
  let browser;
  const took = await timed(async () => {
    browser = await launch();
    const context = await browser.newContext({ storageState: state });
    return (await visit(context, job.page, "localStorage.length"))[1];
  });
  await browser.close();
  return took;
}

if (job.task === "keep") {
  const plain = await keep({});
  answer({ "storageState()": plain, "storageState({ indexedDB: true })": await keep({ indexedDB: true }) });
} else {
  answer(await restore(job.task === "bare" ? undefined : largeState()));
}
