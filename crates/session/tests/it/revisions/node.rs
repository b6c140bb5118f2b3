//! A node of the simulation, with its user.

use super::oracle::Edits;
use baton_session::cookie::{Priority, SourceScheme};
use baton_session::revision::{Author, Content, Offer, Origin, Refused, Replica, ReplicaChange};
use baton_session::{
    Actor, Cookie, Epoch, NodeSecret, PartHash, Revision, SessionId, Signed, State, wire,
};
use jiff::{SignedDuration, Timestamp};

/// What a data folder holds.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) replica: Replica,
    /// From which revision the state in the user's browser comes.
    pub(super) base: Option<Signed>,
    /// What the peer without vectors was given here.
    pub(super) handed: Option<Signed>,
    /// The edits that were acknowledged or received here.
    pub(super) acknowledged: Edits,
}

/// A node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) folder: Folder,
    pub(super) backup: Option<Folder>,
    pub(super) actor: Actor,
    pub(super) secret: NodeSecret,
    /// Whether it merges what it can; the others wait for their users.
    pub(super) merges: bool,
    /// Seconds that its clock is ahead.
    pub(super) skew: i64,
    /// On which side of a parted network it is.
    pub(super) side: bool,
}

impl Node {
    pub(super) fn new(number: u8, epoch: Epoch, merges: bool) -> Self {
        let secret = NodeSecret::from_seed(&[number + 1; 32]);
        let actor = Actor::new(secret.key().node_id(), epoch);
        let replica = Replica::new(session());
        let folder = Folder { replica, base: None, handed: None, acknowledged: 0 };
        Self { folder, backup: None, actor, secret, merges, skew: 0, side: false }
    }

    /// A node with an epoch of its own number, whose user decides.
    pub(super) fn number(number: u8) -> Self {
        Self::new(number, Epoch::new([number; 8]), false)
    }

    /// Its user saves, on top of a revision or as the first one.
    pub(super) fn save(&mut self, base: Option<&Signed>, word: &str) -> Signed {
        let author = self.author(start());
        self.folder.replica.edit(base, saying(word), &author)
    }

    /// Takes what another node offers.
    pub(super) fn pull(&mut self, other: &Self) -> ReplicaChange {
        self.take(&other.folder.replica.offer()).unwrap()
    }

    /// Takes an offer, or refuses it.
    pub(super) fn take(&mut self, offer: &Offer) -> Result<ReplicaChange, Refused> {
        let author = self.author(start());
        self.folder.replica.receive(offer, &author)
    }

    /// What its heads say, of these words.
    pub(super) fn heads<'a>(&self, words: &[&'a str]) -> Vec<&'a str> {
        let says = |word: &str| {
            let checksum = PartHash::of(word.as_bytes());
            self.folder.replica.heads().any(|head| head.checksum == checksum)
        };
        let said: Vec<&str> = words.iter().copied().filter(|word| says(word)).collect();
        assert_eq!(said.len(), self.folder.replica.heads().count(), "another head than {said:?}");
        said
    }

    /// This node, writing at an instant of the true time.
    pub(super) fn author(&self, time: Timestamp) -> Author {
        let now = time + SignedDuration::from_secs(self.skew);
        Author { actor: self.actor, secret: self.secret.clone(), now }
    }
}

/// The session that all of them share.
pub(super) fn session() -> SessionId {
    "0197c0de-5100-7000-8000-000000000002".parse().unwrap()
}

/// When everything began.
pub(super) fn start() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Where the session was opened first.
pub(super) fn origin() -> Origin {
    let node = NodeSecret::from_seed(&[1; 32]).key().node_id();
    Origin { node, created_at: start(), created_by: "ada".to_owned() }
}

/// What a revision says that holds this state.
pub(super) fn content(state: &State) -> Content {
    let checksum = wire::checksum_of(state);
    Content {
        checksum,
        parts: PartHash::of(&checksum.0),
        size: 1,
        name: "shop".parse().unwrap(),
        description: String::new(),
        origin: origin(),
    }
}

/// What a revision says of whose state nothing but a word is known.
pub(super) fn saying(word: &str) -> Content {
    let checksum = PartHash::of(word.as_bytes());
    Content { checksum, parts: checksum, ..content(&State::default()) }
}

/// Lets a revision claim that an actor had come so far.
pub(super) fn advance(revision: &mut Revision, actor: Actor, counter: u64) {
    let mut vector = serde_json::to_value(&revision.vector).unwrap();
    vector[actor.to_string()] = counter.into();
    revision.vector = serde_json::from_value(vector).unwrap();
}

/// What is left of the session when it is deleted.
pub(super) fn deleted() -> Content {
    Content::deleted("shop".parse().unwrap(), origin())
}

/// Logs in at one of a few sites.
pub(super) fn log_in(state: &mut State, site: u8, value: String) {
    let domain = format!("site{site}.test");
    state.cookies.retain(|cookie| cookie.domain != domain);
    state.cookies.push(Cookie {
        name: "sid".to_owned(),
        value,
        domain,
        path: "/".to_owned(),
        expires: None,
        http_only: true,
        secure: true,
        same_site: None,
        priority: Priority::Medium,
        source_scheme: SourceScheme::Secure,
        source_port: None,
        partition_key: None,
    });
    state.normalize();
}
