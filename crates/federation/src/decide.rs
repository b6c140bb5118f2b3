//! From an operation to a change: pure, and the only place that refuses.
//!
//! Exactly one agent gets a task, by the next fencing number; only its holder does something with it, and
//! nothing waits for itself.

use crate::board::Board;
use crate::error::Refusal;
use crate::operation::{Change, ClaimStep, Held, Operation};
use crate::task::{Priority, Stamp, Task, TaskStatus};
use jiff::{SignedDuration, Timestamp};
use serde_json::Map;
use std::collections::HashSet;

/// How many tasks fit on a board.
const MOST_TASKS: usize = 10_000;

/// What a decision may know beside the board.
pub(crate) struct Moment<'a> {
    pub(crate) now: Timestamp,
    /// After how long an agent counts as gone.
    pub(crate) gone_after: SignedDuration,
    /// Random numbers.
    pub(crate) random: &'a mut dyn FnMut() -> u64,
}

/// A change, and the task that it is about.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) change: Change,
    pub(crate) task: Option<String>,
}

impl From<Change> for Decision {
    fn from(change: Change) -> Self {
        Self { change, task: None }
    }
}

/// What the operation comes to on this board.
pub(crate) fn decide(
    operation: &Operation,
    board: &Board,
    moment: &mut Moment,
) -> Result<Decision, Refusal> {
    operation.validate()?;
    Ok(match operation {
        Operation::UpdateAgent { agent, status, current_task, workspace, model } => {
            Change::Update {
                agent: agent.to_string(),
                status: status.clone(),
                current_task: current_task.clone(),
                workspace: workspace.clone(),
                model: model.clone(),
            }
            .into()
        }
        Operation::Heartbeat { .. } => Change::Seen.into(),
        Operation::AddTask { .. } => add(operation, board, moment)?,
        Operation::ClaimTask { agent, task: Some(id) } => {
            claim_one(board, find(board, id)?, agent.as_str(), moment)?
        }
        Operation::ClaimTask { agent, task: None } => claim_best(board, agent.as_str(), moment)?,
        Operation::StartTask(held) => step(board, held, Change::Start)?,
        Operation::CompleteTask(held) => step(board, held, Change::Complete)?,
        Operation::ReleaseTask(held) => step(board, held, Change::Release)?,
        Operation::BlockTask { task, on, .. } => block(board, task, on)?,
        Operation::SetRouter { version, accuracy, tier, .. } => {
            let is_new = version.is_some() && *version != board.router.version;
            let was_measured = accuracy.is_some();
            Change::Router {
                version: version.clone(),
                accuracy: *accuracy,
                tier: *tier,
                pending_eval: is_new || (board.router.pending_eval && !was_measured),
            }
            .into()
        }
        Operation::SetSprint { sprint, .. } => {
            let is_new = board.sprint.as_ref() != Some(sprint);
            let pending_eval = is_new || board.router.pending_eval;
            Change::Sprint { sprint: sprint.clone(), pending_eval }.into()
        }
        Operation::EndSprint { .. } => close("sprint ended"),
        Operation::Close { .. } => close("closed"),
    })
}

fn close(because: &str) -> Decision {
    Change::Close { because: because.to_owned() }.into()
}

/// Six letters or digits.
pub(crate) fn letters(random: u64) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let letter = |index: u32| LETTERS[usize::try_from(random >> (5 * index) & 31).unwrap_or(0)];
    (0..6).map(|index| char::from(letter(index))).collect()
}

/// Sooner first.
fn urgency(priority: &Priority) -> std::cmp::Reverse<u8> {
    std::cmp::Reverse(priority.rank())
}

