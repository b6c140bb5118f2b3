//! Revisions: published states of a session, and which of them is newer than which.
//!
//! The one idea: a node holds of each session the revisions that no other one covers, its *heads*.
//! Exchanging heads and dropping what is covered leads every node to the same heads, in whatever order
//! they meet. One head is the rule; several are a conflict, and each of them stays until someone resolves
//! it. Time decides only which of several heads is shown as the current one.
//!
//! What makes this safe: a revision, together with the losers of merges that it names, accounts for every
//! edit that its vector covers. So a node that drops what a head covers drops nothing undecided.
//!
//! Rooms: [`vector`] tells who counts and how far each of them had come, with a long memory of counters, and [`knowledge`] in which parts
//! of the session; [`offer`] is what nodes exchange, what a writer may claim in it and why it is not
//! believed; [`replica`] is what one of them holds; [`mod@merge`]
//! makes one state of two. The revision itself, its name by its content, its signature and the list of
//! its parts are here.

pub mod knowledge;
pub mod merge;
pub mod offer;
pub mod replica;
pub mod vector;

pub use knowledge::{Knowledge, Within};
pub use merge::{Decisions, LeftOut, Merged, MergedFrom, merge, merge_views};
pub use offer::{Offer, Refused};
pub use replica::{
    Author, Content, HISTORY_MAX, MergePlan, Replica, ReplicaChange, deleted_checksum,
};
pub use vector::{Actor, Epoch, Order, Trail, Vector};

use crate::id::{NodeId, PartHash, SessionId};
use crate::json;
use crate::parts::{PartKind, PartRef};
use crate::peer::{BadSignature, NodeKey, NodeSecret, NodeSignature};
use crate::session::SessionName;
use crate::text_form::{InvalidText, text_form};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// A published state: what it is, and what it is newer than. Its content is named, not held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revision {
    /// Whose state it is.
    pub session: SessionId,
    /// One more than the greatest of its parents: a hint for people, and for nodes that know nothing
    /// better.
    pub version: u64,
    /// The revisions that it was made of, sorted; none for the first.
    #[serde(default)]
    pub parents: Vec<RevisionId>,
    /// How far each actor had come, in whatever part of the session.
    pub vector: Vector,
    /// The views that it speaks of, with how far it had come in each; none when it speaks of the whole
    /// session and `vector` says it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<Within>,
    /// Whose counter it advances; none when it only joins what others wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Actor>,
    /// The checksum of the state, see [`checksum_of`](fn@crate::wire::checksum_of).
    pub checksum: PartHash,
    /// The hash of the list of its parts, see [`PartList`].
    pub parts: PartHash,
    /// Bytes of its parts together.
    pub size: u64,
    /// When it was written, by its writer's clock; later than its parents say of themselves.
    pub modified_at: Timestamp,
    /// Whether the session was deleted by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Losers of merges, which are kept until someone resolves the conflict; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// What each of them had that is left out; of one that is not named here that may be anything.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<RevisionId, BTreeSet<LeftOut>>,
    /// What the session is called.
    pub name: SessionName,
    /// Free text for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where the session was opened first.
    pub origin: Origin,
}

/// Where a session was opened first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Origin {
    /// The node.
    pub node: NodeId,
    /// When.
    pub created_at: Timestamp,
    /// By whom, as that node calls them.
    pub created_by: String,
}

impl Revision {
    /// Its name: what it says, hashed.
    pub fn id(&self) -> RevisionId {
        RevisionId { version: self.version, hash: PartHash::of(&self.canonical()) }
    }

    /// Its canonical JSON (RFC 8785): what is hashed and signed.
    pub(crate) fn canonical(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// Its author with the counter that it advanced to: no other revision has the two.
    pub(super) fn dot(&self) -> Option<(Actor, u64)> {
        self.author.map(|author| (author, self.vector.get(&author)))
    }

    /// Whether it says of the session what another one says.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.checksum, self.deleted) == (other.checksum, other.deleted)
            && (self.within == other.within || self.knowledge().is_of_the_same(&other.knowledge()))
    }

    /// Of which parts of the session it speaks, and how far it had come in each.
    pub fn knowledge(&self) -> Knowledge {
        match self.within.as_slice() {
            [] => Knowledge::whole(self.vector.clone()),
            within => Knowledge::new(within.iter().cloned()),
        }
    }

    /// Says how far it had come, and where.
    pub(super) fn know(&mut self, knowledge: Knowledge) {
        self.vector = knowledge.joined();
        self.within = knowledge.into_within();
    }

    /// Whether there are parts of the session that it says nothing about.
    pub fn is_partial(&self) -> bool {
        !self.within.is_empty() && !self.within.iter().any(|within| within.view.is_whole())
    }

