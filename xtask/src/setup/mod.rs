//! `cargo xtask setup`: makes sure that the programs are there which the demo and the tests start.
//!
//! It installs only where it can do so without a question: with apt, as root or through a `sudo`
//! that asks no password. Everywhere else it says exactly what to type, and fails. No service is
//! started by it: nginx and nats-server are only unpacked, below `target/tools`, where nextest is built.

use crate::cargo;
use anyhow::{Context as _, Result, bail};
pub(crate) use need::on_path;
pub(crate) use need::{
    AGE, C_COMPILER, CHROMIUM, CONTAINERS, DRIVER, FIREFOX, KEYRING, NATS, NETWORKS, NEXTEST,
    NGINX, NODE, Need, POSTGRESQL, PYTHON, SANDBOXES, VSCODE, ZIG,
};
use need::{INSTALLED, Source, shelf};
use std::process::{Command, ExitCode, Stdio};

mod need;

/// What the demo starts.
pub(crate) const DEMO: [&Need; 2] = [&C_COMPILER, &CHROMIUM];

/// What the soak starts.
pub(crate) const SOAK: [&Need; 3] = [&C_COMPILER, &NEXTEST, &CHROMIUM];

/// What makes the packages.
pub(crate) const DIST: [&Need; 4] = [&C_COMPILER, &NODE, &PYTHON, &ZIG];

/// What the tests start.
pub(crate) const TESTS: [&Need; 14] = [
    &C_COMPILER,
    &NEXTEST,
    &CHROMIUM,
    &DRIVER,
    &FIREFOX,
    &POSTGRESQL,
    &AGE,
    &NODE,
    &PYTHON,
    &KEYRING,
    &SANDBOXES,
    &NETWORKS,
    &NGINX,
    &NATS,
];

/// Install what the demo and the tests need: Chromium, PostgreSQL's server programs, age, Node, Python, a
/// keyring, what sandboxes and networks are made with, nginx, nats-server, a driver for Selenium, Firefox, a C
/// compiler. It starts no service: nginx and nats-server are only unpacked, below `target/tools`. nextest is built
/// there where it is missing.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only say what is there and what is missing; install nothing.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.check {
        let complete = missing(&TESTS).is_empty();
        return Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    ensure(&TESTS)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns when all `needs` are met; installs what is missing.
