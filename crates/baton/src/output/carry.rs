//! What left with a file, or came with one.

use super::{style, table::Table, views};
use baton_api::{Contents, ImportView};
use baton_session::Receipt;

/// How much a state holds, in one line.
pub(crate) fn contents(holds: &Contents) -> String {
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
