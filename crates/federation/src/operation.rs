//! What can be done with the board, as data, the bounds of what it may say and the names of those who do it;
//! and what an operation came to: a change with everything decided, ready to be logged and applied.
//!
//! The one idea: *a change can be applied again*. It names the task's id, the fencing number and the
//! instant, so a board that lost it is repaired by applying it once more, and a board that has it
//! stays as it is.

use crate::board::{Agent, Board};
use crate::error::Refusal;
use crate::task::{Claim, Priority, Stamp, Task, TaskStatus, is_in_the_second_of, later};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::collections::BTreeMap;
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

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The board's `rev` with it.
    pub(crate) rev: u64,
    /// Of which session's board.
    pub(crate) session: String,
    /// When it happened.
    pub(crate) at: Stamp,
    /// The board's counter of fencing numbers with it.
    pub(crate) fence: u64,
    /// Who acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// The task as it was before, where its own line may be missing in the log: another program may
    /// have added it, and may take it away again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Box<Task>>,
    /// What happened.
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// What happened to a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum Change {
    /// A session began.
    Begin { owner: Option<String> },
    /// Another program had begun a session, or one came back from a copy.
    Adopt,
    /// The agent that acted was seen.
    Seen,
    /// An agent said what it does.
    Update {
        agent: String,
        status: String,
        current_task: Option<String>,
        workspace: Option<String>,
        model: Option<String>,
    },
    /// A task came.
    Add { task: Box<Task> },
    /// An agent got a task.
    Claim { task: String, agent: String, number: u64, lease_seconds: u64 },
    /// Its holder began.
    Start(ClaimStep),
    /// Its holder is done.
    Complete(ClaimStep),
    /// Its holder gave it back.
    Release(ClaimStep),
    /// A task waits.
    Block { task: String, on: Vec<String> },
    /// The router is another one.
    Router { version: Option<String>, accuracy: Option<f64>, tier: Option<i64>, pending_eval: bool },
    /// The sprint has a name.
    Sprint { sprint: String, pending_eval: bool },
    /// The session ended.
    Close { because: String },
}

/// What a holder did: it is applied to the claim with this number, and to no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimStep {
    pub(crate) task: String,
    pub(crate) agent: String,
    /// None where a program without claims gave the task to the agent.
    pub(crate) number: Option<u64>,
}

impl Entry {
    /// Applies it. A board that has it already stays as it is.
    pub(crate) fn apply(&self, board: &mut Board) {
        if let Some(task) = &self.before
            && board.task(&task.id).is_none()
        {
            board.tasks.push(*task.clone());
        }
        self.change(board);
        self.note(board);
    }

    /// Applies it to a board that another program wrote without it, where the agents were `before`. What one
    /// of them said within the second of this, by a clock that knows no parts of it, was said after it: the
    /// program has seen what it wrote over.
    pub(crate) fn apply_again(&self, board: &mut Board, before: &BTreeMap<String, Agent>) {
        let said = match &self.change {
            Change::Update { agent, .. } => before.get(agent),
            _ => None,
        };
        let at = Some(&self.at);
        if said.is_some_and(|said| is_in_the_second_of(said.last_seen.as_ref(), at)) {
            self.note(board);
        } else {
            self.apply(board);
        }
    }

    /// The agent that did it was there, and the numbers of the board are those of it at least.
    fn note(&self, board: &mut Board) {
        if let Some(by) = &self.by {
            see(board, by, &self.at);
        }
        board.fence = board.fence.max(self.fence);
        board.rev = board.rev.max(self.rev);
    }

