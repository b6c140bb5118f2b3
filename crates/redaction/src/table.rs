//! Tables as text: values between commas, semicolons, tabs or bars, below a line of names (RFC 4180).
//!
//! The one idea: the name of a cell stands far above it; a column whose name weighs is judged cell by
//! cell, and so is a cell whose name stands beside it (`setting,value`).

use crate::HIDDEN;
use crate::names::Weight;
use crate::work::Work;
use std::borrow::Cow;
use std::ops::Range;

/// A longer cell is no name of a column, in bytes.
const MAX_NAME: usize = 48;
/// A name of a column has no more words.
const MAX_WORDS: usize = 5;
/// A shorter cell holds no other values.
const MIN_VALUE: usize = 8;
/// Columns that say what the cell beside them is.
const NAMING: [&str; 10] = [
    "setting",
    "key",
    "name",
    "variable",
    "option",
    "property",
    "parameter",
    "field",
    "config",
    "env",
];
/// Columns that are named by the cell beside them.
const VALUES: [&str; 4] = ["value", "val", "content", "data"];

/// The table without its secrets; nothing if its first line names no column that may hold some.
pub(crate) fn redact(work: &mut Work<'_>, text: &str, tab: bool) -> Option<String> {
    let table = text.trim_start_matches('\u{feff}');
    let mark = if tab { b'\t' } else { mark_of(table) };
    let mut cells = Cells { text: table, mark, at: 0 };
    let names = header(&mut cells)?;
    let columns = Columns::of(work, &names)?;
    let line = table[cells.at..].split_inclusive('\n').next().unwrap_or_default();
    cells.at += if is_rule(line) { line.len() } else { 0 };
    let start = cells.at;
    if !is_even(Cells { text: table, mark, at: start }, names.len()) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    out.push_str(&work.without_seen(&text[..text.len() - table.len() + start]));
    let (mut column, mut beside) = (0, Weight::Plain);
    let mut at = start;
    for cell in cells {
        let raw = &table[cell.range.clone()];
        let weight = match columns.pair {
            Some((_, value)) if value == column => beside,
            _ => columns.weights.get(column).copied().unwrap_or(Weight::Plain),
        };
        if columns.pair.is_some_and(|(name, _)| name == column) {
            beside = work.weigh(raw.trim().trim_matches('"'));
        }
        out.push_str(&table[at..cell.range.start]);
        out.push_str(&redact_cell(work, raw, weight));
        at = cell.range.end;
        column = if cell.is_last { 0 } else { column + 1 };
    }
    out.push_str(&table[at..]);
    Some(out)
}

/// What the columns weigh, and which two are a name and its value.
struct Columns {
    weights: Vec<Weight>,
    pair: Option<(usize, usize)>,
}

impl Columns {
    fn of(work: &mut Work<'_>, names: &[&str]) -> Option<Self> {
        let weights: Vec<Weight> = names.iter().map(|name| work.weigh(name)).collect();
        let position = |known: &[&str]| {
            names.iter().position(|name| known.iter().any(|fits| name.eq_ignore_ascii_case(fits)))
        };
        let pair = position(&NAMING).zip(position(&VALUES)).filter(|(name, value)| name < value);
        let is_telling = weights.iter().any(|weight| *weight > Weight::Plain);
        (is_telling || pair.is_some()).then_some(Self { weights, pair })
    }
}

/// The sign between the cells: the one which the first line has most of.
fn mark_of(table: &str) -> u8 {
    let line = table.lines().next().unwrap_or_default();
    let marks = [b'|', b';', b','].into_iter();
    marks.max_by_key(|mark| line.matches(char::from(*mark)).count()).unwrap_or(b',')
}

/// `----+-----`: what is drawn between the names and the values.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains("--") && line.bytes().all(|c| b"-+|:= ".contains(&c))
}

/// The names of the columns, if the first line has nothing but names, and others follow.
fn header<'a>(cells: &mut Cells<'a>) -> Option<Vec<&'a str>> {
    let mut names = Vec::new();
    while let Some(cell) = cells.next() {
        let raw = &cells.text[cell.range.clone()];
        let name = raw.trim().trim_matches('"').trim();
        // People put a blank behind a comma, and so have more than one word between two.
        let is_said = cells.mark == b',' && raw.starts_with(' ') && name.contains(' ');
        if is_said || !is_name(name) {
            return None;
        }
        names.push(name);
        if cell.is_last {
            let count = names.iter().filter(|name| !name.is_empty()).count();
            return (count >= 2 && cells.at < cells.text.len()).then_some(names);
        }
    }
    None
}

/// Empty, or a few words with a letter in them, and no sentence.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || " _-./()#%:$[]\u{ad}\u{200b}*@'".contains(c);
    let is_short = name.len() <= MAX_NAME && name.split_whitespace().count() <= MAX_WORDS;
    let is_word = name.is_empty() || name.chars().any(char::is_alphabetic);
    is_short && is_word && !name.ends_with('.') && name.chars().all(is_part)
}

/// Whether the first line below the names has as many cells; the last line of all may be cut.
fn is_even(cells: Cells<'_>, columns: usize) -> bool {
    let length = cells.text.len();
    let mut count = 0;
    for cell in cells {
        count += 1;
        if cell.is_last {
            return count == columns;
        }
        if cell.range.end == length {
            break;
        }
    }
    count <= columns
}

fn redact_cell<'a>(work: &mut Work<'_>, raw: &'a str, weight: Weight) -> Cow<'a, str> {
    let quoted = raw.strip_prefix('"');
    let inner = quoted.map_or(raw, |rest| rest.strip_suffix('"').unwrap_or(rest));
    let value = match quoted {
        Some(_) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
        _ => Cow::Borrowed(inner),
    };
    let value = value.trim();
    let redacted = if weight > Weight::Plain && work.hides(weight, value) {
        Cow::Borrowed(HIDDEN)
    } else if value.len() < MIN_VALUE {
        return Cow::Borrowed(raw);
    } else {
        work.value(value)
    };
    if redacted == value {
        return Cow::Borrowed(raw);
    }
    let redacted =
        if quoted.is_some() { redacted.replace('"', "\"\"") } else { redacted.into_owned() };
    if quoted.is_some() {
        return Cow::Owned(format!("\"{redacted}\""));
    }
    // The blanks around it keep the columns apart.
    let before = raw.len() - raw.trim_start().len();
    Cow::Owned(format!("{}{redacted}{}", &raw[..before], &raw[raw.trim_end().len()..]))
}

struct Cell {
    /// Where it stands, with its quotes.
    range: Range<usize>,
    /// Whether a line ends with it.
    is_last: bool,
}

struct Cells<'a> {
    text: &'a str,
    mark: u8,
    at: usize,
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut end = start;
        if *bytes.get(start)? == b'"' {
            end = end_of_quoted(bytes, start + 1);
        }
        let is_end = |c: &u8| *c == self.mark || matches!(c, b'\n' | b'\r');
        end = bytes[end..].iter().position(is_end).map_or(bytes.len(), |at| end + at);
        let is_break = bytes.get(end).is_some_and(|c| *c != self.mark);
        let length = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.at = (end + length).min(bytes.len());
        Some(Cell { range: start..end, is_last: is_break })
    }
}

/// Behind the quote that ends a cell; two of them are one within it.
fn end_of_quoted(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