/// A named task is claimed.
fn claim_one(
    board: &Board,
    task: &Task,
    agent: &str,
    moment: &Moment,
) -> Result<Decision, Refusal> {
    let id = task.id.clone();
    if task.is_completed() {
        return Err(completed(task));
    }
    if let TaskStatus::Other(status) = &task.status {
        return Err(Refusal::OtherStatus { task: id, status: status.clone() });
    }
    // Its holder keeps it: an agent that comes back asks again.
    if task.holder() == Some(agent) && task.claim.is_some() {
        return Ok(Decision { change: Change::Seen, task: Some(id) });
    }
    if task.holder() != Some(agent) {
        let on: Vec<String> = board.blockers(task).into_iter().map(ToOwned::to_owned).collect();
        if !on.is_empty() {
            return Err(Refusal::Blocked { task: id, on });
        }
        if let Some(meant_for) = kept_for_another(board, task, agent, moment) {
            let (agent, meant_for) = (agent.to_owned(), meant_for.to_owned());
            return Err(Refusal::MeantFor { task: id, agent, meant_for });
        }
        if task.holder().is_some() && !board.has_lapsed(task, moment.now, moment.gone_after) {
            return Err(held(board, task, moment));
        }
    }
    Ok(grant(board, task, agent, moment))
}

/// The best that is free is claimed: the highest priority, then the oldest.
fn claim_best(board: &Board, agent: &str, moment: &Moment) -> Result<Decision, Refusal> {
    let open = |task: &&Task| !task.is_completed() && !matches!(task.status, TaskStatus::Other(_));
    let (mut held, mut blocked, mut kept) = (0, 0, 0);
    let mut found: Option<&Task> = None;
    let age = |task: &Task| task.created_at.as_ref().and_then(Stamp::instant);
    for task in board.tasks.iter().filter(open) {
        let is_held = !board.has_lapsed(task, moment.now, moment.gone_after);
        // What the agent has itself it keeps, however long it was away.
        if task.holder().is_some_and(|holder| holder == agent || is_held) {
            held += 1;
        } else if kept_for_another(board, task, agent, moment).is_some() {
            kept += 1;
        } else if !board.blockers(task).is_empty() {
            blocked += 1;
        } else {
            let order = |task: &Task| (urgency(&task.priority), age(task));
            found = found.filter(|found| order(found) <= order(task)).or(Some(task));
        }
    }
    let task = found.ok_or(Refusal::NothingFree { held, blocked, kept })?;
    Ok(grant(board, task, agent, moment))
}

fn grant(board: &Board, task: &Task, agent: &str, moment: &Moment) -> Decision {
    let lease_seconds = u64::try_from(moment.gone_after.as_secs()).unwrap_or(0);
    let (id, agent) = (task.id.clone(), agent.to_owned());
    let change = Change::Claim { task: id.clone(), agent, number: board.fence + 1, lease_seconds };
    Decision { change, task: Some(id) }
}

/// For whom a pending task is meant, if it is another agent that is still there.
fn kept_for_another<'a>(
    board: &Board,
    task: &'a Task,
    agent: &str,
    moment: &Moment,
) -> Option<&'a str> {
    let meant_for = task.assigned_to.as_deref().filter(|name| *name != agent)?;
    let is_there = board
        .agents
        .get(meant_for)
        .is_some_and(|other| !other.is_gone(moment.now, moment.gone_after));
    (task.status == TaskStatus::Pending && is_there).then_some(meant_for)
}

fn held(board: &Board, task: &Task, moment: &Moment) -> Refusal {
    let holder = task.holder().unwrap_or_default().to_owned();
    let seen = board.agents.get(&holder).and_then(|agent| agent.last_seen.as_ref());
    let seen = seen.or(task.claim.as_ref().map(|claim| &claim.seen));
    let lease = u64::try_from(moment.gone_after.as_secs()).unwrap_or(0);
    Refusal::Held {
        task: task.id.clone(),
        fence: task.fence(),
        seen: seen.map_or_else(|| "at no known time".to_owned(), |seen| format!("at {seen}")),
        lease_seconds: task.claim.as_ref().map_or(lease, |claim| claim.lease_seconds),
        holder,
    }
}

/// The task with this id.
fn find<'a>(board: &'a Board, id: &str) -> Result<&'a Task, Refusal> {
    board.task(id).ok_or_else(|| Refusal::NoTask { found: id.chars().take(80).collect() })
}

