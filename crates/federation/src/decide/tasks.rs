//! Adding tasks, what their holders do with them, and what waits for what.

use super::{Decision, Moment, letters};
use crate::board::Board;
use crate::change::{Change, Step};
use crate::operation::{Held, Operation};
use crate::refusal::Refusal;
use crate::stamp::Stamp;
use crate::task::Task;
use crate::words::TaskStatus;
use serde_json::Map;
use std::collections::HashSet;

/// How many tasks fit on a board.
pub(crate) const MOST_TASKS: usize = 10_000;

/// The task with this id.
pub(super) fn find<'a>(board: &'a Board, id: &str) -> Result<&'a Task, Refusal> {
    board.task(id).ok_or_else(|| Refusal::NoTask { found: id.chars().take(80).collect() })
}

/// A new task, under an id that nobody else uses.
pub(super) fn add(
    operation: &Operation,
    board: &Board,
    moment: &mut Moment,
) -> Result<Decision, Refusal> {
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
pub(super) fn step(
    board: &Board,
    held: &Held,
    kind: fn(Step) -> Change,
) -> Result<Decision, Refusal> {
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
    let step = Step { task: id.clone(), agent: agent.clone(), number };
    if task.is_completed() {
        // Whoever says it twice means the same.
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
pub(super) fn completed(task: &Task) -> Refusal {
    let by = task.assigned_to.clone().unwrap_or_else(|| "somebody".to_owned());
    Refusal::Completed { task: task.id.clone(), by, at: task.completed_at.clone() }
}

/// Lets a task wait for others, none of which waits for it.
pub(super) fn block(board: &Board, id: &str, on: &[String]) -> Result<Decision, Refusal> {
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
