//! What agents share and where they run, for people: the board, and sandboxes.

use super::table::Table;
use super::{logins, receipt, table, views};
use baton_api::DrivenSession;
use baton_api::sandbox::{
    EndedSandbox, Enforcement, HandedIn, SandboxList, SandboxView, WrittenBack,
};
use baton_federation::{Archived, Router, Stamp, Task, View};
use jiff::Timestamp;

/// How many tasks a look at the board shows.
const SHOWN: usize = 20;

/// The board at a glance: the session, the agents, and the open tasks.
pub(crate) fn board(view: &View, now: Timestamp) -> String {
    let board = &view.board;
    let mut head = vec![table::plain(&board.session_id)];
    head.extend(board.sprint.as_ref().map(|sprint| format!("sprint {}", table::plain(sprint))));
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
    let version = router.version.as_ref().map(|version| table::plain(version));
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
            seen.map_or_else(|| "never".to_owned(), |seen| table::age(seen, now)),
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
        let since = table::age(driven.since, now);
        table.row([driven.session.to_string(), driven.agent.to_string(), since]);
    }
    table.render()
}

/// What became of a task, in a line.
pub(crate) fn task(task: &Task) -> String {
    let who = task.assigned_to.as_ref().map(|who| format!(", {who}")).unwrap_or_default();
    let fence = task.fence().filter(|_| !task.is_completed());
    let fence = fence.map(|fence| format!(", fence {fence}")).unwrap_or_default();
    table::plain(&format!("{}  {}{who}{fence}  {}", task.id, task.status, task.description))
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

/// A list of sandboxes.
pub(crate) fn sandboxes(list: &SandboxList) -> String {
    let missing = match list.missing.as_slice() {
        [] => String::new(),
        nodes => format!("\nnot asked, for they do not answer: {}", nodes.join(", ")),
    };
    if list.items.is_empty() {
        return format!("no sandboxes{missing}\nbaton sandbox create makes one");
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["ID", "FLAVOR", "SESSION", "ENDS"]);
    for sandbox in &list.items {
        table.row([
            sandbox.id.to_string(),
            sandbox.flavor.clone(),
            sandbox.browser_session.as_ref().map_or_else(|| "none".to_owned(), session),
            table::until(sandbox.expires_at, now),
        ]);
    }
    format!("{}{missing}", table.render())
}

fn session(handed: &HandedIn) -> String {
    let name = handed.name.as_ref().map_or_else(|| "inline".to_owned(), ToString::to_string);
    if handed.session_id.is_some() && !handed.writes_back { format!("{name} (copy)") } else { name }
}

/// A sandbox in full.
pub(crate) fn sandbox(view: &SandboxView) -> String {
    let now = Timestamp::now();
    let allowed = view.allowed;
    let mut lines = vec![
        format!("sandbox   {}", view.id),
        format!("flavor    {}", view.flavor),
        format!("ends      {}", table::until(view.expires_at, now)),
        format!(
            "may use   {} of memory, {} of files, {} processes, {} processors",
            table::size(allowed.memory),
            table::size(allowed.disk),
            allowed.processes,
            allowed.processors
        ),
    ];
    if view.limits == Enforcement::NotEnforced {
        let why = view.limits_reason.as_deref().unwrap_or("this machine does not allow it");
        lines.push(format!("limits    {}: {why}", table::doubtful("not enforced")));
    }
    if let Some(vnc) = &view.vnc {
        let password = vnc.password.as_deref().map(|word| format!(", password {word}"));
        lines.push(format!("vnc       {}{}", vnc.address, password.unwrap_or_default()));
    }
    if let Some(egress) = &view.egress {
        lines.push(format!("network   {}", views::egress(egress)));
    }
    if let Some(handed) = &view.browser_session {
        lines.push(format!("session   {}", session(handed)));
        let back = if handed.writes_back { "when it ends" } else { "never" };
        lines.push(format!("back      written back {back}"));
        for login in &handed.logins {
            lines.push(format!("login     {}: {}", login.domain, logins::login(login, now)));
        }
        lines.push(String::new());
        lines.push(receipt::receipt_of_profile(&handed.receipt));
    }
    lines.join("\n")
}

/// What became of a sandbox's session.
pub(crate) fn ended_sandbox(ended: &EndedSandbox) -> String {
    let id = ended.id;
    let Some(written) = &ended.browser_session else { return format!("ended {id}") };
    let told = written_back(ended, written);
    if written.left_out.items.is_empty() {
        return told;
    }
    format!("{told}\n\n{}", receipt::receipt(&written.left_out))
}

fn written_back(ended: &EndedSandbox, written: &WrittenBack) -> String {
    let id = ended.id;
    match (&written.snapshot, &written.reason) {
        (Some(snapshot), _) if written.shrunk => format!(
            "ended {id}; {} lost more than half of its cookies or storage: snapshot {snapshot} is kept, and a resume passes it over",
            written.session_id
        ),
        (Some(snapshot), None) => {
            format!(
                "ended {id}; session {} is written back: snapshot {snapshot}",
                written.session_id
            )
        }
        (Some(snapshot), Some(why)) => format!("ended {id}; snapshot {snapshot}: {why}"),
        (None, why) => {
            let why = why.as_deref().unwrap_or("nothing could be read");
            format!("ended {id}; session {} is as it was: {why}", written.session_id)
        }
    }
}
