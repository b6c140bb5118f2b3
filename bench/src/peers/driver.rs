//! The peers' drivers: installed into a folder for such things, run one at a time, ended for certain.

use anyhow::{Context as _, Result, bail, ensure};
use baton_playground::victims;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

/// Playwright.
pub const PLAYWRIGHT: Peer = Peer {
    name: "Playwright",
    version: "1.65.1",
    package: "playwright-core",
    script: "playwright.mjs",
    file: "package.json",
};
/// agent-browser, whose program is part of its package.
pub const AGENT_BROWSER: Peer = Peer {
    name: "agent-browser",
    version: "0.41.2",
    package: "agent-browser",
    script: "agent-browser.mjs",
    file: if cfg!(target_arch = "aarch64") {
        "bin/agent-browser-linux-arm64"
    } else {
        "bin/agent-browser-linux-x64"
    },
};

const PEERS: [Peer; 2] = [PLAYWRIGHT, AGENT_BROWSER];
/// How long the installation may take.
const INSTALL_LIMIT: Duration = Duration::from_mins(3);
/// How long a driver may take for one task.
const TASK_LIMIT: Duration = Duration::from_mins(4);

/// Another program that keeps state.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// What people call it.
    pub name: &'static str,
    /// Which of its versions is measured.
    pub version: &'static str,
    package: &'static str,
    script: &'static str,
    /// What must be there when it is installed.
    file: &'static str,
}

/// The peers, installed.
pub struct Peers {
    packages: PathBuf,
    chromium: PathBuf,
}

impl Peers {
    /// Installs the peers, without running any script of theirs; quick when they are there.
    pub async fn install() -> Result<Self> {
        let chromium = find("chromium").context("expected the system's Chromium on the PATH")?;
        find("node").context("expected Node on the PATH")?;
        let packages = root().join("target/peers");
        fs::create_dir_all(&packages)?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-save",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--prefix",
        ])
        .arg(&packages)
        .args(PEERS.map(|peer| format!("{}@{}", peer.package, peer.version)));
        let output = run(&mut npm, INSTALL_LIMIT).await.context("npm could not be run")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "npm could not install them: {}", said.trim());
        for peer in PEERS {
            let path = packages.join("node_modules").join(peer.package).join(peer.file);
            ensure!(path.exists(), "expected {} to bring {}, found nothing", peer.name, peer.file);
        }
        make_executable(&packages.join("node_modules/agent-browser").join(AGENT_BROWSER.file))?;
        Ok(Self { packages, chromium })
    }

    /// Lets a peer's driver do a `job`, and returns what it found.
    pub async fn drive<T: DeserializeOwned>(&self, peer: Peer, mut job: Value) -> Result<T> {
        let folder = tempfile::Builder::new().prefix("peer-").tempdir()?;
        job["packages"] = self.packages.to_string_lossy().into();
        job["chromium"] = self.chromium.to_string_lossy().into();
        job["folder"] = folder.path().to_string_lossy().into();
        let mut node = Command::new("node");
        node.arg(root().join("bench/peers").join(peer.script))
            .arg(job.to_string())
            .env("TMPDIR", folder.path());
        let output = run(&mut node, TASK_LIMIT).await;
        end_all(&folder).await?;
        let output = output.with_context(|| format!("the driver of {} did not end", peer.name))?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("{} failed: {}", peer.name, String::from_utf8_lossy(&output.stderr).trim());
        }
        let last = said.lines().last().unwrap_or_default();
        serde_json::from_str(last).with_context(|| format!("expected an answer, found {last}"))
    }
}

async fn run(command: &mut Command, limit: Duration) -> Result<Output> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    timeout(limit, output)
        .await
        .with_context(|| format!("it took longer than {limit:?}"))?
        .map_err(Into::into)
}

/// Ends whatever a driver left behind: what names its folder, by its process id.
async fn end_all(folder: &TempDir) -> Result<()> {
    let name = folder.path().to_string_lossy().into_owned();
    let mut left = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let mentions = |file| {
            let text = fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(&name)
        };
        if mentions("cmdline") || mentions("environ") {
            left.push(("peer", pid));
        }
    }
    for process in left {
        // It may be gone already, with one that was ended before it.
        let _ = victims::kill_all(&[process]).await;
    }
    Ok(())
}

fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
