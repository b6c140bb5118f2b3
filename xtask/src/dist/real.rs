//! `cargo xtask test --dist`: each package of `target/dist` is installed as a person would, with nothing from any
//! registry, and what is installed runs `baton demo`.
//!
//! Nothing of this machine's own is changed: each is installed below a temporary folder, which is its home, too.

use super::asked::{NODE_LIMIT, demo_took, wait_for};
use super::containers::Containers;
use super::given::VERSION;
use super::{bare, command, folder as packages, given, image, start_up};
use crate::setup::{self, on_path};
use crate::{cargo, vscode};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// A way in which people get the program.
struct InstallMethod {
    name: &'static str,
    /// Installs it below a folder; answers the programs that people then start.
    install: fn(&Path) -> Result<Vec<PathBuf>>,
}

const WAYS: [InstallMethod; 4] = [
    InstallMethod { name: "archive", install: unpack_archive },
    InstallMethod { name: "npm", install: install_npm },
    InstallMethod { name: "wheel", install: install_wheel },
    InstallMethod { name: "debian", install: unpack_debian },
];

/// Checks the sums, and then each way. On a `shared` machine what a start costs is told, and decides nothing.
pub(crate) fn run(shared: bool) -> Result<ExitCode> {
    setup::ensure(&[&setup::CHROMIUM, &setup::NODE, &setup::PYTHON])?;
    vscode::run(
        Command::new("sha256sum")
            .args(["--check", "--quiet", "SHA256SUMS"])
            .current_dir(packages()),
    )
    .context("expected the packages that `cargo xtask dist` makes in target/dist")?;
    let rooms = cargo::root().join("target/dist-installed");
    if rooms.exists() {
        fs::remove_dir_all(&rooms)?;
    }
    let (mut lines, mut holds) = (Vec::new(), true);
    for way in WAYS {
        println!("\n━━ {} ━━", way.name);
        if way.name == "debian" && on_path("dpkg-deb").is_none() {
            lines.push(format!("- {:<8} not run: this system has no dpkg-deb", way.name));
            continue;
        }
        let room = rooms.join(way.name);
        fs::create_dir_all(&room)?;
        let programs = (way.install)(&room)?;
        for program in &programs {
            passes_on(program, &room).with_context(|| program.display().to_string())?;
        }
        let program = programs.first().context("expected a program, found none")?;
        let seconds = demo(program, &room)?;
        lines.push(format!("✓ {:<8} the demo took {seconds} s", way.name));
        if way.name == "archive" {
            // A bound that does not hold keeps nobody from trying the other packages.
            let found = start_up::measure(program, &room)?;
            let mark = match found.holds() {
                true => "✓",
                false if shared => "-",
                false => "✗",
            };
            holds &= found.holds() || shared;
            lines.push(format!("{mark} start    {found}"));
        }
    }
    lines.extend(in_systems_of_their_own(&rooms.join("systems"))?);
    println!("\n━━ summary ━━\n{}", lines.join("\n"));
    fs::remove_dir_all(&rooms)?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tries the packages in a bare Debian, and the image, where this user may make them.
fn in_systems_of_their_own(room: &Path) -> Result<Vec<String>> {
    if !is_root()? {
        return Ok(vec!["- image    not run: making a system takes root".to_owned()]);
    }
    setup::ensure(&[&setup::CONTAINERS])?;
    fs::create_dir_all(room)?;
    let containers = Containers::with_debian(room)?;
    let mut lines = bare::try_each(&containers)?;
    lines.push(image::try_it(&containers, room)?);
    Ok(lines)
}

fn is_root() -> Result<bool> {
    let asked = Command::new("id").arg("-u").output()?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim() == "0")
}

fn unpack_archive(room: &Path) -> Result<Vec<PathBuf>> {
    let archive = given::archive()?;
    vscode::run(
        Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .args(["--strip-components", "1"])
            .arg("-C")
            .arg(room),
    )?;
    expect_files(room, &["man/man1/baton.1", "completions/_baton", "LICENSE-MIT", "README.md"])?;
    Ok(vec![room.join("baton")])
}

