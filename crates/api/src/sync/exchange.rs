//! What two nodes tell each other of their sessions: the index says which there are and how far each has
//! come, an exchange what one of them is made of, and parcels carry its parts, many in one body.
//!
//! An exchange travels sealed, so no schema shows it.
//!
//! A body is a row of parcels. Each begins with the length of its head as four bytes, big end first,
//! then the head as JSON, then its bytes, whose number the head says. A body travels sealed.

use baton_session::revision::{Knowledge, Offer, PartList, Within};
use baton_session::{
    NodeId, PartHash, PartKind, PartRef, PeerLease, RevisionId, SessionId, SessionName, Vector,
    View, json,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every session of the caller's owner that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncIndex {
    /// Whose index it is.
    pub node_id: NodeId,
    /// When the last of them changed; none when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Timestamp>,
    /// The sessions, by id. Those that were deleted are among them until every peer knows.
    pub sessions: Vec<IndexedSession>,
}

/// One session of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexedSession {
    /// Which one: the same at every node.
    pub id: SessionId,
    /// What it is called.
    pub name: SessionName,
    /// The number of the current revision: a hint. `rev` and `vector` tell what is newer.
    pub version: u64,
    /// The checksum of its state.
    pub checksum: PartHash,
    /// When the current revision was written.
    pub last_modified: Timestamp,
    /// The node at which the session was opened first.
    pub origin_node_id: NodeId,
    /// Bytes of the current revision's parts together.
    pub size: u64,
    /// The current revision.
    pub rev: RevisionId,
    /// The other revisions that wait for someone to choose, sorted; none is the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// How far each actor (`nodeId#epoch`) had come: all revisions here together.
    #[schema(value_type = Object)]
    pub vector: Vector,
    /// The views of which that is told, with how far each actor had come in them; left out when it is told
    /// of the whole session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub within: Vec<Within>,
    /// Who holds the session, as far as the node knows; none before anybody did.
    #[serde(rename = "lease", default, skip_serializing_if = "Option::is_none")]
    pub peer_lease: Option<PeerLease>,
    /// Whether the session was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl IndexedSession {
    /// Whether there are parts of the session of which it tells nothing.
    pub fn is_partial(&self) -> bool {
        !self.within.is_empty() && !self.within.iter().any(|within| within.view.is_whole())
    }

    /// Of which parts of the session it tells, and how far each actor had come there.
    pub fn knowledge(&self) -> Knowledge {
        match self.within.as_slice() {
            [] => Knowledge::whole(self.vector.clone()),
            within => Knowledge::new(within.iter().cloned()),
        }
    }
}

/// The revisions of a session, and of which parts they are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Heads, kept ones, and what is needed to believe them.
    pub offer: Offer,
    /// The lists that the heads and the kept ones name by hash.
    pub lists: Vec<PartList>,
    /// Who holds the session, as far as the sender knows.
    #[serde(rename = "lease", default, skip_serializing_if = "Option::is_none")]
    pub peer_lease: Option<PeerLease>,
}

/// Asks for what of a session's revisions is in a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskSeen {
    /// What the asking node takes.
    pub view: View,
}

/// A part that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Which part.
    pub part: PartHash,
    /// An older part of the same place that the receiver has: what is sent may be the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<PartHash>,
}

/// Asks for parts. As many come as fit in one answer, in this order; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchParts {
    /// Which ones.
    pub wanted: Vec<Wanted>,
    /// The view that was asked for; none when that was everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
}

/// What became of an exchange that was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The parts that have to come before it can be taken; none when it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Wanted>,
    /// What is taken there, when more than that was offered: then nothing was taken, and what is in this
    /// view is to be offered instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<View>,
    /// Whether anything was new there.
    pub changed: bool,
    /// The current revision there now; none before anything was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// Those that wait there for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Who holds the session, as far as the receiver knows.
    #[serde(rename = "lease", default, skip_serializing_if = "Option::is_none")]
    pub peer_lease: Option<PeerLease>,
}

/// Asks a peer for a session. It travels sealed, so no schema shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakePeerLease {
    /// The peer lease that the asking node is about to have.
    #[serde(rename = "lease")]
    pub peer_lease: PeerLease,
}

