//! The work on one text: the names, what was seen, and how deep it is in texts within texts.

use crate::HIDDEN;
use crate::harmless::Harmless;
use crate::kind::Kind;
use crate::look::Look;
use crate::names::{Names, Weight};
use crate::ranges::Ranges;
use crate::seen::KnownSecrets;
use std::borrow::Cow;

/// How many texts within texts are looked at; what is deeper is hidden.
const MAX_DEPTH: usize = 8;
/// Values that hide nothing.
const NOTHING: [&str; 8] = ["", "null", "undefined", "true", "false", "none", "nil", HIDDEN];

/// The grammars by which texts within texts are read. A grammar knows the work only, and the work none of
/// them: which there are, `grammars` says.
pub(crate) struct Grammars {
    /// A body, of a media type.
    pub(crate) body: fn(&mut Work<'_>, &str, Option<&str>) -> String,
    /// A value in which others may stand; `None` when it is to be read as text.
    pub(crate) value: fn(&mut Work<'_>, &str, Kind) -> Option<String>,
    /// Text of a kind.
    pub(crate) text: for<'t> fn(&mut Work<'_>, &'t str, Kind) -> Cow<'t, str>,
}

/// What a grammar works with.
pub(crate) struct Work<'a> {
    names: &'a mut Names,
    seen: &'a mut KnownSecrets,
    harmless: &'a mut Harmless,
    grammars: &'static Grammars,
    depth: usize,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        names: &'a mut Names,
        seen: &'a mut KnownSecrets,
        harmless: &'a mut Harmless,
        grammars: &'static Grammars,
    ) -> Self {
        Self { names, seen, harmless, grammars, depth: 0 }
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

    /// What was seen as a secret before.
    pub(crate) fn find_seen(&self, text: &str, found: &mut Ranges) {
        self.seen.find(text, found);
    }

    /// A text without what was seen as a secret before: of what is not looked at, such as names and marks.
    pub(crate) fn without_seen<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found = Ranges::default();
        self.find_seen(text, &mut found);
        found.put_out(text)
    }

    /// Notes a value that was hidden.
    pub(crate) fn note(&mut self, value: &str) {
        self.seen.note(value);
    }

    /// Text of a kind.
    pub(crate) fn text<'t>(&mut self, text: &'t str, kind: Kind) -> Cow<'t, str> {
        let mark = self.harmless.mark(text, kind);
        if mark.is_some_and(|mark| self.harmless.knows(mark)) {
            return self.without_seen(text);
        }
        let shown = (self.grammars.text)(self, text, kind);
        if let (Cow::Borrowed(_), Some(mark)) = (&shown, mark) {
            self.harmless.note(mark);
        }
        shown
    }

    /// Goes one text deeper; `None` where it is deep enough.
    pub(crate) fn deeper<T>(&mut self, go: impl FnOnce(&mut Work<'_>) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let depth = self.depth + 1;
        let grammars = self.grammars;
        Some(go(&mut Work {
            names: self.names,
            seen: self.seen,
            harmless: self.harmless,
            grammars,
            depth,
        }))
    }

    /// A body, also within another one.
    pub(crate) fn body(&mut self, body: &str, mime: Option<&str>) -> String {
        let read = self.grammars.body;
        let redacted = self.deeper(|work| read(work, body, mime));
        redacted.unwrap_or_else(|| HIDDEN.to_owned())
    }

    /// A value in which others may stand: JSON, an address, pairs, base64 of any, or words.
    pub(crate) fn value<'t>(&mut self, value: &'t str) -> Cow<'t, str> {
        self.value_among(value, Kind::Data)
    }

    /// The same, where words in it are of a kind.
    pub(crate) fn value_among<'t>(&mut self, value: &'t str, kind: Kind) -> Cow<'t, str> {
        match (self.grammars.value)(self, value, kind) {
            None => self.text(value, kind),
            Some(same) if same == value => value.into(),
            Some(changed) => changed.into(),
        }
    }
}
