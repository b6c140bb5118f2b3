//! What is known of peers for a while: whether they answer and what they say, and which icons they gave.
//!
//! The one idea: what was said holds for the peer as it was then. One that was registered anew, or is
//! given something else, is another one, of which nothing is known.

use baton_api::Problem;
use baton_api::sync::SyncIndex;
use baton_session::{NodeId, Owner, PeerLimits, SessionId};
use baton_store::Peer;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::DropGuard;

/// How long an answer, or that there was none, counts.
const FRESH: Duration = Duration::from_secs(30);
/// Of how many peers something is remembered.
const MOST: usize = 10_000;

/// What was seen of peers lately. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Statuses(Arc<Mutex<KnownPeers>>);

#[derive(Debug, Default)]
struct KnownPeers {
    seen: HashMap<NodeId, LastSeen>,
    /// Those that have said that this node is pending there, since they last let it in.
    waiting: HashSet<NodeId>,
}

/// What was seen of a peer, and when.
#[derive(Debug, Clone)]
pub(crate) struct LastSeen {
    pub(crate) at: Instant,
    /// Why it did not answer; none when it did.
    pub(crate) silent: Option<String>,
    /// Why it takes nothing of this node, although it answers; none when it does, or was not asked.
    pub(crate) refuses: Option<String>,
}

