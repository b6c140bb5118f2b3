//! Server-sent events: fields line by line, and an empty line behind each event.
//!
//! The one idea: the lines of one event's data are one body; it is redacted as one and goes back into
//! the same lines.

use crate::HIDDEN;
use crate::kind::Kind;
use crate::names::Weight;
use crate::work::Work;

/// The stream without its secrets, with the line ends that it had.
pub(crate) fn redact(work: &mut Work<'_>, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut event: Vec<Line<'_>> = Vec::new();
    for line in (Lines { rest: text }) {
        let is_end = line.text.is_empty();
        event.push(line);
        if is_end {
            put_event(work, &event, &mut out);
            event.clear();
        }
    }
    put_event(work, &event, &mut out);
    out
}

/// A line without its end, and its end: `\n`, `\r\n`, `\r`, or none if the text is cut.
struct Line<'a> {
    text: &'a str,
    end: &'a str,
}

impl<'a> Line<'a> {
    /// What is before the data (`data: `) and the data, if the line has some.
    fn data(&self) -> Option<(&'a str, &'a str)> {
        self.field("data")
    }

    fn field(&self, name: &str) -> Option<(&'a str, &'a str)> {
        // A stream may begin with a byte order mark.
        let mark = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
        let rest = self.text[mark..].strip_prefix(name)?.strip_prefix(':')?;
        let value = rest.strip_prefix(' ').unwrap_or(rest);
        Some(self.text.split_at(self.text.len() - value.len()))
    }
}

struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let length = self.rest.find(['\n', '\r']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(length);
        let end = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        let (end, rest) = rest.split_at(end);
        self.rest = rest;
        Some(Line { text, end })
    }
}

fn put_event(work: &mut Work<'_>, event: &[Line<'_>], out: &mut String) {
    let data: Vec<&str> = event.iter().filter_map(Line::data).map(|(_, data)| data).collect();
    let count = data.len();
    let data = redact_data(work, event, &data.join("\n"));
    let mut left = data.split('\n');
    let mut put = 0;
    for line in event {
        let Some((before, _)) = line.data() else {
            out.push_str(&work.text(line.text, Kind::Data));
            out.push_str(line.end);
            continue;
        };
        put += 1;
        // A body that lost lines fills the first ones, and one that won some goes on behind the last.
        let here = if put == count { usize::MAX } else { 1 };
        for data in left.by_ref().take(here) {
            out.push_str(before);
            out.push_str(data);
            out.push_str(if line.end.is_empty() && here > 1 { "" } else { line.end });
        }
    }
}

fn redact_data(work: &mut Work<'_>, event: &[Line<'_>], data: &str) -> String {
    if data.is_empty() {
        return String::new();
    }
    let name = event.iter().filter_map(|line| line.field("event")).next_back();
    let weight = name.map_or(Weight::Plain, |(_, name)| work.weigh(name.trim()));
    // Models of language send their words as events `token`: what looks like words is no secret.
    let weight = weight.min(Weight::Telling);
    if weight > Weight::Plain && work.hides(weight, data.trim()) {
        return HIDDEN.to_owned();
    }
    work.body(data, None)
}