pub(crate) fn ensure(needs: &[&'static Need]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing)?;
    for need in missing {
        if need.find().is_none() {
            bail!("installed {}, but expected {} and found none", need.name, need.expected);
        }
    }
    Ok(())
}

/// Says of each need where it was found; returns the others.
fn missing(needs: &[&'static Need]) -> Vec<&'static Need> {
    let mut missing = Vec::new();
    for need in needs {
        if let Some(path) = need.find() {
            eprintln!("✓ {:<12} {}", need.name, path.display());
        } else {
            eprintln!("✗ {:<12} missing: {}, expected {}", need.name, need.purpose, need.expected);
            missing.push(*need);
        }
    }
    missing
}

/// Installs `missing` with apt where that needs no question; fails with instructions elsewhere.
pub(crate) fn install(missing: &[&Need]) -> Result<()> {
    let mut built = Vec::new();
    let mut packaged = Vec::new();
    let mut wheels = Vec::new();
    for need in missing {
        match need.way {
            Source::Built(package) => built.push((need, package)),
            Source::Wheels(requirements) => wheels.push((need, requirements)),
            Source::Installed | Source::Unpacked => packaged.push(*need),
        }
    }
    if !packaged.is_empty() {
        install_packaged(&packaged)?;
    }
    built.into_iter().try_for_each(|(need, package)| build(need, package))?;
    wheels.into_iter().try_for_each(|(need, requirements)| install_wheels(need, requirements))
}

fn install_packaged(missing: &[&Need]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("this system has no apt, please install it yourself:\n{}", elsewhere(missing));
    }
    if let Some(advice) = missing.iter().filter(|_| is_ubuntu()).find_map(|need| need.ubuntu) {
        bail!("{advice}");
    }
    let (unpacked, installed): (Vec<&Need>, Vec<&Need>) =
        missing.iter().copied().partition(|need| need.way == Source::Unpacked);
    let packages: Vec<&str> = installed.iter().flat_map(|need| need.apt).copied().collect();
    if !packages.is_empty() {
        install_packages(&packages)?;
    }
    unpacked.into_iter().try_for_each(unpack)
}

fn install_packages(packages: &[&str]) -> Result<()> {
    let Some(privilege) = privilege() else {
        bail!(
            "installing needs root, and sudo would ask for a password; please type\n  \
             sudo apt-get update && sudo apt-get install --yes {}",
            packages.join(" ")
        );
    };
    eprintln!("installing {} with apt-get", packages.join(", "));
    as_root(privilege, "apt-get", &["update"])?;
    as_root(privilege, "sh", &[&["-c", INSTALL, "sh"], packages].concat())
}

/// Installs packages, and has none of them start a service meanwhile: that is what Debian's `invoke-rc.d` asks
/// `policy-rc.d` about, and 101 forbids it. One that is there already is somebody's own, and stands.
const INSTALL: &str = r#"policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy" || exit
fi
apt-get install --yes --no-install-recommends "$@"
"#;

/// Unpacks the packages of a need below its shelf. Nothing of the system changes, and nobody needs a right.
fn unpack(need: &Need) -> Result<()> {
    let shelf = shelf(need.name);
    eprintln!("unpacking {} below {}", need.apt.join(", "), shelf.display());
    std::fs::create_dir_all(&shelf)?;
    let load =
        || must_run(Command::new("apt-get").arg("download").args(need.apt).current_dir(&shelf));
    if load().is_err() {
        let Some(privilege) = privilege() else {
            bail!("apt knows no such package yet, please type\n  sudo apt-get update");
        };
        as_root(privilege, "apt-get", &["update"])?;
        load()?;
    }
    for entry in std::fs::read_dir(&shelf)? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            must_run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&shelf))?;
            std::fs::remove_file(package)?;
        }
    }
    Ok(())
}

/// Builds a crate's programs below the shelf of a need. They run for seconds, so it is the build that is kept
/// short: without optimisation.
fn build(need: &Need, package: &str) -> Result<()> {
    let shelf = shelf(need.name);
    eprintln!("building {package} below {}, which takes some minutes once", shelf.display());
    let install = ["install", "--locked", "--debug", package, "--root"];
    must_run(cargo::cargo(&install).arg(shelf))
}

/// Installs wheels in an environment of Python's of their own; none is taken whose sum is another.
fn install_wheels(need: &Need, requirements: &str) -> Result<()> {
    let shelf = shelf(need.name);
    eprintln!("installing {} below {}", need.name, shelf.display());
    must_run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&shelf))?;
    let list = shelf.join("requirements.txt");
    std::fs::write(&list, requirements)?;
    let mut pip = Command::new(shelf.join("bin/python"));
    pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement"]).arg(&list);
    must_run(&mut pip)?;
    std::fs::rename(&list, shelf.join(INSTALLED))?;
    Ok(())
}

/// How we may change the system.
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

fn as_root(privilege: Privilege, program: &str, args: &[&str]) -> Result<()> {
    let mut command = match privilege {
        Privilege::Root => Command::new(program),
        Privilege::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "DEBIAN_FRONTEND=noninteractive", program]);
            sudo
        }
    };
    must_run(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn must_run(command: &mut Command) -> Result<()> {
    // What a package manager tells is not our output: a command's own document stays alone on stdout.
    command.stdout(std::io::stderr());
    let status = cargo::run(command)?;
    if !status.success() {
        bail!("expected {} to succeed, found {status}", cargo::shown(command));
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
