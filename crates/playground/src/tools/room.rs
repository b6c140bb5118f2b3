//! A room: a temporary folder that is home to one tool, and to whatever the tool starts; and the shelves from
//! which tools come, each filled once, however many ask for it at the same time.
//!
//! No process outlives a room: tools leave daemons behind, and those are found by the folder that stands in
//! their environment, and ended one by one, by their process ids.

use crate::victims;
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

/// How long what is killed may take to be gone.
const END_LIMIT: Duration = Duration::from_mins(1);
/// How often to look for processes: one that is being ended may start another.
const MAX_ROUNDS: usize = 10;
/// How much of what a tool says is read.
const MAX_OUTPUT: u64 = 16 << 20;

/// The home of one tool.
pub struct Room {
    folder: TempDir,
    programs: Vec<PathBuf>,
    settings: Vec<(OsString, OsString)>,
}

impl Drop for Room {
    /// A room that was not cleared, because its user failed, leaves no process behind either.
    fn drop(&mut self) {
        victims::naming(self.path()).into_iter().for_each(victims::kill);
    }
}

impl Room {
    /// An empty room.
    pub fn build() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("tool-").tempdir()?;
        Ok(Self { folder, programs: Vec::new(), settings: Vec::new() })
    }

    /// With the programs of a folder, before those that are there.
    #[must_use]
    pub fn with_programs(mut self, folder: &Path) -> Self {
        self.programs.insert(0, folder.to_owned());
        self
    }

    /// With a variable in the environment of every tool.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command that runs in the room, and finds nothing of anybody else's there.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = self.programs.iter().cloned().chain(std::env::split_paths(&paths));
        command
            .env_clear()
            .env("PATH", std::env::join_paths(paths)?)
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            // The usual port is for the developer who works on this machine.
            .env("BATON_LISTEN", "127.0.0.1:0")
            // What is not installed is not fetched on the way.
            .env("npm_config_offline", "true")
            .env("npm_config_update_notifier", "false")
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path());
        Ok(command)
    }

    /// Runs a command to its end, and returns what it wrote on stdout; a failure tells what it wrote on
    /// both. What it left running goes on: neither is a pipe that such a process would hold open.
    pub async fn run(&self, mut command: Command, limit: Duration) -> Result<String> {
        let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(errors.try_clone()?);
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        let process = command.kill_on_drop(true).spawn();
        let mut process = process.with_context(|| format!("could not start {name}"))?;
        let ended = timeout(limit, process.wait()).await;
        let (output, errors) = (read(&mut output)?, read(&mut errors)?);
        let said = [output.trim(), errors.trim()].join("\n");
        let Ok(status) = ended else {
            process.kill().await?;
            bail!("expected {name} to end within {limit:?}; it said: {}", said.trim());
        };
        let status = status?;
        ensure!(status.success(), "{name} failed with {status}: {}", said.trim());
        Ok(output)
    }

    /// Ends every process that still lives here.
    pub async fn empty(&self) -> Result<()> {
        for _ in 0..MAX_ROUNDS {
            let left: Vec<_> = victims::naming(self.path());
            if left.is_empty() {
                return Ok(());
            }
            left.iter().copied().for_each(victims::kill);
            let left: Vec<_> = left.into_iter().map(|pid| ("tool", pid)).collect();
            victims::wait_for_the_end(&left, END_LIMIT).await?;
        }
        bail!("expected nobody to live in {}, found some again and again", self.path().display())
    }

    /// Ends every process that still lives here, and removes the folder.
    pub async fn clear(self) -> Result<()> {
        self.empty().await
    }
}

/// What a process wrote into a file, from its beginning.
fn read(file: &mut File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How long one step of an installation may take.
const STEP_LIMIT: Duration = Duration::from_mins(3);
/// How long to wait for another installation of the same.
const LOCK_LIMIT: Duration = Duration::from_mins(7);
/// How often to look whether that is done.
const PAUSE: Duration = Duration::from_millis(50);

/// A folder of tools: its name under `target/tools`, and the files that say what belongs there.
pub(super) struct Shelf {
    pub(super) name: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
}

impl Shelf {
    /// Fills the folder by running `steps` in it, unless that was done for the same files and the
    /// same `base`, which is what else the result rests upon.
    pub(super) async fn fill(&self, base: &str, steps: Vec<Command>) -> Result<PathBuf> {
        let folder = root().join("target/tools").join(self.name);
        fs::create_dir_all(&folder)?;
        let _lock = lock(&folder.with_extension("lock")).await?;
        let mark = folder.join("installed");
        let wanted = self.files.iter().map(|(_, text)| *text).chain([base]).collect::<String>();
        if fs::read_to_string(&mark).is_ok_and(|found| found == wanted) {
            return Ok(folder);
        }
        fs::remove_dir_all(&folder)?;
        fs::create_dir_all(&folder)?;
        for (name, text) in self.files {
            fs::write(folder.join(name), text)?;
        }
        let room = Room::build()?;
        for mut step in steps {
            step.current_dir(&folder).env("TMPDIR", room.path());
            let done = room.run(step, STEP_LIMIT).await;
            done.with_context(|| format!("could not install the tools of {}", self.name))?;
        }
        room.clear().await?;
        fs::write(&mark, wanted)?;
        Ok(folder)
    }
}

/// Waits until nobody else has this lock; it is given back when the file is dropped, or its holder dies.
async fn lock(path: &Path) -> Result<File> {
    let file = File::create(path)?;
    let end = Instant::now() + LOCK_LIMIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                bail!("expected {} to be free within {LOCK_LIMIT:?}", path.display());
            }
            Err(TryLockError::WouldBlock) => sleep(PAUSE).await,
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(room: &Room, script: &str) -> Command {
        let mut shell = room.command("sh").unwrap();
        shell.args(["-c", script]);
        shell
    }

    #[tokio::test]
    async fn whoever_was_left_behind_is_ended_with_the_room() {
        let room = Room::build().unwrap().with("GREETING", "hello");
        let limit = Duration::from_secs(30);
        let left = "setsid sleep 600 > /dev/null & echo $GREETING $!";
        let said = room.run(shell(&room, left), limit).await.unwrap();
        let (greeting, pid) = said.trim().split_once(' ').unwrap();
        assert_eq!(greeting, "hello");
        assert!(victims::is_alive(pid.parse().unwrap()));
        let folder = room.path().to_owned();
        room.clear().await.unwrap();
        assert!(!victims::is_alive(pid.parse().unwrap()));
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_command_that_fails_or_does_not_end_says_what_it_said() {
        let room = Room::build().unwrap();
        let failing = shell(&room, "echo half; echo broken >&2; exit 3");
        let failed = room.run(failing, Duration::from_secs(30)).await.unwrap_err().to_string();
        assert!(failed.contains("exit status: 3: half\nbroken"), "{failed}");
        let endless = shell(&room, "echo begun; exec sleep 600");
        let late = room.run(endless, Duration::from_millis(300)).await.unwrap_err().to_string();
        assert!(late.starts_with("expected sh to end within 300ms"), "{late}");
        room.clear().await.unwrap();
    }
}
