//! Who is there: the nodes of this node's cluster, and that this one is among them.
//!
//! The one idea: the database decides, by its own clock. This node writes that it is there, every few seconds, and
//! reads who else is; in between it knows what it read last. Its own clock only counts how long that is ago, and how
//! far it is off is told and reckoned with, never trusted.

use super::rates::SharedRates;
use super::rooms::{Kind, OwnRoom};
use super::sent::SentCounts;
use baton_net::internal::InternalClient;
use baton_net::outbound::WayError;
use baton_session::{NodeId, NodeKey, NodeMark};
use baton_store::{ClusterBeat, ClusterMember, ClusterRow, Store, StoreError};
use baton_sync::messages::NonceCache;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

/// How far the clocks of a node and of the database may be apart before it is told, in milliseconds.
const AHEAD_MAX: i64 = 5_000;
/// How old what was read may be when a node is not found in it.
pub(super) const FRESH: Duration = Duration::from_millis(200);
/// How long the database may take to hear that this node leaves.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);
/// How many beats a row has to stand still until its node counts as dead, where a start wants its place.
const STANDS_STILL: u32 = 2;

/// This node cannot be one of its cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another node with the same identity is there.
    #[error(
        "expected to be the only node {node} of the cluster {cluster}, found another one with this identity that \
         runs\nend the other one; to copy a node, use baton backup and baton restore"
    )]
    Twin {
        /// Which one.
        node: NodeId,
        /// Of which cluster.
        cluster: String,
    },
}

/// The nodes that are one with this one. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cluster(Arc<ClusterState>);

struct ClusterState {
    store: Store,
    member: ClusterMember,
    /// How far the clock of this machine is ahead of that of the database, in milliseconds.
    ahead: AtomicI64,
    has_told_ahead: AtomicBool,
    known: Mutex<KnownMembers>,
    /// Held while a signer is looked up who is not known.
    looking: tokio::sync::Mutex<()>,
    /// When it was looked last how the nodes are; held while that is done for who looks for room.
    looked: tokio::sync::Mutex<Instant>,
    /// How the others are asked.
    clients: Mutex<HashMap<String, InternalClient>>,
    nonces: NonceCache,
    /// What was sent to nodes since they last said how they are.
    sent: Mutex<SentCounts>,
    /// Whether this node's sessions go to others, and it takes no new ones.
    is_draining: AtomicBool,
    /// A beat is wanted at once.
    beat_now: Notify,
    /// How often pages were signed out here; who watches looks also when that was elsewhere.
    pages: watch::Sender<u64>,
    /// Ends the beat.
    over: CancellationToken,
}

struct KnownMembers {
    rows: Vec<ClusterRow>,
    read: Instant,
}

/// The fewest letters of an id that name a node.
const PREFIX_MIN: usize = 4;

/// The nodes that this names: by their id or name, or where there is none by the start of their id.
fn named(rows: &[ClusterRow], reference: &str) -> Vec<ClusterRow> {
    let is_named = |row: &&ClusterRow| {
        row.member.name == reference || row.member.node.to_string() == reference
    };
    let begins = |row: &&ClusterRow| {
        reference.len() >= PREFIX_MIN && row.member.node.to_string().starts_with(reference)
    };
    let named: Vec<ClusterRow> = rows.iter().filter(is_named).cloned().collect();
    if named.is_empty() { rows.iter().filter(begins).cloned().collect() } else { named }
}

/// How often a node says that it is there.
fn pause(lease: Duration) -> Duration {
    (lease / 10).clamp(Duration::from_millis(200), Duration::from_secs(3))
}

