//! What moved between this node and its peers, and what failed.

use super::style;
use super::table::Table;
use baton_api::sync::{Movement, MovementOutcome, SessionDifference};
use baton_api::{ClientError, ErrorCode};
use baton_session::{SessionId, SessionName};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// There is no peer to compare with: no peer, or only such as ask this node.
pub(super) fn nobody(asking: &[String]) -> String {
    if asking.is_empty() {
        return "no confirmed peers; baton peers add URL --name NAME registers one".to_owned();
    }
    let names: Vec<String> = asking.iter().map(|name| style::plain(name)).collect();
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
        let (peer, sessions) = (peer.to_owned(), style::counted(count, "session"));
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
                style::size(*bytes),
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
        let count = style::counted(conflicts, "session");
        let told = format!("{count} in conflict; baton sync conflicts shows what to choose from");
        lines.push(style::doubtful(&told));
    }
    lines
}

/// Nothing differs, if there was anybody to compare with.
fn nothing(done: &Exchange) -> String {
    match done.asked {
        0 => nobody(&done.asking),
        _ => style::good("all in sync"),
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
        let line = style::bad(&format!("{}: {}", style::plain(&about), style::plain(line)));
        let next = hint.iter().flat_map(|hint| hint.lines());
        next.fold(line, |told, next| format!("{told}\n  {}", style::plain(next)))
    })
}
