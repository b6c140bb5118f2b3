//! Small forms: colours, sizes, times, short names, and text that cannot move the cursor.

use baton_session::RevisionId;
use baton_session::printable::is_hidden;
use console::style;
use jiff::Timestamp;
use std::fmt::Display;

/// Something good; coloured on a terminal that wants colours (`NO_COLOR` says that it does not).
pub(crate) fn good(text: &str) -> String {
    style(text).green().to_string()
}

/// Something doubtful.
pub(crate) fn doubtful(text: &str) -> String {
    style(text).yellow().to_string()
}

/// Something bad.
pub(crate) fn bad(text: &str) -> String {
    style(text).red().bold().to_string()
}

/// Something bad, on standard error.
pub(super) fn bad_on_stderr(text: &str) -> String {
    style(text).red().bold().for_stderr().to_string()
}

/// A number of things: `1 session`, `2 sessions`.
pub(crate) fn counted(number: impl Display, thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Something that matters less.
pub(super) fn faint(text: &str) -> String {
    style(text).dim().to_string()
}

/// Text of a page or a user without control characters, which could change what a terminal shows.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// The shortest start of an id that is shown: what people type must not become too short.
pub(super) const SHORTEST: usize = 13;

/// How many characters tell these ids apart.
pub(super) fn unique_length(ids: impl Iterator<Item = impl Display>) -> usize {
    let mut ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    ids.sort();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = ids.windows(2).map(|pair| shared(&pair[0], &pair[1])).max().unwrap_or(0);
    (longest + 1).max(SHORTEST)
}

/// The first characters of an id.
pub(super) fn start(id: impl Display, length: usize) -> String {
    id.to_string().chars().take(length).collect()
}

/// How many digits of a revision's hash are shown at least: what people type must not become too short.
const SHORTEST_REVISION: usize = 8;

/// The beginning of a revision's name that none of the others has.
pub(super) fn short(rev: &RevisionId, others: &[RevisionId]) -> String {
    let whole = rev.to_string();
    let others: Vec<String> =
        others.iter().filter(|other| *other != rev).map(ToString::to_string).collect();
    let shared =
        |other: &String| whole.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let hash = whole.find('-').unwrap_or(0) + 1;
    let unique = others.iter().map(shared).max().unwrap_or(0) + 1;
    whole.chars().take(unique.max(hash + SHORTEST_REVISION)).collect()
}

/// A size in bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// How long ago `then` was, in its largest unit.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    format!("{} ago", span(now.as_second().saturating_sub(then.as_second())))
}

/// How long it is until `then`, in its largest unit.
pub(super) fn until(then: Timestamp, now: Timestamp) -> String {
    format!("in {}", span(then.as_second().saturating_sub(now.as_second())))
}

fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{count} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{age, plain, size};
    use jiff::Timestamp;

    #[test]
    fn ages_have_one_unit() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let ago = |seconds: i64| age(Timestamp::from_second(1_000_000 - seconds).unwrap(), now);
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 200_000, -5].map(ago);
        let expected = [
            "0 s ago",
            "59 s ago",
            "1 min ago",
            "59 min ago",
            "1 h ago",
            "23 h ago",
            "1 d ago",
            "2 d ago",
            "0 s ago",
        ];
        assert_eq!(ages, expected);
    }

    #[test]
    fn a_title_cannot_move_the_cursor() {
        assert_eq!(plain("a\u{1b}[2Jb\r\u{202e}c"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c");
        assert_eq!(plain("Grüße, 世界"), "Grüße, 世界");
    }

    #[test]
    fn sizes_are_for_people() {
        assert_eq!(size(512), "512 B");
        assert_eq!(size(1536), "1.50 KiB");
    }
}
