//! A task with its words and its instants, and the claim by which one agent has it.
//!
//! The one idea: *what another program wrote is kept as it is*. A word that we do not know is kept, and a
//! stamp that cannot be understood makes no board unreadable; it only counts as no time at all.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

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
    /// Its fencing number: each claim of the board gets a larger one, so a late holder is known as one.
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

/// An enum of words, with room for the words of others.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$word_doc])* $variant,)*
            /// A word of another program.
            Other(String),
        }

        impl $name {
            /// The word in the file.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl FromStr for $name {
            type Err = Infallible;

            fn from_str(word: &str) -> Result<Self, Infallible> {
                Ok(Self::from(word.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How far a task is. That one waits for others is derived, never written.
    TaskStatus {
        /// No agent has it.
        Pending "pending",
        /// An agent has it and has not begun.
        Claimed "claimed",
        /// An agent works on it.
        InProgress "in_progress",
        /// Done.
        Completed "completed",
    }
}

words! {
    /// How soon a task is wanted.
    Priority {
        /// When there is nothing else.
        Low "low",
        /// As it comes.
        Normal "normal",
        /// Before the others.
        High "high",
        /// Before everything.
        Urgent "urgent",
    }
}

impl Priority {
    /// The larger, the sooner. A word that we do not know counts as normal.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Low => 0,
            Self::Normal | Self::Other(_) => 1,
            Self::High => 2,
            Self::Urgent => 3,
        }
    }
}

/// An instant as it is in the board: RFC 3339, written with microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(String);

impl Stamp {
    /// The instant that the text means, if it means one. Without a zone it is taken for UTC.
    pub fn instant(&self) -> Option<Timestamp> {
        let with_zone = self.0.parse::<Timestamp>().ok();
        with_zone.or_else(|| {
            let local = self.0.parse::<DateTime>().ok()?;
            Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether one of two stamps says no more than the second in which the other one is.
pub(crate) fn is_in_the_second_of(one: Option<&Stamp>, other: Option<&Stamp>) -> bool {
    let instants = one.and_then(Stamp::instant).zip(other.and_then(Stamp::instant));
    instants.is_some_and(|(one, other)| {
        one.subsec_nanosecond() == 0 && one.as_second() == other.as_second()
    })
}

impl From<Timestamp> for Stamp {
    fn from(instant: Timestamp) -> Self {
        Self(instant.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The later of two stamps; one that means no instant is earlier than any other.
pub(crate) fn later(one: Option<&Stamp>, other: Option<&Stamp>) -> bool {
    one.and_then(Stamp::instant) > other.and_then(Stamp::instant)
}
