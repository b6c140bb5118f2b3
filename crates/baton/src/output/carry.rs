//! What left with a file, or came with one.

use super::{style, table::Table, views};
use baton_api::sync::TakenFile;
use baton_api::{Contents, ImportView};
use baton_session::Receipt;
use std::path::Path;

/// How much a state holds, in one line.
fn contents(holds: &Contents) -> String {
    let counts = [
        (holds.cookies, "cookie"),
        (holds.local_storage, "localStorage area"),
        (holds.databases, "database"),
        (holds.tabs, "tab"),
        (holds.session_storage, "sessionStorage area"),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = there.map(|(count, what)| style::counted(count, what)).collect();
    if words.is_empty() { "it holds nothing".to_owned() } else { words.join(", ") }
}

/// What a file lacks, in groups; none when it lacks nothing.
pub(crate) fn left_out(receipt: &Receipt) -> Option<String> {
    if receipt.items.is_empty() {
        return None;
    }
    let mut table = Table::new(&["NOT IN IT", "WHERE", "COUNT", "REASON"]);
    for group in receipt.groups() {
        let kind = group.kind.to_string().replace('_', " ");
        let reason = group.reason.unwrap_or_default();
        table.row([kind, group.place, group.count.to_string(), reason]);
    }
    Some(table.render())
}

/// A file that was written, and what it lacks.
pub(crate) fn written(
    path: &Path,
    bytes: usize,
    holds: &Contents,
    left_out: Option<String>,
) -> String {
    let line = format!("{}: {}", path.display(), style::size(bytes as u64));
    let lines = [Some(line), Some(contents(holds)), left_out];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A file of a peer that was taken.
pub(crate) fn taken(taken: &TakenFile) -> String {
    let from = taken
        .peer
        .as_deref()
        .map_or("this node".to_owned(), |peer| format!("“{}”", style::plain(peer)));
    let Some(name) = &taken.name else {
        return format!("the session {} was deleted at {from}", taken.id);
    };
    match (taken.changed, taken.conflicts.len()) {
        (false, _) => format!("“{name}” is as {from} has it: nothing new"),
        (true, 0) => {
            format!("“{name}” came from {from}\nbaton sessions resume {name} brings it to life")
        }
        (true, _) => format!(
            "“{name}” came from {from}, and was changed here and there: both are kept\nbaton sync \
             conflicts shows what to choose"
        ),
    }
}

/// A profile that was made, and how a browser is started on it.
pub(crate) fn compiled(profile: &Path, receipt: &Receipt) -> String {
    let profile = profile.display().to_string();
    let quoted = shell_words::quote(&profile);
    let quoted_too = serde_json::Value::from(profile.as_str());
    format!(
        "{}\n{}\n\nagent-browser  AGENT_BROWSER_PROFILE={quoted}\nPlaywright     \
         chromium.launchPersistentContext({quoted_too})",
        style::plain(&profile),
        super::receipt::receipt_of_profile(receipt)
    )
}

/// What may be missing in a profile that a browser has open.
pub(crate) fn in_use(pid: u32) -> String {
    format!(
        "a browser has the profile open (process {pid}): what happened in the last half minute may \
         be missing"
    )
}

/// A session that was made of a file.
pub(crate) fn imported(view: &ImportView) -> String {
    let name = &view.session.session.name;
    let lines = [
        Some(views::session(&view.session)),
        Some(format!("taken: {}", contents(&view.holds))),
        left_out(&view.left_out),
        Some(format!("baton sessions resume {name} brings it to life")),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
