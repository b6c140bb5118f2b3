//! Tests that look inside: writers that are killed between any two steps, in a folder with a clock
//! and dice of its own, and beside a program that knows nothing of us.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod any_order;
mod ending;

use crate::federation::Federation;
use crate::operation::{AgentName, Operation};
use crate::task::Priority;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(0) };
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// A clock that goes on by a millisecond whenever it is read.
pub(crate) fn clock() -> Timestamp {
    NOW.set(NOW.get() + 1_000);
    Timestamp::from_microsecond(NOW.get()).unwrap()
}

/// Lets time pass.
fn pass(time: SignedDuration) {
    NOW.set(NOW.get() + i64::try_from(time.as_micros()).unwrap());
}

/// Dice that fall alike in every run (`SplitMix64`).
fn random() -> u64 {
    SEED.set(SEED.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    let mut z = SEED.get();
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) struct World {
    folder: TempDir,
    pub(crate) board: Federation,
}

impl World {
    /// A folder in memory where there is one: nothing here is about power failures.
    pub(crate) fn new() -> Self {
        NOW.set(1_770_000_000_000_000);
        SEED.set(1);
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let board = Federation::at(folder.path(), clock, random);
        Self { folder, board }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("sessions/active-session.json")
    }

    /// What another program sees.
    fn raw(&self) -> Option<Value> {
        let bytes = std::fs::read(self.file()).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// Writes as the rule of the old design does: beside, and renamed.
    fn write_raw(&self, value: &Value) {
        let beside = self.file().with_extension("tmp");
        std::fs::create_dir_all(self.file().parent().unwrap()).unwrap();
        std::fs::write(&beside, serde_json::to_vec_pretty(value).unwrap()).unwrap();
        std::fs::rename(&beside, self.file()).unwrap();
    }
}

fn name(text: &str) -> AgentName {
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

/// An entry of a program that knows nothing of us.
fn entry(task: &str) -> Value {
    json!({ "status": "active", "current_task": task, "last_seen": clock().to_string() })
}
