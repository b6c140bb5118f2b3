//! How often callers may ask: each key, and each address whose keys are refused.
//!
//! The one idea: an allowance is one instant, the one at which all that was used up is given back. It may lie
//! up to a minute ahead, so a minute's worth may come at once. A caller that used nothing for a while is
//! forgotten, so what is remembered is bounded.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How far ahead the instant may lie.
const AHEAD: Duration = Duration::from_mins(1);
/// How many keys or addresses are remembered.
const MOST: usize = 10_000;

/// How often a caller may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests with one key, a minute.
    pub requests_per_minute: u32,
    /// Requests without a good key from one address, a minute.
    pub refused_keys_per_minute: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { requests_per_minute: 6000, refused_keys_per_minute: 60 }
    }
}

/// Who asked how often. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rates(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: RateLimits,
    keys: Allowances<String>,
    addresses: Allowances<IpAddr>,
    /// Keys that were good lately, by what the database knows of them.
    good: Mutex<HashSet<[u8; 32]>>,
    /// Let one look a key up after the other, and one token: a provider may be slower than our database.
    lanes: [Semaphore; 2],
}

/// What a stranger shows.
#[derive(Debug, Clone, Copy)]
pub enum Shown {
    /// A key of ours.
    Key,
    /// A token of a provider.
    Token,
}

impl Rates {
    /// No caller asked yet.
    pub fn new(limits: RateLimits) -> Self {
        let keys = Allowances::new(limits.requests_per_minute);
        let addresses = Allowances::new(limits.refused_keys_per_minute);
        let (good, lanes) = (Mutex::default(), [1, 1].map(Semaphore::new));
        Self(Arc::new(Inner { limits, keys, addresses, good, lanes }))
    }

    /// How often a caller may ask.
    pub fn limits(&self) -> RateLimits {
        self.0.limits
    }

    /// Notes a request with the key of this id; fails with the time to wait when there were too many.
    pub fn asked(&self, key: &str) -> Result<(), Duration> {
        self.0.keys.spend(key.to_owned(), Instant::now())
    }

    /// Notes a request from `address` without a good key; fails like [`asked`](Self::asked).
    pub fn refused(&self, address: IpAddr) -> Result<(), Duration> {
        self.0.addresses.spend(household(address), Instant::now())
    }

    /// Gives back what was noted of a request that was good after all.
    pub fn refund(&self, address: IpAddr) {
        self.0.addresses.refund(&household(address), Instant::now());
    }

    /// Looks up a key or a token that a caller at `address` shows, when it is its turn; `is_good` says what
    /// it was worth, or none where that was not seen. What looks up what a stranger shows asks here, so that
    /// the allowance comes before the deed.
    pub async fn look_up<T>(
        &self,
        address: Option<IpAddr>,
        (shown, secret_hash): (Shown, [u8; 32]),
        look: impl Future<Output = T>,
        is_good: impl FnOnce(&T) -> Option<bool>,
    ) -> T {
        let turn = match address {
            Some(address) => self.turn(address, shown, &secret_hash).await,
            None => None,
        };
        let found = look.await;
        drop(turn);
        if let Some(is_good) = is_good(&found) {
            self.looked_up(secret_hash, is_good);
        }
        found
    }

    /// Waits for the turn of `address` to have something looked up. Only a caller that has used up the
    /// allowance of its address, and shows what was not good lately, waits: one after the other, so that many
    /// guesses cost no more than one. What is good is found in the end, from everywhere.
    async fn turn(
        &self,
        address: IpAddr,
        shown: Shown,
        secret_hash: &[u8; 32],
    ) -> Option<SemaphorePermit<'_>> {
        if self.good().contains(secret_hash)
            || !self.0.addresses.is_used_up(&household(address), Instant::now())
        {
            return None;
        }
        self.0.lanes[shown as usize].acquire().await.ok()
    }

    /// Remembers that a key was good, or was not.
    fn looked_up(&self, secret_hash: [u8; 32], is_good: bool) {
        let mut good = self.good();
        if !is_good {
            good.remove(&secret_hash);
        } else if good.contains(&secret_hash) || good.len() < MOST {
            good.insert(secret_hash);
        } else {
            good.clear();
        }
    }

    fn good(&self) -> MutexGuard<'_, HashSet<[u8; 32]>> {
        self.0.good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller with one address of IPv6 has the 2^64 around it as well.
pub fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// For each of many, when all that it used up is given back.
#[derive(Debug)]
struct Allowances<K> {
    each: Duration,
    used_until: Mutex<HashMap<K, Instant>>,
}