/// What a peer says to that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerLeaseAnswer {
    /// What became of it.
    pub outcome: PeerLeaseOutcome,
    /// The peer lease that counts there now.
    #[serde(rename = "lease", default, skip_serializing_if = "Option::is_none")]
    pub peer_lease: Option<PeerLease>,
    /// How far the session has come there.
    #[serde(default)]
    pub vector: Vector,
}

/// What became of a peer lease that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerLeaseOutcome {
    /// The session does not run there.
    Free,
    /// It ran there, was captured, saved and closed.
    HandedOver,
    /// A peer lease is known there that counts more: nothing was done.
    Outdated,
    /// It is in use there in a way that cannot be ended now; says how.
    Kept(String),
}

/// How a session stands among nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SharedView {
    /// The revision that counts.
    pub rev: RevisionId,
    /// The revision that what is here comes from, when that is another one: a newer one came while
    /// the browser ran, and a resume brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<RevisionId>,
    /// Whether the revision that counts deletes the session: a resume removes it, and a save keeps what
    /// is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Revisions that wait for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Who holds the session, as far as this node knows; none when nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HolderView>,
}

/// The holder of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HolderView {
    /// Which node.
    pub node_id: NodeId,
    /// What it is called here; none for one that is no peer, and for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is the node that was asked.
    pub here: bool,
    /// Since when.
    pub since: Timestamp,
}

/// How a session came from the node that held it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandedView {
    /// The node that held it.
    pub node_id: NodeId,
    /// What it is called here.
    pub name: String,
    /// How.
    pub how: Handing,
}

/// How a session came from the node that held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handing {
    /// That node captured it once more, saved and closed it.
    HandedOver,
    /// That node does not answer: what it saved last is what there is.
    TakenOver,
}

/// The longest head of a parcel, in bytes.
const HEAD_MAX: usize = 64 << 10;
/// How many bytes a head has about, with its length.
const HEAD_USUAL: usize = 256;

/// One part on its way.
#[derive(Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Which part.
    pub part: PartRef,
    /// The part from which it differs; none when it travels whole.
    pub base: Option<PartHash>,
    /// The part as it is kept, compressed or not; with a base, a zstd frame (RFC 8878) that has the
    /// base as its prefix.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    kind: PartKind,
    name: String,
    hash: PartHash,
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<PartHash>,
    length: usize,
}

/// A body that holds something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected parcels of parts, found {0}")]
pub struct InvalidParcels(&'static str);

impl std::fmt::Debug for Parcel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parcel({}, {} bytes)", self.part.hash, self.bytes.len())
    }
}

/// Writes parcels one behind the other.
pub fn write(parcels: &[Parcel]) -> Vec<u8> {
    let bytes = parcels.iter().map(|parcel| parcel.bytes.len() + HEAD_USUAL).sum();
    let mut body = Vec::with_capacity(bytes);
    for Parcel { part, base, bytes } in parcels {
        let PartRef { kind, name, hash, size } = part.clone();
        let head = Head { kind, name, hash, size, base: *base, length: bytes.len() };
        // It is far shorter than four bytes can say.
        let head = json::bytes(&head);
        body.extend(u32::try_from(head.len()).unwrap_or_default().to_be_bytes());
        body.extend(head);
        body.extend(bytes);
    }
    body
}

/// Reads what [`write()`] wrote.
pub fn read(mut body: &[u8]) -> Result<Vec<Parcel>, InvalidParcels> {
    let mut parcels = Vec::new();
    while !body.is_empty() {
        let (length, rest) =
            body.split_first_chunk::<4>().ok_or(InvalidParcels("half a length"))?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > HEAD_MAX || length > rest.len() {
            return Err(InvalidParcels("a head that is too long"));
        }
        let (head, rest) = rest.split_at(length);
        let head = serde_json::from_slice(head).map_err(|_| InvalidParcels("no head"))?;
        let Head { kind, name, hash, size, base, length } = head;
        if length > rest.len() {
            return Err(InvalidParcels("half a part"));
        }
        let (bytes, rest) = rest.split_at(length);
        let part = PartRef { kind, name, hash, size };
        parcels.push(Parcel { part, base, bytes: bytes.to_vec() });
        body = rest;
    }
    Ok(parcels)
}
