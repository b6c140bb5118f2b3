//! What can be done with the board, as data, and the bounds of what it may say; and the names of those
//! who do it.

use crate::refusal::Refusal;
use crate::task::Priority;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The longest text of a task, a status, a sprint and so on, in bytes.
const LONGEST_TEXT: usize = 4096;
/// How many tasks one call may name.
const MOST_BLOCKERS: usize = 100;

/// One thing to do. The agent that acts is seen by it, and so keeps its claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    /// Say what an agent does. Its own entry only.
    UpdateAgent {
        /// Whose entry.
        agent: AgentName,
        /// `active`, `idle` … in a word of its own.
        status: String,
        /// What it works on; none clears what was there.
        current_task: Option<String>,
        /// Its folder; none leaves what was there.
        workspace: Option<String>,
        /// Its model; none leaves what was there.
        model: Option<String>,
    },
    /// Be seen, and nothing else.
    Heartbeat {
        /// Who is there.
        agent: AgentName,
    },
    /// Add something to do.
    AddTask {
        /// What.
        description: String,
        /// How soon.
        priority: Priority,
        /// Who adds it.
        agent: Option<AgentName>,
        /// For which agent only.
        assigned_to: Option<AgentName>,
        /// After which tasks.
        blocked_by: Vec<String>,
    },
    /// Take a task; exactly one agent gets it. Its holder keeps it.
    ClaimTask {
        /// Who takes it.
        agent: AgentName,
        /// Which; none takes the best that is free: the highest priority, then the oldest.
        task: Option<String>,
    },
    /// Begin to work on a claimed task.
    StartTask(Held),
    /// Say that a claimed task is done.
    CompleteTask(Held),
    /// Give a claimed task back.
    ReleaseTask(Held),
    /// Let a task wait for others.
    BlockTask {
        /// Who says so.
        agent: Option<AgentName>,
        /// Which waits.
        task: String,
        /// For which.
        on: Vec<String>,
    },
    /// Say what the router is now. What is none stays. A new version is to be measured again; an
    /// accuracy without one says that it was.
    SetRouter {
        /// Who says so.
        agent: Option<AgentName>,
        /// Its version.
        version: Option<String>,
        /// How often it chose well, from 0 to 1.
        accuracy: Option<f64>,
        /// Its tier.
        tier: Option<i64>,
    },
    /// Name the sprint.
    SetSprint {
        /// Who says so.
        agent: Option<AgentName>,
        /// What it is called.
        sprint: String,
    },
    /// End the sprint: the session is archived.
    EndSprint {
        /// Who says so.
        agent: Option<AgentName>,
    },
    /// Close the session: it is archived.
    Close {
        /// Who says so.
        agent: Option<AgentName>,
    },
}

/// What the holder of a task does with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Who holds it.
    pub agent: AgentName,
    /// Which task.
    pub task: String,
    /// The fencing number that the claim gave; when it is given it must be that of the claim.
    pub fence: Option<u64>,
}

impl Operation {
    /// Who acts.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::UpdateAgent { agent, .. }
            | Self::Heartbeat { agent }
            | Self::ClaimTask { agent, .. } => Some(agent),
            Self::StartTask(held) | Self::CompleteTask(held) | Self::ReleaseTask(held) => {
                Some(&held.agent)
            }
            Self::AddTask { agent, .. }
            | Self::BlockTask { agent, .. }
            | Self::SetRouter { agent, .. }
            | Self::SetSprint { agent, .. }
            | Self::EndSprint { agent }
            | Self::Close { agent } => agent.as_ref(),
        }
    }

    /// Whether it makes sense without a session: then it begins one.
    pub(crate) fn begins_a_session(&self) -> bool {
        matches!(
            self,
            Self::UpdateAgent { .. }
                | Self::Heartbeat { .. }
                | Self::AddTask { .. }
                | Self::SetRouter { .. }
                | Self::SetSprint { .. }
        )
    }

    /// Whether what it says is within the bounds.
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        match self {
            Self::UpdateAgent { status, current_task, workspace, model, .. } => {
                needed("a status", status)?;
                let optional = [current_task, workspace, model].into_iter().flatten();
                optional.into_iter().try_for_each(|text| short("a text of an agent", text))
            }
            Self::AddTask { description, priority, blocked_by, .. } => {
                needed("the text of a task", description)?;
                needed("a priority", priority.as_str())?;
                few(blocked_by)
            }
            Self::BlockTask { on, .. } => few(on),
            Self::SetRouter { version, accuracy, .. } => {
                version.as_deref().map_or(Ok(()), |text| needed("a version", text))?;
                match accuracy {
                    Some(found) if !(0.0..=1.0).contains(found) => {
                        Err(Refusal::NotAnAccuracy { found: *found })
                    }
                    _ => Ok(()),
                }
            }
            Self::SetSprint { sprint, .. } => needed("the name of a sprint", sprint),
            _ => Ok(()),
        }
    }
}

fn needed(what: &'static str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() { Err(Refusal::Empty { what }) } else { short(what, text) }
}

fn short(what: &'static str, text: &str) -> Result<(), Refusal> {
    if text.len() > LONGEST_TEXT {
        Err(Refusal::TooLong { what, most: LONGEST_TEXT, found: text.len() })
    } else {
        Ok(())
    }
}

fn few(tasks: &[String]) -> Result<(), Refusal> {
    if tasks.len() > MOST_BLOCKERS {
        Err(Refusal::TooManyNamed { most: MOST_BLOCKERS, found: tasks.len() })
    } else {
        Ok(())
    }
}

/// The longest name.
const LONGEST: usize = 64;

/// The name of an agent, which becomes the name of a file and so can never be a path: 1 to 64 of `A-Z a-z 0-9 . _ -`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let good = (1..=LONGEST).contains(&text.len()) && text.bytes().all(fits);
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(Refusal::NotAName { found: text.chars().take(LONGEST).collect() })
        }
    }
}

impl TryFrom<String> for AgentName {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
