//! Text for models: a line each, the newest first, within a budget (`lists`), and one request, or one line of a
//! console, in full.
//!
//! The one idea: all of it in little rather than little of it in full. A list says what it left out and
//! how to get it; one request in full has headers and bodies. In a list nothing that a page wrote can begin
//! a line of its own.

mod lists;

pub use lists::{console, network, not_reached, state};

use baton_api::debug::{ConsoleEntry, Direction, Headers, NetworkRequest};
use baton_session::json;
use std::borrow::Cow;
use std::fmt::Write as _;

/// How many characters a list takes by default: 200 requests fit, in fewer than 6,000 tokens.
pub const LIST_BUDGET: usize = 12_000;
/// How many characters one request, or one line of a console, takes in full by default.
pub const FULL_BUDGET: usize = 16_000;

/// The size of what a request brought, in a few characters.
pub fn size(request: &NetworkRequest) -> Option<String> {
    lists::bytes(request).map(short_size)
}

/// What stands where something was cut.
const CUT: &str = "…";

/// A size in at most four characters and its unit, in steps of a thousand.
fn short_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes}B"),
        1_000..1_000_000 => format!("{}kB", tenths(bytes, 1_000)),
        _ => format!("{}MB", tenths(bytes, 1_000_000)),
    }
}

/// A time in at most four digits and its unit.
pub fn time(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis}ms"),
        _ => format!("{}s", tenths(millis, 1_000)),
    }
}

/// With one digit behind the point below ten.
fn tenths(value: u64, unit: u64) -> String {
    let tenths = value.saturating_mul(10) / unit;
    match tenths {
        0..100 if !tenths.is_multiple_of(10) => format!("{}.{}", tenths / 10, tenths % 10),
        _ => (tenths / 10).to_string(),
    }
}

/// A text on one line: control characters and runs of spaces become a space.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(is_break) {
        return text.trim().into();
    }
    text.split(|c: char| is_break(c) || c == ' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .into()
}

/// The beginning of a text, at most `most` characters.
fn start(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return text.into();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}{CUT}").into()
}

/// A text without its middle: at most `most` characters, more of the end than of the beginning, for the
/// end tells addresses apart.
fn middle(text: &str, most: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= most {
        return text.into();
    }
    let left = most.saturating_sub(1);
    let (head, tail) = (left / 2, left - left / 2);
    let kept: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{kept}{CUT}{end}").into()
}

/// How many messages of a WebSocket are shown, the newest.
const MESSAGES: usize = 50;

/// A text with a budget, in characters. What exceeds it is named.
struct BudgetedText {
    text: String,
    left: usize,
}

