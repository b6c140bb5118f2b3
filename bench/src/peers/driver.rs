//! The peers' drivers: each in a room of its own, one at a time, ended for certain.

use anyhow::{Context as _, Result};
use baton_playground::tools::{Npm, Python};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    use super::{PEERS, scripts};

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
