//! Systems of their own, as folders: containers of buildah, which needs no service and no engine.
//!
//! They are made with what is in a folder of the test, and with Debian's packages. A container is the root folder of
//! its processes and nothing more; it has the network of who starts it.

use crate::vscode;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `Containerfile` begins with; it is made here.
pub(super) const DEBIAN: &str = "docker.io/library/debian:bookworm-slim";
/// Its release.
const RELEASE: &str = "bookworm";

/// Where images and containers are. They are gone with its folder.
pub(super) struct Containers {
    folder: PathBuf,
}

impl Containers {
    /// None yet, with Debian as the one image.
    pub(super) fn with_debian(folder: &Path) -> Result<Self> {
        let containers = Self { folder: folder.to_owned() };
        let root = folder.join("debian");
        fs::create_dir_all(&root)?;
        let mut make = Command::new("debootstrap");
        make.args(["--variant=minbase", RELEASE]).arg(&root).stdout(Stdio::null());
        vscode::run(&mut make)?;
        let scratch = containers.start("scratch")?;
        vscode::run(containers.command(&["add", "--quiet", &scratch]).arg(&root).arg("/"))?;
        containers.keep(&scratch, DEBIAN)?;
        fs::remove_dir_all(root)?;
        Ok(containers)
    }

    /// A command of buildah.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs", "--root"]).arg(self.folder.join("images"));
        command.arg("--runroot").arg(self.folder.join("run")).args(words);
        command.env("BUILDAH_ISOLATION", "chroot").stdin(Stdio::null());
        command
    }

    /// A new container of an image; answers its name.
    pub(super) fn start(&self, image: &str) -> Result<String> {
        let made = self.command(&["from", "--pull-never", image]).output()?;
        let said = String::from_utf8_lossy(&made.stderr);
        ensure!(made.status.success(), "expected a container of {image}, found none: {said}");
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }

    /// Makes an image of a container, which ends.
    pub(super) fn keep(&self, container: &str, image: &str) -> Result<()> {
        vscode::run(&mut self.command(&["commit", "--quiet", "--rm", container, image]))
    }

    /// A command in a container, with folders of this machine.
    pub(super) fn run(&self, container: &str, volumes: &[String], words: &[&str]) -> Command {
        let mut command = self.command(&["run"]);
        for volume in volumes {
            command.args(["--volume", volume]);
        }
        command.args([container, "--"]).args(words);
        command
    }

    /// Runs a script in a container; answers what it printed.
    pub(super) fn script(&self, container: &str, volumes: &[String], text: &str) -> Result<String> {
        eprintln!("in {container}$ {text}");
        let mut run = self.run(container, volumes, &["sh", "-euc", text]);
        let done = run.stderr(Stdio::inherit()).output().context("could not start buildah")?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        print!("{said}");
        ensure!(done.status.success(), "expected the script to succeed, found {}", done.status);
        Ok(said)
    }
}