impl BudgetedText {
    fn line(&mut self, line: &str) {
        self.left = self.left.saturating_sub(line.chars().count() + 1);
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A text that may have many lines, as much of it as there is room for in `share` of what is left.
    fn block(&mut self, title: &str, text: &str, share: usize) {
        let (room, length) = (self.left / share, text.chars().count());
        let shown = text.char_indices().nth(room).map_or(text, |(at, _)| &text[..at]);
        let note = if room < length {
            format!(" (the first {room} of {length} characters)")
        } else {
            String::new()
        };
        self.line(&format!("{title}{note}:"));
        self.line(shown);
    }
}

/// A request with headers and bodies, in about `budget` characters.
pub fn request(request: &NetworkRequest, budget: usize) -> String {
    let mut page = BudgetedText { text: String::new(), left: budget };
    head(&mut page, request);
    headers(&mut page, "request headers", request.request_headers.as_ref());
    headers(&mut page, "response headers", request.response_headers.as_ref());
    if let Some(body) = &request.request_body {
        page.block(&title("request body", request.request_body_truncated), body, 2);
    }
    match &request.response_body {
        Some(body) if request.response_body_base64 => {
            page.line(&format!("response body: binary, {} characters of base64", body.len()));
        }
        Some(body) => {
            page.block(&title("response body", request.response_body_truncated), body, 1);
        }
        None if request.ended && request.error.is_none() => {
            page.line("response body: none was kept");
        }
        None => {}
    }
    messages(&mut page, request);
    page.text.trim_end().to_owned()
}

fn title(what: &str, is_cut: bool) -> String {
    if is_cut { format!("{what} (only its beginning was kept)") } else { what.to_owned() }
}

fn head(page: &mut BudgetedText, request: &NetworkRequest) {
    page.line(&format!("#{} {} {}", request.number, request.method, line(&request.url)));
    let mut facts = vec![format!("sent {}", request.timestamp)];
    if let Some(status) = request.status {
        let text = request.status_text.as_deref().unwrap_or_default();
        facts.push(format!("{status} {}", line(text)).trim_end().to_owned());
    }
    facts.extend(request.error.as_ref().map(|error| format!("failed: {}", line(error))));
    facts.extend(request.duration_ms.map(time));
    facts.extend(lists::bytes(request).map(short_size));
    facts.extend(request.resource_type.map(|kind| kind.to_string()));
    facts.extend(request.mime_type.as_ref().map(|mime| line(mime).into_owned()));
    for (is, fact) in [
        (request.from_cache, "from a cache"),
        (request.partial, "its beginning was missed"),
        (!request.ended, "not ended"),
    ] {
        if is {
            facts.push(fact.to_owned());
        }
    }
    page.line(&facts.join(", "));
    for (what, place) in [("frame", &request.frame), ("worker", &request.worker)] {
        if let Some(place) = place {
            page.line(&format!("{what}: {}", line(place)));
        }
    }
}

fn headers(page: &mut BudgetedText, title: &str, headers: Option<&Headers>) {
    let Some(headers) = headers.filter(|headers| !headers.is_empty()) else { return };
    let lines: Vec<String> = headers
        .iter()
        .flat_map(|(name, value)| value.split('\n').map(move |value| (name, value)))
        .map(|(name, value)| format!("{}: {}", line(name), line(value)))
        .collect();
    page.block(title, &lines.join("\n"), 2);
}

fn messages(page: &mut BudgetedText, request: &NetworkRequest) {
    if request.messages.is_empty() {
        return;
    }
    let shown = request.messages.iter().rev().take(MESSAGES);
    let lines: Vec<String> = shown
        .map(|message| {
            let way = if message.direction == Direction::Sent { "sent" } else { "received" };
            let text = if message.binary { "binary".into() } else { line(&message.payload) };
            format!("{way} {} {}", message.timestamp, start(&text, 500))
        })
        .collect();
    let all = request.messages.len() + request.messages_dropped as usize;
    let title = format!("messages, newest first ({} of {all})", lines.len());
    page.block(&title, &lines.join("\n"), 1);
}

/// A line of a console with its stack, in about `budget` characters.
pub fn entry(entry: &ConsoleEntry, budget: usize) -> String {
    let mut page = BudgetedText { text: String::new(), left: budget };
    let mut head = format!("#{} {} {}", entry.seq, entry.level, entry.timestamp);
    if let Some(source) = &entry.source {
        let _ = write!(head, " {}", line(source));
        for number in [entry.line, entry.column].into_iter().flatten() {
            let _ = write!(head, ":{number}");
        }
    }
    page.line(&head);
    for (what, place) in [("frame", &entry.frame), ("worker", &entry.worker)] {
        if let Some(place) = place {
            page.line(&format!("{what}: {}", line(place)));
        }
    }
    page.block(&title("message", entry.truncated), &entry.message, 2);
    if let Some(stack) = &entry.stack_trace {
        page.block("stack", stack, 2);
    }
    if entry.args.iter().any(|arg| !arg.is_string()) {
        page.block("arguments", &json::text(&entry.args), 1);
    }
    page.text.trim_end().to_owned()
}
