//! What can go wrong, said so that a person knows what was expected, what was found and what to do.

use crate::blocking::Stopping;
use crate::config::InvalidDatabaseUrl;
use crate::master_key::KeyError;
use crate::quotas::Counted;
use baton_session::{AgentName, Lifecycle, NodeId, Owner, PartKind, SessionId, SnapshotId};
use std::io;
use std::path::PathBuf;

/// The name of the database where none was given.
pub(crate) const SOMEWHERE: &str = "the database";

/// Every failure of the store. Nothing was changed when one is returned; only when PostgreSQL is cut off, or
/// says nothing any more, in the middle of a commit it cannot be known: then it is `Unreachable`, and says so.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another session of the owner that is not closed bears the name.
    #[error(
        "the name {name:?} is taken by another session\nclose that one, or choose another name"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A session, snapshot or API key with this id exists already.
    #[error("the id {id} is taken")]
    IdTaken {
        /// The id.
        id: String,
    },
    /// The owner has as much as it may have.
    #[error(
        "expected fewer than {most} {what}, the quota of {owner}, found {found}\nend or delete some, or ask who runs \
         the node for more ([[quotas]])"
    )]
    QuotaReached {
        /// Whose they are.
        owner: Owner,
        /// Of what.
        what: Counted,
        /// How many there may be.
        most: u64,
        /// How many there are, as far as that was counted.
        found: u64,
    },
    /// The owner has no such session.
    #[error("no session {reference:?}")]
    SessionNotFound {
        /// What was asked for: an id, a prefix or a name.
        reference: String,
    },
    /// A prefix fits several sessions.
    #[error(
        "{reference:?} is the start of several sessions: {}\ngive more of the id, or a name",
        list(matches)
    )]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// Up to five of the sessions that it fits.
        matches: Vec<SessionId>,
    },
    /// The session is not in the state from which it was to go.
    #[error("expected the session to be {expected}, found it {found}")]
    LifecycleConflict {
        /// Where it should stand.
        expected: Lifecycle,
        /// The lifecycle that it has.
        found: Lifecycle,
    },
    /// Another node holds the session.
    #[error(
        "expected nobody to hold the session, found node {node}\n\
         use that node; when it has stopped, its lease ends by itself"
    )]
    HeldElsewhere {
        /// The holder.
        node: NodeId,
    },
    /// Another agent drives the session by now.
    #[error("another agent drives the session by now: {}", match found {
        Some(agent) => agent.as_str(),
        None => "nobody",
    })]
    DriverChanged {
        /// The agent that does; none when there is none.
        found: Option<AgentName>,
    },
    /// No session goes from the one state to the other.
    #[error("a session that is {from} cannot become {to}")]
    LifecycleForbidden {
        /// From where.
        from: Lifecycle,
        /// To where.
        to: Lifecycle,
    },
    /// The owner, or the session, has no such snapshot.
    #[error("no snapshot {reference:?}")]
    SnapshotNotFound {
        /// What was asked for: an id or a prefix.
        reference: String,
    },
    /// A prefix fits several snapshots of the session.
    #[error(
        "{reference:?} is the start of several snapshots: {}\ngive more of the id",
        list(matches)
    )]
    AmbiguousSnapshot {
        /// What was asked for.
        reference: String,
        /// Up to five of the snapshots that it fits.
        matches: Vec<SnapshotId>,
    },
    /// The list of parts of a snapshot cannot be read.
    #[error("snapshot {id} cannot be read: {why}\nan older snapshot of the session may be whole")]
    SnapshotCorrupt {
        /// Which one.
        id: SnapshotId,
        /// What is wrong with it.
        why: String,
    },
    /// A part that a snapshot names is not in the database.
    #[error("the {kind} part {name:?} is not in the database")]
    PartMissing {
        /// What it holds.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
    },
    /// A part is not what was stored.
    #[error("the {kind} part {name:?} cannot be read: {why}")]
    PartCorrupt {
        /// What it holds.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A part is larger than the configuration allows.
    #[error("expected the {kind} part {name:?} to have at most {limit} bytes, found {found}")]
    PartTooLarge {
        /// What it holds.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
        /// How many bytes it has.
        found: u64,
        /// How many it may have.
        limit: u64,
    },
    /// More parts wait for their snapshots than may.
    #[error(
        "expected at most {limit} bytes of parts that wait for their sessions, found {found}\nthose of \
         sessions that never came whole go after a day; then go on"
    )]
    TooManyStaged {
        /// How many bytes there would be.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A part that came from elsewhere is not what it is said to be.
    #[error(
        "the {kind} part {name:?} was refused: {why}\nnothing of what came with it was stored; ask \
         for all of it again"
    )]
    PartRefused {
        /// What it should hold.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A snapshot has more parts than the configuration allows.
    #[error("expected a snapshot of at most {limit} parts, found {found}")]
    TooManyParts {
        /// How many it has.
        found: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A snapshot names one part twice.
    #[error("expected every part of a snapshot once, found the {kind} part {name:?} twice")]
    DuplicatePart {
        /// What it holds.
        kind: PartKind,
        /// Which one of its kind.
        name: String,
    },
    /// A receipt cannot be read.
    #[error("the receipt of session {session} cannot be read: {why}")]
    ReceiptCorrupt {
        /// Whose receipt.
        session: SessionId,
        /// What is wrong with it.
        why: String,
    },
    /// The owner has no such upstream service.
    #[error("no cocoon {id:?}")]
    UpstreamNotFound {
        /// Which one was asked for.
        id: String,
    },
    /// The owner has no such API key.
    #[error("no API key {id:?}")]
    KeyNotFound {
        /// Which one was asked for.
        id: String,
    },
    /// Another API key of the owner that is not revoked bears the name.
    #[error(
        "the name {name:?} is taken by another API key\nrevoke that one, or choose another name"
    )]
    KeyNameTaken {
        /// The name.
        name: String,
    },
    /// The node has no identity here.
    #[error("expected the identity of node {node}, found none")]
    IdentityNotFound {
        /// Which node.
        node: NodeId,
    },
    /// The keys of a node cannot be read.
    #[error(
        "the identity of node {node} cannot be read: {why}\nrestore the database from a backup"
    )]
    IdentityCorrupt {
        /// Whose keys.
        node: NodeId,
        /// What is wrong with them.
        why: String,
    },
    /// There is no such invitation that counts: it was used, has ended, or never was.
    #[error("no open invitation {id:?}\nbaton peers invite makes one")]
    InvitationNotFound {
        /// What was asked for.
        id: String,
    },
    /// The owner has as many open invitations as there may be.
    #[error(
        "expected at most {most} open invitations, found that many\n\
         baton peers invite --cancel takes one back, and each ends by itself"
    )]
    TooManyInvitations {
        /// How many there may be.
        most: usize,
    },
    /// The owner has no such peer.
    #[error("no peer {reference:?}")]
    PeerNotFound {
        /// What was asked for: an id, a prefix or a name.
        reference: String,
    },
    /// A prefix fits several peers.
    #[error(
        "{reference:?} is the start of several peers: {}\ngive more of the id, or a name",
        list(matches)
    )]
    AmbiguousPeer {
        /// What was asked for.
        reference: String,
        /// Up to five of the peers that it fits.
        matches: Vec<NodeId>,
    },
    /// The owner has registered the node already.
    #[error("node {node} is a peer already\nchange what is known of it, or remove it first")]
    PeerTaken {
        /// Which node.
        node: NodeId,
    },
    /// Another peer of the owner bears the name.
    #[error("the name {name:?} is taken by another peer\nremove that one, or choose another name")]
    PeerNameTaken {
        /// The name.
        name: String,
    },
    /// Another peer of the owner shows the same API key.
    #[error(
        "expected an API key that no other peer shows, found that of {name:?}\nmake a key for each \
         peer: baton keys create"
    )]
    PeerKeyTaken {
        /// The name of the other peer.
        name: String,
    },
    /// A credential for a peer cannot be stored.
    #[error("the credential for peer {name:?} cannot be stored: {why}")]
    CredentialRefused {
        /// The name of the peer.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Another change of what is held of a session's revisions came first.
    #[error(
        "expected the revisions of session {session} as they were read, found that they have \
         changed\nread them again, and make the change once more"
    )]
    SharedChanged {
        /// Which session.
        session: SessionId,
    },
    /// What is held of a session's revisions cannot be read, or not be stored.
    #[error("the revisions of session {session} cannot be used: {why}")]
    SharedCorrupt {
        /// Which session.
        session: SessionId,
        /// What is wrong with them.
        why: String,
    },
    /// A text holds a NUL character, which PostgreSQL cannot keep.
    #[error("expected {field} without NUL characters, found one")]
    InvalidText {
        /// Which text.
        field: &'static str,
    },
    /// A row holds what no version of this program writes.
    #[error(
        "expected {expected} in column {column}, found {found:?}: the database was edited or is damaged"
    )]
    InvalidRow {
        /// Which column.
        column: &'static str,
        /// What it should hold.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// The key file, or the key in the environment, cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The database is sealed for another master key.
    #[error(
        "the database's key is sealed for another key file: expected key {expected}, found key \
         {found}\nput the key file that belongs to this database in its place"
    )]
    WrongKey {
        /// Fingerprints of the master keys that open it, separated by commas.
        expected: String,
        /// The fingerprint of the master key that was given.
        found: String,
    },
    /// The address of the database cannot be used.
    #[error(transparent)]
    InvalidUrl(#[from] InvalidDatabaseUrl),
    /// The database file, or its folder, cannot be read or made.
    #[error("cannot open the database {}: {source}", path.display())]
    NoAccess {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is something else; it was left alone.
    #[error(
        "expected a SQLite database in {place}, found a file of another kind; it was left alone"
    )]
    NotADatabase {
        /// The file.
        place: String,
    },
    /// The database holds the tables of another program; it was left alone.
    #[error(
        "expected a database of Baton in {place}, found one of another program; it was left alone"
    )]
    NotOurs {
        /// The file.
        place: String,
    },
    /// The database that was to take the rows of another one holds some; it was left alone.
    #[error(
        "expected an empty database in {place}, found rows of Baton in its table {table}; it was \
         left alone\nname another one: createdb makes it"
    )]
    Filled {
        /// The server.
        place: String,
        /// Which table.
        table: &'static str,
    },
    /// The database is truncated or overwritten.
    #[error(
        "the database {place} is damaged: {why}\nnothing was changed; restore it from a backup"
    )]
    Damaged {
        /// The file or the server.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// A newer version of this program made the database.
    #[error(
        "expected a database of version {known} or older, found version {found}\ninstall the \
         version of Baton that made it, or a newer one"
    )]
    NewerSchema {
        /// The version of the database.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The tables are not those that this version of the program makes.
    #[error("the tables of {place} cannot be brought up to date: {why}")]
    Migration {
        /// The file or the server.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// A SQLite database could not be brought up to date; it is as it was.
    #[error(
        "the database could not be brought from version {found} to {known}: {source}\nnothing in \
         it was changed; a copy of it is {}",
        copy.display()
    )]
    NotMigrated {
        /// The version at which it stays.
        found: i64,
        /// The version that this program needs.
        known: i64,
        /// The copy that was made before.
        copy: PathBuf,
        /// Why.
        source: Box<StoreError>,
    },
    /// No space is left.
    #[error("no space is left for {place}\nfree some; what was stored before is safe")]
    DiskFull {
        /// The file or the server.
        place: String,
    },
    /// The database cannot be written.
    #[error("expected to be able to write {place}, found it read-only")]
    ReadOnly {
        /// The file or the server.
        place: String,
    },
    /// The database does not answer.
    #[error("cannot reach {place}: {why}")]
    Unreachable {
        /// The file or the server.
        place: String,
        /// What happened.
        why: String,
    },
    /// Others held the database for longer than we wait.
    #[error("{place} is busy: {why}\ntry again")]
    Busy {
        /// The file or the server.
        place: String,
        /// Who held it.
        why: String,
    },
    /// The program is stopping.
    #[error("interrupted: the program is stopping")]
    Interrupted,
    /// Anything else that the database says.
    #[error("the database failed: {0}")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// The same error, naming the database that was to be opened, unless it names one already.
    pub(crate) fn at(mut self, whole: &str) -> Self {
        if let Self::NotMigrated { found, known, copy, source } = self {
            return Self::NotMigrated { found, known, copy, source: Box::new(source.at(whole)) };
        }
        match &mut self {
            Self::NotADatabase { place }
            | Self::NotOurs { place }
            | Self::Filled { place, .. }
            | Self::Damaged { place, .. }
            | Self::Migration { place, .. }
            | Self::DiskFull { place }
            | Self::ReadOnly { place }
            | Self::Unreachable { place, .. }
            | Self::Busy { place, .. }
                if place == SOMEWHERE =>
            {
                whole.clone_into(place);
            }
            _ => {}
        }
        self
    }
}

fn list(ids: &[impl ToString]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl From<Stopping> for StoreError {
    fn from(_: Stopping) -> Self {
        Self::Interrupted
    }
}
