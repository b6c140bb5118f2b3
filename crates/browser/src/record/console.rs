//! What the browser tells of the console: calls, exceptions, and lines of its own.
//!
//! What `console.log` prints of its arguments is what the WHATWG says of it (Console, "Formatter").

use super::places::RecordedPlace;
use super::{ConsoleLine, Level, millis};
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
pub(super) struct LogEntryAdded {
    entry: LogEntry,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogEntry {
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
    pub(super) fn into_line(self, place: &RecordedPlace, most: usize) -> Option<ConsoleLine> {
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
    /// An uncaught exception, or a rejection.
    pub(super) fn into_line(self, place: &RecordedPlace, most: usize) -> ConsoleLine {
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

impl LogEntryAdded {
    /// What the browser itself has to say, such as of a request that failed; none for what a worker
    /// said, which is listened to itself.
    pub(super) fn into_line(self, place: &RecordedPlace, most: usize) -> Option<ConsoleLine> {
        let LogEntry { source, level, text, timestamp, url, line_number } = self.entry;
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

fn line(place: &RecordedPlace, at: f64, level: Level, message: String, most: usize) -> ConsoleLine {
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

/// `Runtime.RemoteObject`, as far as it is printed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Printed {
    #[serde(default, rename = "type")]
    kind: String,
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    preview: Option<Preview>,
}

#[derive(Debug, Clone, Deserialize)]
struct Preview {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    overflow: bool,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Debug, Clone, Deserialize)]
struct Property {
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    value: String,
}

impl Printed {
    /// As text.
    pub(super) fn text(&self) -> String {
        if let Some(value) = &self.value {
            return value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        }
        let preview = self.preview.as_ref().filter(|preview| preview.subtype != "error");
        let other = self.unserializable_value.clone().or_else(|| preview.map(Preview::text));
        other.or_else(|| self.description.clone()).unwrap_or_else(|| self.kind.clone())
    }

    /// As data, as far as it is any.
    pub(super) fn data(&self) -> Value {
        self.value.clone().unwrap_or_else(|| Value::String(self.text()))
    }
}

impl Preview {
    fn text(&self) -> String {
        let is_list = matches!(self.subtype.as_str(), "array" | "typedarray");
        let mut shown: Vec<String> = self.properties.iter().map(|it| it.text(is_list)).collect();
        if self.overflow {
            shown.push("…".to_owned());
        }
        let shown = shown.join(", ");
        if is_list { format!("[{shown}]") } else { format!("{{{shown}}}") }
    }
}

impl Property {
    fn text(&self, in_a_list: bool) -> String {
        let value = match self.kind.as_str() {
            "string" => format!("{:?}", self.value),
            _ => self.value.clone(),
        };
        if in_a_list { value } else { format!("{}: {value}", self.name) }
    }
}

/// The arguments as one text.
pub(super) fn message(args: &[Printed]) -> String {
    let Some((first, rest)) = args.split_first() else { return String::new() };
    let mut rest = rest.iter();
    let mut text = match &first.value {
        Some(Value::String(pattern)) => fill(pattern, &mut rest),
        _ => first.text(),
    };
    for arg in rest {
        text.push(' ');
        text.push_str(&arg.text());
    }
    text
}

/// A pattern with its gaps filled; a style (`%c`) takes its argument and shows nothing.
fn fill<'args>(pattern: &str, args: &mut impl Iterator<Item = &'args Printed>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let gap = letters.peek().copied().filter(|_| letter == '%');
        match gap {
            Some('%') => text.push('%'),
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O' | 'j') => match args.next() {
                Some(arg) => text.push_str(&arg.text()),
                None => text.extend(['%', gap.unwrap_or_default()]),
            },
            Some('c') => drop(args.next()),
            _ => {
                text.push(letter);
                continue;
            }
        }
        letters.next();
    }
    text
}

/// The beginning of a text, of at most so many bytes, and whether it is not all.
pub(super) fn cut(mut text: String, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text, false);
    }
    text.truncate(text.floor_char_boundary(most));
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn printed(args: Value) -> String {
        message(&serde_json::from_value::<Vec<Printed>>(args).unwrap())
    }

    #[test]
    fn arguments_are_printed_as_a_console_does() {
        let text = |text: &str| json!({"type": "string", "value": text});
        let cases = [
            (json!([]), ""),
            (
                json!([text("a"), {"type": "number", "value": 1}, {"type": "undefined"}]),
                "a 1 undefined",
            ),
            (
                json!([text("%s is %d%% %cred"), text("it"), {"type": "number", "value": 5}, text("color: red")]),
                "it is 5% red",
            ),
            (json!([text("%s %s"), text("one")]), "one %s"),
            (json!([text("100%")]), "100%"),
            (json!([{"type": "number", "unserializableValue": "-0"}]), "-0"),
            (
                json!([{"type": "object", "description": "Object", "preview": {"properties": [
                {"name": "a", "type": "string", "value": "x"}, {"name": "b", "type": "number", "value": "2"},
            ], "overflow": true}}]),
                "{a: \"x\", b: 2, …}",
            ),
            (
                json!([{"type": "object", "subtype": "array", "preview": {"subtype": "array", "properties": [
                    {"name": "0", "type": "number", "value": "1"},
                ]}}]),
                "[1]",
            ),
            (
                json!([{"type": "object", "description": "Error: no\n    at f", "preview": {"subtype": "error"}}]),
                "Error: no\n    at f",
            ),
        ];
        for (args, expected) in cases {
            assert_eq!(printed(args), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(cut("größer".to_owned(), 4), ("grö".to_owned(), true));
        assert_eq!(cut("größer".to_owned(), 100), ("größer".to_owned(), false));
    }
}