    /// How what it has seen compares to what another one has.
    pub fn compare(&self, other: &Self) -> Order {
        if self.within.is_empty() && other.within.is_empty() {
            return self.vector.compare(&other.vector);
        }
        self.knowledge().compare(&other.knowledge())
    }

    /// Whether it has seen, wherever the other one speaks, all that that has.
    pub fn covers(&self, other: &Self) -> bool {
        matches!(self.compare(other), Order::After | Order::Equal)
    }

    /// Whether it speaks of all that another one does.
    pub(super) fn speaks_of(&self, other: &Self) -> bool {
        self.within.is_empty() || self.knowledge().speaks_of(&other.knowledge())
    }

    /// Whether it is no more than what a node sees of its parent.
    pub fn is_view(&self) -> bool {
        self.author.is_none() && self.parents.len() == 1 && self.is_partial()
    }
}

/// The name of a revision, in text `<version>-<64 hexadecimal digits>`.
///
/// The hash counts, and the number helps people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RevisionId {
    version: u64,
    hash: PartHash,
}

impl RevisionId {
    /// The number in it.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl fmt::Display for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.version, self.hash)
    }
}

impl FromStr for RevisionId {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("a revision: a number, '-' and 64 hexadecimal digits");
        let (version, hash) = text.split_once('-').ok_or(invalid)?;
        // A number can be written in other ways too, with a sign or with zeros before it; a name has one.
        if version.starts_with('+') || version.starts_with('0') && version != "0" {
            return Err(invalid);
        }
        let version = version.parse().map_err(|_| invalid)?;
        Ok(Self { version, hash: hash.parse().map_err(|_| invalid)? })
    }
}

text_form!(RevisionId);

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for RevisionId {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        <String as utoipa::PartialSchema>::schema()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for RevisionId {}

/// What precedes the bytes that are signed, so that no other signature of a node is one of a revision.
const CONTEXT: &[u8] = b"baton revision v1\0";

/// A revision as its writer signed it.
///
/// The name is kept beside what it names, so a revision is hashed once, when it is made or read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Signed {
    id: RevisionId,
    form: Form,
}

/// What travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Form {
    revision: Revision,
    signer: NodeKey,
    signature: NodeSignature,
}

impl Signed {
    /// Signs a revision.
    pub fn new(revision: Revision, secret: &NodeSecret) -> Self {
        let signature = secret.sign(&message(&revision));
        let id = revision.id();
        Self { id, form: Form { revision, signer: secret.key(), signature } }
    }

    /// Its name.
    pub fn id(&self) -> RevisionId {
        self.id
    }

    /// The key of the node that wrote it.
    pub fn signer(&self) -> NodeKey {
        self.form.signer
    }

    /// The node that wrote it.
    pub fn node(&self) -> NodeId {
        self.form.signer.node_id()
    }

    /// What decides between heads: a session that lives before one that was deleted, then the later
    /// one, then an order that is the same everywhere.
    fn rank(&self) -> (bool, Timestamp, RevisionId) {
        (!self.deleted, self.modified_at, self.id)
    }

    /// Checks that its signer signed it.
    pub fn verify(&self) -> Result<(), BadSignature> {
        self.form.signer.verify(&message(&self.form.revision), &self.form.signature)
    }
}

fn message(revision: &Revision) -> Vec<u8> {
    [CONTEXT, &revision.canonical()].concat()
}

impl From<Form> for Signed {
    fn from(form: Form) -> Self {
        Self { id: form.revision.id(), form }
    }
}

impl From<Signed> for Form {
    fn from(signed: Signed) -> Self {
        signed.form
    }
}

impl Deref for Signed {
    type Target = Revision;

    fn deref(&self) -> &Revision {
        &self.form.revision
    }
}

/// The parts of a revision, sorted by kind and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartList(Vec<Line>);

/// A part: what it holds, which one of its kind, the hash and the number of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line(PartKind, String, PartHash, u64);

impl PartList {
    /// The list of these parts.
    pub fn new(parts: &[PartRef]) -> Self {
        let line = |part: &PartRef| Line(part.kind, part.name.clone(), part.hash, part.size);
        let mut lines: Vec<Line> = parts.iter().map(line).collect();
        lines.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        Self(lines)
    }

    /// SHA-256 of its JSON, which has one form: a list of `[kind, name, hash, size]` without spaces.
    pub fn hash(&self) -> PartHash {
        PartHash::of(&json::bytes(self))
    }

    /// Bytes of the parts together.
    pub fn size(&self) -> u64 {
        self.0.iter().fold(0, |sum, line| sum.saturating_add(line.3))
    }

    /// How many parts it names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts it names.
    pub fn parts(&self) -> impl Iterator<Item = PartRef> {
        self.0.iter().map(|Line(kind, name, hash, size)| PartRef {
            kind: *kind,
            name: name.clone(),
            hash: *hash,
            size: *size,
        })
    }
}
