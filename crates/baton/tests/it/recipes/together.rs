//! Two tools on one session: each as if it were alone, whatever becomes of the other.

use super::{LIMIT, Scene};
use baton_playground::tools::{Npm, Room};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Evaluates each line in the first page; says which pages there ever were when the line is `seen`.
const DRIVER: &str = r#"
import { chromium } from "playwright-core";
import { createInterface } from "node:readline";

const browser = await chromium.connectOverCDP(process.env.CDP_URL);
const [context] = browser.contexts();
const seen = context.pages().map((page) => page.url());
context.on("page", (page) => seen.push(page.url()));
const [page] = context.pages();
console.log(JSON.stringify("connected"));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(line === "seen" ? seen : await page.evaluate(line)));
}
"#;

/// Playwright, in a process that runs on.
struct Playwright {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Playwright {
    async fn connect(scene: &Scene, room: &Room) -> Self {
        std::fs::write(room.path().join("driver.mjs"), DRIVER).unwrap();
        let start = r#"CDP_URL="$(baton sessions cdp shop)"; export CDP_URL; exec node driver.mjs"#;
        let mut command = scene.shell(room, start);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut tool = Self { process, input, output };
        assert_eq!(tool.listen().await, "connected");
        tool
    }

    async fn ask(&mut self, line: &str) -> Value {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.listen().await
    }

    async fn listen(&mut self) -> Value {
        let line = timeout(LIMIT, self.output.next_line()).await.unwrap().unwrap();
        serde_json::from_str(&line.expect("expected Playwright to answer, found its end")).unwrap()
    }

    /// SIGKILL.
    async fn kill(mut self) {
        timeout(LIMIT, self.process.kill()).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tools_work_side_by_side_and_one_that_is_killed_disturbs_nobody() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let client = scene.test_node.client().unwrap();
    let access = client.open_cdp("shop", &baton_api::OpenCdp { reusable: true }).await.unwrap();
    let reusable = access.cdp_url.to_string();
    let playwright_room = scene.furnish(npm.room().unwrap());
    let room = scene.furnish(npm.room().unwrap()).with("AGENT_BROWSER_CDP", reusable);
    let agent_browser = async |words: &str| {
        let command = scene.shell(&room, &format!("agent-browser {words}"));
        room.run(command, LIMIT).await.unwrap().trim().to_owned()
    };

    // Both drive the same page.
    let mut playwright = Playwright::connect(&scene, &playwright_room).await;
    playwright.ask("document.title = 'from Playwright'").await;
    assert_eq!(agent_browser("get title").await, "from Playwright");
    agent_browser("eval \"document.title = 'from agent-browser'\"").await;
    assert_eq!(playwright.ask("document.title").await, "from agent-browser");

    // There is something of another site, and nobody sees more than the tab: no page of Baton's own.
    let elsewhere = scene.site.url_on("elsewhere", "/").unwrap();
    agent_browser(&format!("open {elsewhere}")).await;
    agent_browser("eval \"localStorage.setItem('basket', '7')\"").await;
    agent_browser(&format!("open {}", scene.site.url("/").unwrap())).await;
    scene.look().await;
    assert_eq!(playwright.ask("seen").await.as_array().unwrap().len(), 1);
    let tabs: Value = serde_json::from_str(&agent_browser("--json tab").await).unwrap();
    assert_eq!(tabs["data"]["tabs"].as_array().unwrap().len(), 1, "{tabs}");

    // Playwright is killed: the other one goes on, and so does a new one.
    playwright.kill().await;
    assert_eq!(agent_browser("get title").await, "shop");
    scene.look().await;
    let mut playwright = Playwright::connect(&scene, &playwright_room).await;

    // agent-browser's daemon is killed.
    room.empty().await.unwrap();
    assert_eq!(playwright.ask("document.title").await, "shop");
    scene.look().await;

    // Browser and keeper are killed: after the resume, the old addresses lead to the new browser.
    assert_eq!(agent_browser("get title").await, "shop");
    playwright.kill().await;
    scene.kill_and_resume().await;
    assert_eq!(agent_browser("get title").await, "shop");
    assert_eq!(scene.follow(&playwright_room, "Playwright, with a key").await, "shop\n");
    let mut playwright = Playwright::connect(&scene, &playwright_room).await;
    scene.look().await;
    assert_eq!(playwright.ask("seen").await.as_array().unwrap().len(), 1);
    let tabs: Value = serde_json::from_str(&agent_browser("--json tab").await).unwrap();
    assert_eq!(tabs["data"]["tabs"].as_array().unwrap().len(), 1, "{tabs}");
    agent_browser(&format!("open {elsewhere}")).await;
    assert_eq!(
        agent_browser("eval \"localStorage.getItem('basket')\"").await,
        json!("7").to_string()
    );

    playwright.kill().await;
    playwright_room.clear().await.unwrap();
    agent_browser(&format!("open {}", scene.site.url("/").unwrap())).await;
    scene.strike(room).await;
}
