//! Baton and its peers side by side: which kinds of state come back, and how long a restore takes.
//!
//! The one idea: everybody is measured in the same run, on the same machine, with the same browser and
//! the same site, and the site judges. The peers come from their registries, in pinned versions, and
//! each is used in all the ways that its documentation offers; its best one is told first. Their drivers run
//! each in a room of its own, one at a time, and are ended for certain.

mod kinds;
mod times;

use crate::report::{Section, Table};
use anyhow::{Context as _, Result};
use baton_playground::tools::{Npm, Python};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measures Baton and its peers; what cannot be installed is left out, and it is said.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    let peers = Peers::install().await;
    if let Err(reason) = &peers {
        println!("the peers are left out: {reason:#}");
    }
    let left_out =
        peers.as_ref().err().map(|reason| format!(" The peers are left out: {reason:#}."));
    let peers = peers.ok();
    let mut sections = [
        kinds::measure(baton, peers.as_ref()).await?,
        times::measure(baton, peers.as_ref()).await?,
    ];
    for section in &mut sections {
        section.method.push_str(left_out.as_deref().unwrap_or_default());
    }
    Ok(sections.into())
}

/// Where a session is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// With the profile that the killed browser left behind.
    Same,
    /// Without any profile, as on another machine.
    Fresh,
}

/// A section that holds tables alone.
fn section(title: &'static str, method: String, tables: Vec<Table>) -> Section {
    Section {
        title,
        method,
        comparisons: Vec::new(),
        figures: Vec::new(),
        medians: Vec::new(),
        tables,
    }
}

/// What the page calls a way of a tool.
fn name(title: &str, way: &str) -> String {
    format!("{title}: {way}")
}

/// Which of the ways are the best of their tool: of equal ones, the first. A tool is what stands before
/// the colon, and who has no result is never best.
fn best<T>(ways: &[(&str, Option<T>)], compare: impl Fn(&T, &T) -> Ordering) -> Vec<bool> {
    let tool = |at: usize| ways[at].0.split(": ").next();
    let beats = |one: usize, other: usize| match (&ways[one].1, &ways[other].1) {
        (Some(found), Some(than)) => match compare(found, than) {
            Ordering::Greater => true,
            Ordering::Equal => one < other,
            Ordering::Less => false,
        },
        (found, _) => found.is_some(),
    };
    let others = |at: usize| (0..ways.len()).filter(move |other| *other != at);
    (0..ways.len())
        .map(|at| {
            ways[at].1.is_some()
                && others(at).filter(|other| tool(*other) == tool(at)).all(|other| beats(at, other))
        })
        .collect()
}

/// A cell, in bold where it is of a best way.
fn cell(text: &str, is_best: bool) -> String {
    if is_best { format!("**{text}**") } else { text.to_owned() }
}

/// Playwright.
const PLAYWRIGHT: Peer = Peer {
    name: "Playwright",
    package: "playwright-core",
    script: "playwright.mjs",
    keeps: &[
        "storageState()",
        "storageState({ indexedDB: true })",
        "storageState({ indexedDB: true, opfs: true, credentials: true })",
        "launchPersistentContext(), closed gracefully",
    ],
    restores: &["newContext({ storageState })", "launchPersistentContext()"],
};
/// agent-browser, whose program is part of its package.
const AGENT_BROWSER: Peer = Peer {
    name: "agent-browser",
    package: "agent-browser",
    script: "agent-browser.mjs",
    keeps: &["state save, --state", "--restore, closed gracefully", "--profile, closed gracefully"],
    restores: &["--state", "--restore", "--profile"],
};
/// browser-use, the only one in Python.
const BROWSER_USE: Peer = Peer {
    name: "browser-use",
    package: "browser-use",
    script: "browser-use.py",
    keeps: &["storage_state, kill()", "user_data_dir, kill()", "user_data_dir, Browser.close()"],
    restores: &["storage_state", "user_data_dir"],
};
/// The MCP server of Chrome's developers.
const CHROME_DEVTOOLS_MCP: Peer = Peer {
    name: "chrome-devtools-mcp",
    package: "chrome-devtools-mcp",
    script: "chrome-devtools-mcp.mjs",
    keeps: &[
        "--user-data-dir, closed gracefully",
        "--user-data-dir, killed at once",
        "--user-data-dir, killed after a minute",
    ],
    restores: &["--user-data-dir"],
};

/// All that are measured beside Baton.
pub const PEERS: [Peer; 4] = [PLAYWRIGHT, AGENT_BROWSER, BROWSER_USE, CHROME_DEVTOOLS_MCP];

/// How long a driver may take for one task.
const TASK_LIMIT: Duration = Duration::from_mins(4);
/// How much of a driver's reason to fail is told, in characters.
const MAX_REASON: usize = 200;

/// Another program that keeps state.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// What people call it.
    pub name: &'static str,
    package: &'static str,
    script: &'static str,
    /// Its ways of keeping state, as its documentation calls them.
    pub keeps: &'static [&'static str],
    /// Its ways of bringing a large state back.
    pub restores: &'static [&'static str],
}

