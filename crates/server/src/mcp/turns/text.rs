//! The board in the words of the tools.

use crate::mcp::text::{age, cut};
use baton_api::DrivenSession;
use baton_federation::{Stamp, Task, View};
use jiff::Timestamp;

/// How many open tasks are told.
const TOLD: usize = 50;
/// How much of a text is told, in characters.
const WIDTH: usize = 160;

/// The board, a line for each agent and open task.
pub(super) fn board(view: &View, now: Timestamp) -> Vec<String> {
    let mut told: Vec<String> = view
        .board
        .agents
        .iter()
        .map(|(name, agent)| {
            let seen = agent.last_seen.as_ref().and_then(Stamp::instant);
            let seen =
                seen.map_or_else(String::new, |seen| format!(", seen {} ago", age(seen, now)));
            let status = if view.gone.contains(name) { "gone" } else { agent.status.as_str() };
            let task = agent.current_task.as_deref().map(|task| format!(": {}", cut(task, WIDTH)));
            format!("agent {name} {}{seen}{}", cut(status, WIDTH), task.unwrap_or_default())
        })
        .collect();
    let open: Vec<&Task> = view.board.tasks.iter().filter(|task| !task.is_completed()).collect();
    told.extend(open.iter().take(TOLD).map(|task| match view.waiting.get(&task.id) {
        Some(on) => format!("{}, waits for {}", line(task), on.join(", ")),
        None if view.lapsed.contains(&task.id) => format!("{}, its holder is gone", line(task)),
        None => line(task),
    }));
    if open.len() > TOLD {
        told.push(format!("and {} more open tasks", open.len() - TOLD));
    }
    let done = view.board.tasks.len() - open.len();
    told.push(format!("{} tasks open, {done} completed", open.len()));
    told
}

/// A session that an agent drives, in a line.
pub(super) fn driven(driven: &DrivenSession) -> String {
    format!("session {}: {} drives it", driven.session, driven.agent)
}

/// A task, in a line.
pub(super) fn line(task: &Task) -> String {
    let who = task.assigned_to.as_deref().map(|who| format!(" by {}", cut(who, WIDTH)));
    let fence = task.fence().filter(|_| !task.is_completed());
    let fence = fence.map(|fence| format!(", fence {fence}"));
    format!(
        "task {} {} {}{}{}: {}",
        cut(&task.id, WIDTH),
        task.priority,
        task.status,
        who.unwrap_or_default(),
        fence.unwrap_or_default(),
        cut(&task.description, WIDTH)
    )
}