impl<K: Hash + Eq> Allowances<K> {
    fn new(per_minute: u32) -> Self {
        Self { each: AHEAD / per_minute.max(1), used_until: Mutex::default() }
    }

    fn is_used_up(&self, who: &K, now: Instant) -> bool {
        let used_until = self.used_until.lock().unwrap_or_else(PoisonError::into_inner);
        used_until.get(who).is_some_and(|until| *until + self.each > now + AHEAD)
    }

    /// Gives one back that was taken.
    fn refund(&self, who: &K, now: Instant) {
        let mut used_until = self.used_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = used_until.get_mut(who) {
            *until = until.checked_sub(self.each).unwrap_or(now);
        }
    }

    /// Uses one up; fails with the time to wait when there is none.
    fn spend(&self, who: K, now: Instant) -> Result<(), Duration> {
        let mut used_until = self.used_until.lock().unwrap_or_else(PoisonError::into_inner);
        if used_until.len() >= MOST && !used_until.contains_key(&who) {
            used_until.retain(|_, until| *until > now);
            if used_until.len() >= MOST {
                // So many at once are an attack from everywhere, which no limit of this kind stops.
                used_until.clear();
            }
        }
        let until = used_until.entry(who).or_insert(now);
        let next = (*until).max(now) + self.each;
        match next.duration_since(now).checked_sub(AHEAD) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                *until = next;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowances, MOST, RateLimits, Rates, Shown, household};
    use futures_util::FutureExt as _;
    use futures_util::future::{Either, pending, ready};
    use std::net::IpAddr;
    use std::time::{Duration, Instant};

    #[test]
    fn a_minutes_worth_may_come_at_once_and_comes_back_evenly() {
        let (allowances, now) = (Allowances::new(4), Instant::now());
        for _ in 0..4 {
            assert_eq!(allowances.spend("ada", now), Ok(()));
        }
        assert_eq!(allowances.spend("ada", now), Err(Duration::from_secs(15)));
        assert_eq!(allowances.spend("bob", now), Ok(()), "another has its own");
        let later = now + Duration::from_secs(10);
        assert_eq!(allowances.spend("ada", later), Err(Duration::from_secs(5)));
        let later = now + Duration::from_secs(15);
        assert_eq!(allowances.spend("ada", later), Ok(()), "a refusal uses nothing up");
        assert!(allowances.spend("ada", later).is_err());
    }

    #[test]
    fn what_is_given_back_may_be_taken_again() {
        let (allowances, now) = (Allowances::new(1), Instant::now());
        assert!(!allowances.is_used_up(&"ada", now));
        allowances.spend("ada", now).unwrap();
        assert!(allowances.is_used_up(&"ada", now));
        allowances.refund(&"ada", now);
        assert!(!allowances.is_used_up(&"ada", now));
        assert_eq!(allowances.spend("ada", now), Ok(()));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (allowances, now) = (Allowances::new(1), Instant::now());
        for who in 0..MOST {
            allowances.spend(who, now).unwrap();
        }
        let much_later = now + Duration::from_mins(2);
        allowances.spend(MOST, much_later).unwrap();
        assert_eq!(allowances.used_until.lock().unwrap().len(), 1, "the idle are forgotten");
        for who in 0..3 * MOST {
            allowances.spend(who, much_later).unwrap_or_default();
        }
        assert!(allowances.used_until.lock().unwrap().len() <= MOST);
    }

    #[test]
    fn addresses_of_one_household_count_as_one() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse::<IpAddr>().unwrap());
            household(one) == household(other)
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1"));
        assert!(!same("2001:db8:0:1::1", "2001:db8:0:2::1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
    }

    #[test]
    fn who_was_wrong_too_often_is_looked_up_one_after_the_other() {
        let limits = RateLimits { refused_keys_per_minute: 1, ..RateLimits::default() };
        let (rates, address) = (Rates::new(limits), IpAddr::from([192, 0, 2, 1]));
        let shown = |secret, look| {
            Box::pin(rates.look_up(Some(address), (Shown::Key, [secret; 32]), look, |()| None))
        };
        rates.looked_up([1; 32], true);
        rates.refused(address).unwrap();
        let mut first = shown(2, Either::Left(pending()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(shown(3, Either::Right(ready(()))).now_or_never().is_none(), "it waits");
        assert!(shown(1, Either::Right(ready(()))).now_or_never().is_some(), "it was good lately");
        drop(first);
        assert!(shown(3, Either::Right(ready(()))).now_or_never().is_some(), "it is its turn");
    }
}
