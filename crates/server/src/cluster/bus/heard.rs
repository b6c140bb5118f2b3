//! What becomes of what is heard on the bus: the node that said it is found in the database, and those who wait for
//! its kind are woken.
//!
//! The one idea: messages are numbered, so what is missing is noticed, and then everybody looks once at everything.

use super::doorbell::Doorbell;
use super::message::{BusNamespace, Dropped, Message, Unverified, What};
use crate::cluster::members::Cluster;
use baton_session::NodeId;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long after one that is not known the next one is looked up.
const LOOK_PAUSE: Duration = Duration::from_millis(200);
/// Of how many nodes the last number is remembered: more than there are in a cluster.
const MOST_NODES: usize = 1000;

/// Hears for this node.
pub(super) struct Ear {
    cluster: Cluster,
    place: BusNamespace,
    doorbell: Doorbell,
    revoked: watch::Sender<u64>,
    /// The last message of each other node: its start, and its number.
    last: HashMap<NodeId, (String, u64)>,
    /// When a node that was not known was looked up.
    looked: Option<Instant>,
}

impl Ear {
    pub(super) fn new(
        cluster: Cluster,
        place: BusNamespace,
        doorbell: Doorbell,
        revoked: watch::Sender<u64>,
    ) -> Self {
        Self { cluster, place, doorbell, revoked, last: HashMap::new(), looked: None }
    }

    /// Hears bytes. If they are a message of this very start of this node, the number of it is returned.
    pub(super) async fn hear(&mut self, bytes: &[u8]) -> Option<u64> {
        match self.believe(bytes).await {
            Ok(message) if message.node == self.cluster.node() => return Some(message.number),
            Ok(message) => match self.count(&message) {
                Ok(is_next) => {
                    self.doorbell.heard();
                    if !is_next {
                        self.wake_all();
                    }
                    self.act(message.what).await;
                }
                Err(why) => self.doorbell.dropped(why),
            },
            Err(why) => self.doorbell.dropped(why),
        }
        None
    }

    /// Everything may have changed: who follows looks, and so does what is open with a key.
    pub(super) fn wake_all(&self) {
        self.doorbell.ring(None);
        self.doorbell.ring_list(None);
        self.revoked.send_modify(|_| {});
        self.cluster.wake_pages();
    }

    /// The message in these bytes, if a node of the cluster said it.
    async fn believe(&mut self, bytes: &[u8]) -> Result<Message, Dropped> {
        let unverified = Unverified::read(bytes, &self.place)?;
        let own = self.cluster.member();
        let is_own = unverified.key() == own.key && unverified.start() == own.start;
        if !is_own && !self.is_known(&unverified).await {
            return Err(Dropped::Stranger);
        }
        unverified.verify(&self.place, self.cluster.now())
    }

    /// Whether a node of the cluster has this key and this start. One that is not known is looked up, but strangers
    /// do not have that done again and again.
    async fn is_known(&mut self, message: &Unverified) -> bool {
        let find = |cluster: &Cluster| cluster.signer(message.key(), message.start()).is_some();
        if find(&self.cluster) {
            return true;
        }
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_PAUSE) {
            return false;
        }
        self.looked = Some(Instant::now());
        self.cluster.look_up().await;
        find(&self.cluster)
    }

    /// Notes the number of a message; whether none is missing before it.
    fn count(&mut self, message: &Message) -> Result<bool, Dropped> {
        let last = self.last.get(&message.node).filter(|(start, _)| *start == message.start);
        let expected = last.map(|(_, number)| number.saturating_add(1));
        if expected.is_some_and(|expected| message.number < expected) {
            return Err(Dropped::Repeated);
        }
        if expected.is_some_and(|expected| message.number > expected) {
            self.doorbell.gap();
        }
        if self.last.len() >= MOST_NODES && !self.last.contains_key(&message.node) {
            self.last.clear();
        }
        self.last.insert(message.node, (message.start.clone(), message.number));
        // Of a node that is heard for the first time, what it said before was not.
        Ok(message.number == expected.unwrap_or(1))
    }

    async fn act(&self, what: What) {
        match what {
            What::Here => {
                self.cluster.look_up().await;
                self.wake_all();
            }
            What::Left => self.cluster.look_up().await,
            What::Revoked => self.revoked.send_modify(|_| {}),
            What::Pages => self.cluster.wake_pages(),
            What::Sessions(sessions) => {
                for session in sessions {
                    self.doorbell.ring(Some(session));
                }
            }
            What::ManySessions => self.doorbell.ring(None),
            What::Lists(lists) => {
                for list in lists {
                    self.doorbell.ring_list(Some(list));
                }
            }
            What::ManyLists => self.doorbell.ring_list(None),
        }
    }
}
