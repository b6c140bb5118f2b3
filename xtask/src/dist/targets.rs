//! The targets that the program is built for, where Rust's library for them is installed.

use crate::cargo;
use std::path::PathBuf;
use std::process::Command;

/// The glibc that the program is linked against: that of Debian 10, RHEL 8, or something older than Ubuntu 20.04's.
/// `packages` checks it.
const GLIBC: &str = "2.28";

/// A kind of machine.
#[derive(Debug)]
pub(crate) struct Target {
    /// What Rust calls it.
    pub(crate) triple: &'static str,
}

/// Those with glibc, which all packages carry, and those without a C library of the machine, as archives alone.
pub(crate) static TARGETS: [Target; 4] = [
    Target { triple: "x86_64-unknown-linux-gnu" },
    Target { triple: "aarch64-unknown-linux-gnu" },
    Target { triple: "x86_64-unknown-linux-musl" },
    Target { triple: "aarch64-unknown-linux-musl" },
];

impl Target {
    /// Whether cargo can build for it here.
    pub(crate) fn is_installed(&self) -> bool {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let asked = rustc.args(["--print", "target-libdir", "--target", self.triple]).output();
        let folder = asked.ok().filter(|asked| asked.status.success());
        folder.is_some_and(|folder| {
            PathBuf::from(String::from_utf8_lossy(&folder.stdout).trim()).is_dir()
        })
    }

    /// What cargo-zigbuild is asked for.
    pub(crate) fn linked_as(&self) -> String {
        let suffix = if self.triple.ends_with("gnu") { format!(".{GLIBC}") } else { String::new() };
        format!("{}{suffix}", self.triple)
    }

    /// Where cargo puts the program.
    pub(crate) fn program(&self) -> PathBuf {
        cargo::target().join(self.triple).join("dist/baton")
    }
}
