//! What was found, and where to go on.

use baton_api::debug::{ConsoleData, ConsoleEntry, Gap, NetworkData, NetworkRequest};
use std::sync::Arc;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// As they happened, or after a cursor as they changed: the newest last.
    pub items: Vec<Arc<T>>,
    /// How many more fit: older ones, or after a cursor newer ones.
    pub more: usize,
    /// Where what is new from now on begins: `after` of the next question.
    pub cursor: u64,
    /// Where older ones begin: `before` of the next question; none when there are none.
    pub older: Option<u64>,
    /// What is missing.
    pub gaps: Vec<Gap>,
}

impl Found<NetworkRequest> {
    /// The answer to a question; with bodies if it asked for them.
    pub fn into_data(self, request_id: String, bodies: bool) -> NetworkData {
        let whole = |request: Arc<NetworkRequest>| {
            if bodies { Arc::unwrap_or_clone(request) } else { request.without_bodies() }
        };
        let requests = self.items.into_iter().map(whole).collect();
        let Self { cursor, older, gaps, .. } = self;
        NetworkData { request_id, requests, cursor, older, gaps }
    }
}

impl Found<ConsoleEntry> {
    /// The answer to a question.
    pub fn into_data(self, request_id: String) -> ConsoleData {
        let entries = self.items.into_iter().map(Arc::unwrap_or_clone).collect();
        let Self { cursor, older, gaps, .. } = self;
        ConsoleData { request_id, entries, cursor, older, gaps }
    }
}

/// The newest of all that fit, and where older ones begin.
pub(super) fn newest<T>(
    mut all: Vec<Arc<T>>,
    limit: usize,
    cursor: u64,
    gaps: Vec<Gap>,
    place: impl Fn(&T) -> u64,
) -> Found<T> {
    let more = all.len().saturating_sub(limit);
    let items = all.split_off(more);
    let older = items.first().filter(|_| more > 0).map(|first| place(first));
    Found { items, more, cursor, older, gaps }
}

/// The next of all that fit, and where those behind them begin.
pub(super) fn next<T>(
    mut items: Vec<Arc<T>>,
    limit: usize,
    end: u64,
    mut gaps: Vec<Gap>,
    place: impl Fn(&T) -> u64,
) -> Found<T> {
    let more = items.len().saturating_sub(limit);
    items.truncate(limit);
    let cursor = items.last().filter(|_| more > 0).map_or(end, |last| place(last));
    // What is missing behind them is told with those.
    gaps.retain(|gap| gap.seq.is_none_or(|seq| seq <= cursor));
    Found { items, more, cursor, older: None, gaps }
}
