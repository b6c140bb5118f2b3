//! Messages in pieces: a secret that begins in one message of a connection and ends in the next.
//!
//! The one idea: each grammar says what ends a value. A message that ends within one that is hidden goes on in the next
//! one of that connection, and so does the secret, until its end: the quote of a text of JSON, what separates the
//! values of a form, the tag that closes. Commands end with their message.

use crate::HIDDEN;
use crate::work::Work;
use siphasher::sip::SipHasher13;
use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher;

/// Of how many connections it is known that they are within a secret; the oldest goes first.
const MAX_OPEN: usize = 64;
/// In how many messages a secret goes on at most.
const MAX_PIECES: u8 = 8;

/// The end of a text of JSON that is hidden.
const ENDED: &str = "[redacted]\"";

/// The connections that are within a secret.
pub(crate) struct Pieces {
    key: [u8; 16],
    /// Each by its hash, what ends its secret, and in how many messages that went on.
    open: VecDeque<(u64, End, u8)>,
}

/// What ends a secret of which a message has the beginning.
#[derive(Clone, Copy)]
enum End {
    /// The quote of a text of JSON.
    Quote,
    /// The value of a name of JSON comes yet.
    Value,
    /// This character, behind a value without quotes; what else is no part of a value says that the message is
    /// another one.
    Before(u8),
}

/// How a message stands to a secret that began before it.
enum Rest {
    /// It has nothing of it.
    Other,
    /// All of it is.
    All,
    /// It begins with it, and has this behind it.
    Behind(usize),
}

/// What it holds goes to no log.
impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("open", &self.open.len()).finish_non_exhaustive()
    }
}

impl Pieces {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key, open: VecDeque::new() }
    }

    /// What ends the secret of a connection, if it is within one, and in how many messages that went on; from now on
    /// it is not.
    fn close(&mut self, connection: u64) -> Option<(End, u8)> {
        let found = self.open.iter().position(|(open, ..)| *open == connection)?;
        self.open.remove(found).map(|(_, end, pieces)| (end, pieces))
    }

    fn open(&mut self, connection: u64, end: End, pieces: u8) {
        if pieces > MAX_PIECES {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back((connection, end, pieces));
    }

    fn hash(&self, connection: &str) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(connection.as_bytes());
        hasher.finish()
    }

    /// The next message of a connection, in one direction, without its secrets.
    pub(crate) fn redact(&mut self, work: &mut Work<'_>, connection: &str, text: &str) -> String {
        let connection = self.hash(connection);
        // A whole message goes on with nothing.
        let is_whole =
            text.trim_start().starts_with(['{', '[']) && text.trim_end().ends_with(['}', ']']);
        let within = self.close(connection).filter(|_| !is_whole);
        let (mut before, mut rest, mut mime) = ("", text, None);
        if let Some((end, pieces)) = within {
            match end.rest(text) {
                Rest::Other => {}
                Rest::All => {
                    // A text that has begun ends with its quote.
                    let end = if matches!(end, End::Value) { End::Quote } else { end };
                    self.open(connection, end, pieces + 1);
                    return HIDDEN.to_owned();
                }
                Rest::Behind(at) => {
                    rest = &text[at..];
                    (before, mime) = match end {
                        End::Quote => (ENDED, Some("application/json")),
                        End::Value => (HIDDEN, Some("application/json")),
                        End::Before(_) => (HIDDEN, None),
                    };
                }
            }
        }
        let mut redacted = work.body(rest, mime);
        if let Some(end) = going_on(work, rest, &redacted) {
            self.open(connection, end, 1);
        }
        redacted.insert_str(0, before);
        redacted
    }
}

/// What ends the secret in the middle of which a message ends; none where it ends elsewhere.
fn going_on(work: &mut Work<'_>, text: &str, redacted: &str) -> Option<End> {
    if text.trim_end().ends_with(':') {
        // Whether this name has a secret for its value is seen by one.
        let probe = work.body(&format!("{text}\"c0r\""), None);
        let is_hidden = probe.strip_suffix('"').is_some_and(|probe| probe.ends_with(HIDDEN));
        return is_hidden.then_some(End::Value);
    }
    let before = redacted.strip_suffix(HIDDEN).filter(|_| !text.ends_with(HIDDEN))?;
    match before.as_bytes().last()? {
        b'"' => Some(End::Quote),
        b'=' => Some(End::Before(b'&')),
        b'>' => Some(End::Before(b'<')),
        _ => None,
    }
}

impl End {
    /// How the next message stands to what this ends.
    fn rest(self, text: &str) -> Rest {
        match self {
            Self::Quote => end_of_text(text, 0).map_or(Rest::All, |end| Rest::Behind(end + 1)),
            Self::Value => match text.bytes().position(|c| !c.is_ascii_whitespace()) {
                Some(at) if text.as_bytes()[at] == b'"' => {
                    end_of_text(text, at + 1).map_or(Rest::All, |end| Rest::Behind(end + 1))
                }
                _ => Self::Before(b',').rest(text),
            },
            Self::Before(end) => match text.bytes().position(|c| !is_of_value(c)) {
                None => Rest::All,
                Some(at) if at > 0 && text.as_bytes()[at] == end => Rest::Behind(at),
                Some(_) => Rest::Other,
            },
        }
    }
}

/// Whether a value without quotes may have this character in it.
fn is_of_value(c: u8) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || b"+-._~%/".contains(&c)
}

/// The quote that ends a text of JSON of which this is the rest from a place on.
fn end_of_text(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(c) = bytes.get(at) {
        match c {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}
