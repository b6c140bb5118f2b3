//! Where a new browser or sandbox goes: to the nodes that have room for it, in an order.
//!
//! The one idea: who chooses knows what each node said at its last beat, and what was sent there since; the node that is
//! chosen has the last word, and says so before it begins. So nothing is reserved, and nobody decides for all.

use super::members::{Cluster, FRESH};
use super::rooms::{Kind, OwnRoom};
use baton_session::{NodeId, NodeLabel};
use baton_store::ClusterRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use tokio::time::sleep;

/// How many nodes are tried before the request is refused.
pub(crate) const TRIES: usize = 3;
/// How often it is looked whether a node has room, before a request is refused: of a place that has just become free
/// the others hear at the next beat of its node, which follows at once.
const LOOKS: u32 = 4;
/// All of the places of a node, in what their parts are reckoned in.
const WHOLE: u128 = 10_000;
/// How many nodes a refusal tells of.
const TOLD: usize = 8;

/// What is looked for.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'w> {
    /// What needs the place.
    pub(crate) what: Kind,
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

impl Candidate {
    /// The row of another node.
    pub(crate) fn there(self) -> Option<ClusterRow> {
        match self {
            Self::Here => None,
            Self::There(row) => Some(*row),
        }
    }
}

/// No node is known to have room.
struct NoRoom {
    /// How each is.
    told: String,
    /// Whether one of the others would do, if it had room by now.
    may_change: bool,
}

/// A node as who chooses sees it.
struct Choice<'c> {
    row: &'c ClusterRow,
    /// How many it has of what is looked for.
    running: u64,
    places: u64,
    is_here: bool,
}

