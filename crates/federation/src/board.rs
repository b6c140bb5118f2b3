//! The board: one session of shared work, with its agents, tasks and router, and what every door shows
//! of it.
//!
//! Its fields are those of the file. `rev` and `fence` are ours; fields that we do not know are kept.

use crate::task::{Stamp, Task};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// The largest whole number that every JSON reader keeps exact.
const LARGEST: u64 = 1 << 53;

/// What all agents see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// Names the session, as `sess-20260206-abc123`.
    pub session_id: String,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Stamp>,
    /// When it was last written; strictly increasing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Stamp>,
    /// Which agent began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What the work is about at present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprint: Option<String>,
    /// `active`, or `closed` once it is archived.
    #[serde(default = "active")]
    pub status: String,
    /// When it was archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Stamp>,
    /// Why it was archived: `closed`, `sprint ended`, `inactive` or `replaced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_because: Option<String>,
    /// Counts the operations of all boards of the folder.
    #[serde(default, deserialize_with = "exact")]
    pub rev: u64,
    /// The largest fencing number that was ever given.
    #[serde(default, deserialize_with = "exact")]
    pub fence: u64,
    /// Who takes part, by name.
    #[serde(default)]
    pub agents: BTreeMap<String, Agent>,
    /// What there is to do, and what was done, oldest first.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// The router of models that the agents tune.
    #[serde(default)]
    pub router: Router,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How models are chosen, and whether that must be measured again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Router {
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How often it chose well, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Its tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<i64>,
    /// Whether it changed since it was measured.
    #[serde(default)]
    pub pending_eval: bool,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Board {
    /// A board on which nothing happened yet.
    pub(crate) fn new(session_id: &str, owner: Option<String>, at: &Stamp) -> Self {
        Self {
            session_id: session_id.to_owned(),
            created_at: Some(at.clone()),
            updated_at: Some(at.clone()),
            owner,
            sprint: None,
            status: active(),
            closed_at: None,
            closed_because: None,
            rev: 0,
            fence: 0,
            agents: BTreeMap::new(),
            tasks: Vec::new(),
            router: Router::default(),
            other: Map::new(),
        }
    }

    /// The task with this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    pub(crate) fn task_mut(&mut self, id: &str) -> Option<&mut Task> {
        self.tasks.iter_mut().find(|task| task.id == id)
    }

    /// Whether it is archived.
    pub fn is_closed(&self) -> bool {
        self.status == "closed"
    }

    /// For which tasks this one waits: those that block it and are not completed.
    pub fn blockers<'a>(&'a self, task: &'a Task) -> Vec<&'a str> {
        let open = |id: &&str| self.task(id).is_some_and(|blocker| !blocker.is_completed());
        task.blocked_by.iter().map(String::as_str).filter(open).collect()
    }

    /// Whether the holder of a task was silent for longer than the lease of its claim (`gone_after`
    /// where a program without claims took it), so that others may take it.
    pub fn has_lapsed(&self, task: &Task, now: Timestamp, gone_after: SignedDuration) -> bool {
        let Some(holder) = task.holder() else { return false };
        let lease = task.claim.as_ref().map_or(gone_after, |claim| {
            SignedDuration::from_secs(i64::try_from(claim.lease_seconds).unwrap_or(i64::MAX))
        });
        let seen = self.agents.get(holder).and_then(|agent| agent.last_seen.as_ref());
        let seen = seen.and_then(Stamp::instant);
        let renewed = task.claim.as_ref().and_then(|claim| claim.seen.instant());
        seen.max(renewed).is_none_or(|seen| now.duration_since(seen) > lease)
    }

    /// When anything last happened on it.
    pub fn last_activity(&self) -> Option<Timestamp> {
        let seen = self.agents.values().filter_map(|agent| agent.last_seen.as_ref());
        let stamps = seen.chain(&self.updated_at).chain(&self.created_at);
        stamps.filter_map(Stamp::instant).max()
    }
}

fn active() -> String {
    "active".to_owned()
}

/// A counter that every JSON reader keeps exact.
fn exact<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    let found = u64::deserialize(reader)?;
    if found <= LARGEST {
        Ok(found)
    } else {
        Err(serde::de::Error::custom(format_args!(
            "expected a number up to {LARGEST}, found {found}"
        )))
    }
}

/// What an agent says of itself. No other agent writes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Agent {
    /// In a word of its own: `active`, `idle`, `standby`, `available` …
    #[serde(default)]
    pub status: String,
    /// What it works on, in a sentence.
    #[serde(default)]
    pub current_task: Option<String>,
    /// When it last did something on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Stamp>,
    /// The folder in which it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The model that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Agent {
    /// Whether it has not been seen for longer than `gone_after`.
    pub fn is_gone(&self, now: Timestamp, gone_after: SignedDuration) -> bool {
        let seen = self.last_seen.as_ref().and_then(Stamp::instant);
        seen.is_none_or(|seen| now.duration_since(seen) > gone_after)
    }
}

/// A board, and what is derived and never written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// What is in the file.
    #[serde(flatten)]
    pub board: Board,
    /// The agents that were not seen for a while.
    pub gone: Vec<String>,
    /// Tasks that wait for others, and for which.
    pub waiting: BTreeMap<String, Vec<String>>,
    /// Tasks whose holder is gone, so that others may take them.
    pub lapsed: Vec<String>,
}

impl View {
    /// The board at this instant.
    pub fn of(board: Board, now: Timestamp, gone_after: SignedDuration) -> Self {
        let gone = board.agents.iter().filter(|(_, agent)| agent.is_gone(now, gone_after));
        let gone = gone.map(|(name, _)| name.clone()).collect();
        let open: HashSet<&str> = board
            .tasks
            .iter()
            .filter(|task| !task.is_completed())
            .map(|task| task.id.as_str())
            .collect();
        let waiting = board.tasks.iter().filter(|task| !task.is_completed()).filter_map(|task| {
            let on = task.blocked_by.iter().filter(|id| open.contains(id.as_str()));
            let on: Vec<String> = on.cloned().collect();
            (!on.is_empty()).then(|| (task.id.clone(), on))
        });
        let waiting = waiting.collect();
        let lapsed = board.tasks.iter().filter(|task| board.has_lapsed(task, now, gone_after));
        let lapsed = lapsed.map(|task| task.id.clone()).collect();
        Self { board, gone, waiting, lapsed }
    }
}
