//! The requests of a tab: which one an event belongs to, by the id that its source gives it, and by where it went.

use super::entry::{Entry, UNKNOWN_METHOD};
use super::{Applied, weight_of_request};
use crate::limits::Limits;
use crate::ring::Ring;
use baton_api::debug::{Answered, EpochMs, NetworkChange, NetworkRequest, Requested, Source};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// How far apart the instants of two sources are for one request at most, in milliseconds.
const SAME_TIME: u64 = 2_000;
/// How many requests of one URL are looked at for the one that another source means.
const LOOKED_AT: usize = 64;

/// The requests of a tab.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    ring: Ring<Entry>,
    /// Where in the ring each request is, by its number.
    places: HashMap<u64, u64>,
    addresses: Addresses,
    count: u64,
}

impl Requests {
    pub(super) fn new(limits: &Limits) -> Self {
        let ring = Ring::new(limits.requests, limits.request_bytes());
        Self { ring, places: HashMap::new(), addresses: Addresses::default(), count: 0 }
    }

    pub(super) fn ring(&self) -> &Ring<Entry> {
        &self.ring
    }

    pub(super) fn skip(&mut self) -> u64 {
        self.ring.skip()
    }

    /// Drops the oldest until no more than so many bytes are kept.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        let dropped = self.ring.shrink_to(bytes);
        self.forget(dropped);
    }

    pub(super) fn in_order(&self) -> Vec<Arc<NetworkRequest>> {
        let mut all: Vec<_> =
            self.ring.iter().map(|(_, entry)| Arc::clone(&entry.request)).collect();
        all.sort_unstable_by_key(|request| request.number);
        all
    }

    pub(super) fn after(&self, cursor: u64) -> impl Iterator<Item = &Arc<NetworkRequest>> {
        self.ring.after(cursor).map(|(_, entry)| &entry.request)
    }

    pub(super) fn apply(
        &mut self,
        source: Source,
        change: NetworkChange,
        limits: &Limits,
    ) -> Applied {
        match change {
            NetworkChange::Request(sent) => self.sent(source, sent),
            NetworkChange::Response(answer) => self.answered(source, answer),
            NetworkChange::Finished(end) => {
                let number = self.addresses.by_id(source, &end.request_id);
                self.change(number, |entry| entry.finished(source, end))
            }
            NetworkChange::Failed(end) => {
                let number = self.addresses.by_id(source, &end.request_id);
                self.change(number, |entry| entry.failed(source, end))
            }
            NetworkChange::Message(event) => {
                let number = self.addresses.by_id(source, &event.request_id);
                self.change(number, |entry| {
                    entry.add_message(event.message, limits);
                    true
                })
            }
        }
    }

    fn sent(&mut self, source: Source, sent: Requested) -> Applied {
        let id = sent.request_id.clone();
        let known = self.addresses.by_id(source, &id).and_then(|number| self.entry(number));
        let Some(entry) = known else { return self.sent_first(source, sent, 0) };
        let (number, hop) = (entry.request.number, entry.request.hop);
        if !entry.is_followed_by(&sent) {
            return self.change(Some(number), |entry| entry.sent(source, sent, hop));
        }
        let (at, redirect) = (sent.timestamp, sent.redirect_response.clone());
        let is_redirect = redirect.is_some()
            || entry.request.status.is_some_and(|status| (300..400).contains(&status));
        self.change(Some(number), |entry| {
            match redirect {
                Some(answer) => entry.redirected(source, answer, at),
                None => entry.left(source, at),
            }
            true
        });
        self.sent_first(source, sent, if is_redirect { hop + 1 } else { 0 })
    }

    /// A request that this source has not told of yet: another source may have.
    fn sent_first(&mut self, source: Source, sent: Requested, hop: u32) -> Applied {
        let id = sent.request_id.clone();
        let at = sent.timestamp;
        let told = self.told_by_another(source, &sent.url, &sent.method, at);
        let told = told.filter(|number| self.entry(*number).is_some_and(|it| !it.was_over(at)));
        if let Some(number) = told {
            self.addresses.name(source, &id, number);
            return self.change(Some(number), |entry| {
                entry.note_source(source, &id);
                let hop = hop.max(entry.request.hop);
                entry.sent(source, sent, hop);
                true
            });
        }
        self.begin(source, &id, |entry| entry.sent(source, sent, hop))
    }

    fn answered(&mut self, source: Source, answer: Answered) -> Applied {
        let id = answer.request_id.clone();
        if let Some(number) = self.addresses.by_id(source, &id) {
            return self.change(Some(number), |entry| entry.answered(source, answer));
        }
        let Some(url) = answer.url.clone() else { return Applied::Unknown };
        let told = self.told_by_another(source, &url, UNKNOWN_METHOD, answer.timestamp);
        if let Some(number) = told {
            self.addresses.name(source, &id, number);
            return self.change(Some(number), |entry| {
                entry.note_source(source, &id);
                entry.answered(source, answer);
                true
            });
        }
        self.begin(source, &id, |entry| entry.answered(source, answer))
    }

    /// The request that other sources have told of and this one has not: the nearest in time.
    fn told_by_another(&self, source: Source, url: &str, method: &str, at: EpochMs) -> Option<u64> {
        let candidates =
            self.addresses.by_url(url).take(LOOKED_AT).filter_map(|number| self.entry(number));
        let same = candidates.filter(|entry| {
            let known = entry.request.method.as_str();
            let same_method =
                known == method || known == UNKNOWN_METHOD || method == UNKNOWN_METHOD;
            entry.request.url == url && same_method && !entry.is_known_to(source)
        });
        let near = same
            .map(|entry| (entry.request.timestamp.distance(at), entry.request.number))
            .filter(|(distance, _)| *distance <= SAME_TIME);
        near.min().map(|(_, number)| number)
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        self.ring.get(*self.places.get(&number)?)
    }

    fn begin(
        &mut self,
        source: Source,
        id: &str,
        tell: impl FnOnce(&mut Entry) -> bool,
    ) -> Applied {
        self.count += 1;
        let mut entry = Entry::new(self.count, id);
        entry.note_source(source, id);
        tell(&mut entry);
        self.addresses.name(source, id, self.count);
        self.addresses.place(&entry.request.url, self.count);
        Applied::New(self.put(entry))
    }

    /// Changes a request, if it is kept and the change is news.
    fn change(&mut self, number: Option<u64>, change: impl FnOnce(&mut Entry) -> bool) -> Applied {
        let place = number.and_then(|number| self.places.get(&number).copied());
        let Some(before) = place.and_then(|seq| self.ring.get(seq)) else {
            return Applied::Unknown;
        };
        let (number, url) = (before.request.number, before.request.url.clone());
        let seq = before.request.seq;
        let Some(done) = self.ring.change(seq, change, weigh) else { return Applied::Repeated };
        self.places.insert(number, done.seq);
        // Only a partial request learns later where it went.
        let now = self.ring.get(done.seq).map(|entry| entry.request.url.clone());
        if let Some(now) = now.filter(|now| *now != url) {
            self.addresses.remove(number, &url, &[]);
            self.addresses.place(&now, number);
        }
        self.forget(done.dropped);
        Applied::Changed(done.seq)
    }

    fn put(&mut self, mut entry: Entry) -> u64 {
        let number = entry.request.number;
        let bytes = weigh(&mut entry, self.ring.last() + 1);
        let done = self.ring.put(bytes, |_| entry);
        self.places.insert(number, done.seq);
        self.forget(done.dropped);
        done.seq
    }

    fn forget(&mut self, dropped: Vec<Entry>) {
        for Entry { request, ids, .. } in dropped {
            self.places.remove(&request.number);
            self.addresses.remove(request.number, &request.url, &ids);
        }
    }
}

