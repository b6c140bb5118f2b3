//! The ledger: what a session asked its way out for, by host: bytes, connections, refusals and trouble.
//!
//! It is the only whole record: a page that is refused an encrypted host cannot tell that from a broken one,
//! and what a browser asks for by itself shows in no page.

use crate::fence::Refusal;
use crate::hosts::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many hosts are told apart; what comes behind them is counted together.
const HOSTS: usize = 1_000;

/// What was asked for. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    hosts: BTreeMap<Target, Entry>,
    others: Entry,
}

#[derive(Debug, Default, Clone)]
struct Entry {
    connections: u64,
    refused: u64,
    failed: u64,
    why: Option<String>,
    bytes: Arc<Bytes>,
}

/// The bytes of one host, which its connections count as they flow.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

/// What was asked of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTally {
    /// The host and its port; none of those that are counted together, and of whoever found no place.
    pub host: Option<String>,
    /// How many connections or requests reached it.
    pub connections: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many might go there and did not come through, or a further proxy broke off.
    pub failed: u64,
    /// Why the last one was refused, failed, or has to wait.
    pub why: Option<String>,
    /// Bytes to the host.
    pub sent: u64,
    /// Bytes from the host.
    pub received: u64,
}

impl Ledger {
    /// Notes a connection to a host, or a request.
    pub(crate) fn reached(&self, target: &Target) {
        self.note(target, |entry| entry.connections += 1);
    }

    /// Where the bytes of a host are counted, by whoever has them.
    pub(crate) fn bytes(&self, target: &Target) -> Arc<Bytes> {
        self.note(target, |entry| Arc::clone(&entry.bytes))
    }

    pub(crate) fn refused(&self, target: &Target, refusal: &Refusal) {
        self.note(target, |entry| {
            entry.refused += 1;
            entry.why = Some(refusal.to_string());
        });
    }

    pub(crate) fn failed(&self, target: &Target, why: String) {
        self.note(target, |entry| {
            entry.failed += 1;
            entry.why = Some(why);
        });
    }

    /// Notes what goes wrong with a try that may come through yet; it has failed when whoever asked gives up.
    pub(crate) fn waits(&self, target: &Target, why: String) -> Waiting {
        self.note(target, |entry| entry.why = Some(why.clone()));
        Waiting { ledger: self.clone(), target: target.clone(), why: Some(why) }
    }

    /// Notes that somebody waits for a place, whatever will be asked for.
    pub(crate) fn crowded(&self, why: String) {
        let others = &mut self.entries().others;
        others.failed += 1;
        others.why = Some(why);
    }

    /// All hosts by name, and last those that are counted together, if there are any.
    pub fn tallies(&self) -> Vec<HostTally> {
        let entries = self.entries();
        let hosts = entries.hosts.iter().map(|(target, entry)| entry.tally(Some(target)));
        let others = Some(entries.others.tally(None))
            .filter(|others| others.connections + others.refused + others.failed > 0);
        hosts.chain(others).collect()
    }

    fn note<T>(&self, target: &Target, note: impl FnOnce(&mut Entry) -> T) -> T {
        let mut entries = self.entries();
        if entries.hosts.len() < HOSTS || entries.hosts.contains_key(target) {
            note(entries.hosts.entry(target.clone()).or_default())
        } else {
            note(&mut entries.others)
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A try that waits. It has failed if this is dropped before it came through or failed otherwise.
#[derive(Debug)]
pub(crate) struct Waiting {
    ledger: Ledger,
    target: Target,
    why: Option<String>,
}

impl Waiting {
    /// The wait is over.
    pub(crate) fn end(mut self) {
        self.why = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(why) = self.why.take() {
            self.ledger.failed(&self.target, why);
        }
    }
}

impl Entry {
    fn tally(&self, target: Option<&Target>) -> HostTally {
        HostTally {
            host: target.map(ToString::to_string),
            connections: self.connections,
            refused: self.refused,
            failed: self.failed,
            why: self.why.clone(),
            sent: self.bytes.sent.load(Ordering::Relaxed),
            received: self.bytes.received.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HOSTS, Ledger};
    use crate::fence::Refusal;
    use crate::hosts::Target;

    #[test]
    fn so_many_hosts_are_told_apart_and_no_try_is_lost() {
        let ledger = Ledger::default();
        let tries = HOSTS as u64 + 20;
        for number in 0..tries {
            let target = Target::new(&format!("h{number}.example"), 443).unwrap();
            ledger.refused(&target, &Refusal::NotListed);
        }
        let tallies = ledger.tallies();
        assert_eq!(tallies.len(), HOSTS + 1);
        assert_eq!(tallies.last().map(|last| (&last.host, last.refused)), Some((&None, 20)));
        assert_eq!(tallies.iter().map(|tally| tally.refused).sum::<u64>(), tries);
    }
}
