// chrome-devtools-mcp: what the profile that it is given keeps, and how long it takes to start on it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { job, places, run, tabsKept, timed } from "./job.mjs";

const program = `${job.packages}/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js`;
const profile = `${job.folder}/profile`;
const options = [
  "--user-data-dir", profile, "--executable-path", job.chromium, "--headless", "--chrome-arg=--no-sandbox",
  "--no-page-id-routing", "--no-usage-statistics", "--no-performance-crux",
];

// The processes whose command line names the profile: the browser and what it started.
function holders() {
  const named = (pid) => {
    try { return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(profile); } catch { return false; }
  };
  return readdirSync("/proc").map(Number).filter((pid) => pid && pid !== process.pid && named(pid));
}

async function untilNobodyHoldsIt() {
  const end = Date.now() + 30_000;
  for (let left = holders(); left.length; left = holders()) {
    if (Date.now() > end) throw new Error(`expected nobody to hold the profile, found ${left}`);
    await pause(20);
  }
}

// A server of its own, and what is asked of it over MCP.
class Server {
  static async start() {
    const server = new Server();
    const env = { ...process.env, CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" };
    server.process = spawn(process.execPath, [program, ...options], { env, stdio: ["pipe", "pipe", "ignore"] });
    server.waiting = new Map();
    server.asked = 0;
    createInterface({ input: server.process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const [told, failed] = server.waiting.get(id) ?? [];
      if (error) failed?.(new Error(error.message));
      else told?.(result);
    });
    const clientInfo = { name: "bench", version: "1" };
    await server.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    server.say({ method: "notifications/initialized" });
    return server;
  }

  say(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  ask(method, params) {
    const id = ++this.asked;
    this.say({ id, method, params });
    return new Promise((...ends) => this.waiting.set(id, ends));
  }

  async call(name, args = {}) {
    const { content, isError } = await this.ask("tools/call", { name, arguments: args });
    const text = content.map((part) => part.text ?? "").join("\n");
    if (isError) throw new Error(`${name}: ${text}`);
    return text;
  }

  open(url) {
    return this.call("new_page", { url });
  }

  async evaluate(script) {
    const text = await this.call("evaluate_script", { function: `async () => ${script}` });
    const [, json] = text.match(/```json\n(.*?)\n```/s) ?? [];
    if (json === undefined) throw new Error(`expected what ${script} returned, found ${text}`);
    return JSON.parse(json);
  }

  async tabs() {
    const text = await this.call("list_pages");
    return [...text.matchAll(/^\d+: (\S+)/gm)].map(([, url]) => url);
  }

  // As a client of MCP ends it: nobody speaks to it any more.
  async close() {
    this.process.stdin.end();
    await once(this.process, "exit");
    await untilNobodyHoldsIt();
  }

  async kill() {
    for (const pid of [this.process.pid, ...holders()]) process.kill(pid, "SIGKILL");
    await untilNobodyHoldsIt();
  }
}

async function keep(end) {
  let server = await Server.start();
  for (const url of places()) {
    await server.open(url);
    await server.evaluate("fill()");
  }
  await server.call("navigate_page", { url: job.tabs[2] });
  await end(server);

  server = await Server.start();
  // It opens no tabs by itself: they are opened where they were, and counted as lost.
  const kept = tabsKept(await server.tabs());
  for (const url of places()) {
    await server.open(url);
    Object.assign(kept, await server.evaluate("check()"));
  }
  await server.close();
  return kept;
}

async function restore() {
  let server = await Server.start();
  for (const url of job.origins) await server.call("navigate_page", { url });
  await server.close();
  const took = await timed(async () => {
    server = await Server.start();
    await server.call("navigate_page", { url: job.page });
    return server.evaluate("localStorage.length");
  });
  await server.close();
  return took;
}

await run({
  keep: {
    "--user-data-dir, closed gracefully": () => keep((server) => server.close()),
    "--user-data-dir, killed at once": () => keep((server) => server.kill()),
    "--user-data-dir, killed after a minute": () => keep(async (server) => {
      await pause(60_000);
      await server.kill();
    }),
  },
  restore: { "--user-data-dir": restore },
});
