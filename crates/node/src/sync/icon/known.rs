//! Remembers for a while which icons peers gave, and that they have none.

use baton_session::{NodeId, Owner, SessionId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many are remembered.
const MOST: usize = 512;
/// How long.
const FRESH: Duration = Duration::from_mins(10);

/// Whose icon of which session, and which peer gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) owner: Owner,
    pub(super) node: NodeId,
    pub(super) session: SessionId,
}

/// A PNG; none when the peer has none.
type Icon = Option<Arc<[u8]>>;

/// What peers said lately.
#[derive(Debug, Default)]
pub(crate) struct KnownIcons(Mutex<HashMap<Key, (Instant, Icon)>>);

impl KnownIcons {
    /// What a peer said; nothing when that is to be asked.
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<Icon> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, icon) = known.get(key)?;
        (now.duration_since(*since) < FRESH).then(|| icon.clone())
    }

    /// Remembers what it said, in the place of the oldest when there is no room.
    pub(super) fn put(&self, key: Key, icon: Icon, now: Instant) -> Icon {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&key) {
            let oldest = known.iter().min_by_key(|(_, (since, _))| *since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(key, (now, icon.clone()));
        icon
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn key(session: u16) -> Key {
        let [high, low] = session.to_be_bytes();
        let random = [high, low, 0, 0, 0, 0, 0, 0, 0, 0];
        Key {
            owner: "local".parse().unwrap(),
            node: NodeId::new(Timestamp::UNIX_EPOCH, [7; 10]),
            session: SessionId::new(Timestamp::UNIX_EPOCH, random),
        }
    }

    #[test]
    fn what_a_peer_said_counts_for_a_while_and_so_does_that_it_has_none() {
        let (icons, now) = (KnownIcons::default(), Instant::now());
        assert_eq!(icons.get(&key(0), now), None);
        icons.put(key(0), Some([1].into()), now);
        icons.put(key(1), None, now);
        let later = now + FRESH / 2;
        assert_eq!(icons.get(&key(0), later), Some(Some([1].into())));
        assert_eq!(icons.get(&key(1), later), Some(None));
        assert_eq!(icons.get(&key(0), now + FRESH), None);
        let of_another = Key { owner: "ada".parse().unwrap(), ..key(0) };
        assert_eq!(icons.get(&of_another, later), None);
    }

    #[test]
    fn the_oldest_is_forgotten_beyond_the_bound() {
        let (icons, start) = (KnownIcons::default(), Instant::now());
        let most = u16::try_from(MOST).unwrap();
        for at in 0..=most {
            icons.put(key(at), None, start + Duration::from_millis(at.into()));
        }
        let now = start + Duration::from_secs(1);
        assert_eq!(icons.get(&key(0), now), None);
        assert_eq!(icons.get(&key(1), now), Some(None));
        assert_eq!(icons.get(&key(most), now), Some(None));
    }
}
