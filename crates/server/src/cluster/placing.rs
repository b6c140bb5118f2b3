//! Where a new browser goes: to the nodes that have room for it, in an order.
//!
//! The one idea: who chooses knows what each node said at its last beat, and what was sent there since; the node that is
//! chosen has the last word, and says so before it begins. So nothing is reserved, and nobody decides for all.

use super::members::Cluster;
use baton_runtime::live::Room;
use baton_session::{NodeId, NodeLabel};
use baton_store::ClusterRow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many nodes are tried before the request is refused.
pub(crate) const TRIES: usize = 3;
/// How many nodes a refusal tells of.
const TOLD: usize = 8;

/// What is looked for.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'w> {
    /// Labels that the node has to have.
    pub(crate) labels: BTreeSet<NodeLabel>,
    /// A node that is asked before all others, if it has room: it has the profile.
    pub(crate) first: Option<NodeId>,
    /// Nodes that are not asked.
    pub(crate) without: &'w [NodeId],
}

/// A node that may take it.
#[derive(Debug, Clone)]
pub(crate) enum Candidate {
    /// This one.
    Here,
    /// Another one.
    There(Box<ClusterRow>),
}

/// A node as who chooses sees it.
struct Choice<'c> {
    row: &'c ClusterRow,
    places: u64,
    is_here: bool,
}

impl Cluster {
    /// The nodes that may take a new browser, the best first. Where none is known to have room, they are asked once
    /// more how they are. Fails with how each is.
    pub(crate) async fn find_candidates(
        &self,
        own: Room,
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Candidate>, String> {
        if let Ok(found) = self.candidates(own, wanted) {
            return Ok(found);
        }
        self.look_up_soon().await;
        self.candidates(own, wanted)
    }

    /// The nodes that may take a new browser, the best first. This node is asked before others that have only a
    /// little more room: a way is saved.
    fn candidates(&self, own: Room, wanted: &Wanted<'_>) -> Result<Vec<Candidate>, String> {
        let (rows, here) = (self.rows(), self.node());
        let is_draining = self.is_draining();
        let choices: Vec<Choice<'_>> = rows
            .iter()
            .filter(|row| row.member.node == here || row.is_there)
            .map(|row| {
                let is_here = row.member.node == here;
                let places = if is_here {
                    own.places() as u64
                } else {
                    row.beat.places.unwrap_or(u64::MAX).saturating_sub(self.sent().to(row))
                };
                let drains = if is_here { is_draining } else { row.beat.is_draining };
                Choice { row, places: if drains { 0 } else { places }, is_here }
            })
            .collect();
        let fits = |choice: &&Choice<'_>| {
            let node = &choice.row.member;
            choice.places > 0
                && !wanted.without.contains(&node.node)
                && node.labels.is_superset(&wanted.labels)
        };
        let mut found: Vec<&Choice<'_>> = choices.iter().filter(fits).collect();
        if found.is_empty() {
            return Err(refused(&choices, wanted));
        }
        found.sort_by_key(|choice| rank(choice, wanted.first));
        let candidate = |choice: &Choice<'_>| {
            if choice.is_here {
                Candidate::Here
            } else {
                Candidate::There(Box::new(choice.row.clone()))
            }
        };
        Ok(found.into_iter().take(TRIES).map(candidate).collect())
    }

    /// How many browsers more the other nodes take, and how each is.
    pub(crate) fn places_of_others(&self) -> (u64, String) {
        let here = self.node();
        let rows: Vec<ClusterRow> =
            self.rows().into_iter().filter(|row| row.is_there && row.member.node != here).collect();
        let places = |row: &ClusterRow| {
            let beat = row.beat;
            if beat.is_draining { 0 } else { beat.places.unwrap_or(u64::MAX) }
        };
        let all = rows.iter().map(places).fold(0, u64::saturating_add);
        let choices: Vec<Choice<'_>> =
            rows.iter().map(|row| Choice { row, places: places(row), is_here: false }).collect();
        let told = refused(&choices, &Wanted::default());
        (all, if told.is_empty() { "no other node is there".to_owned() } else { told })
    }

    /// Notes that a browser was sent to a node.
    pub(crate) fn note_sent(&self, row: &ClusterRow) {
        self.sent().note(row);
    }
}

/// The smaller, the better: who has the profile, then who has most room, of equals who runs least.
fn rank(choice: &Choice<'_>, first: Option<NodeId>) -> (bool, std::cmp::Reverse<u64>, u64, bool) {
    let is_first = first == Some(choice.row.member.node);
    // A third more of room is worth a way.
    let weight = if choice.is_here { choice.places.saturating_mul(4) / 3 } else { choice.places };
    (!is_first, std::cmp::Reverse(weight), choice.row.beat.browsers, !choice.is_here)
}

/// How each node is, for who is refused.
fn refused(choices: &[Choice<'_>], wanted: &Wanted<'_>) -> String {
    let mut text = String::new();
    for Choice { row, places, .. } in choices.iter().take(TOLD) {
        let (node, beat) = (&row.member, row.beat);
        let lacks: BTreeSet<NodeLabel> = wanted.labels.difference(&node.labels).cloned().collect();
        let told = if wanted.without.contains(&node.node) {
            "is not asked".to_owned()
        } else if !lacks.is_empty() {
            format!("has no label {}", NodeLabel::list(&lacks))
        } else if beat.is_draining {
            "is being drained".to_owned()
        } else {
            format!("runs {} browsers and takes {places} more", beat.browsers)
        };
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} {told}", node.name);
    }
    match choices.len().saturating_sub(TOLD) {
        0 => text,
        more => format!("{text}, and {more} nodes more without room"),
    }
}
