//! What it costs that a browser is kept from the files of the machine.

use crate::report::{Comparison, Ratio, Section, median};
use crate::site;
use anyhow::{Context as _, Result, ensure};
use baton_browser::cdp::{CdpSession, CdpSessionId, Connection};
use baton_browser::launch::{self, BrowserPlaces, Confine, LaunchOptions, find_browser};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// How often each is measured, in turn.
const PAIRS: usize = 40;
/// How long a launch and a page may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Which display the windows are shown on.
const DISPLAY: &str = ":97";

/// On what a browser is launched.
#[derive(Clone, Copy, PartialEq)]
enum Profile {
    /// On a new one, in a home that is new where there are rules: what a session costs when it is opened.
    New,
    /// On one that was used, in the home that it had: what it costs when it is resumed.
    Used,
}

/// Launches a browser and loads a page: under Landlock, and without rules.
pub async fn measure() -> Result<Section> {
    let site = site::start().await?;
    let url = site.url("/")?.to_string();
    let _display = Display::start()?;
    let (mut comparisons, mut medians) = (Vec::new(), Vec::new());
    for (what, headed, profile) in [
        ("launch and page, headless", false, Profile::New),
        ("launch and page, with a window", true, Profile::New),
        ("the same on a used profile, headless", false, Profile::Used),
        ("the same on a used profile, with a window", true, Profile::Used),
    ] {
        let pairs = pairs(&url, headed, profile).await?;
        let ratio = Ratio::of(&pairs);
        comparisons.push(Comparison { what, ratio, aim: 1.03, aim_is_for_the_bound: true });
        let (with, without) =
            (median(pairs.iter().map(|p| p.0)), median(pairs.iter().map(|p| p.1)));
        medians.push((what.to_owned(), format!("{with:.0} ms, {without:.0} ms without")));
    }
    drop(site);
    let user = if rustix::process::geteuid().is_root() {
        "as root, whose browser without rules has threads that come before others by a capability"
    } else {
        "as an ordinary user, with Chromium's own sandbox"
    };
    Ok(Section {
        title: "A browser under rules of the kernel against one without",
        method: format!(
            "A launch until a page has loaded, {user}: under Landlock and without rules, in turn, {PAIRS} pairs \
             each, headless and with a window on Xtigervnc. On a new profile, where a browser under rules has a new home as \
             well and one without has the user's, with its caches; and on one that was used, with the home that it had."
        ),
        comparisons,
        figures: Vec::new(),
        medians,
        tables: Vec::new(),
    })
}

async fn pairs(url: &str, headed: bool, profile: Profile) -> Result<Vec<(f64, f64)>> {
    let kept = [TempDir::new()?, TempDir::new()?];
    let launched = async |confine: Confine| {
        let new = TempDir::new()?;
        let folder = match (profile, confine) {
            (Profile::New, _) => new.path(),
            (Profile::Used, Confine::Off) => kept[0].path(),
            (Profile::Used, _) => kept[1].path(),
        };
        once(url, headed, confine, folder).await
    };
    // The first ones read the program from the disk, and make what is kept.
    launched(Confine::Off).await?;
    launched(Confine::Landlock).await?;
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        // Who comes first changes, so that neither has a warmer machine.
        let (with, without) = if pair % 2 == 0 {
            let with = launched(Confine::Landlock).await?;
            (with, launched(Confine::Off).await?)
        } else {
            let without = launched(Confine::Off).await?;
            (launched(Confine::Landlock).await?, without)
        };
        println!("pair {} of {PAIRS}: {with:.0} ms, {without:.0} ms without", pair + 1);
        pairs.push((with, without));
    }
    Ok(pairs)
}

/// How many milliseconds it takes from the start until the page has loaded.
async fn once(url: &str, headed: bool, confine: Confine, folder: &Path) -> Result<f64> {
    let path = std::env::var_os("PATH");
    let program = find_browser(None, &BrowserPlaces::on_path(path.as_deref()))?;
    let mut inherited: std::collections::BTreeMap<String, String> = ["HOME", "PATH"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect();
    if headed {
        inherited.insert("DISPLAY".to_owned(), DISPLAY.to_owned());
    }
    let options = LaunchOptions {
        confine,
        headed,
        inherited,
        ..LaunchOptions::new(program, folder.join("profile"))
    };
    let begun = Instant::now();
    let mut launched = launch::start(&options)?;
    if let Some(mut said) = launched.stderr.take() {
        tokio::spawn(async move { tokio::io::copy(&mut said, &mut tokio::io::sink()).await });
    }
    let (connection, mut events) = Connection::start(launched.transport);
    tokio::spawn(async move { while events.next().await.is_some() {} });
    let loaded = timeout(LIMIT, load(&connection, url));
    loaded.await.context("expected a page to load")??;
    let took = begun.elapsed();
    connection.browser().call("Browser.close", json!({})).await?;
    timeout(LIMIT, launched.child.wait()).await.context("expected the browser to end")??;
    Ok(took.as_secs_f64() * 1000.0)
}

async fn load(connection: &Connection, url: &str) -> Result<()> {
    let browser = connection.browser();
    let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
    let params = json!({ "targetId": made["targetId"], "flatten": true });
    let attached = browser.call("Target.attachToTarget", params).await?;
    let id: CdpSessionId = serde_json::from_value(attached["sessionId"].clone())?;
    let page = connection.session(id);
    while !complete(&page, url).await {
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

async fn complete(page: &CdpSession, url: &str) -> bool {
    let expression = format!("document.readyState === 'complete' && location.href === '{url}'");
    let params = json!({ "expression": expression, "returnByValue": true });
    let answer = page.call("Runtime.evaluate", params).await;
    answer.is_ok_and(|answer| answer["result"]["value"] == true)
}

/// A display without a screen.
struct Display(Child);

impl Display {
    fn start() -> Result<Self> {
        let server = Command::new("Xtigervnc")
            .args([DISPLAY, "-SecurityTypes", "None", "-rfbport", "-1", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start Xtigervnc")?;
        let display = Self(server);
        let socket = format!("/tmp/.X11-unix/X{}", &DISPLAY[1..]);
        let end = Instant::now() + LIMIT;
        while !Path::new(&socket).exists() {
            ensure!(Instant::now() < end, "expected a display at {socket}");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(display)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
