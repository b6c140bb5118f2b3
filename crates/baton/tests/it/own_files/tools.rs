//! Files of the tools themselves: each logs in by its own browser, writes its file, and the server gets the
//! same from ours.

use super::{SENT, Scene};
use baton_playground::tools::{Npm, Python, Room};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(2);

const PLAYWRIGHT: &str = r#"import { chromium } from "playwright-core";
const [login, seen] = process.argv.slice(2);
const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
const context = await browser.newContext();
const page = await context.newPage();
await page.goto(login);
await page.goto(seen);
await context.storageState({ path: "state.json" });
await browser.close();
"#;

/// The newest Playwright that speaks the protocol of the Firefox which Debian has: 1.65 asks it for what it does not
/// know yet.
const FIREFOX: &str = r#"import { firefox } from "playwright-of-firefox";
const [login, seen] = process.argv.slice(2);
const browser = await firefox.launch({ channel: "moz-firefox", executablePath: process.env.FIREFOX });
const context = await browser.newContext();
const page = await context.newPage();
await page.goto(login);
await page.goto(seen);
await context.storageState({ path: "state.json" });
await browser.close();
"#;

const PUPPETEER: &str = r#"import { writeFileSync } from "node:fs";
import puppeteer from "puppeteer-core";
const [login, seen] = process.argv.slice(2);
const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args });
const page = await browser.newPage();
await page.goto(login);
await page.goto(seen);
writeFileSync("cookies.json", JSON.stringify(await browser.cookies(), null, 2));
await browser.close();
"#;

const SELENIUM: &str = r#"import { writeFileSync } from "node:fs";
import { Builder } from "selenium-webdriver";
import { Options, ServiceBuilder } from "selenium-webdriver/chrome.js";
const [login, seen] = process.argv.slice(2);
const options = new Options().setChromeBinaryPath(process.env.CHROMIUM);
options.addArguments("--headless=new", ...(process.getuid() === 0 ? ["--no-sandbox"] : []));
const service = new ServiceBuilder(process.env.CHROMEDRIVER);
const build = new Builder().forBrowser("chrome").setChromeOptions(options);
const driver = await build.setChromeService(service).build();
await driver.get(login);
await driver.get(seen);
writeFileSync("cookies.json", JSON.stringify(await driver.manage().getCookies()));
await driver.quit();
"#;

const BROWSER_USE: &str = r#"import asyncio, os, sys
from browser_use import BrowserSession
from browser_use.browser.events import SaveStorageStateEvent

async def main():
    login, seen = sys.argv[1:]
    session = BrowserSession(executable_path=os.environ["CHROMIUM"], headless=True,
                             chromium_sandbox=os.getuid() != 0, enable_default_extensions=False)
    await session.start()
    await session.navigate_to(login)
    await session.navigate_to(seen)
    await session.export_storage_state("state.json")
    await session.event_bus.dispatch(SaveStorageStateEvent(path="kept.json"))
    await session.kill()

asyncio.run(main())
"#;

impl Scene {
    /// Types commands in a tool's room, with the addresses of the login and of another page.
    async fn types(&self, room: &Room, commands: &str, seen: &str) -> String {
        let commands = format!("export CHROMIUM=\"$(command -v chromium)\"\n{commands}");
        let mut shell = room.command("sh").unwrap();
        let urls = [self.url("/login"), self.url(seen)];
        shell.args(["-e", "-c", &commands, "sh", urls[0].as_str(), urls[1].as_str()]);
        room.run(shell, LIMIT).await.unwrap();
        self.got(seen).await
    }

    /// What a page has stored of a session that was brought, once that is resumed.
    async fn stored(&self, name: &str) -> String {
        self.baton(&["sessions", "resume", name]).success();
        let at = self.test_node.client().unwrap().fetch_session(name).await.unwrap();
        let page = self.page(name, at.tabs[0].url.as_str()).await;
        page.evaluate("localStorage.token + ' ' + sessionStorage.step").await.unwrap()
    }
}

/// A tool logs in and writes a file; the server gets from ours what it got from the tool.
async fn is_sent_the_same(room: Room, save: &str, name: &str, file: &str) -> Scene {
    let scene = Scene::set().await;
    assert_eq!(scene.types(&room, save, &format!("/seen/{name}")).await, SENT, "before");
    let file = std::fs::read(room.path().join(file)).unwrap();
    let (left, sent) = scene.brings(name, &file, 0).await;
    assert_eq!((left, sorted(&sent)), (Vec::new(), sorted(SENT)));
    room.clear().await.unwrap();
    scene
}

