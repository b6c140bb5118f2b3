//! A task, and the claim by which one agent has it.

use crate::stamp::Stamp;
use crate::words::{Priority, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// `task-` and six letters or digits; another program may use other ids.
    pub id: String,
    /// What is to be done.
    #[serde(default)]
    pub description: String,
    /// Who has it, or, as long as it is pending, for whom it is meant.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// How far it is.
    #[serde(default = "pending")]
    pub status: TaskStatus,
    /// How soon it is wanted.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// When it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Stamp>,
    /// Who added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When work on it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Stamp>,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Stamp>,
    /// The tasks that must be completed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// By which it is held, or was when it was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The right of one agent to work on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Who has it.
    pub agent: String,
    /// Its fencing number: each claim of the board gets a larger one, so a late holder is told apart.
    pub fence: u64,
    /// Since when.
    pub since: Stamp,
    /// When its holder was last seen.
    pub seen: Stamp,
    /// How long the holder may be silent before others may take the task.
    pub lease_seconds: u64,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Task {
    /// Who has it: by a claim, or because a program without claims says so.
    pub fn holder(&self) -> Option<&str> {
        match self.status {
            TaskStatus::Claimed | TaskStatus::InProgress => self
                .claim
                .as_ref()
                .map(|claim| claim.agent.as_str())
                .or(self.assigned_to.as_deref()),
            _ => None,
        }
    }

    /// The fencing number of its claim.
    pub fn fence(&self) -> Option<u64> {
        self.claim.as_ref().map(|claim| claim.fence)
    }

    /// Whether it is done.
    pub fn is_completed(&self) -> bool {
        self.status == TaskStatus::Completed
    }
}

fn pending() -> TaskStatus {
    TaskStatus::Pending
}

fn normal() -> Priority {
    Priority::Normal
}
