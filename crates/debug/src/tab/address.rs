//! Where a request is found: by the id that its source gives it, and by where it went.

use baton_api::debug::Source;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Numbers of requests by id, and by URL.
#[derive(Debug, Clone, Default)]
pub(super) struct Addresses {
    ids: HashMap<(Source, String), u64>,
    /// By a hash of the URL: who looks compares.
    urls: HashMap<u64, VecDeque<u64>>,
}

impl Addresses {
    /// The request that a source calls so; the last hop when it was redirected.
    pub(super) fn by_id(&self, source: Source, id: &str) -> Option<u64> {
        // Looked up by value: the key owns its text.
        self.ids.get(&(source, id.to_owned())).copied()
    }

    /// The requests that may have gone there, newest first.
    pub(super) fn by_url(&self, url: &str) -> impl Iterator<Item = u64> + '_ {
        self.urls.get(&hash(url)).into_iter().flat_map(|numbers| numbers.iter().rev().copied())
    }

    /// From now on the source means this request by that id.
    pub(super) fn name(&mut self, source: Source, id: &str, number: u64) {
        self.ids.insert((source, id.to_owned()), number);
    }

    /// The request went there.
    pub(super) fn place(&mut self, url: &str, number: u64) {
        self.urls.entry(hash(url)).or_default().push_back(number);
    }

    /// The request is no longer kept.
    pub(super) fn remove(&mut self, number: u64, url: &str, ids: &[(Source, String)]) {
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
