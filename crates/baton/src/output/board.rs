//! The board that agents share, for people.

use super::style;
use super::table::Table;
use baton_api::DrivenSession;
use baton_federation::{Archived, Router, Stamp, Task, View};
use jiff::Timestamp;

/// How many tasks a look at the board shows.
const SHOWN: usize = 20;

/// The board at a glance: the session, the agents, and the open tasks.
pub(crate) fn board(view: &View, now: Timestamp) -> String {
    let board = &view.board;
    let mut head = vec![style::plain(&board.session_id)];
    head.extend(board.sprint.as_ref().map(|sprint| format!("sprint {}", style::plain(sprint))));
    head.extend(router(&board.router));
    let mut parts = vec![head.join("  ")];
    if !board.agents.is_empty() {
        parts.push(agents(view, now));
    }
    let open: Vec<&Task> = board.tasks.iter().filter(|task| !task.is_completed()).collect();
    if !open.is_empty() {
        parts.push(tasks(view, &open[..open.len().min(SHOWN)]));
    }
    let completed = board.tasks.len() - open.len();
    let mut foot = Vec::new();
    if open.len() > SHOWN {
        foot.push(format!("{} more open", open.len() - SHOWN));
    }
    if completed > 0 {
        foot.push(format!("{completed} completed"));
    }
    if !foot.is_empty() {
        parts.push(format!("{}; baton federation task list --all shows them", foot.join(", ")));
    }
    parts.join("\n\n")
}

fn router(router: &Router) -> Option<String> {
    let version = router.version.as_ref().map(|version| style::plain(version));
    let tier = router.tier.map(|tier| format!("tier {tier}"));
    let accuracy = router.accuracy.map(|accuracy| format!("accuracy {accuracy}"));
    let pending = router.pending_eval.then(|| "to be measured".to_owned());
    let said: Vec<String> = [version, tier, accuracy, pending].into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("router {}", said.join(", ")))
}

fn agents(view: &View, now: Timestamp) -> String {
    let mut table = Table::new(&["AGENT", "STATUS", "SEEN", "TASK"]);
    for (name, agent) in &view.board.agents {
        let seen = agent.last_seen.as_ref().and_then(Stamp::instant);
        let status =
            if view.gone.contains(name) { "gone".to_owned() } else { agent.status.clone() };
        table.row([
            name.clone(),
            status,
            seen.map_or_else(|| "never".to_owned(), |seen| style::age(seen, now)),
            agent.current_task.clone().unwrap_or_default(),
        ]);
    }
    table.render()
}

/// Tasks, a line each.
pub(crate) fn tasks(view: &View, tasks: &[&Task]) -> String {
    if tasks.is_empty() {
        return "no tasks; baton federation task add TEXT adds one".to_owned();
    }
    let mut table = Table::new(&["TASK", "PRIORITY", "STATUS", "WHO", "TEXT"]);
    for task in tasks {
        let status = match view.waiting.get(&task.id) {
            Some(on) => format!("waits for {}", on.join(", ")),
            None if view.lapsed.contains(&task.id) => "holder gone".to_owned(),
            None => task.status.to_string(),
        };
        table.row([
            task.id.clone(),
            task.priority.to_string(),
            status,
            task.assigned_to.clone().unwrap_or_default(),
            task.description.clone(),
        ]);
    }
    table.render()
}

/// Browser sessions that agents drive, a line each.
pub(crate) fn driven(sessions: &[DrivenSession], now: Timestamp) -> String {
    let mut table = Table::new(&["SESSION", "DRIVEN BY", "SINCE"]);
    for driven in sessions {
        let since = style::age(driven.since, now);
        table.row([driven.session.to_string(), driven.agent.to_string(), since]);
    }
    table.render()
}

/// What became of a task, in a line.
pub(crate) fn task(task: &Task) -> String {
    let who = task.assigned_to.as_ref().map(|who| format!(", {who}")).unwrap_or_default();
    let fence = task.fence().filter(|_| !task.is_completed());
    let fence = fence.map(|fence| format!(", fence {fence}")).unwrap_or_default();
    style::plain(&format!("{}  {}{who}{fence}  {}", task.id, task.status, task.description))
}

/// Sessions that ended.
pub(crate) fn archived(sessions: &[Archived]) -> String {
    if sessions.is_empty() {
        return "no archived sessions".to_owned();
    }
    let mut table = Table::new(&["NAME", "SESSION", "ENDED", "WHY", "TASKS", "COMPLETED"]);
    for Archived { name, board } in sessions {
        let completed = board.tasks.iter().filter(|task| task.is_completed()).count();
        table.row([
            name.clone(),
            board.session_id.clone(),
            board.closed_at.as_ref().map(ToString::to_string).unwrap_or_default(),
            board.closed_because.clone().unwrap_or_default(),
            board.tasks.len().to_string(),
            completed.to_string(),
        ]);
    }
    table.render()
}
