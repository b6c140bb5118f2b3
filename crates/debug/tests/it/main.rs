//! Look in: what tabs did, from events to words.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod ask;
mod bounds;
mod har;
mod lines;
mod merging;
mod page;
mod planted;
mod relay;
mod reveal;
mod ring;
mod token;
mod words;

use baton_api::debug::{
    Answered, ConsoleEntry, ConsoleEvent, ConsoleLevel, EpochMs, Failed, Finished, Headers,
    NetworkChange, NetworkEvent, NetworkRequest, Requested, Source, TabToken,
};
use baton_debug::{Applied, Clean, Limits, TabBuffer};
use baton_redaction::{Names, Redactor};
use std::sync::Arc;

/// When the stories begin.
const BEGINNING: u64 = 1_800_000_000_000;

/// So many milliseconds after the beginning.
fn at(millis: u64) -> EpochMs {
    EpochMs::new(BEGINNING + millis)
}

fn token() -> TabToken {
    TabToken::new([7; 16])
}

fn headers(pairs: &[(&str, &str)]) -> Headers {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn requested(id: &str, method: &str, url: &str, millis: u64) -> Requested {
    Requested {
        request_id: id.to_owned(),
        timestamp: at(millis),
        method: method.to_owned(),
        url: url.to_owned(),
        ..Requested::default()
    }
}

fn answered(id: &str, status: u16, millis: u64) -> Answered {
    Answered { request_id: id.to_owned(), timestamp: at(millis), status, ..Answered::default() }
}

fn finished(id: &str, millis: u64) -> Finished {
    Finished { request_id: id.to_owned(), timestamp: at(millis), ..Finished::default() }
}

fn failed(id: &str, error: &str, millis: u64) -> Failed {
    let (request_id, error) = (id.to_owned(), error.to_owned());
    Failed { request_id, timestamp: at(millis), error, duration_ms: None }
}

fn line(level: ConsoleLevel, message: &str, millis: u64) -> ConsoleEntry {
    ConsoleEntry {
        timestamp: at(millis),
        level,
        args: Vec::new(),
        message: message.to_owned(),
        source: None,
        line: None,
        column: None,
        stack_trace: None,
        seq: 0,
        frame: None,
        worker: None,
        truncated: false,
    }
}

fn redactor() -> Redactor {
    Redactor::new(Names::default(), *b"a key of a test.")
}

/// A tab, and what happens in it.
struct Tab {
    buffer: TabBuffer,
    limits: Limits,
    redactor: Redactor,
}

impl Tab {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        Self { buffer: TabBuffer::new(limits), limits, redactor: redactor() }
    }

    fn apply(&mut self, source: Source, change: NetworkChange) -> Applied {
        let event = NetworkEvent { token: token(), seq: None, source, change };
        self.buffer.network(Clean::network(event, &self.limits, &mut self.redactor))
    }

    fn sent(&mut self, sent: Requested) -> Applied {
        self.apply(Source::Debugger, NetworkChange::Request(sent))
    }

    fn answer(&mut self, answer: Answered) -> Applied {
        self.apply(Source::Debugger, NetworkChange::Response(answer))
    }

    fn finish(&mut self, end: Finished) -> Applied {
        self.apply(Source::Debugger, NetworkChange::Finished(end))
    }

    fn fail(&mut self, end: Failed) -> Applied {
        self.apply(Source::Debugger, NetworkChange::Failed(end))
    }

    fn write(&mut self, entry: ConsoleEntry) -> Applied {
        let event = ConsoleEvent { token: token(), seq: None, entry };
        self.buffer.console(Clean::console(event, &self.limits, &mut self.redactor))
    }

    /// A request, answered and complete 20 ms later.
    fn get(&mut self, id: &str, url: &str, status: u16, millis: u64) {
        self.sent(requested(id, "GET", url, millis));
        self.answer(answered(id, status, millis + 10));
        self.finish(finished(id, millis + 20));
    }

    fn requests(&self) -> Vec<Arc<NetworkRequest>> {
        self.buffer.requests()
    }

    /// The only request.
    fn only(&self) -> Arc<NetworkRequest> {
        let mut all = self.requests();
        assert_eq!(all.len(), 1, "{all:#?}");
        all.remove(0)
    }
}

/// One request in a line.
fn told(request: &NetworkRequest) -> String {
    let status = request.status.map_or("-".to_owned(), |status| status.to_string());
    let duration = request.duration_ms.map_or("-".to_owned(), |millis| format!("{millis}ms"));
    let error = request.error.as_deref().unwrap_or("");
    let mut text = format!(
        "#{} {} {} {status} {duration} hop {} {error}",
        request.number, request.method, request.url, request.hop
    );
    for (is, word) in [(request.ended, "ended"), (request.partial, "partial")] {
        if is {
            text = format!("{} {word}", text.trim_end());
        }
    }
    text.trim_end().to_owned()
}

fn all_told(tab: &Tab) -> String {
    tab.requests().iter().map(|request| told(request)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_tab_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<std::sync::Mutex<TabBuffer>>();
}
