//! One request, put together of what its sources say of it, with the newest messages of a WebSocket.
//!
//! The one idea: each of its three phases (sent, answered, ended) is told by the source that knows most.
//! Who knows less, or comes second, only adds what was not known.

use super::weight_of_message;
use crate::limits::Limits;
use baton_api::debug::{
    Answered, EpochMs, Failed, Finished, NetworkRequest, Redirected, Requested, SocketMessage,
    Source,
};
use std::sync::Arc;

/// The word for a method that no source saw.
pub(super) const UNKNOWN_METHOD: &str = "?";

/// How much later than the end of a request another source may see its beginning, in milliseconds: the
/// clocks of sources differ by so much.
const SLACK: u64 = 20;

/// One request, and who said what of it. Readers share it; a change makes a copy only while they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) request: Arc<NetworkRequest>,
    /// What its sources call it.
    pub(super) ids: Vec<(Source, String)>,
    begun_by: Option<Source>,
    answered_by: Option<Source>,
    ended_by: Option<Source>,
}

/// Whether an event said something new.
pub(super) type IsNews = bool;

impl Entry {
    pub(super) fn new(number: u64, id: &str) -> Self {
        let request = NetworkRequest {
            request_id: id.to_owned(),
            number,
            method: UNKNOWN_METHOD.to_owned(),
            partial: true,
            ..NetworkRequest::default()
        };
        let ids = Vec::new();
        Self { request: Arc::new(request), ids, begun_by: None, answered_by: None, ended_by: None }
    }

    pub(super) fn edit(&mut self) -> &mut NetworkRequest {
        Arc::make_mut(&mut self.request)
    }

    /// Whether the source has said anything of it.
    pub(super) fn is_known_to(&self, source: Source) -> bool {
        self.request.source.contains(&source)
    }

    /// Whether it had come to its end before this instant: what is sent then is another request.
    pub(super) fn was_over(&self, at: EpochMs) -> bool {
        let NetworkRequest { timestamp, duration_ms, .. } = &*self.request;
        let took = duration_ms.filter(|_| self.request.ended);
        took.is_some_and(|took| at.since(*timestamp) > took + SLACK)
    }

    /// Whether the same id, sent once more, is another request: this one was answered, or it ended, or
    /// went elsewhere.
    pub(super) fn is_followed_by(&self, sent: &Requested) -> bool {
        if self.request.partial {
            return false;
        }
        sent.redirect_response.is_some()
            || self.request.status.is_some_and(|status| status >= 200)
            || self.request.ended
            || self.request.url != sent.url
            || self.request.method != sent.method
    }

    pub(super) fn note_source(&mut self, source: Source, id: &str) {
        if !self.is_known_to(source) {
            let sources = &mut self.edit().source;
            sources.push(source);
            sources.sort_unstable();
        }
        let id = (source, id.to_owned());
        if !self.ids.contains(&id) {
            self.ids.push(id);
        }
    }

    pub(super) fn sent(&mut self, source: Source, sent: Requested, hop: u32) -> IsNews {
        let wins = wins(&mut self.begun_by, source);
        let request = self.edit();
        let mut is_news = wins;
        if request.partial || wins {
            request.timestamp = sent.timestamp;
            (request.method, request.url) = (sent.method, sent.url);
            (request.hop, request.partial) = (hop, false);
            is_news = true;
        }
        let cut = sent.body_truncated;
        if fill(&mut request.request_body, sent.body, wins) {
            (request.request_body_truncated, is_news) = (cut, true);
        }
        is_news |= fill(&mut request.request_headers, sent.headers, wins);
        is_news |= fill(&mut request.resource_type, sent.resource_type, wins);
        is_news |= fill(&mut request.frame, sent.frame, wins);
        is_news | fill(&mut request.worker, sent.worker, wins)
    }

    pub(super) fn answered(&mut self, source: Source, answer: Answered) -> IsNews {
        let was_interim = matches!(self.request.status, Some(100 | 102..200));
        let wins = wins(&mut self.answered_by, source) || was_interim;
        let request = self.edit();
        let mut is_news = wins;
        if request.partial && request.url.is_empty() {
            request.url = answer.url.unwrap_or_default();
            request.timestamp = answer.timestamp;
        }
        // Browsers hide the status of some answers from one source and not from the other.
        let status = (answer.status != 0 || request.status.is_none()).then_some(answer.status);
        let is_hidden = request.status == Some(0);
        is_news |= fill(&mut request.status, status, wins || is_hidden);
        is_news |= fill(&mut request.status_text, answer.status_text, wins);
        is_news |= fill(&mut request.response_headers, answer.headers, wins);
        is_news |= fill(&mut request.mime_type, answer.mime_type, wins);
        is_news |= fill(&mut request.resource_type, answer.resource_type, false);
        is_news |= answer.from_cache && !request.from_cache;
        request.from_cache |= answer.from_cache;
        self.forgive();
        is_news
    }

