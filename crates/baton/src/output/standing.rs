//! How sessions stand: what is where, what is newer, what waits, and what conflicts.

mod text;

use super::exchange::Failed;
use super::peers::Names;
use baton_api::sync::{
    ConflictView, Difference, DifferenceList, DirectoryView, SessionDifference, SyncIndex,
};
use baton_session::{RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashMap;
pub(crate) use text::standing;

/// How sessions stand here and at peers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Standing {
    /// A list for each peer, of those that differ.
    peers: Vec<DifferenceList>,
    /// Peers that could not say.
    pub(crate) failed: Vec<Failed>,
    /// Confirmed peers that have no address: they ask this node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asking: Vec<String>,
    /// How it stands with the sync directory.
    directory: DirectoryView,
    /// Each session, those for which something waits first.
    sessions: Vec<Row>,
    /// Those in which somebody has to choose.
    conflicts: Vec<ConflictView>,
    /// What waits, all together.
    waits: Waits,
    #[serde(skip)]
    names: Names,
}

/// What a node and its peers said of themselves.
pub(crate) struct Told {
    /// How sessions stand at each peer, also those that do not differ.
    pub(crate) lists: Vec<DifferenceList>,
    /// Peers that could not say.
    pub(crate) failed: Vec<Failed>,
    /// Confirmed peers that have no address.
    pub(crate) asking: Vec<String>,
    /// What is here.
    pub(crate) here: SyncIndex,
    /// In which somebody has to choose.
    pub(crate) conflicts: Vec<ConflictView>,
    /// How it stands with the sync directory.
    pub(crate) directory: DirectoryView,
    /// What people call the nodes.
    pub(crate) names: Names,
}

/// One session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    session_id: SessionId,
    name: SessionName,
    /// What counts here; none when it is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<Here>,
    /// How each peer stands that was asked and knows of it, or should.
    peers: Vec<AtPeer>,
    waits: Waits,
}

/// The revision that counts here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Here {
    rev: RevisionId,
    version: u64,
    last_modified: Timestamp,
    deleted: bool,
}

/// How a peer stands.
#[derive(Debug, Serialize)]
struct AtPeer {
    peer: String,
    stands: Stands,
    /// Whether the session ran here, and the peer took it over meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    taken: bool,
}

/// What a peer has of a session, compared with what is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stands {
    Same,
    /// The same, of the part that it has.
    Part,
    Newer,
    Older,
    /// Changed here and there.
    Changed,
    Missing,
    /// Deleted there, after what is here.
    Deleted,
}

/// What waits: movements, and choices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Waits {
    to_pull: usize,
    to_push: usize,
    in_conflict: usize,
}

impl Standing {
    /// Puts together by session what was told by peer.
    pub(crate) fn of(told: Told) -> Self {
        let Told { mut lists, failed, asking, here, conflicts, directory, names } = told;
        let mut sessions = rows(&here, &lists, &conflicts);
        sessions.sort_by(|a, b| {
            let key = |row: &Row| (!row.waits.is_any(), row.name.clone(), row.session_id);
            key(a).cmp(&key(b))
        });
        for list in &mut lists {
            list.items.retain(|item| item.difference != Difference::Same);
        }
        let waits = sessions.iter().fold(Waits::default(), |sum, row| sum.and(row.waits));
        Self { peers: lists, failed, asking, directory, sessions, conflicts, waits, names }
    }

    /// How many peers were asked.
    fn asked(&self) -> usize {
        self.peers.len() + self.failed.len()
    }
}

fn rows(here: &SyncIndex, lists: &[DifferenceList], conflicts: &[ConflictView]) -> Vec<Row> {
    let mut rows: HashMap<SessionId, Row> = HashMap::new();
    for ours in &here.sessions {
        let (rev, version, deleted) = (ours.rev, ours.version, ours.deleted);
        let here = Here { rev, version, last_modified: ours.last_modified, deleted };
        rows.insert(ours.id, Row::new(ours.id, &ours.name, Some(here)));
    }
    for list in lists {
        for item in &list.items {
            let new = || Row::new(item.session_id, &item.name, None);
            rows.entry(item.session_id).or_insert_with(new).add(&list.name, item);
        }
    }
    for conflict in conflicts {
        if let Some(row) = rows.get_mut(&conflict.session_id) {
            row.waits.in_conflict = 1;
        }
    }
    // What was deleted and is nowhere is no news.
    rows.into_values().filter(|row| row.waits.is_any() || !row.is_gone()).collect()
}

impl Row {
    fn new(session_id: SessionId, name: &SessionName, here: Option<Here>) -> Self {
        let (name, waits) = (name.clone(), Waits::default());
        Self { session_id, name, here, peers: Vec::new(), waits }
    }

    fn add(&mut self, peer: &str, item: &SessionDifference) {
        let (peer, stands) = (peer.to_owned(), Stands::of(item));
        self.peers.push(AtPeer { peer, stands, taken: item.taken });
        let difference = item.difference;
        let is_pulled = matches!(difference, Difference::Behind | Difference::Diverged);
        let is_pushed = matches!(difference, Difference::Ahead | Difference::Diverged);
        self.waits.to_pull += usize::from(is_pulled);
        self.waits.to_push += usize::from(is_pushed);
    }

    /// Whether it ran here, and a peer took it over meanwhile.
    fn is_taken(&self) -> bool {
        self.peers.iter().any(|peer| peer.taken)
    }

    fn is_gone(&self) -> bool {
        self.here.as_ref().is_none_or(|here| here.deleted)
    }
}

impl Stands {
    fn of(item: &SessionDifference) -> Self {
        match (item.difference, item.there) {
            (Difference::Same, true) if item.in_part => Self::Part,
            (Difference::Same, _) => Self::Same,
            (Difference::Behind | Difference::Diverged, false) => Self::Deleted,
            (Difference::Ahead, false) => Self::Missing,
            (Difference::Behind, true) => Self::Newer,
            (Difference::Ahead, true) => Self::Older,
            (Difference::Diverged, true) => Self::Changed,
        }
    }
}

impl Waits {
    fn is_any(self) -> bool {
        self != Self::default()
    }

    fn and(self, other: Self) -> Self {
        Self {
            to_pull: self.to_pull + other.to_pull,
            to_push: self.to_push + other.to_push,
            in_conflict: self.in_conflict + other.in_conflict,
        }
    }
}