    fn change(&self, board: &mut Board) {
        match &self.change {
            Change::Update { agent, .. } => {
                self.update(board.agents.entry(agent.clone()).or_default());
            }
            Change::Add { task } if board.task(&task.id).is_none() => {
                board.tasks.push(*task.clone());
            }
            Change::Begin { .. } | Change::Adopt | Change::Seen | Change::Add { .. } => {}
            Change::Claim { task, agent, number, lease_seconds } => {
                if let Some(task) = board.task_mut(task) {
                    self.claim(task, agent, *number, *lease_seconds);
                }
            }
            Change::Start(step) => step.on(board, |task| {
                task.status = TaskStatus::InProgress;
                task.started_at.get_or_insert_with(|| self.at.clone());
            }),
            Change::Complete(step) => step.on(board, |task| {
                task.status = TaskStatus::Completed;
                task.assigned_to = Some(step.agent.clone());
                task.completed_at = Some(self.at.clone());
            }),
            Change::Release(step) => step.on(board, |task| {
                task.status = TaskStatus::Pending;
                (task.assigned_to, task.claim, task.started_at) = (None, None, None);
            }),
            Change::Block { task, on } => {
                if let Some(task) = board.task_mut(task) {
                    let new = on.iter().filter(|id| !task.blocked_by.contains(id)).cloned();
                    task.blocked_by.extend(new.collect::<Vec<_>>());
                }
            }
            Change::Router { version, accuracy, tier, pending_eval } => {
                let router = &mut board.router;
                router.version = version.clone().or(router.version.take());
                router.accuracy = accuracy.or(router.accuracy);
                router.tier = tier.or(router.tier);
                router.pending_eval = *pending_eval;
            }
            Change::Sprint { sprint, pending_eval } => {
                board.sprint = Some(sprint.clone());
                board.router.pending_eval = *pending_eval;
            }
            Change::Close { because } => {
                "closed".clone_into(&mut board.status);
                board.closed_at.get_or_insert_with(|| self.at.clone());
                board.closed_because.get_or_insert_with(|| because.clone());
            }
        }
    }

    /// The agent's own entry; what it said later counts.
    fn update(&self, entry: &mut Agent) {
        let Change::Update { status, current_task, workspace, model, .. } = &self.change else {
            return;
        };
        if later(entry.last_seen.as_ref(), Some(&self.at)) {
            return;
        }
        entry.status.clone_from(status);
        entry.current_task.clone_from(current_task);
        entry.workspace = workspace.clone().or(entry.workspace.take());
        entry.model = model.clone().or(entry.model.take());
        entry.last_seen = Some(self.at.clone());
    }

    /// A claim with a larger number remains; a task that is done stays done.
    fn claim(&self, task: &mut Task, agent: &str, number: u64, lease_seconds: u64) {
        if task.fence().is_some_and(|fence| fence >= number) {
            return;
        }
        let (since, seen) = (self.at.clone(), self.at.clone());
        let agent = agent.to_owned();
        if !task.is_completed() {
            task.status = TaskStatus::Claimed;
            task.started_at = None;
            task.assigned_to = Some(agent.clone());
        }
        let claim = Claim { agent, fence: number, since, seen, lease_seconds, other: Map::new() };
        task.claim = Some(claim);
    }
}

impl Change {
    /// The task that it changes, if its own line may be missing in the log.
    pub(crate) fn needs(&self) -> Option<&str> {
        match self {
            Self::Claim { task, .. } | Self::Block { task, .. } => Some(task),
            Self::Start(step) | Self::Complete(step) | Self::Release(step) => {
                step.number.is_none().then_some(&step.task)
            }
            _ => None,
        }
    }
}

impl ClaimStep {
    /// Changes the task if the claim is the one that is meant, and the task is open.
    fn on(&self, board: &mut Board, change: impl FnOnce(&mut Task)) {
        let Some(task) = board.task_mut(&self.task) else { return };
        let same_number = task.fence() == self.number;
        let given = self.number.is_some() || task.assigned_to.as_deref() == Some(&self.agent);
        if same_number && given && !task.is_completed() {
            change(task);
        }
    }
}

/// The agent that acts was there, and so were its claims.
fn see(board: &mut Board, by: &str, at: &Stamp) {
    let entry = board
        .agents
        .entry(by.to_owned())
        .or_insert_with(|| Agent { status: "active".to_owned(), ..Agent::default() });
    if later(Some(at), entry.last_seen.as_ref()) {
        entry.last_seen = Some(at.clone());
    }
    let claims = board.tasks.iter_mut().filter(|task| !task.is_completed());
    for claim in claims.filter_map(|task| task.claim.as_mut()).filter(|claim| claim.agent == by) {
        if later(Some(at), Some(&claim.seen)) {
            claim.seen = at.clone();
        }
    }
}
