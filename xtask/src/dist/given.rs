//! The packages of `target/dist` for this processor.

use super::folder;
use anyhow::{Result, bail};
use std::fs;
use std::path::PathBuf;

/// The version that all packages have.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether this processor is one of ARM's.
const ARM: bool = cfg!(target_arch = "aarch64");

/// The archive of the program.
pub(super) fn archive() -> Result<PathBuf> {
    package(&format!("-{}-unknown-linux-gnu.tar.gz", std::env::consts::ARCH))
}

/// npm's packages: the one of this processor, and the launcher.
pub(super) fn npm() -> Result<[PathBuf; 2]> {
    let processor = if ARM { "arm64" } else { "x64" };
    let own = package(&format!("baton-browser-linux-{processor}-{VERSION}.tgz"))?;
    Ok([own, package(&format!("baton-browser-{VERSION}.tgz"))?])
}

/// The wheel.
pub(super) fn wheel() -> Result<PathBuf> {
    package(&format!("_{}.whl", std::env::consts::ARCH))
}

/// The Debian package.
pub(super) fn debian() -> Result<PathBuf> {
    package(&format!("_{}.deb", if ARM { "arm64" } else { "amd64" }))
}

/// The one file in `target/dist` whose name ends so.
fn package(end: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder())? {
        let path = file?.path();
        if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    match <[PathBuf; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(found) => bail!("expected one file that ends in {end}, found {found:?}"),
    }
}
