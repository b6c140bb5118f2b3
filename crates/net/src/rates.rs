//! How often callers may ask: each key, and each address whose keys are refused.
//!
//! The one idea: an allowance is one instant, the one at which all that was used up is given back. It may lie
//! up to a minute ahead, so a minute's worth may come at once. A caller that used nothing for a while is
//! forgotten, so what is remembered is bounded.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
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
/// The part of a minute's worth that somebody has used up when other nodes hear of it: this one divides it.
const MUCH: u32 = 20;
/// Of how many keys, and how many addresses, other nodes hear.
const TOLD: usize = 64;

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
pub struct Rates(Arc<RateState>);

#[derive(Debug)]
struct RateState {
    limits: RateLimits,
    keys: Allowances<String>,
    addresses: Allowances<IpAddr>,
    /// Keys that were good lately, by what the database knows of them.
    good: Mutex<HashSet<[u8; 32]>>,
    /// Let one look a key up after the other, and one token: a provider may be slower than our database.
    lanes: [Semaphore; 2],
}

/// Who uses up an allowance.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spender {
    /// Whoever has the key of this id.
    Key(String),
    /// Whoever shows what is no good key from here.
    Address(IpAddr),
}

/// How much somebody asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Who.
    pub who: Spender,
    /// A number that grows by one with each request here, and never starts anew: two of them say how often somebody
    /// asked in between.
    pub total: u64,
    /// How many of their requests here are not given back yet, for who hears of them for the first time.
    pub recent: u64,
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
        Self(Arc::new(RateState { limits, keys, addresses, good, lanes }))
    }

    /// How often a caller may ask.
    pub fn limits(&self) -> RateLimits {
        self.0.limits
    }

    /// Notes a request with the key of this id; fails with the time to wait when there were too many.
    pub fn asked(&self, key: &str) -> Result<(), Duration> {
        self.0.keys.spend(key.to_owned(), Instant::now())
    }

    /// Who asked much of late here, and how often: for the other nodes of a cluster.
    pub fn spent(&self) -> Vec<Spent> {
        let now = Instant::now();
        let keys = self.0.keys.spent(now).into_iter();
        let keys = keys.map(|(key, spent)| spent.of(Spender::Key(key)));
        let addresses = self.0.addresses.spent(now).into_iter();
        keys.chain(addresses.map(|(at, spent)| spent.of(Spender::Address(at)))).collect()
    }

    /// So many more were asked at another node.
    pub fn spent_elsewhere(&self, who: &Spender, count: u64) {
        let now = Instant::now();
        match who {
            Spender::Key(key) => self.0.keys.add(key.clone(), count, now),
            Spender::Address(address) => self.0.addresses.add(household(*address), count, now),
        }
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
    used: Mutex<UsedByAll<K>>,
}

/// What everybody used up.
#[derive(Debug)]
struct UsedByAll<K> {
    each: HashMap<K, Used>,
    /// How often anybody asked here: who was forgotten begins with it, so that no total is ever smaller than before.
    total: u64,
}

/// What one used up.
#[derive(Debug, Clone, Copy)]
struct Used {
    /// When all of it is given back.
    until: Instant,
    /// When all would be given back that was used up here.
    until_here: Instant,
    /// See [`Spent::total`].
    total: u64,
}

/// How much one asked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpentHere {
    total: u64,
    recent: u64,
}

impl SpentHere {
    fn of(self, who: Spender) -> Spent {
        Spent { who, total: self.total, recent: self.recent }
    }
}

impl<K: Hash + Eq> Allowances<K> {
    fn new(per_minute: u32) -> Self {
        let used = UsedByAll { each: HashMap::new(), total: 0 };
        Self { each: AHEAD / per_minute.max(1), used: Mutex::new(used) }
    }

    fn used(&self) -> MutexGuard<'_, UsedByAll<K>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_used_up(&self, who: &K, now: Instant) -> bool {
        self.used().each.get(who).is_some_and(|used| used.until + self.each > now + AHEAD)
    }

    /// Gives one back that was taken.
    fn refund(&self, who: &K, now: Instant) {
        if let Some(used) = self.used().each.get_mut(who) {
            used.until = used.until.checked_sub(self.each).unwrap_or(now);
            used.until_here = used.until_here.checked_sub(self.each).unwrap_or(now);
            used.total = used.total.saturating_sub(1);
        }
    }

    /// Uses one up; fails with the time to wait when there is none.
    fn spend(&self, who: K, now: Instant) -> Result<(), Duration> {
        let all = &mut *self.used();
        let used = of(all, who, now);
        let next = used.until.max(now) + self.each;
        match next.duration_since(now).checked_sub(AHEAD) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                used.total += 1;
                used.until = next;
                used.until_here = used.until_here.max(now) + self.each;
                all.total += 1;
                Ok(())
            }
        }
    }

    /// So many were used up elsewhere; never more than all that there is.
    fn add(&self, who: K, count: u64, now: Instant) {
        let all = &mut *self.used();
        let used = of(all, who, now);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let more = self.each.checked_mul(count).unwrap_or(AHEAD).min(AHEAD);
        used.until = (used.until.max(now) + more).min(now + AHEAD);
    }
}

