//! A list of lines of a console.

use super::{list, short};
use crate::ask::Found;
use baton_api::debug::ConsoleEntry;
use std::fmt::Write as _;
use std::sync::Arc;

/// How many characters the place of a line takes at most.
const PLACE: usize = 40;

/// Half of how many characters of a message are shown at least.
const MIN_WIDTH: usize = 40;

/// A line that was written so often in a row.
struct Folded {
    newest: Arc<ConsoleEntry>,
    times: usize,
}

/// The lines that were found, in about `budget` characters. What was written several times in a row is
/// one line.
pub fn console(found: &Found<ConsoleEntry>, budget: usize) -> String {
    let folded = fold(&found.items);
    let (lines, left_out) = list::fit(&folded, budget, line);
    let shown: usize = folded.iter().rev().take(lines.len()).map(|line| line.times).sum();
    let mut text = match shown {
        0 => "No line fits.\n".to_owned(),
        1 => "1 line:\n".to_owned(),
        count => format!("{count} lines, newest first\n"),
    };
    for line in &lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&list::gaps(&found.gaps, "lines or events"));
    text.push_str(&rest(found, shown, left_out > 0));
    text
}

fn rest(found: &Found<ConsoleEntry>, shown: usize, is_cut: bool) -> String {
    let mut text = String::new();
    let oldest = found.items.len().checked_sub(shown).and_then(|at| found.items.get(at));
    match oldest.filter(|_| is_cut).map(|oldest| oldest.seq).or(found.older) {
        Some(before) => {
            let older = found.items.len() - shown + found.more;
            // Written to a String, which takes everything.
            let _ = writeln!(
                text,
                "Left out: {older} older. before={before} lists them; level, message_pattern or since narrow the list."
            );
        }
        None if found.more > 0 => {
            let _ = writeln!(
                text,
                "Left out: {} newer. after={} lists them.",
                found.more, found.cursor
            );
        }
        None => {}
    }
    if shown > 0 {
        let _ = writeln!(text, "id=NUMBER shows one in full, with its stack.");
    }
    let _ = write!(text, "after={} lists what is new from here on.", found.cursor);
    text
}

fn fold(entries: &[Arc<ConsoleEntry>]) -> Vec<Folded> {
    let mut folded: Vec<Folded> = Vec::new();
    for entry in entries {
        match folded.last_mut().filter(|last| is_same(&last.newest, entry)) {
            Some(last) => {
                last.newest = Arc::clone(entry);
                last.times += 1;
            }
            None => folded.push(Folded { newest: Arc::clone(entry), times: 1 }),
        }
    }
    folded
}

fn is_same(one: &ConsoleEntry, other: &ConsoleEntry) -> bool {
    let of = |entry: &ConsoleEntry| (entry.level, entry.line, entry.column);
    of(one) == of(other) && one.message == other.message && one.source == other.source
}

/// `#7 error app.js:10:5 Cannot read … (3 times)`
fn line(folded: &Folded, width: usize) -> String {
    let Folded { newest: entry, times } = folded;
    let mut line = format!("#{} {}", entry.seq, entry.level);
    if let Some(place) = place(entry) {
        line.push(' ');
        line.push_str(&short::middle(&place, PLACE));
    }
    line.push(' ');
    // Words take fewer tokens than addresses, and say nothing when they are few.
    let width = 2 * width.max(MIN_WIDTH);
    line.push_str(&short::start(&short::line(&entry.message), width));
    if *times > 1 {
        let _ = write!(line, " ({times} times)");
    }
    line
}

/// The file, the line and the column.
fn place(entry: &ConsoleEntry) -> Option<String> {
    let source = entry.source.as_deref().filter(|source| !source.is_empty())?;
    let way = source.split(['?', '#']).next().unwrap_or_default();
    let file = way.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut place = short::line(file).into_owned();
    for number in [entry.line, entry.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    Some(place)
}
