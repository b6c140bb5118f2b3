//! Firebase's own SDK, as a page loads it: its login lives in IndexedDB.

use super::room::Shelf;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;
use tokio::process::Command;

/// The scripts alone: what else the package depends on is of use to those that bundle only.
const SDK: Shelf = Shelf { name: "firebase", files: &[("version", "13.2.0")] };
/// What a page loads, in this order.
const SCRIPTS: [&str; 2] = ["firebase-app-compat.js", "firebase-auth-compat.js"];

/// The SDK, installed.
pub struct Firebase {
    folder: PathBuf,
}

impl Firebase {
    /// Installs it; quick when it is there.
    pub async fn install() -> Result<Self> {
        let version = SDK.files[0].1;
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", &format!("firebase@{version}")]);
        let mut unpack = Command::new("tar");
        unpack.args(["-xzf", &format!("firebase-{version}.tgz")]);
        unpack.args(SCRIPTS.map(|name| format!("package/{name}")));
        Ok(Self { folder: SDK.fill("", vec![pack, unpack]).await? })
    }

    /// What a page loads, as one script.
    pub fn script(&self) -> Result<String> {
        let read = |name| {
            let path = self.folder.join("package").join(name);
            fs::read_to_string(&path).with_context(|| format!("expected {}", path.display()))
        };
        Ok(SCRIPTS.into_iter().map(read).collect::<Result<Vec<_>>>()?.join("\n"))
    }
}
