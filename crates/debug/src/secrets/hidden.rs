//! A text with parts of it hidden.

use super::HIDDEN;
use std::borrow::Cow;
use std::ops::Range;

/// The text with these ranges hidden.
pub(super) fn put_out<'a>(text: &'a str, hidden: &[Range<usize>]) -> Cow<'a, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for range in hidden {
        out.push_str(&text[from..range.start]);
        out.push_str(HIDDEN);
        from = range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}
