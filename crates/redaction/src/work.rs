//! The work on one text: the names, what was seen, and how deep it is in texts within texts.

use crate::form::is_form;
use crate::look::Look;
use crate::names::{Names, Weight};
use crate::seen::Seen;
use crate::text::{self, Kind};
use crate::{HIDDEN, address, body, json};
use std::borrow::Cow;

/// How many texts within texts are looked at; what is deeper is hidden.
const MAX_DEPTH: usize = 8;
/// Values that hide nothing.
const NOTHING: [&str; 8] = ["", "null", "undefined", "true", "false", "none", "nil", HIDDEN];

/// What a grammar works with.
pub(crate) struct Work<'a> {
    names: &'a mut Names,
    seen: &'a mut Seen,
    depth: usize,
}

impl<'a> Work<'a> {
    pub(crate) fn new(names: &'a mut Names, seen: &'a mut Seen) -> Self {
        Self { names, seen, depth: 0 }
    }

    /// What a name says of its value.
    pub(crate) fn weigh(&mut self, name: &str) -> Weight {
        self.names.weigh(name)
    }

    /// The same of a name in an address or a form.
    pub(crate) fn weigh_in_address(&mut self, name: &str) -> Weight {
        self.names.weigh_in_address(name)
    }

    /// Whether a value under such a name is hidden. It is known from then on.
    pub(crate) fn hides(&mut self, weight: Weight, value: &str) -> bool {
        let trimmed = value.trim();
        if NOTHING.contains(&trimmed) {
            return false;
        }
        let least = match weight {
            Weight::Secret => Look::Plain,
            Weight::Telling => Look::Opaque,
            Weight::Plain => Look::Known,
        };
        let hides = least == Look::Plain || Look::of(trimmed) >= least;
        if hides {
            self.seen.note(trimmed);
        }
        hides
    }

    /// What was seen as a secret before, or is of a known kind.
    pub(crate) fn sweep(&self, text: &str, found: &mut crate::ranges::Ranges) {
        crate::shapes::find(text, found);
        self.seen.find(text, found);
    }

    /// Notes a value that was hidden.
    pub(crate) fn note(&mut self, value: &str) {
        self.seen.note(value);
    }

    /// Text of a kind.
    pub(crate) fn text<'t>(&mut self, text: &'t str, kind: Kind) -> Cow<'t, str> {
        text::redact(self, text, kind)
    }

    /// Goes one text deeper; `None` where it is deep enough.
    pub(crate) fn deeper<T>(&mut self, go: impl FnOnce(&mut Work<'_>) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let depth = self.depth + 1;
        Some(go(&mut Work { names: self.names, seen: self.seen, depth }))
    }

    /// A body, also within another one.
    pub(crate) fn body(&mut self, body: &str, mime: Option<&str>) -> String {
        let redacted = self.deeper(|work| body::redact(work, body, mime));
        redacted.unwrap_or_else(|| HIDDEN.to_owned())
    }

    /// A value in which others may stand: JSON, an address, pairs, base64 of any, or words.
    pub(crate) fn value<'t>(&mut self, value: &'t str) -> Cow<'t, str> {
        self.value_among(value, Kind::Data)
    }

    /// The same, where words in it are of a kind.
    pub(crate) fn value_among<'t>(&mut self, value: &'t str, kind: Kind) -> Cow<'t, str> {
        let start = value.trim_start();
        let deep = match start.as_bytes().first() {
            None => return value.into(),
            Some(b'{' | b'[') if value.contains('"') => {
                self.deeper(|work| json::redact(work, value, kind))
            }
            _ if is_address(start) => self.deeper(|work| address::redact(work, value)),
            _ => match body::base64_text(start) {
                Some(text) => self.deeper(|work| {
                    let hides = work.body(&text, None) != text;
                    if hides { HIDDEN.to_owned() } else { value.to_owned() }
                }),
                None if start.contains('&') && is_form(start) => {
                    self.deeper(|work| crate::form::redact(work, value))
                }
                None => return self.text(value, kind),
            },
        };
        match deep {
            Some(same) if same == value => value.into(),
            Some(changed) => changed.into(),
            None => HIDDEN.into(),
        }
    }
}

/// Whether a value is one address from its first to its last character.
pub(crate) fn is_address(value: &str) -> bool {
    let has_scheme = || {
        value.split_once(':').is_some_and(|(scheme, rest)| {
            let fits = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
            (rest.starts_with("//") || matches!(scheme, "otpauth" | "data" | "blob" | "magnet"))
                && (2..=24).contains(&scheme.len())
                && scheme.bytes().all(fits)
        })
    };
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    (value.starts_with('/') || has_scheme()) && !value.trim_end().contains(ends)
}
