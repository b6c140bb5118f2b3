//! Messages in pieces: a secret that begins in one message of a connection and ends in the next.
//!
//! The one idea: JSON ends with what closes it. A message that ends within a text that is hidden goes on in the
//! next one of that connection, and so does the secret, until the quote that ends it.

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

/// The connections that are within a secret.
pub(crate) struct Pieces {
    key: [u8; 16],
    /// Each by its hash, and in how many messages its secret went on.
    open: VecDeque<(u64, u8)>,
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

    /// In how many messages the secret of a connection went on, if it is within one; from now on it is not.
    fn close(&mut self, connection: u64) -> Option<u8> {
        let found = self.open.iter().position(|(open, _)| *open == connection)?;
        self.open.remove(found).map(|(_, pieces)| pieces)
    }

    fn open(&mut self, connection: u64, pieces: u8) {
        if pieces > MAX_PIECES {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back((connection, pieces));
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
        let pieces = self.close(connection).filter(|_| !is_whole);
        let Some(pieces) = pieces else {
            let redacted = work.body(text, None);
            if is_within_secret(text, &redacted) {
                self.open(connection, 1);
            }
            return redacted;
        };
        let Some(quote) = end_of_text(text) else {
            self.open(connection, pieces + 1);
            return HIDDEN.to_owned();
        };
        let rest = &text[quote + 1..];
        let redacted = work.body(rest, Some("application/json"));
        if is_within_secret(rest, &redacted) {
            self.open(connection, 1);
        }
        format!("{HIDDEN}\"{redacted}")
    }
}

/// Whether a message ends in the middle of a text of JSON that is hidden.
fn is_within_secret(text: &str, redacted: &str) -> bool {
    let before = redacted.strip_suffix(HIDDEN);
    before.is_some_and(|before| before.ends_with('"')) && !text.ends_with(HIDDEN)
}

/// The quote that ends a text of JSON of which this is the rest.
fn end_of_text(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(c) = bytes.get(at) {
        match c {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}
