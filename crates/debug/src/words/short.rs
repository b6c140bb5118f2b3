//! Short forms: sizes, times, texts cut in the middle.

use std::borrow::Cow;

/// What stands where something was cut.
const CUT: &str = "…";

/// A size in at most four characters and its unit, in steps of a thousand.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes}B"),
        1_000..1_000_000 => format!("{}kB", tenths(bytes, 1_000)),
        _ => format!("{}MB", tenths(bytes, 1_000_000)),
    }
}

/// A time in at most four digits and its unit.
pub fn time(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis}ms"),
        _ => format!("{}s", tenths(millis, 1_000)),
    }
}

/// With one digit behind the point below ten.
fn tenths(value: u64, unit: u64) -> String {
    let tenths = value.saturating_mul(10) / unit;
    match tenths {
        0..100 if !tenths.is_multiple_of(10) => format!("{}.{}", tenths / 10, tenths % 10),
        _ => (tenths / 10).to_string(),
    }
}

/// A text on one line: control characters and runs of spaces become a space.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(is_break) {
        return text.trim().into();
    }
    text.split(|c: char| is_break(c) || c == ' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .into()
}

/// The beginning of a text, at most `most` characters.
pub(super) fn start(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return text.into();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}{CUT}").into()
}

/// A text without its middle: at most `most` characters, more of the end than of the beginning, for the
/// end tells addresses apart.
pub(super) fn middle(text: &str, most: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= most {
        return text.into();
    }
    let left = most.saturating_sub(1);
    let (head, tail) = (left / 2, left - left / 2);
    let kept: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{kept}{CUT}{end}").into()
}
