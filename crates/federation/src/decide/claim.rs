//! Who gets a task: exactly one agent, by the next fencing number.

use super::tasks::completed;
use super::{Decision, Moment, urgency};
use crate::board::Board;
use crate::change::Change;
use crate::refusal::Refusal;
use crate::stamp::Stamp;
use crate::task::Task;
use crate::words::TaskStatus;

/// A named task.
pub(super) fn one(
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
    // Whoever has it keeps it: an agent that comes back asks again.
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

/// The best that is free: the highest priority, then the oldest.
pub(super) fn best(board: &Board, agent: &str, moment: &Moment) -> Result<Decision, Refusal> {
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

/// For whom a pending task is meant, if it is somebody else who is still there.
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
