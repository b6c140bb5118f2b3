//! What moved between this node and its peers, what failed, and where a person has to choose: what each
//! choice would change, and what was chosen.

use super::peers::Names;
use super::receipt::left_out;
use super::table;
use super::table::{Table, short};
use baton_api::sync::{
    ConflictDetails, ConflictView, Movement, MovementOutcome, RevisionDifference, RevisionView,
    SavedView, SessionDifference,
};
use baton_api::{ClientError, ErrorCode};
use baton_session::diff::SiteDiff;
use baton_session::{RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// There is no peer to compare with: no peer, or only such as ask this node.
pub(super) fn nobody(asking: &[String]) -> String {
    if asking.is_empty() {
        return "no confirmed peers; baton peers add URL --name NAME registers one".to_owned();
    }
    let names: Vec<String> = asking.iter().map(|name| table::plain(name)).collect();
    let (names, asks) = (names.join(", "), if asking.len() == 1 { "asks" } else { "ask" });
    format!(
        "nobody to ask from here: {names} {asks} this node, and sessions move when baton sync run runs there"
    )
}

/// Which way a session moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MoveDirection {
    /// From a peer to here.
    Pull,
    /// From here to a peer.
    Push,
}

impl fmt::Display for MoveDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pull => "pull",
            Self::Push => "push",
        })
    }
}

/// What a run did.
#[derive(Debug, Serialize)]
pub(crate) struct Exchange {
    /// How many peers were asked.
    pub(crate) asked: usize,
    /// Confirmed peers that have no address: they ask this node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) asking: Vec<String>,
    /// Sessions that moved, or had nothing to move.
    pub(crate) items: Vec<Moved>,
    /// Peers and sessions that failed.
    pub(crate) failed: Vec<Failed>,
}

/// A session that moved.
#[derive(Debug, Serialize)]
pub(crate) struct Moved {
    /// What people call the peer.
    pub(crate) peer: String,
    /// Which way it moved.
    pub(crate) way: MoveDirection,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) movement: Movement,
}

/// A peer that did not answer, or a session that did not move.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failed {
    /// What people call the peer.
    peer: String,
    /// Which session; none when it is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<SessionName>,
    /// Which way it should have moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<MoveDirection>,
    /// Why.
    reason: String,
    /// What to do, when the peer does not let this node in.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Whether the peer answered, and said no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
    /// Whether the peer did not answer.
    #[serde(skip)]
    silent: bool,
}

impl Exchange {
    /// In how many sessions a person has to choose.
    pub(crate) fn conflicts(&self) -> usize {
        let movements = self.items.iter().map(|moved| &moved.movement);
        let in_conflict = movements.filter(|one| one.outcome == MovementOutcome::Conflict);
        in_conflict.map(|one| one.session_id).collect::<BTreeSet<_>>().len()
    }
}

impl Failed {
    /// A peer that could not say what differs.
    pub(crate) fn peer(peer: String, error: &ClientError) -> Self {
        let (reason, hint, refused) = (error.to_string(), hint(error), is_refusal(error));
        let silent = is_silence(error);
        Self { peer, session_id: None, name: None, way: None, reason, hint, refused, silent }
    }

    /// Sessions that were not tried, because the peer did not answer.
    pub(crate) fn rest(peer: &str, count: usize) -> Self {
        let (peer, sessions) = (peer.to_owned(), table::counted(count, "session"));
        let reason = format!("{sessions} more not tried");
        let (refused, silent, hint) = (false, true, None);
        Self { peer, session_id: None, name: None, way: None, reason, hint, refused, silent }
    }

    /// Whether the peer did not answer: then it is not asked for the next session either.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Whether the peer answered, and said no.
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    /// A session that did not move.
    pub(crate) fn session(
        peer: &str,
        item: &SessionDifference,
        way: MoveDirection,
        error: &ClientError,
    ) -> Self {
        let because = Self::because(peer, item, way, error.to_string());
        Self { hint: hint(error), refused: is_refusal(error), silent: is_silence(error), ..because }
    }

    /// A session for which time ran out before any of it moved.
    pub(crate) fn unfinished(peer: &str, item: &SessionDifference, way: MoveDirection) -> Self {
        Self::because(peer, item, way, "expected a part to move in time, found none".to_owned())
    }

    fn because(peer: &str, item: &SessionDifference, way: MoveDirection, reason: String) -> Self {
        Self {
            peer: peer.to_owned(),
            session_id: Some(item.session_id),
            name: Some(item.name.clone()),
            way: Some(way),
            reason,
            hint: None,
            refused: false,
            silent: false,
        }
    }
}

fn is_silence(error: &ClientError) -> bool {
    error.code() == Some(ErrorCode::PeerUnreachable)
}

/// Whether a peer answered, and said no.
fn is_refusal(error: &ClientError) -> bool {
    let refusals = [ErrorCode::PeerDenied, ErrorCode::PeerRefused, ErrorCode::PendingThere];
    error.code().is_some_and(|code| refusals.contains(&code))
}

