//! A receipt as a table, one line for what is alike; and what left with a file, or came with one.

use super::table::Table;
use super::{table, views};
use baton_api::sync::TakenFile;
use baton_api::{Contents, ImportView, ResumeResult};
use baton_session::Receipt;
use baton_session::receipt::{Group, ItemKind, Outcome, Source, Verified};
use std::collections::BTreeMap;
use std::path::Path;

/// What a resume did: the session, the receipt, the time of each step.
pub(crate) fn resumed(result: &ResumeResult) -> String {
    let mut text = views::session(&result.session);
    if let Some(handed) = &result.handed {
        text = format!("{}\n\n{text}", views::handed(handed));
    }
    if let Some(receipt) = &result.session.receipt {
        text.push_str("\n\n");
        text.push_str(&self::receipt(receipt));
    }
    if !result.timing.is_empty() {
        text.push_str("\n\n");
        text.push_str(&timing(&result.timing));
    }
    text
}

/// What came back, grouped, with the sums below.
pub(crate) fn receipt(receipt: &Receipt) -> String {
    let mut table =
        Table::new(&["KIND", "WHERE", "COUNT", "OUTCOME", "SOURCE", "VERIFIED", "REASON"]);
    let mut lines = Vec::new();
    for mut group in receipt.groups() {
        if group.kind == ItemKind::Environment && group.place == "browser" {
            // What is to be typed is no text for a narrow column.
            lines.extend(group.reason.take().map(|reason| table::plain(&reason)));
        }
        table.row(cells(group));
    }
    let Receipt { restored, rejected, not_portable, pending, .. } = receipt;
    let sums = format!(
        "{restored} restored, {rejected} rejected, {not_portable} not portable, {pending} pending"
    );
    let sums = if receipt.has_losses() { table::bad(&sums) } else { table::good(&sums) };
    let sums = std::iter::once(sums).chain(lines).collect::<Vec<_>>().join("\n");
    if receipt.items.is_empty() { sums } else { format!("{}\n{sums}", table.render()) }
}

/// The same of a profile. What no profile has takes one line, below what this one could have had.
pub(crate) fn receipt_of_profile(receipt: &Receipt) -> String {
    let (mut could, mut tabs, mut settings) = (Receipt::default(), 0, 0);
    for item in &receipt.items {
        match item.kind {
            kind if item.outcome != Outcome::NotPortable || !kind.is_never_in_a_profile() => {
                could.push(item.clone());
            }
            ItemKind::Environment => settings += 1,
            _ => tabs += 1,
        }
    }
    let never = [(tabs, "of tabs"), (settings, "for whoever starts the browser")];
    let never = never.into_iter().filter(|(count, _)| *count > 0);
    let never: Vec<_> = never.map(|(count, of)| format!("{count} {of}")).collect();
    let text = self::receipt(&could);
    if never.is_empty() { text } else { format!("{text}\nno profile has: {}", never.join(", ")) }
}

fn cells(group: Group) -> [String; 7] {
    [
        group.kind.to_string().replace('_', " "),
        group.place,
        group.count.to_string(),
        outcome(group.outcome).to_owned(),
        source(group.source).to_owned(),
        verified(group.verified).to_owned(),
        group.reason.unwrap_or_default(),
    ]
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Restored => "restored",
        Outcome::Rejected => "rejected",
        Outcome::NotPortable => "not portable",
        Outcome::Pending => "pending",
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Snapshot => "snapshot",
        Source::Disk => "disk",
    }
}

fn verified(verified: Verified) -> &'static str {
    match verified {
        Verified::Page => "page",
        Verified::Disk => "disk",
        Verified::None => "no",
    }
}

/// The steps of a resume in their order, in words for people.
const STEPS: [(&str, &str); 10] = [
    ("load", "read the snapshot"),
    ("keep", "keep a copy of the profile"),
    ("profile", "read the profile"),
    ("launch", "start the browser"),
    ("cookies", "set the cookies"),
    ("storage", "fill the storage"),
    ("tabs", "load the tabs"),
    ("watch", "watch the browser"),
    ("capture", "capture it anew"),
    ("total", "in all"),
];

/// The time of each step. A node of another version may name others: they come last.
fn timing(timing: &BTreeMap<String, u64>) -> String {
    let mut table = Table::new(&["STEP", "TIME"]);
    let known = STEPS.iter().filter_map(|(step, words)| Some((*words, timing.get(*step)?)));
    let others = timing.iter().filter(|(step, _)| STEPS.iter().all(|(known, _)| known != step));
    for (words, milliseconds) in known.chain(others.map(|(step, time)| (step.as_str(), time))) {
        table.row([words.to_owned(), format!("{milliseconds} ms")]);
    }
    table.render()
}

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
    let words: Vec<String> = there.map(|(count, what)| table::counted(count, what)).collect();
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
    let line = format!("{}: {}", path.display(), table::size(bytes as u64));
    let lines = [Some(line), Some(contents(holds)), left_out];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A file of a peer that was taken.
pub(crate) fn taken(taken: &TakenFile) -> String {
    let from = taken
        .peer
        .as_deref()
        .map_or("this node".to_owned(), |peer| format!("“{}”", table::plain(peer)));
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
        table::plain(&profile),
        receipt_of_profile(receipt)
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

#[cfg(test)]
mod tests {
    use super::{receipt, receipt_of_profile};
    use baton_session::Receipt;
    use baton_session::receipt::{ItemKind, ReceiptItem};

    #[test]
    fn what_no_profile_has_hides_nothing_that_is_lost() {
        let mut given = Receipt::default();
        given.push(ReceiptItem::restored(ItemKind::Cookie, "shop.test/ a"));
        given.push(ReceiptItem::not_portable(ItemKind::IndexedDb, "https://shop.test/ cart", "no"));
        for tab in ["https://shop.test/", "https://shop.test/cart"] {
            given.push(ReceiptItem::not_portable(ItemKind::Tab, tab, "no tabs"));
        }
        given.push(ReceiptItem::not_portable(ItemKind::Environment, "viewport", "no setting"));
        insta::assert_snapshot!(console::strip_ansi_codes(&receipt_of_profile(&given)), @"
        KIND        WHERE                COUNT  OUTCOME       SOURCE    VERIFIED  REASON
        cookie      shop.test            1      restored      snapshot  page
        indexed db  https://shop.test/   1      not portable  snapshot  no        no
                    cart
        1 restored, 0 rejected, 1 not portable, 0 pending
        no profile has: 2 of tabs, 1 for whoever starts the browser
        ");
        assert!(given.has_losses_of_a_profile());
        given.items.retain(|item| item.kind != ItemKind::IndexedDb);
        assert!(given.has_losses() && !given.has_losses_of_a_profile());
    }

    #[test]
    fn what_is_alike_is_one_line() {
        let mut given = Receipt::default();
        for cookie in ["shop.test/ a", ".shop.test/ b", "www.shop.test/ c"] {
            given.push(ReceiptItem::restored(ItemKind::Cookie, cookie));
        }
        given.push(ReceiptItem::rejected(ItemKind::LocalStorage, "https://shop.test/", "full"));
        insta::assert_snapshot!(console::strip_ansi_codes(&receipt(&given)), @r"
        KIND           WHERE               COUNT  OUTCOME   SOURCE    VERIFIED  REASON
        cookie         shop.test           3      restored  snapshot  page
        local storage  https://shop.test/  1      rejected  snapshot  no        full
        3 restored, 1 rejected, 0 not portable, 0 pending
        ");
    }
}
