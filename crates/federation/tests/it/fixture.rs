//! A board in a temporary folder, and short words for what is done with it.

use baton_federation::{
    AgentName, Done, Federation, FederationError, Held, Operation, Options, Priority,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Random enough for ids: time and a counter, mixed (`SplitMix64`).
pub(crate) fn random() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = u64::try_from(Timestamp::now().as_nanosecond() & i128::from(u64::MAX)).unwrap();
    let count = COUNT.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    let mut z = nanos ^ count ^ (u64::from(std::process::id()) << 40);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The board in a folder.
pub(crate) fn at(folder: &Path) -> Federation {
    Federation::at(folder, Timestamp::now, random)
}

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) board: Federation,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let board = at(&folder.path().join("federation"));
        Self { folder, board }
    }

    /// A folder in memory where there is one: for what is about many writers, not about the disk, whose
    /// syncs take longer than everything else together.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let board = at(&folder.path().join("federation"));
        Self { folder, board }
    }

    /// One whose agents are gone, or whose session is archived, after a moment.
    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let mut place = Self::new();
        let mut options = Options::default();
        change(&mut options);
        place.board = place.board.with_options(options);
        place
    }

    /// The same folder with agents that are gone at once.
    pub(crate) fn impatient(&self) -> Federation {
        let options = Options { gone_after: SignedDuration::ZERO, ..Options::default() };
        self.board.clone().with_options(options)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.board.folder().join(name)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path("sessions/active-session.json")
    }

    /// The file as another program sees it.
    pub(crate) fn raw(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.file()).unwrap()).unwrap()
    }

    /// Another program writes the file.
    pub(crate) fn write_raw(&self, value: &Value) {
        std::fs::create_dir_all(self.file().parent().unwrap()).unwrap();
        let beside = self.file().with_extension("tmp");
        std::fs::write(&beside, serde_json::to_vec_pretty(value).unwrap()).unwrap();
        std::fs::rename(beside, self.file()).unwrap();
    }

    pub(crate) fn add(&self, description: &str) -> String {
        self.board.write(&add(description)).unwrap().task.unwrap().id
    }

    /// The number of the claim.
    pub(crate) fn claim(&self, agent: &str, task: &str) -> u64 {
        let done = self.board.write(&claim(agent, Some(task))).unwrap();
        done.task.unwrap().fence().unwrap()
    }

    pub(crate) fn done(&self, operation: &Operation) -> Done {
        self.board.write(operation).unwrap()
    }

    /// Why an operation is refused, without what differs from run to run.
    pub(crate) fn refused(&self, operation: &Operation) -> String {
        self.tidy(&self.board.write(operation).unwrap_err())
    }

    pub(crate) fn tidy(&self, error: &FederationError) -> String {
        error.to_string().replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }

    /// Names and bytes of all files but the lock.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.board.folder().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false if path.ends_with(".baton-lock") => {}
                    false => found.push((path.clone(), std::fs::read(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }
}

pub(crate) fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

pub(crate) fn add(description: &str) -> Operation {
    Operation::AddTask {
        description: description.to_owned(),
        priority: Priority::Normal,
        agent: None,
        assigned_to: None,
        blocked_by: Vec::new(),
    }
}

pub(crate) fn update(agent: &str, task: &str) -> Operation {
    Operation::UpdateAgent {
        agent: name(agent),
        status: "active".to_owned(),
        current_task: Some(task.to_owned()),
        workspace: None,
        model: None,
    }
}

pub(crate) fn claim(agent: &str, task: Option<&str>) -> Operation {
    Operation::ClaimTask { agent: name(agent), task: task.map(ToOwned::to_owned) }
}

pub(crate) fn held(agent: &str, task: &str, fence: Option<u64>) -> Held {
    Held { agent: name(agent), task: task.to_owned(), fence }
}

pub(crate) fn complete(agent: &str, task: &str, fence: Option<u64>) -> Operation {
    Operation::CompleteTask(held(agent, task, fence))
}
