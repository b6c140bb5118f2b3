//! Two boards that grew from one: every change that only one side made is kept.
//!
//! The one idea: *field by field*, so that two programs that change different things both keep what they
//! wrote. Where both changed the same, ours is kept, but an agent that was seen later says what it does, and
//! a task that is done stays done.

use crate::board::{Agent, Board};
use crate::task::{Stamp, Task, is_in_the_second_of, later};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// `ours`, with what `theirs` changed since `base`. What only they have is new; what only we have
/// stays, unless they were [`Fresh`](Sight::Fresh) and so must have seen and deleted it.
pub(crate) fn merge(base: Option<&Board>, theirs: &Board, ours: &Board, sight: Sight) -> Board {
    let mut merged = fields(base.map(rest).as_ref(), &rest(theirs), &rest(ours));
    merged.rev = ours.rev.max(theirs.rev);
    merged.fence = ours.fence.max(theirs.fence);
    merged.agents.clone_from(&ours.agents);
    for (name, agent) in &theirs.agents {
        let before = base.and_then(|base| base.agents.get(name));
        let agent = match ours.agents.get(name) {
            Some(ours) => merge_agent(before, agent, ours),
            None => agent.clone(),
        };
        merged.agents.insert(name.clone(), agent);
    }
    merged.tasks = merge_tasks(base, theirs, ours, sight);
    merged
}

/// What the other side knew when it wrote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sight {
    /// The base itself.
    Fresh,
    /// Perhaps something older.
    Stale,
}

fn merge_agent(base: Option<&Agent>, theirs: &Agent, ours: &Agent) -> Agent {
    if base == Some(theirs) || theirs == ours {
        return ours.clone();
    }
    // A program that writes whole seconds says of a change within one no more than that it was then.
    let [seen, own] = [theirs, ours].map(|agent| agent.last_seen.as_ref());
    let is_later = later(seen, own) || is_in_the_second_of(seen, own);
    if base == Some(ours) || is_later { theirs.clone() } else { ours.clone() }
}

fn merge_tasks(base: Option<&Board>, theirs: &Board, ours: &Board, sight: Sight) -> Vec<Task> {
    let mut tasks = Vec::with_capacity(ours.tasks.len());
    for task in &ours.tasks {
        let before = base.and_then(|base| base.task(&task.id));
        match theirs.task(&task.id) {
            Some(theirs) => tasks.push(merge_task(before, theirs, task)),
            // They deleted it, and we did not touch it.
            None if before == Some(task) && sight == Sight::Fresh => {}
            None => tasks.push(task.clone()),
        }
    }
    let new = theirs.tasks.iter().filter(|task| ours.task(&task.id).is_none());
    tasks.extend(new.cloned());
    tasks
}

fn merge_task(base: Option<&Task>, theirs: &Task, ours: &Task) -> Task {
    if base == Some(theirs) || theirs == ours {
        return ours.clone();
    }
    if base == Some(ours) {
        return theirs.clone();
    }
    let mut merged = fields(base, theirs, ours);
    let stands = if theirs.is_completed() && !ours.is_completed() { theirs } else { ours };
    let (newer, older) =
        if theirs.fence() > ours.fence() { (theirs, ours) } else { (ours, theirs) };
    merged.status.clone_from(&stands.status);
    merged.assigned_to.clone_from(&stands.assigned_to);
    merged.completed_at.clone_from(&stands.completed_at);
    merged.started_at = stands.started_at.clone().or(older.started_at.clone());
    merged.claim.clone_from(&newer.claim);
    merged.blocked_by.clone_from(&ours.blocked_by);
    let more = theirs.blocked_by.iter().filter(|id| !ours.blocked_by.contains(id));
    merged.blocked_by.extend(more.cloned());
    merged
}

/// A board without what is merged in its own way.
fn rest(board: &Board) -> Board {
    let mut rest = Board::new(&board.session_id, None, &Stamp::from(jiff::Timestamp::UNIX_EPOCH));
    rest.created_at.clone_from(&board.created_at);
    rest.updated_at.clone_from(&board.updated_at);
    rest.owner.clone_from(&board.owner);
    rest.sprint.clone_from(&board.sprint);
    rest.status.clone_from(&board.status);
    rest.closed_at.clone_from(&board.closed_at);
    rest.closed_because.clone_from(&board.closed_because);
    rest.router.clone_from(&board.router);
    rest.other.clone_from(&board.other);
    rest
}

/// The fields of anything that is an object in JSON.
fn fields<T: Serialize + DeserializeOwned + Clone>(base: Option<&T>, theirs: &T, ours: &T) -> T {
    // Fields of one type come out as that type again; if not, ours is what we know to be right.
    let merged = || {
        let base = base.map(serde_json::to_value).transpose().ok()?;
        let sides = [theirs, ours].map(serde_json::to_value);
        let [Ok(theirs), Ok(ours)] = &sides else { return None };
        let merged = merge_value(base.as_ref(), Some(theirs), Some(ours))?;
        serde_json::from_value(merged).ok()
    };
    merged().unwrap_or_else(|| ours.clone())
}

fn merge_value(
    base: Option<&Value>,
    theirs: Option<&Value>,
    ours: Option<&Value>,
) -> Option<Value> {
    if theirs == base || theirs == ours {
        return ours.cloned();
    }
    if ours == base {
        return theirs.cloned();
    }
    match (theirs, ours) {
        (Some(Value::Object(theirs)), Some(Value::Object(ours))) => {
            let base = base.and_then(Value::as_object);
            let mut names: Vec<&String> = ours.keys().collect();
            names.extend(theirs.keys().filter(|name| !ours.contains_key(*name)));
            let merged = names.into_iter().filter_map(|name| {
                let before = base.and_then(|base| base.get(name));
                let value = merge_value(before, theirs.get(name), ours.get(name))?;
                Some((name.clone(), value))
            });
            Some(Value::Object(merged.collect::<Map<_, _>>()))
        }
        (_, ours) => ours.cloned(),
    }
}
