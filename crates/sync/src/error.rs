//! What can go wrong while sessions move.

use crate::damage::DamageError;
use crate::directory::DirectoryError;
use crate::letting_in::{command, key_of, preparation};
use crate::not_joined::NotJoined;
use crate::not_trusted::NotTrusted;
use crate::oidc::ProviderError;
use baton_api::sync::{InvalidParcels, pending_there};
use baton_net::WayError;
use baton_runtime::RuntimeError;
use baton_runtime::error::word;
use baton_session::peer::AuthMethod;
use baton_session::revision::Refused;
use baton_session::{
    Fingerprint, NodeId, PartHash, PartKind, RevisionId, SessionId, SessionName, View,
};
use url::Url;

/// Why a session did not move, or a peer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The session itself does not allow it.
    #[error(transparent)]
    Runtime(RuntimeError),
    /// Something of ours cannot be written down.
    #[error("could not write {what}: {source}\nthis is a fault of Baton")]
    NotWritten {
        /// What it is.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The owner has no such peer.
    #[error("no peer {reference:?}\nbaton peers list shows the peers there are")]
    NoPeer {
        /// What was asked for.
        reference: String,
    },
    /// Nothing of a session is in what the peer is given.
    #[error(
        "expected session {session} to have something that goes there, found none: only {view} does\n\
         baton peers limit changes that"
    )]
    NothingSeen {
        /// Which session.
        session: SessionId,
        /// What goes there.
        view: View,
    },
    /// More was offered than is taken from a peer.
    #[error(
        "expected of session {session} only what is taken from there, {view}, found more\n\
         baton peers limit changes that, here or at the node that gives it"
    )]
    TooMuch {
        /// Which session.
        session: SessionId,
        /// What is taken.
        view: View,
    },
    /// What a revision holds is not in the views that it speaks of.
    #[error("revision {rev}: expected nothing beyond the views that it speaks of, found more")]
    BeyondViews {
        /// Which one.
        rev: RevisionId,
    },
    /// No person has confirmed who the peer is.
    #[error(
        "expected peer {name} to be confirmed, found it pending\n\
         compare its fingerprint with what it shows itself, then run: baton peers confirm {}",
        word(.name)
    )]
    Pending {
        /// What people call it.
        name: String,
    },
    /// A node asks that no person here has confirmed.
    #[error(
        "expected the node that asks to be confirmed, found it pending: {fingerprint}\n\
         when that is what it shows at the top of baton peers list, run at the node that says this: {next}"
    )]
    PendingHere {
        /// Its fingerprint.
        fingerprint: Fingerprint,
        /// The command that confirms it.
        next: String,
    },
    /// A peer says that no person there has confirmed this node.
    #[error("{}\nthere, run: {next}", pending_there(.name))]
    PendingThere {
        /// What people here call the peer.
        name: String,
        /// The command that a person types there.
        next: String,
    },
    /// This node did not join another one.
    #[error(transparent)]
    NotJoined(#[from] NotJoined),
    /// A node shows a key that was made for another one.
    #[error(
        "expected the key to be shown by the node for which it was made, {expected}, found {found}\n\
         baton keys create --scope sync --for-node makes one for this node"
    )]
    KeyOfOtherNode {
        /// For which node it was made.
        expected: Fingerprint,
        /// Which one shows it.
        found: Fingerprint,
    },
    /// The peer has no address: it asks us.
    #[error(
        "expected an address of peer {name}, found none: it asks this node, not the other way\n\
         baton peers add registers it with its address"
    )]
    NoAddress {
        /// What people call it.
        name: String,
    },
    /// A peer was registered without what opens it.
    #[error(
        "expected {} peer {name}, found none\n{}\nwith that, run here: {}",
        key_of(*.way), preparation(*.way), command(.url.as_str(), .name, *.way)
    )]
    NoKey {
        /// What people call it.
        name: String,
        /// Where it is asked.
        url: Url,
        /// How it is asked.
        way: AuthMethod,
    },
    /// The peer does not let this node in.
    #[error("peer {name} does not let this node in by {way}: {why}\n{next}")]
    NotLetIn {
        /// What people call it.
        name: String,
        /// By what this node wanted to be let in.
        way: AuthMethod,
        /// What the peer said.
        why: String,
        /// What to do.
        next: String,
    },
    /// The tunnel to the peer does not let this node through.
    #[error(
        "the tunnel to peer {name} does not let this node through: {why}\n\
         there, run: devtunnel token TUNNEL --scopes connect\nwith that, run here: {next}"
    )]
    Tunnel {
        /// What people call it.
        name: String,
        /// What it said.
        why: String,
        /// The command that takes another token.
        next: String,
    },
    /// The provider gives no token for the peer.
    #[error("expected a token for peer {name}, found none: {why}\n{next}")]
    NoToken {
        /// What people call it.
        name: String,
        /// Why not.
        why: Box<ProviderError>,
        /// What to do.
        next: String,
    },
    /// No node is asked there, or not with this key.
    #[error(transparent)]
    Way(#[from] WayError),
    /// The peer does not answer.
    #[error("peer {name} does not answer: {why}\nits sessions stay as they are; try again later")]
    Unreachable {
        /// What people call it.
        name: String,
        /// What happened.
        why: String,
    },
    /// The peer takes connections, and what it says breaks off.
    #[error("peer {name} broke off: {why}\nits sessions stay as they are; try again later")]
    BrokeOff {
        /// What people call it.
        name: String,
        /// What happened.
        why: String,
    },
    /// What answers shows a certificate that does not count here.
    #[error(transparent)]
    NotTrusted(#[from] NotTrusted),
    /// The peer has heard the question and says nothing.
    #[error("peer {name} takes too long to answer\ntry again")]
    TooSlow {
        /// What people call it.
        name: String,
    },
    /// The peer takes connections and says nothing.
    #[error(
        "peer {name} takes the connection and says nothing\n\
         its sessions stay as they are; baton peers ping {} says when it answers again", word(.name)
    )]
    Silent {
        /// What people call it.
        name: String,
    },
    /// The peer that holds a session takes connections and no more, so it is not known whether it still runs there.
    #[error(
        "peer {name} holds the session, takes the connection and {does}: it may still run there\n\
         try again once it answers; or take over what it saved last: baton peers remove {}, and resume again",
        word(.name)
    )]
    HeldInDoubt {
        /// What people call it.
        name: String,
        /// What it does with the connection.
        does: &'static str,
    },
    /// The peer holds a session and does not give it.
    #[error("peer {name} keeps the session: {why}\ntry again when that is over")]
    Kept {
        /// What people call it.
        name: String,
        /// Why.
        why: String,
    },
    /// What answers is no node.
    #[error("expected a node of Baton at {url}, found something else: {why}")]
    NotANode {
        /// Where.
        url: Url,
        /// What it said.
        why: String,
    },
    /// The peer has no such session, or gives nothing of it.
    #[error(
        "peer {name} has no such session for this node\n\
         baton sync status shows what it has; there, baton save makes a session one that moves"
    )]
    NotThere {
        /// What people call the peer.
        name: String,
    },
    /// The peer refused.
    #[error("peer {name} refused: {why}")]
    Denied {
        /// What people call it.
        name: String,
        /// What it said.
        why: String,
    },
    /// Another node answers, or asks, in the place of one that is known.
    #[error(
        "expected node {expected}, which was registered, found {found}\n\
         if the node is a new one on purpose, remove the peer and register it again"
    )]
    OtherNode {
        /// Who it should be.
        expected: NodeId,
        /// Who it is.
        found: NodeId,
    },
    /// The fingerprint is another one.
    #[error(
        "expected the fingerprint {expected}, found {found}\nthis is another node: do not confirm it"
    )]
    OtherFingerprint {
        /// What the caller has seen.
        expected: String,
        /// What the node has.
        found: String,
    },
    /// A limited peer shows a token whose client is let in by the settings.
    #[error(
        "expected the client {client} of the peer {name} to be let in no more, found that the settings let \
         it in: it would come back without its limits\ntake it out of auth.oidc.allowed_clients, start the \
         node again, and then remove the peer"
    )]
    LetInByToken {
        /// What the peer is called.
        name: String,
        /// The client, as the provider knows it.
        client: String,
    },
    /// A peer shows a key with which this node is administered, and is to be limited.
    #[error(
        "expected the peer {name} to show a key of its own, found one with the scope admin, which limits \
         would shut out here\nbaton keys create --scope sync makes one for it"
    )]
    AdminKey {
        /// What the peer is called.
        name: String,
    },
    /// A message between nodes cannot be trusted.
    #[error("a message between nodes was refused: {why}")]
    Untrusted {
        /// Why.
        why: String,
    },
    /// A peer has no icon of a session, or gives none.
    #[error("expected peer {name} to have an icon of session {session}, found none")]
    NoIcon {
        /// Which peer.
        name: String,
        /// Which session.
        session: SessionId,
    },
    /// A peer that did not answer is not asked for pictures again so soon.
    #[error("peer {name} gave no icon a moment ago: {why}\ntry again in half a minute")]
    NotAskedYet {
        /// What people call it.
        name: String,
        /// What happened then.
        why: String,
    },
    /// Nothing of the session is shared.
    #[error("session {session} was never saved\nbaton save makes a revision of it")]
    NotShared {
        /// Which session.
        session: String,
    },
    /// A session that was to start, and turned out to be deleted.
    #[error(
        "no session {name} any more: it was deleted at another node, and nothing was saved here since\n\
         baton sessions list shows what there is"
    )]
    DeletedElsewhere {
        /// What it was called.
        name: SessionName,
    },
    /// Revisions from elsewhere are refused.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A revision without the list of its parts.
    #[error("revision {rev}: expected the list of its parts beside it, found none that fits")]
    NoList {
        /// Which one.
        rev: RevisionId,
    },
    /// A revision with a part that no revision holds.
    #[error(
        "revision {rev}: expected parts that nodes share, found the {kind} part {name:?}, which is of one \
         node only"
    )]
    OfOneNode {
        /// Which one.
        rev: RevisionId,
        /// What the part holds.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
    },
    /// A revision says that it is of another size.
    #[error("revision {rev}: expected parts of {expected} bytes together, found {found}")]
    WrongSize {
        /// Which one.
        rev: RevisionId,
        /// What it says.
        expected: u64,
        /// What the list says.
        found: u64,
    },
    /// A revision says that its state has another checksum.
    #[error("revision {rev}: expected a state with the checksum {expected}, found {found}")]
    WrongChecksum {
        /// Which one.
        rev: RevisionId,
        /// What it says.
        expected: PartHash,
        /// What its parts say.
        found: PartHash,
    },
    /// A session that is too large to be taken.
    #[error(
        "revision {rev}: expected at most {limit} bytes, found {found}\n\
         sync.session_bytes in the settings allows more"
    )]
    TooLarge {
        /// Which one.
        rev: RevisionId,
        /// How large it may be.
        limit: u64,
        /// How large it is.
        found: u64,
    },
    /// What a snapshot holds cannot be read.
    #[error("what the session holds cannot be shared: {why}")]
    BadContent {
        /// Why.
        why: String,
    },
    /// Something between nodes is damaged.
    #[error(transparent)]
    Damaged(#[from] DamageError),
    /// Every snapshot that could become a revision is damaged.
    #[error(
        "expected a snapshot of {name} that is whole and newer than its last revision, found damage: {why}\n\
         resume it: what can be read comes back, and can be saved then"
    )]
    NothingWhole {
        /// What it is called.
        name: SessionName,
        /// What is wrong with the newest one.
        why: String,
    },
    /// The revision that a request is based on is not the newest.
    #[error("expected revision {expected} to be the newest, found {}", newest(*found))]
    OtherRevision {
        /// What the caller has seen.
        expected: RevisionId,
        /// What is the newest; none when nothing is here.
        found: Option<RevisionId>,
    },
    /// A file that is too large to be shared.
    #[error("expected a file with at most {limit} bytes of state, found {found}")]
    FileTooLarge {
        /// How large it may be.
        limit: u64,
        /// How large it is.
        found: u64,
    },
    /// A body that holds no parcels.
    #[error(transparent)]
    BadParcels(#[from] InvalidParcels),
    /// The sync directory, or a file in it, is not as it must be.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A file by a node that no person here has confirmed.
    #[error(
        "expected a file of a confirmed peer, found one of node {node}\n\
         baton peers add registers a node, and baton peers confirm says that it is the right one"
    )]
    UnknownWriter {
        /// Who says that they wrote it.
        node: NodeId,
    },
    /// A file that its writer did not write like this.
    #[error("expected a file as node {node} wrote it, found one that was changed")]
    ForgedFile {
        /// Who should have written it.
        node: NodeId,
    },
    /// A revision whose content is gone.
    #[error("the content of revision {rev} is not here")]
    NoContent {
        /// Which one.
        rev: RevisionId,
    },
    /// A part that is no part of the session.
    #[error("expected a part of session {session}, found {part}")]
    NotOfSession {
        /// Which part.
        part: PartHash,
        /// Which session.
        session: SessionId,
    },
    /// More parts at once than are taken.
    #[error("expected at most {limit} parts at once, found {found}")]
    TooManyParts {
        /// How many there may be.
        limit: usize,
        /// How many there were.
        found: usize,
    },
    /// More bytes at once than are given.
    #[error("expected parts of at most {limit} bytes at once, found {found}")]
    BatchTooLarge {
        /// How many there may be.
        limit: u64,
        /// How many there were.
        found: u64,
    },
    /// A difference that leads nowhere.
    #[error("part {part}: expected the difference from an older one, found something else")]
    BadDelta {
        /// Which part.
        part: PartHash,
    },
    /// A revision that cannot be found by what was given.
    #[error(
        "expected the beginning of one revision, found {found} for {keep:?}\nbaton sync conflicts shows them"
    )]
    WhichRevision {
        /// What was given.
        keep: String,
        /// How many fit.
        found: usize,
    },
    /// Others changed the session again and again.
    #[error("session {session} is changed by others all the time\ntry again")]
    Contended {
        /// Which session.
        session: SessionId,
    },
}

fn newest(found: Option<RevisionId>) -> String {
    found.map_or_else(|| "none".to_owned(), |rev| rev.to_string())
}
