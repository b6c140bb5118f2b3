//! Quotations: a name in quotes, and a few words behind it a value in quotes.
//!
//! The one idea: a word before the second one says that it is what the first one asks for: an error's
//! `prop "password" … with value "x"`, a script's `expect "password:"; send "x"`.

use crate::names::Weight;
use crate::search::{Search, is_quote, quoted_at};

/// Words before the value, and what must stand before the name.
const SAYING: [(&str, &str); 4] =
    [(" value ", ""), (" value: ", ""), ("send ", "expect"), ("send -- ", "expect")];
/// How far before the value its name stands at most, and the longest name, in bytes.
const NEAR: usize = 200;
const MAX_NAME: usize = 48;

impl Search<'_, '_> {
    /// Values in quotes whose name stands in quotes before.
    pub(crate) fn quotations(&mut self) {
        for (word, asking) in SAYING {
            let mut from = 0;
            if !self.text.contains(word) {
                continue;
            }
            while let Some(at) = self.text[from..].find(word).map(|at| from + at) {
                from = at + word.len();
                let Some(value) = quoted_at(self.text, from) else { continue };
                let near = &self.text[self.text.floor_char_boundary(at.saturating_sub(NEAR))..at];
                if near.contains(asking) && self.names_one(near) {
                    let inner = self.text[value.range.clone()].trim_end_matches("\\r");
                    let inner = inner.trim_end_matches("\\n");
                    self.judge(Weight::Secret, value.range.start..value.range.start + inner.len());
                }
            }
        }
    }

    /// Whether a text in quotes here is the name of a secret.
    fn names_one(&mut self, text: &str) -> bool {
        let mut parts = text.split(|c: char| c.is_ascii() && is_quote(c as u8));
        // What stands before the first quote is in none, and so is what stands behind the last one.
        parts.next();
        parts.next_back();
        parts.any(|part| {
            part.len() <= MAX_NAME
                && part.trim() == part
                && !part.contains("  ")
                && self.work.weigh(part) == Weight::Secret
        })
    }
}
