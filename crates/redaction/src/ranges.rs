//! Ranges of a text that are hidden: found by several rules, put out once.

use crate::HIDDEN;
use std::borrow::Cow;
use std::ops::Range;

/// Parts of one text, in the order in which rules found them.
#[derive(Debug, Default)]
pub(crate) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// One more; an empty one is none.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.0.push(range);
        }
    }

    /// Those of a part of the text that begins there.
    pub(crate) fn add_all(&mut self, part: &Self, start: usize) {
        self.0.extend(part.0.iter().map(|range| range.start + start..range.end + start));
    }

    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|range| range.end)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether they are the text from its first to its last character.
    pub(crate) fn is_all_of(&self, text: &str) -> bool {
        self.0.len() == 1 && self.0[0] == (0..text.len())
    }

    /// The text with them hidden. What touches or overlaps becomes one mark.
    pub(crate) fn put_out(mut self, text: &str) -> Cow<'_, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        self.0.sort_unstable_by_key(|range| range.start);
        let (mut out, mut from, mut end) = (String::with_capacity(text.len()), 0, None);
        for range in self.0 {
            // A mark that was there before is not marked again.
            if text[range.clone()].trim() == HIDDEN {
                continue;
            }
            match end {
                Some(last) if range.start <= last => end = Some(range.end.max(last)),
                _ => {
                    from = end.unwrap_or(from);
                    out.push_str(&text[from..range.start]);
                    out.push_str(HIDDEN);
                    end = Some(range.end);
                }
            }
        }
        out.push_str(&text[end.unwrap_or(from)..]);
        Cow::Owned(out)
    }
}
