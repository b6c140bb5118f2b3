//! How text is laid out: tables that fit their width and cut nothing, and small forms: colours, sizes,
//! times, short names, and text that cannot move the cursor.

use baton_session::RevisionId;
use baton_session::printable::is_hidden;
use console::{Term, measure_text_width, style};
use jiff::Timestamp;
use std::fmt::Display;
use textwrap::{Options, WordSeparator, WordSplitter};

/// How wide a table is that no terminal shows: a reader of a file or behind a pipe has as much.
const USUAL: usize = 80;
/// Words up to this width stay in one piece for as long as that is possible: an id is copied.
const WORD: usize = 36;
/// Cells up to this width stay in one line for as long: `local storage`, `12 min ago`.
const SHORT: usize = 14;
/// No column gets narrower than this.
const NARROWEST: usize = 8;
/// What is between two columns.
const GAP: usize = 2;

/// Rows of text under headings.
#[derive(Debug)]
pub(super) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each heading.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| plain(&cell)).into());
    }

    /// The table for standard output: as wide as its terminal, and of the usual width elsewhere.
    pub(super) fn render(&self) -> String {
        let terminal = Term::stdout();
        let width = if terminal.is_term() { terminal.size().1.into() } else { USUAL };
        self.render_within(width)
    }

    fn render_within(&self, width: usize) -> String {
        if let Some(empty) = self.empty_column() {
            return self.without(empty).render_within(width);
        }
        let widths = self.widths(width);
        let headings: Vec<String> = self.headings.iter().map(|&text| text.to_owned()).collect();
        let headings = lines(&headings, &widths);
        let headings = headings.into_iter().map(|line| faint(&line));
        headings
            .chain(self.rows.iter().flat_map(|row| lines(row, &widths)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// A column that says nothing in any row takes room from the others.
    fn empty_column(&self) -> Option<usize> {
        let is_empty = |at: &usize| self.rows.iter().all(|row| row[*at].is_empty());
        (0..self.headings.len()).filter(|_| !self.rows.is_empty()).find(is_empty)
    }

    fn without(&self, column: usize) -> Self {
        let mut left = Self { headings: self.headings.clone(), rows: self.rows.clone() };
        left.headings.remove(column);
        left.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        left
    }

    /// The widest column gives way first, and one whose words would break last.
    fn widths(&self, limit: usize) -> Vec<usize> {
        let columns = self.headings.iter().enumerate().map(|(at, heading)| {
            let cells = self.rows.iter().map(move |row| row[at].as_str());
            cells.chain([*heading]).fold((0, 0), |(whole, word), cell| {
                let width = measure_text_width(cell);
                let longest = cell.split(' ').map(measure_text_width).max().unwrap_or_default();
                let piece = if width <= SHORT { width } else { longest.min(WORD) };
                (width.max(whole), piece.max(word))
            })
        });
        let (mut widths, words): (Vec<_>, Vec<_>) = columns.unzip();
        let room = limit.saturating_sub(GAP * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let wraps = widths.iter_mut().zip(&words).filter(|(width, word)| **width > **word);
            let widest = wraps.map(|(width, _)| width).max_by_key(|width| **width);
            match widest {
                Some(widest) => *widest -= 1,
                None => match widths.iter_mut().max() {
                    Some(widest) if *widest > NARROWEST => *widest -= 1,
                    _ => break,
                },
            }
        }
        widths
    }
}

/// A row, in as many lines as its longest cell needs.
fn lines(cells: &[String], widths: &[usize]) -> Vec<String> {
    let wrapped: Vec<_> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            let options = Options::new(*width)
                .word_separator(WordSeparator::AsciiSpace)
                .word_splitter(WordSplitter::NoHyphenation);
            textwrap::wrap(cell, options)
        })
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
    let line = |at: usize| {
        let mut line = String::new();
        for (cell, width) in wrapped.iter().zip(widths) {
            let text = cell.get(at).map(AsRef::as_ref).unwrap_or_default();
            let padding = width.saturating_sub(measure_text_width(text)) + GAP;
            line.push_str(text);
            line.extend(std::iter::repeat_n(' ', padding));
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

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
    use super::{Table, USUAL, age, plain, size};
    use console::measure_text_width;
    use jiff::Timestamp;
    use proptest::prelude::*;
    use proptest::{array, collection};

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "WHERE", "REASON"]);
        table.row([
            "shop".into(),
            "https://shop.test/a/very/long/address".into(),
            "the server did not answer".into(),
        ]);
        table.row(["世界".into(), "here".into(), String::new()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_they_need() {
        insta::assert_snapshot!(table().render_within(80), @r"
        NAME  WHERE                                  REASON
        shop  https://shop.test/a/very/long/address  the server did not answer
        世界  here
        ");
    }

    #[test]
    fn the_widest_column_gives_way_and_nothing_is_cut() {
        let text = table().render_within(54);
        insta::assert_snapshot!(text, @r"
        NAME  WHERE                                 REASON
        shop  https://shop.test/a/very/long/addres  the server
              s                                     did not
                                                    answer
        世界  here
        ");
        let narrow = table().render_within(24);
        assert!(narrow.lines().all(|line| console::measure_text_width(line) <= 24), "{narrow}");
        let joined: String = narrow.split_whitespace().collect();
        assert!(joined.contains("https:") && !joined.contains('…'), "{narrow}");
    }

    const EIGHT: [&str; 8] =
        ["#", "TIME", "METHOD", "STATUS", "TOOK", "SIZE", "TYPE", "THE REASON"];

    proptest! {
        #![proptest_config(baton_testing::cases(64))]

        #[test]
        fn every_table_fits_80_columns_with_all_that_it_says(
            rows in collection::vec(array::uniform8("[a-z:/.…]{1,50}( [a-z]{1,20}){0,3}"), 1..4),
        ) {
            let mut table = Table::new(&EIGHT);
            for row in &rows {
                table.row(row.clone());
            }
            let text = table.render_within(USUAL);
            for line in text.lines() {
                prop_assert!(measure_text_width(line) <= USUAL, "{line:?}");
            }
            let letters = |text: &str| {
                let shown = text.chars().filter(|letter| !letter.is_whitespace());
                let mut letters: Vec<char> = shown.collect();
                letters.sort_unstable();
                letters
            };
            let cells = rows.iter().flatten().map(String::as_str);
            let said: String = EIGHT.into_iter().chain(cells).collect();
            prop_assert_eq!(letters(&text), letters(&said), "{}", text);
        }
    }

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
