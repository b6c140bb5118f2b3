//! What was found and goes on: in the next line, as headers are folded, or in the next of several texts
//! that are put together.

use crate::ranges::Ranges;
use crate::search::{count, quoted_at};
use std::ops::Range;

/// The shortest line that a value goes on in, in bytes.
const MIN_LINE: usize = 16;

/// Notes what further belongs to what was found.
pub(crate) fn find(text: &str, found: &mut Ranges) {
    let mut ends: Vec<usize> = found.ends().collect();
    ends.sort_unstable();
    let mut reached = 0;
    for mut end in ends {
        if end < reached {
            continue;
        }
        while let Some(more) = folded(text, end).or_else(|| joined(text, end)) {
            end = more.end;
            found.add(more);
        }
        reached = end;
    }
}

/// A line of base64 that begins with a blank, behind a value that ends with its line (RFC 9112, section 5.2).
fn folded(text: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let line = end + count(bytes, end, |c| c == b'\r').min(1);
    if bytes.get(line) != Some(&b'\n') {
        return None;
    }
    let start = line + 1 + count(bytes, line + 1, |c| matches!(c, b' ' | b'\t'));
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"+/=-_.~".contains(&c);
    let length = count(bytes, start, fits);
    let is_whole = matches!(bytes.get(start + length), None | Some(b'\n' | b'\r'));
    (start > line + 1 && length >= MIN_LINE && is_whole).then_some(start..start + length)
}

/// The second half of `"…" + "…"`.
fn joined(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.get(end..)?.strip_prefix(['"', '\'', '`'])?;
    let rest = rest.trim_start().strip_prefix('+')?.trim_start();
    let value = quoted_at(text, text.len() - rest.len())?.range;
    (!value.is_empty()).then_some(value)
}
