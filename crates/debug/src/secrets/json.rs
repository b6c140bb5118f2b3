//! JSON, whole or cut off: values under names of secrets, at any depth.
//!
//! The one idea: a scanner, no parser. It goes through the text once, knows for each open object and list
//! whether it belongs to a secret, and changes nothing but the values it hides; so order, spaces and numbers stay
//! as they were, and a body that ends in the middle, or several in a row, do no harm.

use super::names::{is_named_beside, is_secret, names_another};
use super::text::{self, Kind};
use super::{HIDDEN, patterns};
use std::borrow::Cow;

/// How deep it looks; what is deeper is hidden.
const MAX_DEPTH: usize = 128;
/// The JSON without its secrets. JSON stays JSON; texts in it are of this kind.
pub fn redact(json: &str, kind: Kind) -> String {
    let (out, open) = (String::with_capacity(json.len()), vec![Frame::default()]);
    let mut scan = Scan { json, kind, at: 0, out, open };
    while scan.step() {}
    scan.out
}

struct Scan<'a> {
    json: &'a str,
    kind: Kind,
    at: usize,
    out: String,
    open: Vec<Frame>,
}

/// An open object or list, or what stands around all of them.
#[derive(Default)]
struct Frame {
    is_object: bool,
    /// Whether all of it belongs to a secret.
    is_secret: bool,
    /// The name whose value comes next; none before a name, and in a list.
    name: Option<String>,
    /// Whether a field of it named a secret.
    names_secret: bool,
}

impl Scan<'_> {
    fn step(&mut self) -> bool {
        let Some(c) = self.json.as_bytes().get(self.at).copied() else { return false };
        match c {
            b'{' | b'[' => self.open(c == b'{'),
            b'}' | b']' => self.close(),
            b',' => {
                if let Some(frame) = self.open.last_mut() {
                    frame.name = None;
                }
                self.copy(1);
            }
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.other(),
        }
        true
    }

    fn copy(&mut self, length: usize) {
        self.out.push_str(&self.json[self.at..self.at + length]);
        self.at += length;
    }

    fn open(&mut self, is_object: bool) {
        let is_secret = self.is_secret() || self.open.len() > MAX_DEPTH;
        self.open.push(Frame { is_object, is_secret, ..Frame::default() });
        self.copy(1);
    }

    fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
        self.copy(1);
    }

    /// Whether the value that comes now is a secret.
    fn is_secret(&self) -> bool {
        let Some(frame) = self.open.last() else { return false };
        let is_named =
            |name: &String| is_secret(name) || (frame.names_secret && is_named_beside(name));
        frame.is_secret || frame.name.as_ref().is_some_and(is_named)
    }

    fn string(&mut self) {
        let start = self.at + 1;
        let end = end_of_string(self.json.as_bytes(), start);
        let content = &self.json[start..end];
        let is_whole = end < self.json.len();
        // A list has names only where it is none.
        let is_name = self.open.last().is_some_and(|frame| {
            frame.name.is_none() && (frame.is_object || is_followed_by_colon(self.json, end))
        });
        self.out.push('"');
        if is_name {
            self.out.push_str(&patterns::hide(content));
            if let Some(frame) = self.open.last_mut() {
                frame.name = Some(unescaped(content).into_owned());
            }
        } else {
            let shown = self.shown(content);
            self.out.push_str(&shown);
        }
        if is_whole {
            self.out.push('"');
        }
        self.at = end + usize::from(is_whole);
    }

    fn shown<'a>(&mut self, content: &'a str) -> Cow<'a, str> {
        if self.is_secret() {
            return if content.is_empty() { content } else { HIDDEN }.into();
        }
        if let Some(frame) = self.open.last_mut() {
            let is_naming = frame.name.as_deref().is_some_and(names_another);
            frame.names_secret |= is_naming && is_secret(&unescaped(content));
        }
        text::redact(content, self.kind)
    }

    fn number(&mut self) {
        let is_part = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'+' | b'.');
        let rest = &self.json.as_bytes()[self.at..];
        let length = rest.iter().take_while(|c| is_part(c)).count();
        if self.is_secret() {
            self.out.push('"');
            self.out.push_str(HIDDEN);
            self.out.push('"');
            self.at += length;
        } else {
            self.copy(length);
        }
    }

    /// Spaces, colons, `true`, and what is no JSON.
    fn other(&mut self) {
        let ends = |c: &u8| b"{}[],\"".contains(c);
        let rest = &self.json.as_bytes()[self.at..];
        let is_space = |c: &u8| c.is_ascii_whitespace() || *c == b':';
        let spaces = rest.iter().take_while(|c| is_space(c)).count();
        if spaces > 0 {
            return self.copy(spaces);
        }
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let words = &self.json[self.at..self.at + length];
        let is_word = matches!(words.trim_end(), "true" | "false" | "null");
        let is_hidden = !is_word && self.is_secret();
        let shown = if is_hidden { HIDDEN.into() } else { text::redact(words, self.kind) };
        self.out.push_str(&shown);
        self.at += length;
    }
}

/// The quote that ends a string, or the end of the text.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(c) = bytes.get(at) {
        match c {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_followed_by_colon(json: &str, end: usize) -> bool {
    let mut behind = json.bytes().skip(end + 1);
    behind.find(|c| !c.is_ascii_whitespace()) == Some(b':')
}

fn unescaped(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return content.into();
    }
    let text = serde_json::from_str::<String>(&format!("\"{content}\""));
    text.map_or_else(|_| content.into(), Cow::Owned)
}
