//! What a node says on the bus, as bytes, and what has to be true of bytes before they count.
//!
//! The one idea: what is cheap is checked first. Size, form and cluster are looked at before any key, and a signature
//! is verified only with the key of a node of the cluster, which the caller finds in the database.

use super::lists::{List, MOST_LISTS, OwnerMark};
use baton_session::{NodeId, NodeKey, SessionId, json};
use baton_sync::identity::Identity;
use baton_sync::messages::{
    AnnouncedSignature, Unsignable, Untrusted, announced_by, sign_announced, verify_announced,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The longest message, in bytes.
const LONGEST: usize = 16 << 10;
/// Of how many sessions a message says at most that they changed.
pub(super) const MOST_SESSIONS: usize = 64;

/// Which cluster on which database: where its nodes meet on a bus that others use as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BusNamespace(String);

impl BusNamespace {
    /// That of the cluster of this name, on the database with the key of this id.
    pub(super) fn new(cluster: &str, database: &str) -> Self {
        let hash = Sha256::digest(format!("baton bus\n{cluster}\n{database}"));
        let mut text = String::new();
        for byte in &hash[..16] {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// What its nodes send to, and subscribe.
    pub(super) fn subject(&self) -> String {
        format!("baton.{}.doorbell", self.0)
    }
}

/// What happened at a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// It is on the bus from now on; what it did before may not have been heard.
    Here,
    /// It leaves.
    Left,
    /// It revoked keys.
    Revoked,
    /// It signed pages out.
    Pages,
    /// It wrote something of these sessions, or changed their list.
    Sessions(Vec<SessionId>),
    /// The same of more sessions than are named.
    ManySessions,
    /// These lists became others, which are in its memory alone.
    Lists(Vec<(List, OwnerMark)>),
    /// The same of more lists than are named.
    ManyLists,
}

/// What a node says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// To which cluster.
    pub(super) place: String,
    /// Who.
    pub(super) node: NodeId,
    /// At which start of it.
    pub(super) start: String,
    /// Its number among the messages of this start, from 1; one that could not be sent counts.
    pub(super) number: u64,
    /// What happened.
    pub(super) what: What,
}

/// A message as it travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    body: String,
    input: String,
    signature: String,
}

/// Why a message does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dropped {
    /// It is longer than any message of a node.
    TooLong,
    /// It has another form.
    Unreadable,
    /// It is of another cluster.
    OtherCluster,
    /// It is of no node of the cluster that is there.
    Stranger,
    /// Its signature is not good.
    Unsigned,
    /// It is too old, or of the future.
    Late,
    /// It came before.
    Repeated,
}

impl Dropped {
    /// Its word, for people and for metrics.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Unreadable => "unreadable",
            Self::OtherCluster => "other_cluster",
            Self::Stranger => "stranger",
            Self::Unsigned => "unsigned",
            Self::Late => "late",
            Self::Repeated => "repeated",
        }
    }
}

impl Message {
    /// What `node` says, at this start of it.
    pub(super) fn new(
        place: &BusNamespace,
        node: NodeId,
        start: &str,
        number: u64,
        what: What,
    ) -> Self {
        Self { place: place.0.clone(), node, start: start.to_owned(), number, what }
    }

    /// Its bytes, signed. `now` is by the clock of the database.
    pub(super) fn write(
        &self,
        identity: &Identity,
        place: &BusNamespace,
        now: Timestamp,
    ) -> Result<Vec<u8>, Unsignable> {
        let body = json::text(self);
        let signed = sign_announced(identity, &place.subject(), body.as_bytes(), now)?;
        let AnnouncedSignature { input, signature } = signed;
        Ok(json::bytes(&Wire { body, input, signature }))
    }
}

/// A message that nobody vouches for yet.
#[derive(Debug)]
pub(super) struct Unverified {
    message: Message,
    body: String,
    signature: AnnouncedSignature,
    key: NodeKey,
}

impl Unverified {
    /// Reads bytes that may be a message to the nodes at this place.
    pub(super) fn read(bytes: &[u8], place: &BusNamespace) -> Result<Self, Dropped> {
        if bytes.len() > LONGEST {
            return Err(Dropped::TooLong);
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|_| Dropped::Unreadable)?;
        // One message has one form.
        if json::bytes(&wire) != bytes {
            return Err(Dropped::Unreadable);
        }
        let message: Message = serde_json::from_str(&wire.body).map_err(|_| Dropped::Unreadable)?;
        if message.place != place.0 {
            return Err(Dropped::OtherCluster);
        }
        let Wire { body, input, signature } = wire;
        let signature = AnnouncedSignature { input, signature };
        let key = announced_by(&signature).map_err(|_| Dropped::Unsigned)?;
        if key.node_id() != message.node {
            return Err(Dropped::Unsigned);
        }
        let is_too_many = match &message.what {
            What::Sessions(ids) => ids.len() > MOST_SESSIONS,
            What::Lists(lists) => lists.len() > MOST_LISTS,
            _ => false,
        };
        if is_too_many {
            return Err(Dropped::Unreadable);
        }
        Ok(Self { message, body, signature, key })
    }

