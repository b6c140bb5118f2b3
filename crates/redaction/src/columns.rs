//! Columns of blanks, as programs print them: values below their names, at least two blanks between.
//!
//! The one idea: the first line has nothing but names; a cell belongs to the name above it, or to the one
//! of its number where each line has as many.

use crate::names::Weight;
use crate::ranges::Ranges;
use crate::search::each;
use crate::work::Work;
use std::ops::Range;

/// A longer cell is no name, in bytes; nor is one of more words.
const MAX_NAME: usize = 32;
const MAX_WORDS: usize = 2;
/// How many lines are looked at.
const MAX_LINES: usize = 1024;

/// Notes the cells of columns whose names weigh.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    find_in_rows(work, text, found);
    find_below_comment(work, text, found);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.len() > 512 || !first.trim_end().contains("  ") {
        return;
    }
    let head = cells(first);
    if head.len() < 2 || !head.iter().all(|name| is_name(&first[name.clone()])) {
        return;
    }
    let weights: Vec<Weight> = head.iter().map(|name| weigh(work, &first[name.clone()])).collect();
    if weights.iter().all(|weight| *weight == Weight::Plain) {
        return;
    }
    let mut at = first.len();
    for line in lines.take(MAX_LINES) {
        let row = cells(line);
        for (number, cell) in row.iter().enumerate() {
            let below = head.iter().position(|name| name.start == cell.start);
            let column = if row.len() == head.len() { Some(number) } else { below };
            let weight = column.map_or(Weight::Plain, |column| weights[column]);
            if weight > Weight::Plain && work.hides(weight, &line[cell.clone()]) {
                found.add(at + cell.start..at + cell.end);
            }
        }
        at += line.len();
    }
}

/// Cells between bars beside the name of a secret, as in tables of Markdown: `| API key | … |`.
fn find_in_rows(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    for (at, _) in each(text, "\n|") {
        let line = text[at + 2..].lines().next().unwrap_or_default();
        let mut cells = line.split('|');
        let (Some(name), Some(cell), Some("")) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        let value = cell.trim().trim_matches('`');
        if work.weigh(name) == Weight::Secret && work.hides(Weight::Telling, value) {
            let start = value.as_ptr().addr() - text.as_ptr().addr();
            found.add(start..start + value.len());
        }
    }
}

/// Words below those of a comment, as files of users have them: `# client server secret`.
fn find_below_comment(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let (mut at, mut column) = (0, None);
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        let start = at;
        at += line.len();
        if let Some(comment) = line.strip_prefix(['#', ';']) {
            column = None;
            // Most comments speak of none.
            if !["assw", "ecret", "pwd", "pass", "oken"].iter().any(|part| comment.contains(part)) {
                continue;
            }
            let names: Vec<&str> = comment.split_whitespace().collect();
            let is_head = (2..=8).contains(&names.len())
                && names.iter().all(|name| is_name(name) && !is_small_word(name));
            let secret = names.iter().position(|name| work.weigh(name) == Weight::Secret);
            column = secret.filter(|_| is_head).map(|secret| (secret, names.len()));
            continue;
        }
        let Some((secret, count)) = column else { continue };
        let words: Vec<&str> = line.split_whitespace().collect();
        // The last columns may be empty.
        let value = words
            .get(secret)
            .filter(|_| words.len() <= count && words.len() + 1 >= count.min(secret + 2));
        match value.map(|value| value.trim_matches(['"', '\''])) {
            Some(value)
                if !matches!(value, "=" | ":" | "*" | "-") && work.hides(Weight::Secret, value) =>
            {
                let from = start + (value.as_ptr().addr() - line.as_ptr().addr());
                found.add(from..from + value.len());
            }
            _ if words.is_empty() => {}
            _ => column = None,
        }
    }
}

/// Words of sentences, which comments mostly are.
pub(crate) fn is_small_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "and"
            | "are"
            | "as"
            | "at"
            | "be"
            | "by"
            | "for"
            | "from"
            | "if"
            | "in"
            | "is"
            | "it"
            | "not"
            | "of"
            | "on"
            | "or"
            | "set"
            | "that"
            | "the"
            | "this"
            | "to"
            | "use"
            | "with"
            | "your"
    )
}

/// Programs write the names of columns in capitals; others may be words of people.
fn weigh(work: &mut Work<'_>, name: &str) -> Weight {
    let weight = work.weigh(name);
    let is_head = !name.contains(char::is_lowercase);
    if is_head { weight } else { weight.min(Weight::Telling) }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || " _-./()#%".contains(c);
    name.len() <= MAX_NAME
        && name.split(' ').count() <= MAX_WORDS
        && name.contains(char::is_alphabetic)
        && name.chars().all(is_part)
}

/// Where the cells of a line are.
fn cells(line: &str) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    for cell in line.trim_end().split("  ") {
        let inner = cell.trim();
        if !inner.is_empty() {
            let start = at + cell.len() - cell.trim_start().len();
            all.push(start..start + inner.len());
        }
        at += cell.len() + 2;
    }
    all
}
