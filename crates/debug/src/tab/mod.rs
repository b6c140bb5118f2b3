//! What is kept of a tab: its requests, put together of events, its console, and what is missing.
//!
//! Every event has a defined result, whatever order events come in and however often: the sender counts them, so
//! it is seen what comes again, and what was lost on the way. See [`TabBuffer::network`] for requests. How many
//! bytes a thing takes is known near enough.
//!
//! The one idea: a reader who may not see secrets is answered from a buffer that never held any. Nothing is
//! hidden on the way out, so no way out can forget it, and no filter can be used to guess at what is
//! hidden. The second buffer begins as a copy of the first, so that a request has one number in both.

mod entry;
mod requests;

use super::limits::Limits;
use super::ring::Ring;
use super::secrets::{Clean, Page};
use crate::secrets::Revealed;
use baton_api::debug::{
    ConsoleEntry, ConsoleEvent, EpochMs, Gap, GapReason, Headers, NetworkEvent, NetworkRequest,
    SocketMessage,
};
use requests::Requests;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// How many marks of what is missing are kept.
const MAX_GAPS: usize = 100;

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It began something new: the sequence number.
    New(u64),
    /// It changed something that is kept: the sequence number of the change.
    Changed(u64),
    /// It said nothing new: it came before, or it is a second answer.
    Repeated,
    /// It belongs to a request that the buffer never knew, or no longer keeps.
    Unknown,
}

/// What is kept of a tab. Who shares it puts a lock around it.
#[derive(Debug, Clone)]
pub struct TabBuffer {
    limits: Limits,
    page: Page,
    requests: Requests,
    console: Ring<Arc<ConsoleEntry>>,
    flow: Flow,
    gaps: VecDeque<Mark>,
    unknown: u64,
}

/// Where something is missing, for readers of requests and for readers of the console.
#[derive(Debug, Clone)]
struct Mark {
    in_requests: u64,
    in_console: u64,
    gap: Gap,
}

/// How an event arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// In its turn, or without a number.
    Next,
    /// It was here before.
    Again,
    /// So many before it did not arrive.
    AfterHole(u64),
}

/// How far the sender has come.
#[derive(Debug, Clone, Default)]
struct Flow {
    epoch: Option<u64>,
    last: u64,
}

impl Flow {
    /// Whether the sender's epoch is another one than before; then it counts anew.
    fn begin(&mut self, epoch: u64) -> bool {
        let before = self.epoch.replace(epoch);
        let is_other = before.is_some_and(|before| before != epoch);
        if is_other {
            self.last = 0;
        }
        is_other
    }

    fn arrive(&mut self, seq: Option<u64>) -> Arrival {
        let Some(seq) = seq else { return Arrival::Next };
        if seq <= self.last {
            return Arrival::Again;
        }
        let missing = seq - self.last - 1;
        self.last = seq;
        if missing == 0 { Arrival::Next } else { Arrival::AfterHole(missing) }
    }

    fn last(&self) -> u64 {
        self.last
    }
}