/// The cookies of a header, in no order.
fn sorted(sent: &str) -> Vec<String> {
    let mut pairs: Vec<String> = sent.split("; ").map(str::to_owned).collect();
    pairs.sort();
    pairs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_agent_browser_saved_comes_along_with_session_storage() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let mut room = npm.room().unwrap();
    if rustix::process::geteuid().is_root() {
        room = room.with("AGENT_BROWSER_ARGS", "--no-sandbox");
    }
    let commands = "export AGENT_BROWSER_EXECUTABLE_PATH=\"$CHROMIUM\"
        agent-browser open \"$1\"
        agent-browser open \"$2\"
        agent-browser state save state.json
        agent-browser close";
    assert_eq!(scene.types(&room, commands, "/seen/agent-browser").await, SENT, "before");
    let file = std::fs::read(room.path().join("state.json")).unwrap();
    assert!(String::from_utf8_lossy(&file).contains("sessionStorage"), "its file has some");
    let (left, sent) = scene.brings("agent-browser", &file, 0).await;
    assert_eq!((left, sent.as_str()), (Vec::new(), SENT));

    assert_eq!(scene.stored("agent-browser").await, "kept 2");
    room.clear().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_playwright_saved_is_sent_as_playwright_sent_it() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = npm.room().unwrap();
    std::fs::write(room.path().join("save.mjs"), PLAYWRIGHT).unwrap();
    let before = scene.types(&room, "node save.mjs \"$1\" \"$2\"", "/seen/playwright").await;
    assert_eq!(before, SENT, "before");
    let file = std::fs::read(room.path().join("state.json")).unwrap();
    let (left, sent) = scene.brings("playwright", &file, 0).await;
    assert_eq!((left, sent.as_str()), (Vec::new(), SENT));
    room.clear().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_playwright_saved_of_a_firefox_is_sent_as_that_firefox_sent_it() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = npm.room().unwrap();
    std::fs::write(room.path().join("save.mjs"), FIREFOX).unwrap();
    let save = "export FIREFOX=\"$(command -v firefox-esr firefox | head -n 1)\"
        node save.mjs \"$1\" \"$2\"";
    assert_eq!(scene.types(&room, save, "/seen/firefox").await, SENT, "before");
    let file = std::fs::read(room.path().join("state.json")).unwrap();
    let (left, sent) = scene.brings("firefox", &file, 0).await;
    assert_eq!((left, sent.as_str()), (Vec::new(), SENT));
    let stored = scene.stored("firefox").await;
    assert_eq!(stored, "kept undefined", "Playwright keeps no sessionStorage");
    room.clear().await.unwrap();
    scene.strike().await;
}

/// curl sends them in an order of its own, so only what a browser would send is compared.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_curl_saved_is_sent_as_a_browser_would() {
    let scene = Scene::set().await;
    let room = Room::build().unwrap();
    let commands = "curl -sS -o page -c jar.txt \"$1\"\ncurl -sS -o page -b jar.txt \"$2\"";
    let before = scene.types(&room, commands, "/seen/curl").await;
    let file = std::fs::read(room.path().join("jar.txt")).unwrap();
    let (left, sent) = scene.brings("curl", &file, 0).await;
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(sorted(&sent), sorted(&before), "{}", String::from_utf8_lossy(&file));
    assert_eq!(sorted(&sent), sorted(SENT));
    room.clear().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_puppeteer_tells_of_its_cookies_is_sent_as_it_sent_them() {
    let room = Npm::install().await.unwrap().room().unwrap();
    std::fs::write(room.path().join("save.mjs"), PUPPETEER).unwrap();
    is_sent_the_same(room, "node save.mjs \"$1\" \"$2\"", "puppeteer", "cookies.json")
        .await
        .strike()
        .await;
}

/// It tells of the cookies that the page would be sent, without the order in which they were made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_selenium_tells_of_its_cookies_is_sent() {
    let room = Npm::install().await.unwrap().room().unwrap();
    std::fs::write(room.path().join("save.mjs"), SELENIUM).unwrap();
    let save = "export CHROMEDRIVER=\"$(command -v chromedriver)\"\nnode save.mjs \"$1\" \"$2\"";
    is_sent_the_same(room, save, "selenium", "cookies.json").await.strike().await;
}

/// It exports cookies alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_browser_use_exported_is_sent_as_it_sent_it() {
    let room = Python::install().await.unwrap().room().unwrap();
    std::fs::write(room.path().join("save.py"), BROWSER_USE).unwrap();
    let save = "python save.py \"$1\" \"$2\"";
    is_sent_the_same(room, save, "browser-use", "state.json").await.strike().await;
}

/// What it keeps by itself, for the next time, is more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_browser_use_keeps_comes_along_with_session_storage() {
    let room = Python::install().await.unwrap().room().unwrap();
    std::fs::write(room.path().join("save.py"), BROWSER_USE).unwrap();
    let save = "python save.py \"$1\" \"$2\"";
    let scene = is_sent_the_same(room, save, "browser-use", "kept.json").await;
    assert_eq!(scene.stored("browser-use").await, "kept 2");
    scene.strike().await;
}