/// The peers, installed.
pub struct Peers {
    npm: Npm,
    python: Python,
    chromium: PathBuf,
}

impl Peers {
    /// Installs the peers, without running any script of theirs; quick when they are there.
    pub async fn install() -> Result<Self> {
        let chromium = find("chromium").context("expected the system's Chromium on the PATH")?;
        Ok(Self { npm: Npm::install().await?, python: Python::install().await?, chromium })
    }

    /// What people call a peer, and which of its versions is measured.
    pub fn title(&self, peer: Peer) -> Result<String> {
        let version = if peer.is_in_python() {
            self.python.version(peer.package)?
        } else {
            self.npm.version(peer.package)?
        };
        Ok(format!("{} {version}", peer.name))
    }

    /// How long a browser takes that is started without any state, as its driver measures it.
    pub async fn start_bare<T: DeserializeOwned>(&self, job: Value) -> Result<T, String> {
        self.drive(PLAYWRIGHT, "bare", "newContext()", job).await
    }

    /// Lets a peer's driver do a `job` in one of the peer's ways, and returns what it found, or in a line
    /// why it found nothing: a peer that fails is a result like any other.
    pub async fn drive<T: DeserializeOwned>(
        &self,
        peer: Peer,
        task: &str,
        way: &str,
        mut job: Value,
    ) -> Result<T, String> {
        job["task"] = task.into();
        job["way"] = way.into();
        let found = self.answer(peer, job).await;
        found.map_err(|error| {
            println!("the driver of {} failed: {error:#}", peer.name);
            let reason = format!("{error:#}").replace('|', "/");
            let line: String =
                reason.lines().next().unwrap_or_default().chars().take(MAX_REASON).collect();
            format!("failed: {line}")
        })
    }

    async fn answer<T: DeserializeOwned>(&self, peer: Peer, mut job: Value) -> Result<T> {
        let room = self.python.beside(self.npm.room()?);
        if job["state"].is_object() {
            // An argument has no room for it.
            let file = room.path().join("large.json");
            std::fs::write(&file, job["state"].to_string())?;
            job["state"] = file.to_string_lossy().into();
        }
        job["packages"] = self.npm.folder().to_string_lossy().into();
        job["chromium"] = self.chromium.to_string_lossy().into();
        job["folder"] = room.path().to_string_lossy().into();
        let mut driver = room.command(if peer.is_in_python() { "python" } else { "node" })?;
        driver.arg(scripts().join(peer.script)).arg(job.to_string());
        let said = room.run(driver, TASK_LIMIT).await;
        room.clear().await?;
        let said = said?;
        let last = said.lines().last().unwrap_or_default();
        serde_json::from_str(last).with_context(|| format!("expected an answer, found {last}"))
    }
}

impl Peer {
    fn is_in_python(self) -> bool {
        Path::new(self.script).extension().is_some_and(|extension| extension == "py")
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Where the drivers are.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

#[cfg(test)]
mod tests {
    use super::{PEERS, best, kinds, scripts, times};

    /// The first cells of the rows of a section's first table, without versions and bold type.
    fn rows(heading: &str, column: usize) -> Vec<String> {
        let page = include_str!("../../../docs/reference/peers.md");
        let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
        let table = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|')).skip(2);
        rows.map(|row| {
            let cell = row.split(" | ").nth(column).unwrap();
            let cell = cell.trim_start_matches("| ").replace("**", "");
            match cell.split_once(": ") {
                Some((title, way)) => {
                    let is_version =
                        |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
                    let versioned = title.rsplit_once(' ').filter(|(_, last)| is_version(last));
                    format!("{}: {way}", versioned.map_or(title, |(name, _)| name))
                }
                None => cell,
            }
        })
        .collect()
    }

    #[test]
    fn the_page_has_a_row_for_every_way_and_no_other() {
        assert_eq!(rows("Kinds of state kept", 1), kinds::ways());
        assert_eq!(rows("Time of a restore", 0), times::ways());
    }

    #[test]
    fn the_best_way_of_each_tool_is_the_first_of_the_largest() {
        let ways = [
            ("One 1.0: a", Some(3)),
            ("One 1.0: b", Some(5)),
            ("One 1.0: c", Some(5)),
            ("Two 2.0: a", None),
            ("Two 2.0: b", Some(1)),
            ("Three 3.0: a", None),
        ];
        assert_eq!(best(&ways, Ord::cmp), [false, true, false, false, true, false]);
    }

    #[test]
    fn every_driver_knows_the_ways_of_its_peer() {
        for peer in PEERS {
            let script = std::fs::read_to_string(scripts().join(peer.script)).unwrap();
            for way in [peer.keeps, peer.restores].concat() {
                let known = format!("\"{way}\":");
                assert!(script.contains(&known), "expected {known} in {}", peer.script);
            }
        }
    }
}