impl TabBuffer {
    /// An empty one.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            page: Page::default(),
            requests: Requests::new(&limits),
            console: Ring::new(limits.console_entries, limits.console_bytes()),
            flow: Flow::default(),
            gaps: VecDeque::new(),
            unknown: 0,
        }
    }

    /// What the tab shows now.
    pub fn show(&mut self, page: Clean<Page>) {
        self.page = page.into_inner();
    }

    /// What the tab shows.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// Takes an event of a request.
    ///
    /// - The same id is sent *again*: after a redirect, an answer or an end it is the next hop, with an
    ///   entry of its own; else it adds what was not known.
    /// - An *answer* for an id that the buffer does not know begins a partial entry when it says where the
    ///   request went; any other event for such an id is counted and left.
    /// - Of *two answers*, or two ends, the first counts, unless it was an informational one (1xx) or
    ///   came from a source that knows less; the second adds what was not known.
    /// - An *end before the answer* is kept, and the answer is added.
    /// - What *two sources* report is one request when URL and method are the same, and the instants
    ///   are at most two seconds apart. The debugger knows more than webRequest.
    pub fn network(&mut self, event: Clean<NetworkEvent>) -> Applied {
        self.take_event(event.into_inner())
    }

    fn take_event(&mut self, event: NetworkEvent) -> Applied {
        let NetworkEvent { seq, source, change, .. } = event;
        if !self.arrives(seq, change.timestamp()) {
            return Applied::Repeated;
        }
        let applied = self.requests.apply(source, change, &self.limits);
        if applied == Applied::Unknown {
            self.unknown += 1;
        }
        applied
    }

    /// Takes a line of the console.
    pub fn console(&mut self, event: Clean<ConsoleEvent>) -> Applied {
        self.take_line(event.into_inner())
    }

    fn take_line(&mut self, event: ConsoleEvent) -> Applied {
        let ConsoleEvent { seq, mut entry, .. } = event;
        if !self.arrives(seq, entry.timestamp) {
            return Applied::Repeated;
        }
        let bytes = weight_of_entry(&entry);
        let change = self.console.put(bytes, |seq| {
            entry.seq = seq;
            Arc::new(entry)
        });
        Applied::New(change.seq)
    }

    /// Whether an event is new. What was lost before it is marked.
    fn arrives(&mut self, seq: Option<u64>, at: EpochMs) -> bool {
        match self.flow.arrive(seq) {
            Arrival::Next => true,
            Arrival::Again => false,
            Arrival::AfterHole(missing) => {
                self.miss(GapReason::EventsLost, Some(missing), at);
                true
            }
        }
    }

    /// The sender begins to count its events anew when its epoch is another one. True when it is.
    pub fn begin(&mut self, epoch: u64, at: EpochMs) -> bool {
        let is_other = self.flow.begin(epoch);
        if is_other {
            self.miss(GapReason::Restarted, None, at);
        }
        is_other
    }

    /// Marks that something is missing from here on: `missing` events, or an unknown number.
    pub fn miss(&mut self, reason: GapReason, missing: Option<u64>, at: EpochMs) {
        let (in_requests, in_console) = (self.requests.skip(), self.console.skip());
        let gap = Gap { reason, missing, at_least: false, seq: None, at: Some(at) };
        self.gaps.push_back(Mark { in_requests, in_console, gap });
        if self.gaps.len() > MAX_GAPS {
            self.gaps.pop_front();
        }
    }

    /// The last event in the sender's count.
    pub fn last_event(&self) -> u64 {
        self.flow.last()
    }

    /// How many events belonged to requests that the buffer did not know.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// How many bytes are kept.
    pub fn used(&self) -> usize {
        self.requests.ring().used() + self.console.used()
    }

    /// Drops the oldest until about so many bytes are kept.
    pub fn shrink_to(&mut self, bytes: usize) {
        let of_console = (bytes / 4).min(self.console.used());
        self.console.shrink_to(of_console);
        self.requests.shrink_to(bytes - of_console);
    }

    /// The requests that are kept, in the order in which they began.
    pub fn requests(&self) -> Vec<Arc<NetworkRequest>> {
        self.requests.in_order()
    }

    /// The lines that are kept, in their order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Arc<ConsoleEntry>> {
        self.console.iter().map(|(_, entry)| entry)
    }

    /// Requests that are new or changed after a cursor, in the order of their changes.
    pub(super) fn requests_after(&self, cursor: u64) -> impl Iterator<Item = &Arc<NetworkRequest>> {
        self.requests.after(cursor)
    }

    /// Lines after a cursor.
    pub(super) fn entries_after(&self, cursor: u64) -> impl Iterator<Item = &Arc<ConsoleEntry>> {
        self.console.after(cursor).map(|(_, entry)| entry)
    }

    /// The cursor behind the last change of a request.
    pub fn requests_cursor(&self) -> u64 {
        self.requests.ring().last()
    }

    /// The cursor behind the last line.
    pub fn console_cursor(&self) -> u64 {
        self.console.last()
    }

    /// What is missing of the requests after a cursor.
    pub(super) fn request_gaps(&self, cursor: u64) -> Vec<Gap> {
        let ring = self.requests.ring();
        gaps(
            ring.missing(cursor),
            cursor,
            self.gaps.iter().map(|mark| (mark.in_requests, &mark.gap)),
        )
    }

    /// What is missing of the console after a cursor.
    pub(super) fn console_gaps(&self, cursor: u64) -> Vec<Gap> {
        let marks = self.gaps.iter().map(|mark| (mark.in_console, &mark.gap));
        gaps(self.console.missing(cursor), cursor, marks)
    }
}

fn gaps<'a>(
    missing: Option<super::ring::Missing>,
    cursor: u64,
    marks: impl Iterator<Item = (u64, &'a Gap)>,
) -> Vec<Gap> {
    let dropped = missing.map(|missing| Gap {
        reason: GapReason::BufferFull,
        missing: Some(missing.count),
        at_least: missing.at_least,
        seq: None,
        at: None,
    });
    let behind = marks.filter(|(seq, _)| *seq > cursor);
    dropped
        .into_iter()
        .chain(behind.map(|(seq, gap)| Gap { seq: Some(seq), ..gap.clone() }))
        .collect()
}

