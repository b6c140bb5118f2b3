//! What the browser tells of the console: calls, exceptions, and lines of its own.

use super::clock::millis;
use super::format::{Printed, cut, message};
use super::places::Place;
use super::told::{ConsoleLine, Level};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;

/// `Runtime.consoleAPICalled`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Called {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    args: Vec<Printed>,
    timestamp: f64,
    stack_trace: Option<StackTrace>,
}

/// `Runtime.exceptionThrown`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thrown {
    timestamp: f64,
    exception_details: Details,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    text: String,
    line_number: Option<u32>,
    column_number: Option<u32>,
    url: Option<String>,
    stack_trace: Option<StackTrace>,
    exception: Option<Printed>,
}

/// `Log.entryAdded`.
#[derive(Debug, Deserialize)]
pub(super) struct Added {
    entry: Entry,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    source: String,
    level: String,
    text: String,
    timestamp: f64,
    url: Option<String>,
    line_number: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StackTrace {
    #[serde(default)]
    call_frames: Vec<CallFrame>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: u32,
    #[serde(default)]
    column_number: u32,
}

impl StackTrace {
    fn text(&self) -> Option<String> {
        let text = self.call_frames.iter().fold(String::new(), |mut text, frame| {
            let (line, column) = (frame.line_number + 1, frame.column_number + 1);
            let name = match frame.function_name.as_str() {
                "" => "(anonymous)",
                name => name,
            };
            let end = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{end}at {name} ({}:{line}:{column})", frame.url);
            text
        });
        (!text.is_empty()).then_some(text)
    }
}

impl Called {
    /// A line; none for what prints nothing.
    pub(super) fn told(self, place: &Place, most: usize) -> Option<ConsoleLine> {
        let level = match self.kind.as_str() {
            "clear" | "endGroup" | "profile" | "profileEnd" => return None,
            "debug" => Level::Debug,
            "info" => Level::Info,
            "warning" => Level::Warn,
            "error" | "assert" => Level::Error,
            _ => Level::Log,
        };
        let top = self.stack_trace.as_ref().and_then(|trace| trace.call_frames.first());
        let position = top.map(|top| (top.url.clone(), top.line_number, top.column_number));
        // The browser records how a line came there for all of them; it is of use for some.
        let is_traced = level == Level::Error || self.kind == "trace";
        let trace = self.stack_trace.filter(|_| is_traced).and_then(|trace| trace.text());
        let args = self.args.iter().map(Printed::data).collect();
        let line = line(place, self.timestamp, level, message(&self.args), most);
        Some(with(ConsoleLine { args, stack_trace: trace, ..line }, position, most))
    }
}

impl Thrown {
    /// An exception that nobody caught, or a rejection.
    pub(super) fn told(self, place: &Place, most: usize) -> ConsoleLine {
        let Details { text, line_number, column_number, url, stack_trace, exception } =
            self.exception_details;
        let what = exception.as_ref().map(Printed::text).filter(|what| !what.is_empty());
        let message = match what {
            Some(what) if text.is_empty() => what,
            Some(what) => format!("{text} {what}"),
            None => text,
        };
        let top = stack_trace.as_ref().and_then(|trace| trace.call_frames.first());
        let source = url.or_else(|| top.map(|top| top.url.clone())).unwrap_or_default();
        let position = (source, line_number.unwrap_or_default(), column_number.unwrap_or_default());
        let trace = stack_trace.and_then(|trace| trace.text());
        let line = line(place, self.timestamp, Level::Error, message, most);
        with(ConsoleLine { stack_trace: trace, ..line }, Some(position), most)
    }
}

impl Added {
    /// What the browser itself has to say, such as of a request that failed; none for what a worker
    /// said, which is listened to itself.
    pub(super) fn told(self, place: &Place, most: usize) -> Option<ConsoleLine> {
        let Entry { source, level, text, timestamp, url, line_number } = self.entry;
        if source == "worker" {
            return None;
        }
        let level = match level.as_str() {
            "verbose" => Level::Debug,
            "info" => Level::Info,
            "warning" => Level::Warn,
            _ => Level::Error,
        };
        let line = line(place, timestamp, level, text, most);
        let number = line_number.map(|number| number + 1);
        Some(ConsoleLine { source: url.filter(|url| !url.is_empty()), line: number, ..line })
    }
}

fn line(place: &Place, at: f64, level: Level, message: String, most: usize) -> ConsoleLine {
    let (message, truncated) = cut(message, most);
    ConsoleLine {
        at: millis(at),
        level,
        message,
        args: Vec::new(),
        source: None,
        line: None,
        column: None,
        stack_trace: None,
        frame: None,
        worker: place.worker(),
        truncated,
    }
}

/// The line with its place in a script, counted from 1 on, and within its bounds.
fn with(mut line: ConsoleLine, position: Option<(String, u32, u32)>, most: usize) -> ConsoleLine {
    if let Some((source, number, column)) = position.filter(|(source, ..)| !source.is_empty()) {
        line.source = Some(source);
        line.line = Some(number + 1);
        line.column = Some(column + 1);
    }
    let bytes: usize = line.args.iter().map(|arg| arg.as_str().map_or(8, str::len)).sum();
    if bytes > most {
        line.args = Vec::<Value>::new();
        line.truncated = true;
    }
    line.stack_trace = line.stack_trace.map(|trace| cut(trace, most).0);
    line
}