    /// It was redirected: its answer, and its end.
    pub(super) fn redirected(&mut self, source: Source, answer: Redirected, at: EpochMs) {
        let Redirected { status, status_text, headers } = answer;
        let (request_id, timestamp) = (self.request.request_id.clone(), at);
        let answer =
            Answered { request_id, timestamp, status, status_text, headers, ..Answered::default() };
        self.answered(source, answer);
        self.end(source, at, None);
    }

    /// It came to an end without anyone saying how: the next hop began.
    pub(super) fn left(&mut self, source: Source, at: EpochMs) {
        if !self.request.ended {
            self.end(source, at, None);
        }
    }

    pub(super) fn finished(&mut self, source: Source, end: Finished) -> IsNews {
        let wins = self.end(source, end.timestamp, end.duration_ms);
        let request = self.edit();
        if wins {
            request.error = None;
        }
        let mut is_news = wins;
        if fill(&mut request.response_body, end.body, false) {
            request.response_body_truncated = end.body_truncated;
            request.response_body_base64 = end.body_base64;
            is_news = true;
        }
        is_news |= fill(&mut request.mime_type, end.mime_type, false);
        is_news |= fill(&mut request.transfer_size, end.transfer_size, wins);
        is_news | fill(&mut request.response_body_size, end.body_size, wins)
    }

    pub(super) fn failed(&mut self, source: Source, end: Failed) -> IsNews {
        let wins = self.end(source, end.timestamp, end.duration_ms);
        if wins {
            self.edit().error = Some(end.error);
            self.forgive();
        }
        wins
    }

    pub(super) fn add_message(&mut self, message: SocketMessage, limits: &Limits) {
        add_message(self.edit(), message, limits);
    }

    /// Notes the end; whether this source's word counts.
    fn end(&mut self, source: Source, at: EpochMs, duration: Option<u64>) -> bool {
        let wins = wins(&mut self.ended_by, source);
        let request = self.edit();
        request.ended = true;
        // Who missed the beginning does not know how long it took.
        let known = (!request.partial).then(|| at.since(request.timestamp));
        fill(&mut request.duration_ms, duration.or(known), wins);
        wins
    }

    /// An answer that has no body, or that hides it, ends for the browser like one that was aborted:
    /// that is no failure.
    fn forgive(&mut self) {
        let request = &self.request;
        let says_so = |(name, value): (&String, &String)| {
            name.eq_ignore_ascii_case("content-length") && value.trim() == "0"
        };
        let is_empty = matches!(request.status, Some(0 | 204 | 205 | 304))
            || request.method == "HEAD"
            || request.response_headers.iter().flatten().any(says_so);
        let is_answered = request.status.is_some();
        if is_answered && is_empty && request.error.as_deref() == Some("net::ERR_ABORTED") {
            self.edit().error = None;
        }
    }
}

/// Whether the word of `source` counts in a phase that `by` has told so far.
fn wins(by: &mut Option<Source>, source: Source) -> bool {
    let wins = by.is_none_or(|by| by < source);
    if wins {
        *by = Some(source);
    }
    wins
}

/// Fills a field in; whether that changed it.
fn fill<T: PartialEq>(field: &mut Option<T>, new: Option<T>, wins: bool) -> bool {
    let changes = new.is_some() && (wins || field.is_none()) && *field != new;
    if changes {
        *field = new;
    }
    changes
}

/// Adds a message; the oldest go.
pub(super) fn add_message(request: &mut NetworkRequest, message: SocketMessage, limits: &Limits) {
    request.messages.push(message);
    let mut bytes: usize = request.messages.iter().map(weight_of_message).sum();
    let mut surplus = 0;
    for message in &request.messages {
        let left = request.messages.len() - surplus;
        if left <= limits.messages && bytes <= limits.messages_bytes {
            break;
        }
        bytes -= weight_of_message(message);
        surplus += 1;
    }
    request.messages.drain(..surplus);
    let surplus = u32::try_from(surplus).unwrap_or(u32::MAX);
    request.messages_dropped = request.messages_dropped.saturating_add(surplus);
}