impl Cluster {
    /// The nodes that may take what is wanted, the best first. Where none is known to have room, it is looked again how
    /// they are, until a place that had become free when this was asked is known. Fails with how each is.
    pub(crate) async fn find_candidates(
        &self,
        own: OwnRoom,
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Candidate>, String> {
        let mut found = self.candidates(own, wanted);
        for look in 0..LOOKS {
            let Err(NoRoom { may_change, .. }) = found else { break };
            if look > 0 && !may_change {
                break;
            }
            if look > 0 {
                sleep(FRESH).await;
            }
            self.look_up_soon().await;
            found = self.candidates(own, wanted);
        }
        found.map_err(|NoRoom { told, .. }| told)
    }

    /// The nodes that may take it, the best first. This node is asked before others that have only a little more
    /// room: a way is saved.
    fn candidates(&self, own: OwnRoom, wanted: &Wanted<'_>) -> Result<Vec<Candidate>, NoRoom> {
        let (rows, here) = (self.rows(), self.node());
        let is_draining = self.is_draining();
        let choices: Vec<Choice<'_>> = rows
            .iter()
            .filter(|row| row.member.node == here || row.is_there)
            .map(|row| {
                let is_here = row.member.node == here;
                let (running, said) = wanted.what.at(row.beat);
                let places = if is_here {
                    own.places(wanted.what).unwrap_or(u64::MAX)
                } else {
                    let sent = self.sent().to(row, wanted.what);
                    said.unwrap_or(u64::MAX).saturating_sub(sent)
                };
                let drains = if is_here { is_draining } else { row.beat.is_draining };
                Choice { row, running, places: if drains { 0 } else { places }, is_here }
            })
            .collect();
        let fits = |choice: &Choice<'_>| {
            let node = &choice.row.member;
            !wanted.without.contains(&node.node) && node.labels.is_superset(&wanted.labels)
        };
        let has_room = |choice: &&Choice<'_>| choice.places > 0 && fits(choice);
        let mut found: Vec<&Choice<'_>> = choices.iter().filter(has_room).collect();
        if found.is_empty() {
            let may_change = choices.iter().any(|choice| {
                let is_another = !choice.is_here && !choice.row.beat.is_draining;
                is_another && fits(choice)
            });
            return Err(NoRoom { told: refused(&choices, wanted), may_change });
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

    /// For how many of these browsers, each with the labels that its node has to have, the other nodes have room, and
    /// how each is.
    pub(crate) fn places_of_others(&self, wanted: Vec<BTreeSet<NodeLabel>>) -> (u64, String) {
        let rows = self.others();
        let choices: Vec<Choice<'_>> = rows
            .iter()
            .map(|row| {
                let beat = row.beat;
                let places = if beat.is_draining { 0 } else { beat.places.unwrap_or(u64::MAX) };
                Choice { row, running: beat.browsers, places, is_here: false }
            })
            .collect();
        let (found, labels) = share_out(&choices, wanted);
        let told = refused(&choices, &Wanted { labels, ..Wanted::default() });
        (found, if told.is_empty() { "no other node is there".to_owned() } else { told })
    }

    /// Notes that one of these was sent to a node.
    pub(crate) fn note_sent(&self, row: &ClusterRow, what: Kind) {
        self.sent().note(row, what);
    }
}

/// For how many of these there is room, each at a node with its labels, and the labels of those that find none. Who
/// finds the fewest nodes chooses first, the node that is of use to the fewest others: what is found that way is there,
/// and what is not may be there in rare cases.
fn share_out(
    choices: &[Choice<'_>],
    wanted: Vec<BTreeSet<NodeLabel>>,
) -> (u64, BTreeSet<NodeLabel>) {
    let mut kinds: BTreeMap<BTreeSet<NodeLabel>, u64> = BTreeMap::new();
    for labels in wanted {
        *kinds.entry(labels).or_default() += 1;
    }
    let fits = |choice: &Choice<'_>, labels| choice.row.member.labels.is_superset(labels);
    let uses = |choice: &Choice<'_>| kinds.keys().filter(|labels| fits(choice, labels)).count();
    let mut nodes: Vec<(&Choice<'_>, u64)> =
        choices.iter().map(|choice| (choice, choice.places)).collect();
    nodes.sort_by_key(|(choice, _)| uses(choice));
    let nodes_of = |labels| choices.iter().filter(|choice| fits(choice, labels)).count();
    let mut order: Vec<(&BTreeSet<NodeLabel>, u64)> =
        kinds.iter().map(|(labels, count)| (labels, *count)).collect();
    order.sort_by_key(|(labels, _)| nodes_of(labels));
    let (mut found, mut without) = (0, None);
    for (labels, mut left) in order {
        for (_, places) in nodes.iter_mut().filter(|(choice, _)| fits(choice, labels)) {
            let taken = left.min(*places);
            (left, *places, found) = (left - taken, *places - taken, found + taken);
        }
        if left > 0 {
            without.get_or_insert(labels);
        }
    }
    (found, without.cloned().unwrap_or_default())
}

/// The smaller, the better: who has the profile, then who has the largest part of its places left, so that nodes of
/// all sizes fill up alike; of equals who runs least, and this one.
fn rank(choice: &Choice<'_>, first: Option<NodeId>) -> (bool, Reverse<u128>, u64, bool) {
    let is_first = first == Some(choice.row.member.node);
    let running = choice.running;
    let (left, all) = (u128::from(choice.places), u128::from(choice.places) + u128::from(running));
    let part = left * WHOLE / all.max(1);
    // A tenth more of room is worth a way.
    let weight = if choice.is_here { part * 11 / 10 } else { part };
    (!is_first, Reverse(weight), running, !choice.is_here)
}

/// How each node is, for who is refused.
fn refused(choices: &[Choice<'_>], wanted: &Wanted<'_>) -> String {
    let mut text = String::new();
    for Choice { row, running, places, .. } in choices.iter().take(TOLD) {
        let (node, beat) = (&row.member, row.beat);
        let lacks: BTreeSet<NodeLabel> = wanted.labels.difference(&node.labels).cloned().collect();
        let told = if wanted.without.contains(&node.node) {
            "is not asked".to_owned()
        } else if !lacks.is_empty() {
            format!("has no label {}", NodeLabel::list(&lacks))
        } else if beat.is_draining {
            "is being drained".to_owned()
        } else {
            format!("has {} and takes {places} more", wanted.what.counted(*running))
        };
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} {told}", node.name);
    }
    match choices.len().saturating_sub(TOLD) {
        0 => text,
        more => format!("{text}, and {more} nodes more without room"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::NodeSecret;
    use baton_store::{ClusterBeat, ClusterMember};
    use jiff::Timestamp;
    use std::time::Duration;

    fn row(seed: u8, browsers: u64, places: Option<u64>) -> ClusterRow {
        let key = NodeSecret::from_seed(&[seed; 32]).key();
        let member = ClusterMember {
            cluster: "shop".to_owned(),
            node: key.node_id(),
            name: format!("node-{seed}"),
            internal_url: format!("http://10.0.0.{seed}:7420/"),
            key,
            version: "1.0.0".to_owned(),
            start: "a".to_owned(),
            lease: Duration::from_secs(30),
            labels: BTreeSet::new(),
        };
        let now = Timestamp::UNIX_EPOCH;
        let beat = ClusterBeat { browsers, places, ..ClusterBeat::default() };
        ClusterRow { member, started_at: now, seen_at: now, beat, is_there: true }
    }

    /// The nodes in the order in which they are asked; the first of them is the one that chooses.
    fn order(rows: &[ClusterRow], first: Option<usize>) -> Vec<String> {
        let here = rows[0].member.node;
        let first = first.map(|at| rows[at].member.node);
        let mut choices: Vec<Choice<'_>> = rows
            .iter()
            .map(|row| {
                let places = row.beat.places.unwrap_or(u64::MAX);
                let (running, is_here) = (row.beat.browsers, row.member.node == here);
                Choice { row, running, places, is_here }
            })
            .collect();
        choices.sort_by_key(|choice| rank(choice, first));
        choices.iter().map(|choice| choice.row.member.name.clone()).collect()
    }

    #[test]
    fn each_browser_finds_a_place_only_where_its_labels_are() {
        let labels = |text: &str| -> BTreeSet<NodeLabel> {
            text.split_terminator(',').map(|label| label.parse().unwrap()).collect()
        };
        let mut rows = [row(1, 0, Some(2)), row(2, 0, Some(1)), row(3, 0, Some(9))];
        rows[0].member.labels = labels("gpu,region=eu");
        rows[1].member.labels = labels("gpu");
        let share = |wanted: &[&str]| {
            let choice =
                |row| Choice { row, running: 0, places: row.beat.places.unwrap(), is_here: false };
            let choices: Vec<Choice<'_>> = rows.iter().map(choice).collect();
            share_out(&choices, wanted.iter().map(|wanted| labels(wanted)).collect())
        };
        // The many places of a node without it are of no use to who asks for a label.
        assert_eq!(share(&["gpu", "gpu", "gpu", "gpu"]), (3, labels("gpu")));
        assert_eq!(share(&["tpu", ""]), (1, labels("tpu")));
        // Who may go anywhere leaves the places to those who may not.
        assert_eq!(share(&["", "", "gpu", "gpu,region=eu", "region=eu"]), (5, labels("")));
    }

    #[test]
    fn nodes_of_all_sizes_fill_up_alike_and_a_way_is_saved() {
        // The larger part of its places counts, not their number.
        let sizes = [row(1, 50, Some(50)), row(2, 1, Some(3)), row(3, 0, None)];
        assert_eq!(order(&sizes, None), ["node-3", "node-2", "node-1"]);
        // A little more room elsewhere is not worth a way.
        let close = [row(1, 5, Some(95)), row(2, 0, Some(100))];
        assert_eq!(order(&close, None), ["node-1", "node-2"]);
        let far = [row(1, 20, Some(80)), row(2, 0, Some(100))];
        assert_eq!(order(&far, None), ["node-2", "node-1"]);
        // Where its profile is, a session goes first, as long as there is room at all.
        assert_eq!(order(&far, Some(0)), ["node-1", "node-2"]);
    }
}
