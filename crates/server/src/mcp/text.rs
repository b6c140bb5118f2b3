//! Text for models: short lines, no rulers, nothing said twice.

use baton_api::{SessionView, SnapshotView, Tab};
use baton_session::receipt::Outcome;
use baton_session::{Lifecycle, Receipt, Unread, json};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many tabs, or lines of a receipt, are listed one by one.
const TOLD: usize = 20;
/// How much of a title is shown, in characters.
const TITLE: usize = 80;
/// How much of an address is shown, in characters.
const ADDRESS: usize = 200;

/// How long ago something was, in one unit.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A session: its lifecycle, its tabs, its latest snapshot.
pub(super) fn session(view: &SessionView, now: Timestamp) -> (Vec<String>, Value) {
    let (name, state) = (&view.session.name, view.session.state);
    let mut text = vec![match &view.snapshot {
        Some(snapshot) => {
            format!("{name} is {state}. Last snapshot: {}.", self::snapshot(snapshot, now))
        }
        None => format!("{name} is {state}."),
    }];
    for (at, tab) in view.tabs.iter().take(TOLD).enumerate() {
        let mark = if tab.active { "*" } else { "" };
        text.push(format!("tab {}{mark}: {} {}", at + 1, title(tab), address(tab)));
    }
    if view.tabs.len() > TOLD {
        text.push(format!("and {} more tabs", view.tabs.len() - TOLD));
    }
    let tabs: Vec<Value> = view.tabs.iter().take(TOLD).map(self::tab).collect();
    let data = json!({
        "sessionId": view.session.id, "name": name, "state": state, "tabs": tabs,
        "snapshot": view.snapshot.as_ref().map(|snapshot| snapshot.id),
    });
    (text, data)
}

/// Whether a session's browser can be used now, and how.
pub(super) fn next(state: Lifecycle) -> &'static str {
    match state {
        Lifecycle::Active => "The browser runs; use the browser tools on it.",
        _ => "No browser runs; session_resume brings it back.",
    }
}

fn tab(tab: &Tab) -> Value {
    json!({"title": title(tab), "url": address(tab), "active": tab.active})
}

/// A title on one line and not too long: a page may write what it likes there.
fn title(tab: &Tab) -> String {
    cut(&tab.title.split_whitespace().collect::<Vec<_>>().join(" "), TITLE)
}

/// An address as it is shown, and not too long.
fn address(tab: &Tab) -> String {
    cut(tab.url.as_str(), ADDRESS)
}

/// A text that is not too long, in characters.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A snapshot in a few words.
pub(super) fn snapshot(view: &SnapshotView, now: Timestamp) -> String {
    let mut text = format!("{} ago ({})", age(view.taken_at, now), view.reason);
    for (is, word) in [
        (view.shrunk, ", shrunk: a resume passes it over"),
        (view.sibling, ", beside the line of the others"),
        (view.saved, ", kept for good"),
    ] {
        if is {
            text.push_str(word);
        }
    }
    text
}

/// What a capture could not read or does not hold, line by line.
pub(super) fn unread(view: &SnapshotView) -> impl Iterator<Item = String> {
    let line = |unread: &Unread| {
        let what = if unread.lost { "not kept" } else { "not read, kept as last known" };
        format!("{what}: {} {}", cut(&unread.place, ADDRESS), unread.reason)
    };
    view.unread.iter().take(TOLD).map(line)
}

/// A receipt: its sums, and what did not come back, line by line.
pub(super) fn receipt(receipt: &Receipt) -> (Vec<String>, Value) {
    let Receipt { restored, rejected, not_portable, pending, .. } = receipt;
    let mut text = vec![format!(
        "{restored} items restored, {rejected} rejected, {not_portable} not portable, {pending} pending."
    )];
    let mut lines: BTreeMap<(Outcome, String, String, String), usize> = BTreeMap::new();
    for group in receipt.groups().into_iter().filter(|group| group.outcome != Outcome::Restored) {
        let reason = group.reason.unwrap_or_default();
        let key = (group.outcome, group.kind.to_string(), cut(&group.place, ADDRESS), reason);
        *lines.entry(key).or_default() += group.count;
    }
    let more = lines.len().saturating_sub(TOLD);
    let mut items = Vec::new();
    for ((outcome, kind, place, reason), count) in lines.into_iter().take(TOLD) {
        let word = json::value(&outcome);
        let shown = word.as_str().unwrap_or_default().replace('_', " ");
        text.push(format!("{shown}: {kind} {place} ({count}) {reason}"));
        items.push(json!({"outcome": word, "kind": kind, "where": place, "count": count, "reason": reason}));
    }
    if more > 0 {
        text.push(format!("and {more} more lines: the resource baton://sessions/NAME/receipt"));
    }
    let data = json!({
        "restored": restored, "rejected": rejected, "not_portable": not_portable,
        "pending": pending, "items": items,
    });
    (text, data)
}
