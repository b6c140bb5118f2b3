// agent-browser: what a saved state, its own restore and a profile keep, and how long a large state takes.
import { spawnSync } from "node:child_process";
import { arch } from "node:os";
import { job, places, run, tabsKept, timed } from "./job.mjs";

const program = `${job.packages}/node_modules/agent-browser/bin/agent-browser-linux-${arch()}`;
const file = `${job.folder}/state.json`;
const profile = ["--profile", `${job.folder}/profile`];

// One call of the program. The folder is its home too, so that it finds nothing of anybody else.
function call(session, ...args) {
  const env = { PATH: process.env.PATH, HOME: job.folder, TMPDIR: job.folder, AGENT_BROWSER_SOCKET_DIR: job.folder };
  const launch = ["--executable-path", job.chromium, "--args", "--no-sandbox"];
  const all = ["--json", "--session", session, ...launch, ...args];
  // It gives up on its own daemon after 30 s, while the daemon goes on: then it is asked once more.
  for (let attempt = 0; attempt < 6; attempt++) {
    const said = JSON.parse(spawnSync(program, all, { env, encoding: "utf8", timeout: 60_000 }).stdout);
    if (said.success) return said.data;
    if (said.code !== "outcome_unknown") throw new Error(`agent-browser ${args.join(" ")}: ${said.error}`);
  }
  throw new Error(`agent-browser ${args.join(" ")}: no answer in three minutes`);
}

const evaluate = (session, script) => call(session, "eval", script).result;

// A page in a tab of its own, once it is loaded: a tab that is made with an address does not wait.
function visit(session, url, at, options) {
  if (at > 0) call(session, "tab", "new");
  call(session, ...options, "open", url);
}

function fill(session, ...options) {
  places().forEach((url, at) => {
    visit(session, url, at, options);
    evaluate(session, "fill()");
  });
  call(session, "tab", "close");
  call(session, "open", job.tabs[2]);
}

// It opens no tabs by itself: they are opened where they were, and counted as lost.
function check(session, ...options) {
  const kept = tabsKept(call(session, ...options, "tab", "list").tabs.map((tab) => tab.url));
  places().forEach((url, at) => {
    visit(session, url, at, options);
    Object.assign(kept, evaluate(session, "check()"));
  });
  call(session, "close");
  return kept;
}

function keepByState() {
  fill("save");
  call("save", "state", "save", file);
  call("save", "close");
  return check("load", "--state", file);
}

function keepByRestore() {
  fill("mine", "--restore");
  call("mine", "--restore", "close");
  return check("mine", "--restore");
}

function keepByProfile() {
  fill("one", ...profile);
  call("one", "close");
  return check("two", ...profile);
}

// Visits every origin, and closes.
function remember(session, ...options) {
  for (const url of job.origins) call(session, ...options, "open", url);
  call(session, ...options, "close");
}

async function restore(session, ...options) {
  const took = await timed(async () => {
    call(session, ...options, "open", job.page);
    // When it was asked once more, it may still be restoring.
    const end = Date.now() + 60_000;
    let items = 0;
    while (items !== 20 && Date.now() < end) items = evaluate(session, "localStorage.length");
    return items;
  });
  call(session, "close");
  return took;
}

await run({
  keep: {
    "state save, --state": keepByState,
    "--restore, closed gracefully": keepByRestore,
    "--profile, closed gracefully": keepByProfile,
  },
  restore: {
    "--state": () => restore("large", "--state", job.state),
    "--restore": () => {
      remember("large", "--restore");
      return restore("large", "--restore");
    },
    "--profile": () => {
      remember("large", ...profile);
      return restore("large", ...profile);
    },
  },
});