/// Notes the number of the change, and says how many bytes the request takes now.
fn weigh(entry: &mut Entry, seq: u64) -> usize {
    entry.edit().seq = seq;
    weight_of_request(&entry.request)
}

/// Numbers of requests by id, and by URL.
#[derive(Debug, Clone, Default)]
struct Addresses {
    ids: HashMap<(Source, String), u64>,
    /// By a hash of the URL: who looks compares.
    urls: HashMap<u64, VecDeque<u64>>,
}

impl Addresses {
    /// The request that a source calls so; the last hop when it was redirected.
    fn by_id(&self, source: Source, id: &str) -> Option<u64> {
        // Looked up by value: the key owns its text.
        self.ids.get(&(source, id.to_owned())).copied()
    }

    /// The requests that may have gone there, newest first.
    fn by_url(&self, url: &str) -> impl Iterator<Item = u64> + '_ {
        self.urls.get(&hash(url)).into_iter().flat_map(|numbers| numbers.iter().rev().copied())
    }

    /// From now on the source means this request by that id.
    fn name(&mut self, source: Source, id: &str, number: u64) {
        self.ids.insert((source, id.to_owned()), number);
    }

    /// The request went there.
    fn place(&mut self, url: &str, number: u64) {
        self.urls.entry(hash(url)).or_default().push_back(number);
    }

    /// The request is no longer kept.
    fn remove(&mut self, number: u64, url: &str, ids: &[(Source, String)]) {
        for id in ids {
            if self.ids.get(id) == Some(&number) {
                self.ids.remove(id);
            }
        }
        let place = hash(url);
        let Some(numbers) = self.urls.get_mut(&place) else { return };
        if numbers.front() == Some(&number) {
            numbers.pop_front();
        } else {
            numbers.retain(|kept| *kept != number);
        }
        if numbers.is_empty() {
            self.urls.remove(&place);
        }
    }
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    hasher.finish()
}