/// What a request takes beside its texts: its own fields, and its places in the indexes.
const REQUEST: usize = 900;
/// The same for a line of the console.
const ENTRY: usize = 300;
/// The same for a header, a message of a WebSocket, a value.
const SMALL: usize = 64;

fn weight_of_request(request: &NetworkRequest) -> usize {
    let texts = [
        Some(&request.url),
        Some(&request.request_id),
        request.request_body.as_ref(),
        request.response_body.as_ref(),
        request.status_text.as_ref(),
        request.mime_type.as_ref(),
        request.error.as_ref(),
        request.frame.as_ref(),
        request.worker.as_ref(),
    ];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let headers = [&request.request_headers, &request.response_headers];
    let headers: usize = headers.into_iter().flatten().map(of_headers).sum();
    REQUEST + texts + headers + request.messages.iter().map(weight_of_message).sum::<usize>()
}

fn weight_of_message(message: &SocketMessage) -> usize {
    SMALL + message.payload.len()
}

fn weight_of_entry(entry: &ConsoleEntry) -> usize {
    let texts = [&entry.source, &entry.stack_trace, &entry.frame, &entry.worker];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    ENTRY + entry.message.len() + texts + entry.args.iter().map(of_value).sum::<usize>()
}

fn of_headers(headers: &Headers) -> usize {
    headers.iter().map(|(name, value)| SMALL + name.len() + value.len()).sum()
}

fn of_value(value: &Value) -> usize {
    SMALL
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of_value).sum(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| name.len() + of_value(value)).sum()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

/// What is kept of a tab.
#[derive(Debug)]
pub(crate) struct Kept {
    clean: TabBuffer,
    revealed: Option<WithSecrets>,
}

/// A buffer that holds secrets.
struct WithSecrets(TabBuffer);

/// What is in it goes to no log.
impl fmt::Debug for WithSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithSecrets(_)")
    }
}

/// An event, and once more with its secrets when those are kept.
pub(crate) struct EventPair<T> {
    pub(crate) clean: Clean<T>,
    pub(crate) revealed: Option<Revealed<T>>,
}

impl Kept {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { clean: TabBuffer::new(limits), revealed: None }
    }

    /// What everyone may see.
    pub(crate) fn clean(&self) -> &TabBuffer {
        &self.clean
    }

    /// The same with the secrets that came since they are kept; none when they are not.
    pub(crate) fn revealed(&self) -> Option<&TabBuffer> {
        self.revealed.as_ref().map(|WithSecrets(buffer)| buffer)
    }

    /// Secrets are kept from now on; or no longer, and those that were are forgotten.
    pub(crate) fn reveal(&mut self, on: bool) {
        if !on {
            self.revealed = None;
        } else if self.revealed.is_none() {
            self.revealed = Some(WithSecrets(self.clean.clone()));
        }
    }

    pub(crate) fn show(&mut self, page: EventPair<Page>) {
        let EventPair { clean, revealed } = page;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.page = revealed.unwrap_or_else(|| clean.clone().into()).into_inner();
        }
        self.clean.show(clean);
    }

    pub(crate) fn network(&mut self, event: EventPair<NetworkEvent>) {
        let EventPair { clean, revealed } = event;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.take_event(revealed.unwrap_or_else(|| clean.clone().into()).into_inner());
        }
        self.clean.network(clean);
    }

    pub(crate) fn console(&mut self, event: EventPair<ConsoleEvent>) {
        let EventPair { clean, revealed } = event;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.take_line(revealed.unwrap_or_else(|| clean.clone().into()).into_inner());
        }
        self.clean.console(clean);
    }

    /// See [`TabBuffer::miss`].
    pub(crate) fn miss(&mut self, reason: GapReason, missing: Option<u64>, at: EpochMs) {
        self.each(|buffer| buffer.miss(reason, missing, at));
    }

    /// See [`TabBuffer::begin`]. The last event that is here, in the sender's count.
    pub(crate) fn begin(&mut self, epoch: u64, at: EpochMs) -> u64 {
        self.each(|buffer| {
            buffer.begin(epoch, at);
        });
        self.clean.last_event()
    }

    /// How many bytes are kept.
    pub(crate) fn used(&self) -> usize {
        self.clean.used() + self.revealed().map_or(0, TabBuffer::used)
    }

    /// Drops the older half.
    pub(crate) fn halve(&mut self) {
        self.each(|buffer| buffer.shrink_to(buffer.used() / 2));
    }

    fn each(&mut self, mut change: impl FnMut(&mut TabBuffer)) {
        change(&mut self.clean);
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            change(buffer);
        }
    }
}