/// What one used up, of whom there may be nothing yet.
fn of<K: Hash + Eq>(all: &mut UsedByAll<K>, who: K, now: Instant) -> &mut Used {
    let UsedByAll { each, total } = all;
    if each.len() >= MOST && !each.contains_key(&who) {
        each.retain(|_, used| used.until > now);
        if each.len() >= MOST {
            // So many at once are an attack from everywhere, which no limit of this kind stops.
            each.clear();
        }
    }
    each.entry(who).or_insert(Used { until: now, until_here: now, total: *total })
}

impl<K: Hash + Eq + Clone> Allowances<K> {
    /// Those who used up most, and how much that is here: no small ones.
    fn spent(&self, now: Instant) -> Vec<(K, SpentHere)> {
        let used = self.used();
        let is_much = |used: &Used| used.until_here > now && used.until > now + AHEAD / MUCH;
        let mut found: Vec<_> = used.each.iter().filter(|(_, used)| is_much(used)).collect();
        found.sort_by_key(|(_, used)| Reverse(used.until));
        let spent = |used: &Used| {
            let left = used.until_here.duration_since(now).as_nanos();
            let recent = left.div_ceil(self.each.as_nanos().max(1));
            SpentHere { total: used.total, recent: u64::try_from(recent).unwrap_or(u64::MAX) }
        };
        found.into_iter().take(TOLD).map(|(who, used)| (who.clone(), spent(used))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowances, MOST, RateLimits, Rates, Shown, SpentHere, household};
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
    fn what_was_asked_elsewhere_counts_and_only_what_is_much_is_told() {
        let (allowances, now) = (Allowances::new(100), Instant::now());
        allowances.add("ada", 99, now);
        assert_eq!(allowances.spent(now), [], "others tell of their own");
        assert_eq!(allowances.spend("ada", now), Ok(()));
        assert!(allowances.spend("ada", now).is_err());
        let ada = |total, recent| [("ada", SpentHere { total, recent })];
        assert_eq!(allowances.spent(now), ada(1, 1));
        // However much it is, no more than a minute's worth has to be waited for.
        allowances.add("ada", u64::MAX, now);
        let wait = allowances.spend("ada", now).unwrap_err();
        assert!(wait <= Duration::from_mins(1) / 100, "{wait:?}");
        for _ in 0..5 {
            allowances.spend("bob", now).unwrap();
        }
        assert_eq!(allowances.spent(now), ada(1, 1), "a little is not worth a word");
        let later = now + Duration::from_mins(2);
        assert_eq!(allowances.spent(later), []);
        for _ in 0..6 {
            allowances.spend("ada", later).unwrap();
        }
        assert_eq!(allowances.spent(later), ada(7, 6), "what was given back is over");
    }

    #[test]
    fn the_total_of_one_who_was_forgotten_does_not_start_anew() {
        let (allowances, now) = (Allowances::new(u32::try_from(MOST).unwrap()), Instant::now());
        for _ in 0..MOST / 10 {
            allowances.spend(0, now).unwrap();
        }
        let told = |at| allowances.spent(at).into_iter().find(|(who, _)| *who == 0).unwrap().1;
        let before = told(now);
        for who in 1..=MOST {
            allowances.spend(who, now).unwrap();
        }
        assert!(!allowances.used().each.contains_key(&0), "all were too many");
        for _ in 0..MOST / 10 {
            allowances.spend(0, now).unwrap();
        }
        let after = told(now);
        assert!(after.total >= before.total + after.recent, "{before:?} {after:?}");
        assert_eq!((before.recent, after.recent), (MOST as u64 / 10, MOST as u64 / 10));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (allowances, now) = (Allowances::new(1), Instant::now());
        for who in 0..MOST {
            allowances.spend(who, now).unwrap();
        }
        let much_later = now + Duration::from_mins(2);
        allowances.spend(MOST, much_later).unwrap();
        assert_eq!(allowances.used().each.len(), 1, "the idle are forgotten");
        for who in 0..3 * MOST {
            allowances.spend(who, much_later).unwrap_or_default();
        }
        assert!(allowances.used().each.len() <= MOST);
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
