//! Questions: which requests and lines fit, what was found, and where to go on.
//!
//! Patterns are regular expressions of the crate `regex`, which takes time in proportion to the text
//! whatever the pattern is; how large one may become is limited. A question is made into a filter
//! before the tab is locked. `limit` means the newest; behind a cursor it means the next.

use super::tab::TabBuffer;
use baton_api::debug::{
    ConsoleData, ConsoleEntry, ConsoleFilters, Gap, GapReason, NetworkData, NetworkFilters,
    NetworkRequest,
};
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_000;

/// How many are found when no limit is asked for.
pub const DEFAULT_LIMIT: usize = 500;
/// How much memory a pattern may take, in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// The longest reason for a refusal, in characters.
const MAX_REASON: usize = 300;

/// Why a question makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The pattern is no regular expression, or too large a one.
    #[error("expected a regular expression in {field}, found one that is refused: {reason}")]
    Pattern {
        /// Which filter.
        field: &'static str,
        /// Why.
        reason: String,
    },
    /// The pattern is too long.
    #[error("expected a regular expression of up to {MAX_PATTERN} bytes in {field}, found {found}")]
    TooLong {
        /// Which filter.
        field: &'static str,
        /// How long it is.
        found: usize,
    },
    /// A limit of nothing.
    #[error("expected a limit from 1 on, found 0")]
    NoLimit,
    /// No status fits.
    #[error("expected a status_min of at most status_max, found {min} and {max}")]
    Status {
        /// `status_min`
        min: u16,
        /// `status_max`
        max: u16,
    },
    /// Two ways to go at once.
    #[error("expected after or before, found both")]
    BothWays,
}

/// Which requests.
#[derive(Debug)]
pub struct RequestFilter {
    asked: NetworkFilters,
    url: Option<Regex>,
}

