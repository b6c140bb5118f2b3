//! Revisions: what was saved, where a person has to choose, what each choice would change, what was chosen.

use super::exchange::outcome;
use super::peers::Names;
use super::receipt::left_out;
use super::style::{self, short};
use super::table::Table;
use baton_api::sync::{ConflictDetails, ConflictView, RevisionDifference, RevisionView, SavedView};
use baton_session::diff::SiteDiff;
use baton_session::{RevisionId, SessionName};
use jiff::Timestamp;
use serde::Serialize;

/// How many names a line shows.
const NAMES: usize = 5;

/// The sessions in which a person has to choose.
#[derive(Debug, Serialize)]
pub(crate) struct ConflictedSessions {
    /// By name.
    pub(crate) items: Vec<ConflictDetails>,
}

/// A line for each revision; then for each what it would change, and the command that keeps it.
pub(crate) fn conflicts(list: &ConflictedSessions, names: &Names) -> String {
    if list.items.is_empty() {
        return style::good("no conflicts");
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["SESSION", "REVISION", "WRITTEN BY", "WHEN", "SIZE", "STANDS"]);
    for ConflictDetails { conflict, .. } in &list.items {
        let all = all(conflict);
        for (at, revision) in revisions(conflict).enumerate() {
            let content =
                if revision.deleted { "deletes it".to_owned() } else { style::size(revision.size) };
            table.row([
                conflict.name.to_string(),
                short(&revision.rev, &all),
                names.name(revision.node_id),
                style::age(revision.last_modified, now),
                content,
                if at == 0 { "counts" } else { "kept beside it" }.to_owned(),
            ]);
        }
    }
    let choices = list.items.iter().flat_map(|item| choices(item, names));
    std::iter::once(table.render()).chain(choices).collect::<Vec<_>>().join("\n")
}

/// What each choice would change in a session, and the command that makes it.
fn choices(item: &ConflictDetails, names: &Names) -> Vec<String> {
    let ConflictDetails { conflict, differences } = item;
    let mut lines = Vec::new();
    let about = |revision: &RevisionView| {
        let rev = short(&revision.rev, &all(conflict));
        let by = style::plain(&names.name(revision.node_id));
        format!("keep {rev} of {}, by {by}", style::plain(conflict.name.as_str()))
    };
    lines.push(format!("\n{}, leaves what counts now", about(&conflict.current)));
    lines.push(format!("  {}", command(conflict, &conflict.current.rev)));
    for sibling in &conflict.siblings {
        let differs = differences.iter().find(|difference| difference.rev == sibling.rev);
        lines.push(format!("\n{}{}", about(sibling), changes(conflict, sibling, differs)));
        lines.push(format!("  {}", command(conflict, &sibling.rev)));
    }
    lines
}

/// The command that keeps a revision.
pub(super) fn command(conflict: &ConflictView, rev: &RevisionId) -> String {
    format!("baton sync resolve {} --keep {}", named(&conflict.name), short(rev, &all(conflict)))
}

/// A session's name as a shell takes it.
pub(super) fn named(name: &SessionName) -> String {
    shell_words::quote(&style::plain(name.as_str())).into_owned()
}

/// What becomes of the session when a sibling is kept.
fn changes(
    conflict: &ConflictView,
    sibling: &RevisionView,
    differs: Option<&RevisionDifference>,
) -> String {
    if sibling.deleted {
        return ", deletes the session".to_owned();
    }
    if conflict.current.deleted {
        return ", brings the session back".to_owned();
    }
    let Some(differs) = differs else { return ", is not compared".to_owned() };
    match (&differs.unreadable, differs.sites.is_empty()) {
        (Some(why), _) => {
            let why = style::plain(why.lines().next().unwrap_or_default());
            format!(", {}", style::doubtful(&format!("cannot be compared: {why}")))
        }
        (None, true) => ", changes nothing: both hold the same".to_owned(),
        (None, false) => format!(", changes this:\n{}", sites(&differs.sites)),
    }
}

fn sites(sites: &[SiteDiff]) -> String {
    let mut table = Table::new(&["SITE", "KIND", "WHAT CHANGES", "NAMES"]);
    for one in sites {
        table.row([
            one.site.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
            one.kind.to_string().replace('_', " "),
            counts(one),
            some_names(one),
        ]);
    }
    table.render()
}

fn counts(one: &SiteDiff) -> String {
    let counts = [(one.added, "added"), (one.removed, "removed"), (one.changed, "changed")];
    let told = counts.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// The first names, and how many items have others.
fn some_names(one: &SiteDiff) -> String {
    let names = one.names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if one.names.len() > NAMES { format!("{names}, …") } else { names }
}

/// A session that was saved, and where it went.
pub(crate) fn saved(view: &SavedView, names: &Names) -> String {
    let SavedView { name, rev, unchanged, .. } = view;
    let rev = short(rev, &[]);
    let mut lines = vec![if *unchanged {
        format!("{name} was saved as it is already: revision {rev}")
    } else {
        format!("saved {name}: revision {rev}, kept for good")
    }];
    lines.extend(view.pushed.iter().map(|pushed| {
        let peer = style::plain(&names.name(pushed.node_id));
        let (parts, bytes) = (style::counted(pushed.parts, "part"), style::size(pushed.bytes));
        format!("{peer}: {}, {parts}, {bytes}", outcome(pushed.outcome))
    }));
    lines.extend(view.failed.iter().map(|failed| {
        let reason = failed.reason.lines().next().unwrap_or_default();
        style::bad(&style::plain(&format!("{}: {reason}", failed.peer)))
    }));
    lines.extend(left_out(&view.left_out));
    if !view.conflicts.is_empty() {
        let told = "somebody has to choose; baton sync conflicts shows from what";
        lines.push(style::doubtful(told));
    }
    lines.join("\n")
}

/// A session in which a person chose.
pub(crate) fn resolved(view: &ConflictView) -> String {
    let (name, rev) = (&view.name, short(&view.current.rev, &all(view)));
    let ended = style::good(&format!("revision {rev} of {name} counts from now on;"));
    format!("{ended} baton sync run tells the peers")
}

/// What there is to choose from; what counts comes first.
pub(super) fn revisions(conflict: &ConflictView) -> impl Iterator<Item = &RevisionView> {
    std::iter::once(&conflict.current).chain(&conflict.siblings)
}

/// The same by their names.
fn all(conflict: &ConflictView) -> Vec<RevisionId> {
    revisions(conflict).map(|revision| revision.rev).collect()
}