/// A new task, under an unused id.
fn add(operation: &Operation, board: &Board, moment: &mut Moment) -> Result<Decision, Refusal> {
    let Operation::AddTask { description, priority, agent, assigned_to, blocked_by } = operation
    else {
        return Ok(Change::Seen.into());
    };
    if board.tasks.len() >= MOST_TASKS {
        return Err(Refusal::Full { most: MOST_TASKS });
    }
    if let Some(name) = assigned_to
        && !board.agents.contains_key(name.as_str())
        && assigned_to != agent
    {
        let there = board.agents.keys().cloned().collect();
        return Err(Refusal::NoAgent { found: name.to_string(), there });
    }
    for id in blocked_by {
        find(board, id)?;
    }
    let id = loop {
        let id = format!("task-{}", letters((moment.random)()));
        if board.task(&id).is_none() {
            break id;
        }
    };
    let mut waits_for: Vec<String> = Vec::new();
    for id in blocked_by.iter().filter(|id| !id.is_empty()) {
        if !waits_for.contains(id) {
            waits_for.push(id.clone());
        }
    }
    let task = Task {
        id: id.clone(),
        description: description.clone(),
        assigned_to: assigned_to.as_ref().map(ToString::to_string),
        status: TaskStatus::Pending,
        priority: priority.clone(),
        created_at: Some(Stamp::from(moment.now)),
        created_by: agent.as_ref().map(ToString::to_string),
        started_at: None,
        completed_at: None,
        blocked_by: waits_for,
        claim: None,
        other: Map::new(),
    };
    Ok(Decision { change: Change::Add { task: Box::new(task) }, task: Some(id) })
}

/// What the holder does: refused for everybody else, and for a holder that comes late.
fn step(board: &Board, held: &Held, kind: fn(ClaimStep) -> Change) -> Result<Decision, Refusal> {
    let task = find(board, &held.task)?;
    let agent = held.agent.to_string();
    let holder = task.holder().map(ToOwned::to_owned);
    let is_holder = holder.as_deref() == Some(&agent);
    let (id, fence) = (task.id.clone(), task.fence());
    if let Some(given) = held.fence.filter(|given| Some(*given) != fence || !is_holder)
        && let Some(holder) = holder
    {
        return Err(Refusal::TakenOver { task: id, agent, given, holder, fence });
    }
    let number = fence.filter(|_| task.claim.as_ref().is_some_and(|claim| claim.agent == agent));
    let step = ClaimStep { task: id.clone(), agent: agent.clone(), number };
    if task.is_completed() {
        // An agent that says it twice means the same.
        let again = matches!(kind(step), Change::Complete(_)) && number.is_some();
        let same = held.fence.is_none() || held.fence == number;
        return if again && same {
            Ok(Decision { change: Change::Seen, task: Some(id) })
        } else {
            Err(completed(task))
        };
    }
    if !is_holder {
        let holder = task.holder().map(ToOwned::to_owned);
        return Err(Refusal::NotTheHolder { task: id, agent, holder, fence });
    }
    Ok(Decision { change: kind(step), task: Some(id) })
}

/// A task that is done.
fn completed(task: &Task) -> Refusal {
    let by = task.assigned_to.clone().unwrap_or_else(|| "somebody".to_owned());
    Refusal::Completed { task: task.id.clone(), by, at: task.completed_at.clone() }
}

/// Lets a task wait for others, none of which waits for it.
fn block(board: &Board, id: &str, on: &[String]) -> Result<Decision, Refusal> {
    let task = find(board, id)?;
    if task.is_completed() {
        return Err(completed(task));
    }
    for other in on {
        find(board, other)?;
        if waits_for(board, other, id) {
            return Err(Refusal::Cycle { task: id.to_owned(), on: other.clone() });
        }
    }
    let change = Change::Block { task: id.to_owned(), on: on.to_vec() };
    Ok(Decision { change, task: Some(id.to_owned()) })
}

/// Whether one task waits for another, perhaps by way of others.
fn waits_for(board: &Board, one: &str, other: &str) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![one];
    while let Some(id) = open.pop() {
        if id == other {
            return true;
        }
        if seen.insert(id)
            && let Some(task) = board.task(id)
        {
            open.extend(task.blocked_by.iter().map(String::as_str));
        }
    }
    false
}
