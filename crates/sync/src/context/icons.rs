//! Remembers for a while which icons peers gave, that they have none, and that they did not answer.
//!
//! The one idea: what was said holds for the peer as it was then. One that was registered anew, or is
//! given something else, is another one, of which nothing is known.

use baton_session::{NodeId, Owner, PeerLimits, SessionId};
use baton_store::Peer;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many answers are remembered.
const MOST: usize = 512;
/// How long.
const FRESH: Duration = Duration::from_mins(10);
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
            Self::Icon(_) | Self::None => FRESH,
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
        if known.len() >= MOST && !known.contains_key(&key) {
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
        let later = now + FRESH / 2;
        assert_eq!(icons.get(&key(0), later), Some(icon()));
        assert_eq!(icons.get(&key(1), later), Some(IconAnswer::None));
        assert_eq!(icons.get(&key(0), now + FRESH), None);
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
        let most = u16::try_from(MOST).unwrap();
        for at in 0..=most {
            icons.insert(key(at), IconAnswer::None, start + Duration::from_millis(at.into()));
        }
        let now = start + Duration::from_secs(1);
        assert_eq!(icons.get(&key(0), now), None);
        assert_eq!(icons.get(&key(1), now), Some(IconAnswer::None));
        assert_eq!(icons.get(&key(most), now), Some(IconAnswer::None));
    }
}