impl Cluster {
    /// Enters. A start of the same node that is still there is waited for: one that goes on refuses this one.
    pub(crate) async fn enter(store: Store, member: ClusterMember) -> Result<Self, ClusterError> {
        if let Some(seen) = store.enter_cluster(&member, None).await? {
            tracing::warn!(node = %member.node, "this node was there a moment ago; waiting whether it still is");
            sleep(pause(member.lease) * STANDS_STILL).await;
            if store.enter_cluster(&member, Some(seen)).await?.is_some() {
                let ClusterMember { node, cluster, .. } = member;
                return Err(ClusterError::Twin { node, cluster });
            }
        }
        let cluster = Self(Arc::new(ClusterState {
            store,
            member,
            ahead: AtomicI64::new(0),
            has_told_ahead: AtomicBool::new(false),
            known: Mutex::new(KnownMembers { rows: Vec::new(), read: Instant::now() }),
            looking: tokio::sync::Mutex::default(),
            looked: tokio::sync::Mutex::new(Instant::now()),
            clients: Mutex::default(),
            nonces: NonceCache::default(),
            sent: Mutex::default(),
            is_draining: AtomicBool::new(false),
            beat_now: Notify::new(),
            pages: watch::Sender::default(),
            over: CancellationToken::new(),
        }));
        cluster.measure().await?;
        cluster.read().await?;
        Ok(cluster)
    }

    /// Says that this node is there until it ends; cancels `shutdown` when another start has its place.
    pub(super) async fn beat(
        self,
        room: impl Fn() -> OwnRoom,
        mut rates: SharedRates,
        shutdown: CancellationToken,
    ) {
        let mut times = interval(pause(self.0.member.lease));
        times.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let over = self.0.over.clone();
        let mut next = async || {
            tokio::select! {
                _ = times.tick() => {}
                () = self.0.beat_now.notified() => {}
            }
        };
        while over.run_until_cancelled(next()).await.is_some() {
            match self.beat_once(room()).await {
                Ok(true) => {
                    if let Err(error) = rates.exchange(&self.0.store, &self.0.member).await {
                        tracing::warn!(%error, "how often callers ask is counted by this node alone");
                    }
                }
                Ok(false) if over.is_cancelled() => {}
                Ok(false) => {
                    tracing::error!(
                        "another node with this identity took the place of this one, or it was forgotten: ending"
                    );
                    return shutdown.cancel();
                }
                Err(error) => {
                    tracing::error!(%error, "the cluster was not told that this node is there");
                }
            }
        }
    }

    async fn beat_once(&self, room: OwnRoom) -> Result<bool, StoreError> {
        self.measure().await?;
        let beat = ClusterBeat {
            clock_ahead: self.0.ahead.load(Ordering::Relaxed),
            browsers: room.browsers.running as u64,
            places: room.places(Kind::Browser),
            sandboxes: room.sandboxes.there as u64,
            sandbox_places: room.places(Kind::Sandbox),
            is_draining: self.is_draining(),
        };
        let is_ours = self.0.store.beat_cluster(&self.0.member, beat).await?;
        self.read().await?;
        Ok(is_ours)
    }