    /// With which key it says that it was signed.
    pub(super) fn key(&self) -> NodeKey {
        self.key
    }

    /// At which start of its node it says that it was.
    pub(super) fn start(&self) -> &str {
        &self.message.start
    }

    /// The message, if that key signed it for this place within the last half minute.
    pub(super) fn verify(self, place: &BusNamespace, now: Timestamp) -> Result<Message, Dropped> {
        let subject = place.subject();
        verify_announced(&self.signature, &subject, self.body.as_bytes(), now).map_err(
            |untrusted| match untrusted {
                Untrusted::Expired { .. } | Untrusted::FromTheFuture { .. } => Dropped::Late,
                _ => Dropped::Unsigned,
            },
        )?;
        Ok(self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BusNamespace, Dropped, LONGEST, List, MOST_LISTS, MOST_SESSIONS, Message, OwnerMark,
        Unverified, What,
    };
    use baton_session::SessionId;
    use baton_sync::identity::Identity;
    use baton_testing::cases;
    use jiff::{SignedDuration, Timestamp};
    use proptest::prelude::*;

    fn identity(seed: u8) -> Identity {
        baton_testkit::Peer::new(seed).identity
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn what() -> impl Strategy<Value = What> {
        let kind = prop_oneof![Just(List::Tabs), Just(List::Sandboxes)];
        let list = (kind, any::<u64>().prop_map(OwnerMark));
        let id = any::<[u8; 10]>().prop_map(|random| SessionId::new(now(), random));
        prop_oneof![
            Just(What::Here),
            Just(What::Left),
            Just(What::Revoked),
            Just(What::Pages),
            Just(What::ManySessions),
            Just(What::ManyLists),
            proptest::collection::vec(list, 0..=MOST_LISTS).prop_map(What::Lists),
            proptest::collection::vec(id, 0..=MOST_SESSIONS).prop_map(What::Sessions),
        ]
    }

    fn read(bytes: &[u8], place: &BusNamespace, now: Timestamp) -> Result<Message, Dropped> {
        Unverified::read(bytes, place)?.verify(place, now)
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn what_is_said_is_heard_and_nothing_else(
            what in what(), number in any::<u64>(), flipped in any::<proptest::sample::Index>(), bit in 0..8_u8,
        ) {
            let (identity, place) = (identity(1), BusNamespace::new("shop", "0011"));
            let message = Message::new(&place, identity.node(), "first", number, what);
            let bytes = message.write(&identity, &place, now()).unwrap();
            prop_assert!(bytes.len() <= LONGEST);
            prop_assert_eq!(read(&bytes, &place, now()), Ok(message));
            let mut other = bytes.clone();
            other[flipped.index(bytes.len())] ^= 1 << bit;
            prop_assert!(read(&other, &place, now()).is_err());
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(read(&bytes, &BusNamespace::new("shop", "0011"), now()).is_err());
        }
    }

    #[test]
    fn each_reason_has_its_word() {
        let (identity, place) = (identity(1), BusNamespace::new("shop", "0011"));
        let message = Message::new(&place, identity.node(), "first", 7, What::Revoked);
        let bytes = message.write(&identity, &place, now()).unwrap();
        let at = |seconds| now() + SignedDuration::from_secs(seconds);
        assert_eq!(read(&bytes, &place, at(30)), Ok(message.clone()));
        assert_eq!(read(&bytes, &place, at(31)), Err(Dropped::Late));
        assert_eq!(read(&bytes, &place, at(-31)), Err(Dropped::Late));
        for other in [BusNamespace::new("shop", "0012"), BusNamespace::new("shop2", "0011")] {
            assert_eq!(read(&bytes, &other, now()), Err(Dropped::OtherCluster));
        }
        assert_eq!(read(&vec![b' '; LONGEST + 1], &place, now()), Err(Dropped::TooLong));
        // In the name of another node.
        let stranger = self::identity(2);
        let forged = message.write(&stranger, &place, now()).unwrap();
        assert_eq!(read(&forged, &place, now()), Err(Dropped::Unsigned));
    }
}