impl Statuses {
    /// Notes that a peer answered.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.note(peer, LastSeen { at: Instant::now(), silent: None, refuses: None });
    }

    /// Notes what was seen of a peer.
    pub(crate) fn note(&self, peer: NodeId, seen: LastSeen) {
        let known = &mut self.lock().seen;
        if known.len() >= MOST && !known.contains_key(&peer) {
            known.clear();
        }
        known.insert(peer, seen);
    }

    /// Notes whether a peer has said that this node is pending there.
    pub(crate) fn waits(&self, peer: NodeId, is_pending: bool) {
        let waiting = &mut self.lock().waiting;
        if !is_pending {
            waiting.remove(&peer);
        } else if waiting.len() < MOST {
            waiting.insert(peer);
        }
    }

    /// Whether this node is pending at a peer, as far as that is known.
    pub(crate) fn is_waiting(&self, peer: NodeId) -> bool {
        self.lock().waiting.contains(&peer)
    }

    /// What was seen lately. A peer that has not let this node in may have done so since.
    pub(crate) fn fresh(&self, peer: NodeId) -> Option<LastSeen> {
        let known = self.lock();
        let seen = known.seen.get(&peer).filter(|_| !known.waiting.contains(&peer));
        seen.filter(|seen| seen.at.elapsed() < FRESH).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, KnownPeers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The peers that are watched. Cheap to clone.
#[derive(Clone, Default)]
pub struct Watches(Arc<WatchState>);

#[derive(Default)]
struct WatchState {
    /// Wakes tasks that wait for another peer, or for another word on one.
    peers: watch::Sender<()>,
    /// Wakes tasks that wait for what a watched peer says.
    news: watch::Sender<()>,
    /// Those that a client follows; its task holds them.
    watched: Mutex<HashMap<(Owner, NodeId), Weak<Watched>>>,
}

impl Watches {
    /// Tells that a peer came, went or is given something else.
    pub(crate) fn peers_changed(&self) {
        self.0.peers.send_replace(());
    }

    /// A caller that waits for it hears of that from now on.
    pub(crate) fn peers(&self) -> watch::Receiver<()> {
        self.0.peers.subscribe()
    }

    /// Tells that a watched peer said something else.
    pub(crate) fn tell(&self) {
        self.0.news.send_replace(());
    }

    /// A caller that waits for it hears of that from now on.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.0.news.subscribe()
    }

    /// A peer that is watched from now on, for as long as what is returned is held; `begin` begins it.
    pub(crate) fn watch(&self, peer: &Peer, begin: impl FnOnce() -> Arc<Watched>) -> Arc<Watched> {
        let mut watched = self.watched();
        watched.retain(|_, one| one.strong_count() > 0);
        let place = (peer.owner.clone(), peer.node);
        if let Some(one) = watched.get(&place).and_then(Weak::upgrade) {
            return one;
        }
        let one = begin();
        watched.insert(place, Arc::downgrade(&one));
        one
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<(Owner, NodeId), Weak<Watched>>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a peer said last: its index, or why there is none.
pub(crate) type IndexAnswer = Result<Arc<SyncIndex>, Problem>;

/// A peer that is watched until this is dropped.
pub(crate) struct Watched {
    pub(crate) node: NodeId,
    said: Arc<Mutex<Option<IndexAnswer>>>,
    _until: DropGuard,
}

impl Watched {
    /// A peer whose words are written there, by a task that writes until `until` is dropped.
    pub(crate) fn new(
        node: NodeId,
        said: Arc<Mutex<Option<IndexAnswer>>>,
        until: DropGuard,
    ) -> Arc<Self> {
        Arc::new(Self { node, said, _until: until })
    }

    /// What it said last; none before its first answer.
    pub(crate) fn said(&self) -> Option<IndexAnswer> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How many answers are remembered.
const MOST_ICONS: usize = 512;
/// How long.
const FRESH_ICONS: Duration = Duration::from_mins(10);
/// How long it is remembered that there was no answer.
const FAILED: Duration = Duration::from_secs(30);

/// What was asked: which peer, as it was then, for the icon of which session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IconKey {
    owner: Owner,
    node: NodeId,
    added_at: Timestamp,
    limits: PeerLimits,
    /// None: whatever it is asked for.
    session: Option<SessionId>,
}

impl IconKey {
    /// The icon of a session at a peer.
    pub(crate) fn of(peer: &Peer, session: SessionId) -> Self {
        Self {
            owner: peer.owner.clone(),
            node: peer.node,
            added_at: peer.added_at,
            limits: peer.limits.clone(),
            session: Some(session),
        }
    }

    /// Whatever the same peer is asked for.
    pub(crate) fn any(&self) -> Self {
        Self { session: None, ..self.clone() }
    }
}

/// What a peer said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IconAnswer {
    /// A PNG.
    Icon(Arc<[u8]>),
    /// That it has none.
    None,
    /// Nothing that could be used, and why.
    Failed(Arc<str>),
}

impl IconAnswer {
    fn fresh(&self) -> Duration {
        match self {
            Self::Icon(_) | Self::None => FRESH_ICONS,
            Self::Failed(_) => FAILED,
        }
    }
}

/// What peers said lately.
#[derive(Debug, Default)]
pub struct KnownIcons(Mutex<HashMap<IconKey, (Instant, IconAnswer)>>);

impl KnownIcons {
    /// What a peer said of this, or that it does not answer at all; nothing when that is to be asked.
    pub(crate) fn get(&self, key: &IconKey, now: Instant) -> Option<IconAnswer> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said = |key: &IconKey| known.get(key).filter(|one| is_fresh(one, now));
        said(key).or_else(|| said(&key.any())).map(|(_, said)| said.clone())
    }

    /// Remembers what it said, in the place of the oldest when there is no room.
    pub(crate) fn insert(&self, key: IconKey, said: IconAnswer, now: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, one| is_fresh(one, now));
        if known.len() >= MOST_ICONS && !known.contains_key(&key) {
            let oldest = known.iter().min_by_key(|(_, (since, _))| *since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(key, (now, said));
    }
}

fn is_fresh((since, said): &(Instant, IconAnswer), now: Instant) -> bool {
    now.duration_since(*since) < said.fresh()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_peer_is_old_after_half_a_minute_by_a_clock_that_nobody_sets() {
        let (statuses, now) = (Statuses::default(), Instant::now());
        let peer: NodeId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let seen_ago =
            |ago| LastSeen { at: now.checked_sub(ago).unwrap(), silent: None, refuses: None };
        statuses.note(peer, seen_ago(FRESH));
        assert!(statuses.fresh(peer).is_none());
        statuses.note(peer, seen_ago(FRESH / 2));
        assert!(statuses.fresh(peer).is_some());
        // Where it has not let this node in, it may have done so since.
        statuses.waits(peer, true);
        assert!(statuses.fresh(peer).is_none());
    }

    fn key(session: u16) -> IconKey {
        let [high, low] = session.to_be_bytes();
        let random = [high, low, 0, 0, 0, 0, 0, 0, 0, 0];
        IconKey {
            owner: "local".parse().unwrap(),
            node: NodeId::new(Timestamp::UNIX_EPOCH, [7; 10]),
            added_at: Timestamp::UNIX_EPOCH,
            limits: PeerLimits::default(),
            session: Some(SessionId::new(Timestamp::UNIX_EPOCH, random)),
        }
    }

    fn icon() -> IconAnswer {
        IconAnswer::Icon([1].into())
    }

    #[test]
    fn what_a_peer_said_counts_for_a_while_and_so_does_that_it_has_none() {
        let (icons, now) = (KnownIcons::default(), Instant::now());
        assert_eq!(icons.get(&key(0), now), None);
        icons.insert(key(0), icon(), now);
        icons.insert(key(1), IconAnswer::None, now);
        let later = now + FRESH_ICONS / 2;
        assert_eq!(icons.get(&key(0), later), Some(icon()));
        assert_eq!(icons.get(&key(1), later), Some(IconAnswer::None));
        assert_eq!(icons.get(&key(0), now + FRESH_ICONS), None);
        let of_another = IconKey { owner: "ada".parse().unwrap(), ..key(0) };
        assert_eq!(icons.get(&of_another, later), None);
    }

    #[test]
    fn what_a_peer_said_is_forgotten_once_it_is_another_one() {
        let (icons, now) = (KnownIcons::default(), Instant::now());
        icons.insert(key(0), icon(), now);
        icons.insert(key(0).any(), IconAnswer::Failed("gone".into()), now);
        let anew = IconKey { added_at: Timestamp::MAX, ..key(0) };
        let limits = serde_json::json!({ "give": { "sites": ["shop.test"] } });
        let limited = IconKey { limits: serde_json::from_value(limits).unwrap(), ..key(0) };
        for other in [anew, limited] {
            assert_eq!(icons.get(&other, now), None);
        }
    }

    #[test]
    fn that_a_peer_does_not_answer_counts_for_all_but_what_it_said_and_not_for_long() {
        let (icons, now) = (KnownIcons::default(), Instant::now());
        let failed = || IconAnswer::Failed("gone".into());
        icons.insert(key(0), icon(), now);
        icons.insert(key(1).any(), failed(), now);
        assert_eq!(icons.get(&key(0), now), Some(icon()));
        assert_eq!(icons.get(&key(1), now), Some(failed()));
        assert_eq!(icons.get(&key(2), now + FAILED / 2), Some(failed()));
        assert_eq!(icons.get(&key(2), now + FAILED), None);
    }

    #[test]
    fn the_oldest_is_forgotten_beyond_the_bound() {
        let (icons, start) = (KnownIcons::default(), Instant::now());
        let most = u16::try_from(MOST_ICONS).unwrap();
        for at in 0..=most {
            icons.insert(key(at), IconAnswer::None, start + Duration::from_millis(at.into()));
        }
        let now = start + Duration::from_secs(1);
        assert_eq!(icons.get(&key(0), now), None);
        assert_eq!(icons.get(&key(1), now), Some(IconAnswer::None));
        assert_eq!(icons.get(&key(most), now), Some(IconAnswer::None));
    }
}
