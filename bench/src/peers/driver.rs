//! The peers' drivers: each in a room of its own, one at a time, ended for certain.

use anyhow::{Context as _, Result};
use baton_playground::tools::Npm;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Playwright.
pub const PLAYWRIGHT: Peer =
    Peer { name: "Playwright", package: "playwright-core", script: "playwright.mjs" };
/// agent-browser, whose program is part of its package.
pub const AGENT_BROWSER: Peer =
    Peer { name: "agent-browser", package: "agent-browser", script: "agent-browser.mjs" };

/// How long a driver may take for one task.
const TASK_LIMIT: Duration = Duration::from_mins(4);
/// How much of a driver's reason to fail is told, in characters.
const MAX_REASON: usize = 200;

/// Another program that keeps state.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    name: &'static str,
    package: &'static str,
    script: &'static str,
}

/// The peers, installed.
pub struct Peers {
    npm: Npm,
    chromium: PathBuf,
}

impl Peers {
    /// Installs the peers, without running any script of theirs; quick when they are there.
    pub async fn install() -> Result<Self> {
        let chromium = find("chromium").context("expected the system's Chromium on the PATH")?;
        Ok(Self { npm: Npm::install().await?, chromium })
    }

    /// What people call a peer, and which of its versions is measured.
    pub fn title(&self, peer: Peer) -> Result<String> {
        Ok(format!("{} {}", peer.name, self.npm.version(peer.package)?))
    }

    /// Lets a peer's driver do a `job`, and returns what it found, or in a line why it found nothing:
    /// a peer that fails is a result like any other.
    pub async fn drive<T: DeserializeOwned>(&self, peer: Peer, job: Value) -> Result<T, String> {
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
        let room = self.npm.room()?;
        job["packages"] = self.npm.folder().to_string_lossy().into();
        job["chromium"] = self.chromium.to_string_lossy().into();
        job["folder"] = room.path().to_string_lossy().into();
        let mut node = room.command("node")?;
        node.arg(scripts().join(peer.script)).arg(job.to_string());
        let said = room.run(node, TASK_LIMIT).await;
        room.clear().await?;
        let said = said?;
        let last = said.lines().last().unwrap_or_default();
        serde_json::from_str(last).with_context(|| format!("expected an answer, found {last}"))
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