/// What to do, when a peer does not let this node in: that goes by nothing else.
fn hint(error: &ClientError) -> Option<String> {
    match error {
        ClientError::Problem(problem) if problem.code == ErrorCode::PeerDenied => {
            problem.hint.clone()
        }
        _ => None,
    }
}

/// What a run did: a line for each session that moved, the sums below.
pub(crate) fn exchange(done: &Exchange) -> String {
    let mut lines = Vec::new();
    if !done.items.is_empty() {
        let mut table =
            Table::new(&["SESSION", "PEER", "WAY", "WHAT CAME OF IT", "PARTS", "BYTES"]);
        for Moved { peer, way, movement } in &done.items {
            let Movement { name, outcome, parts, bytes, .. } = movement;
            table.row([
                name.to_string(),
                peer.clone(),
                way.to_string(),
                self::outcome(*outcome).to_owned(),
                parts.to_string(),
                table::size(*bytes),
            ]);
        }
        lines.push(table.render());
    }
    lines.extend(failed(&done.failed));
    lines.extend(sums(done));
    lines.join("\n")
}

fn sums(done: &Exchange) -> Vec<String> {
    let mut lines = Vec::new();
    if done.items.is_empty() && done.failed.is_empty() {
        lines.push(nothing(done));
    }
    let conflicts = done.conflicts();
    if conflicts > 0 {
        let count = table::counted(conflicts, "session");
        let told = format!("{count} in conflict; baton sync conflicts shows what to choose from");
        lines.push(table::doubtful(&told));
    }
    lines
}

/// Nothing differs, if there was anybody to compare with.
fn nothing(done: &Exchange) -> String {
    match done.asked {
        0 => nobody(&done.asking),
        _ => table::good("all in sync"),
    }
}

/// What came of a movement, in words.
pub(super) fn outcome(outcome: MovementOutcome) -> &'static str {
    match outcome {
        MovementOutcome::Unchanged => "nothing to move",
        MovementOutcome::Moved => "moved",
        MovementOutcome::Conflict => "moved, in conflict",
        MovementOutcome::Deleted => "deleted",
        MovementOutcome::Unfinished => "not finished",
    }
}

/// What failed, a line each, and below it what to do.
pub(super) fn failed(failed: &[Failed]) -> impl Iterator<Item = String> {
    failed.iter().map(|Failed { peer, name, way, reason, hint, .. }| {
        let about = match (name, way) {
            (Some(name), Some(way)) => format!("{way} {name}, {peer}"),
            _ => peer.clone(),
        };
        let line = reason.lines().next().unwrap_or_default();
        let line = table::bad(&format!("{}: {}", table::plain(&about), table::plain(line)));
        let next = hint.iter().flat_map(|hint| hint.lines());
        next.fold(line, |told, next| format!("{told}\n  {}", table::plain(next)))
    })
}

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
        return table::good("no conflicts");
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["SESSION", "REVISION", "WRITTEN BY", "WHEN", "SIZE", "STANDS"]);
    for ConflictDetails { conflict, .. } in &list.items {
        let all = all(conflict);
        for (at, revision) in revisions(conflict).enumerate() {
            let content =
                if revision.deleted { "deletes it".to_owned() } else { table::size(revision.size) };
            table.row([
                conflict.name.to_string(),
                short(&revision.rev, &all),
                names.name(revision.node_id),
                table::age(revision.last_modified, now),
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
        let by = table::plain(&names.name(revision.node_id));
        format!("keep {rev} of {}, by {by}", table::plain(conflict.name.as_str()))
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
    shell_words::quote(&table::plain(name.as_str())).into_owned()
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
            let why = table::plain(why.lines().next().unwrap_or_default());
            format!(", {}", table::doubtful(&format!("cannot be compared: {why}")))
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
        let peer = table::plain(&names.name(pushed.node_id));
        let (parts, bytes) = (table::counted(pushed.parts, "part"), table::size(pushed.bytes));
        format!("{peer}: {}, {parts}, {bytes}", outcome(pushed.outcome))
    }));
    lines.extend(view.failed.iter().map(|failed| {
        let reason = failed.reason.lines().next().unwrap_or_default();
        table::bad(&table::plain(&format!("{}: {reason}", failed.peer)))
    }));
    lines.extend(left_out(&view.left_out));
    if !view.conflicts.is_empty() {
        let told = "somebody has to choose; baton sync conflicts shows from what";
        lines.push(table::doubtful(told));
    }
    lines.join("\n")
}

/// A session in which a person chose.
pub(crate) fn resolved(view: &ConflictView) -> String {
    let (name, rev) = (&view.name, short(&view.current.rev, &all(view)));
    let ended = table::good(&format!("revision {rev} of {name} counts from now on;"));
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
