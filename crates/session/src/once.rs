//! What counts once: it is remembered for as long as it could count, and longer while there is room.
//!
//! The one idea: age is measured by a clock that cannot be set. A clock on the wall that was ahead for a
//! moment makes nothing forgotten and refuses nothing later, and one that is set back brings nothing back for
//! as long as there is room. When there is none, one that has expired is forgotten; where none has, the new
//! one is refused: forgetting another one instead would let that through twice.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Nothing is kept for longer because of what it says of itself.
const LONGEST: Duration = Duration::from_hours(24);

/// The names of what was used, within a bound.
#[derive(Debug)]
pub struct Once<T> {
    most: usize,
    used: HashSet<T>,
    by_expiry: BTreeSet<(Instant, T)>,
}

/// Why something does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twice {
    /// It was used before.
    Used,
    /// It cannot be remembered.
    Crowded,
}

impl<T: Clone + Eq + Hash + Ord> Once<T> {
    /// Remembers at most so many.
    pub fn new(most: usize) -> Self {
        Self { most, used: HashSet::new(), by_expiry: BTreeSet::new() }
    }

    /// Whether it was used.
    pub fn is_used(&self, name: &T) -> bool {
        self.used.contains(name)
    }

    /// Uses what can still count for as long as `left`, from `now` on.
    pub fn spend(&mut self, name: &T, left: Duration, now: Instant) -> Result<(), Twice> {
        if self.is_used(name) {
            return Err(Twice::Used);
        }
        if self.used.len() >= self.most {
            let oldest = self.by_expiry.first().filter(|(expiry, _)| *expiry <= now).cloned();
            let oldest = oldest.ok_or(Twice::Crowded)?;
            self.by_expiry.remove(&oldest);
            self.used.remove(&oldest.1);
        }
        self.used.insert(name.clone());
        self.by_expiry.insert((now + left.min(LONGEST), name.clone()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_remembered_is_refused_until_the_oldest_has_expired() {
        let (mut once, begin) = (Once::new(2), Instant::now());
        let after = |seconds| begin + Duration::from_secs(seconds);
        once.spend(&1, Duration::from_mins(1), begin).unwrap();
        once.spend(&2, Duration::from_secs(50), begin).unwrap();
        assert_eq!(once.spend(&3, Duration::from_mins(1), after(49)), Err(Twice::Crowded));
        once.spend(&3, Duration::from_mins(1), after(50)).unwrap();
        assert_eq!(once.spend(&1, Duration::from_mins(1), after(50)), Err(Twice::Used));
        assert!(!once.is_used(&2));
        assert_eq!((once.used.len(), once.by_expiry.len()), (2, 2));
    }

    #[test]
    fn what_expired_is_known_while_there_is_room() {
        let (mut once, begin) = (Once::new(2), Instant::now());
        once.spend(&1, Duration::from_mins(1), begin).unwrap();
        let late = begin + Duration::from_hours(1);
        assert_eq!(once.spend(&1, Duration::from_mins(1), late), Err(Twice::Used));
    }
}
