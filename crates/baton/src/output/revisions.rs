//! Revisions: what was saved, and what somebody chose.

use super::carry::left_out;
use super::exchange::outcome;
use super::peers::Names;
use super::rev::short;
use super::style;
use baton_api::sync::{ConflictView, RevisionView, SavedView};
use baton_session::RevisionId;

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

/// A session in which somebody chose.
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
pub(super) fn all(conflict: &ConflictView) -> Vec<RevisionId> {
    revisions(conflict).map(|revision| revision.rev).collect()
}
