//! Installing something once, however many ask for it at the same time.

use super::room::Room;
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

/// How long one step of an installation may take.
const STEP_LIMIT: Duration = Duration::from_mins(3);
/// How long to wait for somebody else who installs the same.
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