fn install_npm(room: &Path) -> Result<Vec<PathBuf>> {
    fs::write(room.join("package.json"), "{\"private\": true}")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund"]);
    vscode::run(npm.args(given::npm()?).current_dir(room).env("HOME", room))?;
    Ok(["baton-browser", "baton"].map(|name| room.join("node_modules/.bin").join(name)).into())
}

fn install_wheel(room: &Path) -> Result<Vec<PathBuf>> {
    let wheel = given::wheel()?;
    let venv = room.join("venv");
    vscode::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "--disable-pip-version-check", "install", "--no-index"]);
    vscode::run(pip.arg(wheel).env("HOME", room))?;
    let mut board = Command::new(venv.join("bin/python"));
    vscode::run(board.args(["-c", "import federation_sync"]).env("HOME", room))?;
    Ok(["baton-browser", "baton"].map(|name| venv.join("bin").join(name)).into())
}

fn unpack_debian(room: &Path) -> Result<Vec<PathBuf>> {
    let package = given::debian()?;
    vscode::run(Command::new("dpkg-deb").arg("--info").arg(&package))?;
    vscode::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(room))?;
    expect_files(
        room,
        &[
            "usr/share/man/man1/baton.1.gz",
            "usr/share/bash-completion/completions/baton",
            "usr/lib/systemd/system/baton.service",
            "usr/lib/sysusers.d/baton.conf",
            "usr/share/doc/baton-browser/copyright",
        ],
    )?;
    Ok(vec![room.join("usr/bin/baton")])
}

fn expect_files(room: &Path, files: &[&str]) -> Result<()> {
    let missing: Vec<&&str> = files.iter().filter(|file| !room.join(file).is_file()).collect();
    ensure!(missing.is_empty(), "expected {missing:?} in the package");
    Ok(())
}

/// Whether arguments, exit codes and signals come through to the program, and back.
fn passes_on(program: &Path, room: &Path) -> Result<()> {
    let said = command(program, room).arg("--version").output()?;
    let said = String::from_utf8_lossy(&said.stdout);
    ensure!(said.starts_with(&format!("baton {VERSION}")), "expected {VERSION}, found {said}");
    println!("{}", said.trim_end());
    let usage = command(program, room).arg("no-such-command").stderr(Stdio::null()).status()?;
    ensure!(usage.code() == Some(2), "expected 2 of a wrong command, found {usage}");
    let data = room.join("node");
    let mut node = command(program, room)
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data)
        .stderr(Stdio::null())
        .spawn()?;
    let started = wait_for(|| data.join("node.json").is_file().then_some(()));
    // `kill` of the system, for the one process that was started here.
    Command::new("kill").arg("-TERM").arg(node.id().to_string()).status()?;
    let ended = wait_for(|| node.try_wait().ok().flatten());
    if ended.is_none() {
        node.kill()?;
    }
    ensure!(started.is_some(), "expected a node within {NODE_LIMIT:?}, found none");
    let ended = ended.with_context(|| format!("expected its end within {NODE_LIMIT:?}"))?;
    ensure!(ended.success(), "expected a node to end well after SIGTERM, found {ended}");
    ensure!(!data.join("node.json").exists(), "expected the node to be gone, and it is not");
    Ok(())
}

/// Runs the demo; answers how long it took by its own clock, in seconds.
fn demo(program: &Path, room: &Path) -> Result<f64> {
    let mut demo = command(program, room);
    eprintln!("$ {} demo", program.display());
    let done = demo.arg("demo").stderr(Stdio::inherit()).output()?;
    let said = String::from_utf8_lossy(&done.stdout);
    print!("{said}");
    ensure!(done.status.success(), "expected the demo to succeed, found {}", done.status);
    demo_took(&said)
}