/// Which lines of the console.
#[derive(Debug)]
pub struct ConsoleFilter {
    asked: ConsoleFilters,
    message: Option<Regex>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matches<T> {
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

impl RequestFilter {
    /// The filter of a question.
    pub fn new(asked: &NetworkFilters) -> Result<Self, QueryError> {
        check(asked.limit, asked.after, asked.before)?;
        if let (Some(min), Some(max)) = (asked.status_min, asked.status_max)
            && min > max
        {
            return Err(QueryError::Status { min, max });
        }
        let url = pattern("url_pattern", asked.url_pattern.as_deref())?;
        Ok(Self { asked: asked.clone(), url })
    }

    /// The requests of a tab that fit.
    pub fn find(&self, tab: &TabBuffer) -> Matches<NetworkRequest> {
        let end = tab.requests_cursor();
        let limit = limit(self.asked.limit);
        let Some(after) = self.asked.after else {
            let mut all = tab.requests();
            all.retain(|request| self.fits(request));
            let gaps = tab.request_gaps(0);
            return newest(all, limit, end, gaps, |request| request.number);
        };
        let (after, restarted) = behind(after, end);
        let fits = tab.requests_after(after).filter(|request| self.fits(request)).cloned();
        let gaps = restarted.into_iter().chain(tab.request_gaps(after)).collect();
        next(fits.collect(), limit, end, gaps, |request| request.seq)
    }

    fn fits(&self, request: &NetworkRequest) -> bool {
        let asked = &self.asked;
        let any = |methods: &[String]| {
            methods.is_empty()
                || methods.iter().any(|one| one.eq_ignore_ascii_case(&request.method))
        };
        let status = request.status;
        asked.before.is_none_or(|before| request.number < before)
            && asked.since.is_none_or(|since| request.timestamp > since)
            && any(&asked.method)
            && asked.status_min.is_none_or(|min| status.is_some_and(|status| status >= min))
            && asked.status_max.is_none_or(|max| status.is_some_and(|status| status <= max))
            && asked.id.as_ref().is_none_or(|id| is_called(request, id))
            && self.url.as_ref().is_none_or(|url| url.is_match(&request.url))
    }
}

/// By its number, with or without the `#` of lists, or by the browser's id.
fn is_called(request: &NetworkRequest, id: &str) -> bool {
    request.request_id == id || id.trim_start_matches('#').parse() == Ok(request.number)
}

impl ConsoleFilter {
    /// The filter of a question.
    pub fn new(asked: &ConsoleFilters) -> Result<Self, QueryError> {
        check(asked.limit, asked.after, asked.before)?;
        let message = pattern("message_pattern", asked.message_pattern.as_deref())?;
        Ok(Self { asked: asked.clone(), message })
    }

    /// The lines of a tab's console that fit.
    pub fn find(&self, tab: &TabBuffer) -> Matches<ConsoleEntry> {
        let end = tab.console_cursor();
        let limit = limit(self.asked.limit);
        let Some(after) = self.asked.after else {
            let fits = tab.entries().filter(|entry| self.fits(entry)).cloned();
            let gaps = tab.console_gaps(0);
            return newest(fits.collect(), limit, end, gaps, |entry| entry.seq);
        };
        let (after, restarted) = behind(after, end);
        let fits = tab.entries_after(after).filter(|entry| self.fits(entry)).cloned();
        let gaps = restarted.into_iter().chain(tab.console_gaps(after)).collect();
        next(fits.collect(), limit, end, gaps, |entry| entry.seq)
    }

    fn fits(&self, entry: &ConsoleEntry) -> bool {
        let asked = &self.asked;
        asked.before.is_none_or(|before| entry.seq < before)
            && asked.since.is_none_or(|since| entry.timestamp > since)
            && (asked.level.is_empty() || asked.level.contains(&entry.level))
            && asked.id.is_none_or(|id| entry.seq == id)
            && self.message.as_ref().is_none_or(|message| message.is_match(&entry.message))
    }
}

fn check(limit: Option<u32>, after: Option<u64>, before: Option<u64>) -> Result<(), QueryError> {
    if limit == Some(0) {
        return Err(QueryError::NoLimit);
    }
    if after.is_some() && before.is_some() { Err(QueryError::BothWays) } else { Ok(()) }
}

fn limit(asked: Option<u32>) -> usize {
    asked.map_or(DEFAULT_LIMIT, |limit| limit as usize)
}

fn pattern(field: &'static str, pattern: Option<&str>) -> Result<Option<Regex>, QueryError> {
    let Some(pattern) = pattern else { return Ok(None) };
    if pattern.len() > MAX_PATTERN {
        return Err(QueryError::TooLong { field, found: pattern.len() });
    }
    let built = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
    built.map(Some).map_err(|error| {
        // The lines before repeat the pattern.
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let reason = last.trim_end_matches('.').chars().take(MAX_REASON).collect();
        QueryError::Pattern { field, reason }
    })
}

/// A cursor that is further than anything here is of another life of the tab, and begins anew.
fn behind(after: u64, end: u64) -> (u64, Option<Gap>) {
    if after <= end {
        return (after, None);
    }
    let gap =
        Gap { reason: GapReason::Restarted, missing: None, at_least: false, seq: None, at: None };
    (0, Some(gap))
}

impl Matches<NetworkRequest> {
    /// The answer to a question; with bodies if it asked for them.
    pub fn into_data(self, request_id: String, bodies: bool) -> NetworkData {
        let whole = |request: Arc<NetworkRequest>| {
            if bodies { Arc::unwrap_or_clone(request) } else { request.without_bodies() }
        };
        let requests = self.items.into_iter().map(whole).collect();
        let Self { cursor, older, gaps, .. } = self;
        let (hosts, not_reached) = (Vec::new(), Vec::new());
        NetworkData { request_id, requests, cursor, older, gaps, hosts, not_reached }
    }
}

impl Matches<ConsoleEntry> {
    /// The answer to a question.
    pub fn into_data(self, request_id: String) -> ConsoleData {
        let entries = self.items.into_iter().map(Arc::unwrap_or_clone).collect();
        let Self { cursor, older, gaps, .. } = self;
        ConsoleData { request_id, entries, cursor, older, gaps }
    }
}

/// The newest of all that fit, and where older ones begin.
fn newest<T>(
    mut all: Vec<Arc<T>>,
    limit: usize,
    cursor: u64,
    gaps: Vec<Gap>,
    place: impl Fn(&T) -> u64,
) -> Matches<T> {
    let more = all.len().saturating_sub(limit);
    let items = all.split_off(more);
    let older = items.first().filter(|_| more > 0).map(|first| place(first));
    Matches { items, more, cursor, older, gaps }
}

/// The next of all that fit, and where those behind them begin.
fn next<T>(
    mut items: Vec<Arc<T>>,
    limit: usize,
    end: u64,
    mut gaps: Vec<Gap>,
    place: impl Fn(&T) -> u64,
) -> Matches<T> {
    let more = items.len().saturating_sub(limit);
    items.truncate(limit);
    let cursor = items.last().filter(|_| more > 0).map_or(end, |last| place(last));
    // What is missing behind them comes with the next answer.
    gaps.retain(|gap| gap.seq.is_none_or(|seq| seq <= cursor));
    Matches { items, more, cursor, older: None, gaps }
}
