//! Installing what is missing, or saying exactly how.

use super::need::{Need, on_path};
use crate::cargo;
use anyhow::{Context as _, Result, bail};
use std::process::{Command, Stdio};

/// Installs `missing` with apt where that needs no question; fails with instructions elsewhere.
pub(crate) fn install(missing: &[&Need]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("this system has no apt, please install it yourself:\n{}", elsewhere(missing));
    }
    if let Some(advice) = missing.iter().filter(|_| is_ubuntu()).find_map(|need| need.ubuntu) {
        bail!("{advice}");
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.apt).copied().collect();
    let Some(privilege) = privilege() else {
        bail!(
            "installing needs root, and sudo would ask for a password; please type\n  \
             sudo apt-get update && sudo apt-get install --yes {}",
            packages.join(" ")
        );
    };
    eprintln!("installing {} with apt-get", packages.join(", "));
    apt(privilege, &["update"])?;
    apt(privilege, &[&["install", "--yes", "--no-install-recommends"], &*packages].concat())
}

/// How we may run apt.
#[derive(Clone, Copy)]
enum Privilege {
    Root,
    Sudo,
}

/// Root's own right, or a sudo that asks nothing; none otherwise.
fn privilege() -> Option<Privilege> {
    let quiet = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
    };
    let root = quiet("id", &["-u"]).is_some_and(|id| id.stdout.trim_ascii() == b"0");
    let sudo = || quiet("sudo", &["-n", "true"]).is_some_and(|done| done.status.success());
    if root {
        Some(Privilege::Root)
    } else if sudo() {
        Some(Privilege::Sudo)
    } else {
        None
    }
}

fn apt(privilege: Privilege, args: &[&str]) -> Result<()> {
    let mut command = match privilege {
        Privilege::Root => Command::new("apt-get"),
        Privilege::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
            sudo
        }
    };
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    // What a package manager tells is not our output: a command's own document stays alone on stdout.
    command.stdout(std::io::stderr());
    let status = cargo::run(&mut command)?;
    if !status.success() {
        bail!("expected {} to succeed, found {status}", cargo::shown(&command));
    }
    Ok(())
}

fn is_ubuntu() -> bool {
    std::fs::read_to_string("/etc/os-release")
        .context("no os-release")
        .is_ok_and(|text| text.lines().any(|line| matches!(line, "ID=ubuntu" | "ID=\"ubuntu\"")))
}

/// One line a need and system, for those who install by hand.
fn elsewhere(missing: &[&Need]) -> String {
    let mut lines = Vec::new();
    for need in missing {
        lines.push(format!("{} ({})", need.name, need.expected));
        for (system, command) in [("Fedora", need.dnf), ("Arch", need.pacman), ("macOS", need.brew)]
        {
            lines.push(format!("  {system:<7} {command}"));
        }
    }
    lines.join("\n")
}
