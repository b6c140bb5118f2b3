//! Never clobber: whether more than half of what a session held is gone.
//!
//! The one idea: a browser that lost its profile leaves a state with little in it. Whoever remembers what
//! the last good state held can tell such a state from a usual change, and keep the good one. What goes while
//! a browser lives and answers was removed by somebody, a person or the site, and is gone: signing out has to
//! last. What is missing after a death is lost. Only hashes are remembered: no name stays in memory.

use crate::cookie::Cookie;
use crate::cookie::Expiry;
use crate::state::State;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which cookies and storage keys a state held, without their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Each cookie by domain, path, name and partition, with its end. From which port it came may become
    /// known later.
    cookies: HashMap<u64, Option<Expiry>>,
    /// Each storage key that held something.
    storage: BTreeSet<u64>,
}

impl Holdings {
    /// What `state` holds.
    pub fn of(state: &State) -> Self {
        let mut holdings = Self { storage: storage(state), ..Self::default() };
        holdings.add_cookies(&state.cookies);
        holdings
    }

    /// These cookies are held as well, or end at another time than was known.
    pub fn add_cookies(&mut self, cookies: &[Cookie]) {
        self.cookies.extend(cookies.iter().map(|cookie| (identity(cookie), cookie.expires)));
    }

    /// Whether `state` has shrunk since: more than half of these cookies, not counting those that
    /// had expired by `now`, or more than half of these storage keys are gone.
    pub fn has_shrunk_to(&self, state: &State, now: Expiry) -> bool {
        let there: BTreeSet<u64> =
            state.cookies.iter().filter(|cookie| lives(cookie, now)).map(identity).collect();
        let unexpired = self.cookies.iter().filter(|(_, end)| end.is_none_or(|end| end > now));
        let cookies: Vec<bool> = unexpired.map(|(key, _)| there.contains(key)).collect();
        let now_there = storage(state);
        let storage: Vec<bool> = self.storage.iter().map(|key| now_there.contains(key)).collect();
        half_is_gone(&cookies) || half_is_gone(&storage)
    }
}

impl Holdings {
    /// Whether `state` has shrunk by the clock of its browser alone, which has lived and answered since: more
    /// than half of these cookies are gone because they end by `clock`, the wall's, and not by `now`, which
    /// nobody sets.
    pub fn has_faded_to(&self, state: &State, now: Expiry, clock: Expiry) -> bool {
        let there: BTreeSet<u64> = state.cookies.iter().map(identity).collect();
        let unexpired = self.cookies.iter().filter(|(_, end)| end.is_none_or(|end| end > now));
        let faded = |(key, end): (&u64, &Option<Expiry>)| {
            end.is_some_and(|end| end <= clock) && !there.contains(key)
        };
        half_is_gone(&unexpired.map(|held| !faded(held)).collect::<Vec<_>>())
    }
}

fn lives(cookie: &Cookie, now: Expiry) -> bool {
    cookie.expires.is_none_or(|end| end > now)
}

fn identity(cookie: &Cookie) -> u64 {
    hash(&(&cookie.domain, &cookie.path, &cookie.name, cookie.partition_key.as_ref()))
}

fn storage(state: &State) -> BTreeSet<u64> {
    let full = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
    full.map(|(key, _)| hash(key)).collect()
}

/// Whether more than half of them are not there any more; of nothing, nothing can go.
fn half_is_gone(still_there: &[bool]) -> bool {
    let gone = still_there.iter().filter(|there| !**there).count();
    gone * 2 > still_there.len()
}

/// Equal within one process, which is as long as it is remembered.
fn hash(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}