    /// Measures how far this machine's clock is off.
    async fn measure(&self) -> Result<(), StoreError> {
        let before = Timestamp::now();
        let there = self.0.store.database_now().await?;
        let after = Timestamp::now();
        let middle = i64::midpoint(before.as_millisecond(), after.as_millisecond());
        let ahead = middle.saturating_sub(there.as_millisecond());
        self.0.ahead.store(ahead, Ordering::Relaxed);
        let is_far = ahead.abs() > AHEAD_MAX;
        if is_far && !self.0.has_told_ahead.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                ahead_ms = ahead,
                "the clock of this machine is not that of the database, whose counts: set it"
            );
        }
        Ok(())
    }

    async fn read(&self) -> Result<(), StoreError> {
        let read = Instant::now();
        let rows = self.0.store.list_cluster(&self.0.member.cluster).await?;
        let is_asked = |url: &String| rows.iter().any(|row| row.member.internal_url == *url);
        self.clients().retain(|url, _| is_asked(url));
        *self.known() = KnownMembers { rows, read };
        Ok(())
    }

    /// Leaves: the others ask this node no more.
    pub(crate) async fn leave(&self) {
        self.0.over.cancel();
        match timeout(LEAVE_LIMIT, self.0.store.leave_cluster(&self.0.member)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "the cluster was not told that this node ends");
            }
            Err(_) => tracing::warn!("the cluster was not told in time that this node ends"),
        }
    }

    /// What the cluster is called.
    pub(crate) fn cluster(&self) -> &str {
        &self.0.member.cluster
    }

    /// What this node is called.
    pub(crate) fn name(&self) -> &str {
        &self.0.member.name
    }

    /// This node.
    pub(crate) fn node(&self) -> NodeId {
        self.0.member.node
    }

    /// Whether the others know that this node is there: a word of it reached the database within its lease.
    pub(crate) fn is_known(&self) -> bool {
        let (node, known) = (self.node(), self.known());
        let is_there = known.rows.iter().any(|row| row.is_there && row.member.node == node);
        is_there && known.read.elapsed() < self.0.member.lease
    }

    /// What time it is by the clock of the database.
    pub(crate) fn now(&self) -> Timestamp {
        let ahead = SignedDuration::from_millis(self.0.ahead.load(Ordering::Relaxed));
        let now = Timestamp::now();
        now.checked_sub(ahead).unwrap_or(now)
    }

    /// The requests that others passed on and that were taken.
    pub(crate) fn nonces(&self) -> &NonceCache {
        &self.0.nonces
    }

    /// The nodes of the cluster, as the database knows them now.
    pub(crate) async fn list(&self) -> Result<Vec<ClusterRow>, StoreError> {
        self.read().await?;
        Ok(self.known().rows.clone())
    }

    /// The node of the cluster that this names: by its id, the start of that, or its name. None where there is none,
    /// or more than one.
    pub(crate) async fn named(&self, reference: &str) -> Result<Option<ClusterRow>, StoreError> {
        let mut found = named(&self.list().await?, reference);
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    /// The same for who means one that is gone: another one may have its name by now.
    pub(crate) async fn named_gone(
        &self,
        reference: &str,
    ) -> Result<Option<ClusterRow>, StoreError> {
        let mut found = named(&self.list().await?, reference);
        if found.len() > 1 {
            found.retain(|row| !row.is_there);
        }
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    /// The other nodes of the cluster that are known to be there.
    pub(crate) fn others(&self) -> Vec<ClusterRow> {
        let node = self.node();
        self.rows().into_iter().filter(|row| row.is_there && row.member.node != node).collect()
    }

    /// Another node of the cluster that is there. Where it is not known to be, that is looked up, but not again
    /// and again.
    pub(crate) async fn living(&self, node: NodeId) -> Option<ClusterRow> {
        let is_meant = |row: &ClusterRow| row.member.node == node;
        let row = self.other(is_meant);
        if row.is_some() || self.known().read.elapsed() < FRESH {
            return row;
        }
        self.look_up().await;
        self.other(is_meant)
    }

    /// When a node last said that it is there, as it was read last; none where it never did, or has left.
    pub(crate) fn last_word(&self, node: NodeId) -> Option<Timestamp> {
        let known = self.known();
        known.rows.iter().find(|row| row.member.node == node).map(|row| row.seen_at)
    }

    /// Whether a node is known to be there still; not, where this one knows nothing for longer than its own lease.
    pub(super) fn is_there(&self, row: &ClusterRow) -> bool {
        let found = self.other(|other| other.member.node == row.member.node);
        found.is_some() && self.known().read.elapsed() < self.0.member.lease
    }

    /// Whether another node of the cluster that is there signs with this key. One that has just come is waited
    /// for until it can be looked up.
    pub(crate) async fn has(&self, key: NodeKey) -> bool {
        let asked = Instant::now();
        let is_meant = |row: &ClusterRow| row.member.key == key;
        if self.other(is_meant).is_some() {
            return true;
        }
        // Strangers wait for each other, and the database for none of them.
        let _one_at_a_time = self.0.looking.lock().await;
        let read = self.known().read;
        if read < asked {
            sleep(FRESH.saturating_sub(read.elapsed())).await;
            self.look_up().await;
        }
        self.other(is_meant).is_some()
    }

    /// Another node of the cluster that is known to be there, by its key and its start.
    pub(super) fn signer(&self, key: NodeKey, start: &str) -> Option<ClusterRow> {
        self.other(|row| row.member.key == key && row.member.start == start)
    }

    /// What this node says of itself.
    pub(super) fn member(&self) -> &ClusterMember {
        &self.0.member
    }

    /// Whether this node's sessions go to others, and it takes no new ones.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::Relaxed)
    }

    /// From now on they do, or no longer; the others hear of it at once.
    pub(crate) fn set_draining(&self, is_draining: bool) {
        self.0.is_draining.store(is_draining, Ordering::Relaxed);
        self.0.beat_now.notify_one();
    }

    /// The others hear at once how this node is.
    pub(super) fn beat_at_once(&self) {
        self.0.beat_now.notify_one();
    }

    /// Pages were signed out at this node: the others hear of it at once.
    pub(crate) fn pages_ended(&self) {
        self.0.pages.send_modify(|count| *count += 1);
    }

    /// Pages may have been signed out at another node.
    pub(super) fn wake_pages(&self) {
        self.0.pages.send_modify(|_| {});
    }

    /// Changes when it is to be looked which pages are still signed in; counts what happened here.
    pub(crate) fn watch_pages(&self) -> watch::Receiver<u64> {
        self.0.pages.subscribe()
    }

    /// Another node that is known to be there, by its mark; none where the mark is this node's own.
    pub(crate) fn marked(&self, mark: NodeMark) -> Option<ClusterRow> {
        let is_own = self.node().mark() == mark;
        self.other(|row| !is_own && row.member.node.mark() == mark)
    }

    /// The nodes of the cluster, as they were read last.
    pub(super) fn rows(&self) -> Vec<ClusterRow> {
        self.known().rows.clone()
    }

    /// Reads anew which nodes there are.
    pub(crate) async fn look_up(&self) {
        if let Err(error) = self.read().await {
            tracing::warn!(%error, "the nodes of the cluster could not be looked at");
        }
    }

    /// The same, but not again and again: what was read a moment ago is good enough, and of many who ask at once one
    /// looks for all, also where the database does not answer it.
    pub(super) async fn look_up_soon(&self) {
        if self.known().read.elapsed() < FRESH {
            return;
        }
        let asked = Instant::now();
        let mut looked = self.0.looked.lock().await;
        if *looked < asked {
            self.look_up().await;
            *looked = Instant::now();
        }
    }

    fn other(&self, is_meant: impl Fn(&ClusterRow) -> bool) -> Option<ClusterRow> {
        let (node, known) = (self.node(), self.known());
        let mut others = known.rows.iter().filter(|row| row.is_there && row.member.node != node);
        others.find(|row| is_meant(row)).cloned()
    }

    /// How a node is asked.
    pub(crate) async fn client(&self, url: &Url) -> Result<InternalClient, WayError> {
        if let Some(client) = self.clients().get(url.as_str()) {
            return Ok(client.clone());
        }
        let client = InternalClient::new(url).await?;
        self.clients().insert(url.as_str().to_owned(), client.clone());
        Ok(client)
    }

    /// Forgets where an address led, because nobody answered there.
    pub(crate) fn forget(&self, url: &Url) {
        self.clients().remove(url.as_str());
    }

    pub(super) fn sent(&self) -> MutexGuard<'_, SentCounts> {
        self.0.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, KnownMembers> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, InternalClient>> {
        self.0.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
