//! Lists of servers in TOML.
//!
//! The parser says where in the text things stand, and the text is cut and joined there: a writer
//! would put its own line ends, and the comments of what it removes would go with it.

use super::{Fields, Mistake, NAME, line_of};
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Array, Document, Item, Key, TableLike};

/// Where the servers stand.
pub(super) const KEY: &str = "mcp_servers";

/// What a text says.
pub(super) fn read(text: &str) -> Result<Value, Mistake> {
    Ok(table(parse(text)?.as_table()))
}

/// The table of an entry, line by line.
pub(super) fn block(fields: &Fields) -> Vec<String> {
    let head = std::iter::once(format!("[{KEY}.{NAME}]"));
    head.chain(fields.iter().map(field)).collect()
}

/// Puts `fields` into the entry, or in its place if nothing of it is kept.
pub(super) fn set(text: &str, fields: &Fields, keep: bool) -> Result<String, Mistake> {
    let document = parse(text)?;
    let servers = document.get(KEY);
    match servers.and_then(|servers| servers.get(NAME)) {
        Some(_) if !keep => set(&remove(text)?, fields, true),
        Some(entry) => change(text, entry, fields),
        None => match servers {
            Some(Item::Value(inline)) => {
                let all: Vec<String> = fields.iter().map(field).collect();
                let at = inline.span().ok_or(Mistake::Unusual)?.start + 1;
                let more = servers.and_then(Item::as_table_like).is_some_and(|all| !all.is_empty());
                let comma = if more { "," } else { " " };
                Ok(spliced(
                    text,
                    vec![(at..at, format!(" {NAME} = {{ {} }}{comma}", all.join(", ")))],
                ))
            }
            _ => Ok(append(text, &block(fields))),
        },
    }
}

/// Takes the entry out, with the tables that belong to it.
pub(super) fn remove(text: &str) -> Result<String, Mistake> {
    let document = parse(text)?;
    let servers = document.get(KEY).and_then(Item::as_table_like).ok_or(Mistake::Unusual)?;
    let (key, entry) = servers.get_key_value(NAME).ok_or(Mistake::Unusual)?;
    if document.get(KEY).is_some_and(Item::is_value) {
        let (start, end) = (key.span(), entry.span());
        let range = start.zip(end).map(|(start, end)| start.start..end.end);
        return Ok(spliced(
            text,
            vec![(with_comma(text, range.ok_or(Mistake::Unusual)?), String::new())],
        ));
    }
    let mut ranges = Vec::new();
    match entry {
        Item::Value(value) => {
            ranges.extend(key.span().zip(value.span()).map(|(a, b)| a.start..b.end));
        }
        entry => places(entry, &mut ranges),
    }
    let cuts = ranges.into_iter().map(|range| (whole_lines(text, range), String::new()));
    Ok(spliced(text, cuts.collect()))
}

/// Changes the values that differ, and adds the keys that are missing.
fn change(text: &str, entry: &Item, fields: &Fields) -> Result<String, Mistake> {
    let mut splices = Vec::new();
    let mut missing = Vec::new();
    for (key, value) in fields {
        match entry.get(key) {
            Some(item) if plain(item) == *value => {}
            Some(item) => splices.push((item.span().ok_or(Mistake::Unusual)?, literal(value))),
            None => missing.push(field(&(key.clone(), value.clone()))),
        }
    }
    match entry {
        _ if missing.is_empty() => {}
        Item::Value(inline) => {
            let at = inline.span().ok_or(Mistake::Unusual)?.start + 1;
            let more = entry.as_table_like().is_some_and(|entry| !entry.is_empty());
            let comma = if more { "," } else { " " };
            splices.push((at..at, format!(" {}{comma}", missing.join(", "))));
        }
        Item::Table(table) if table.is_implicit() && !table.is_dotted() => {
            let head = std::iter::once(format!("[{KEY}.{NAME}]"));
            return Ok(append(text, &head.chain(missing).collect::<Vec<_>>()));
        }
        entry => {
            let head = entry.span().ok_or(Mistake::Unusual)?;
            let at = line_end(text, head.end);
            let end = new_line(text);
            let before = if text[..at].ends_with('\n') { "" } else { end };
            splices.push((at..at, format!("{before}{}{end}", missing.join(end))));
        }
    }
    Ok(spliced(text, splices))
}

/// Where an entry is: its head with its values, and each table below it.
fn places(item: &Item, ranges: &mut Vec<Range<usize>>) {
    let Some(table) = item.as_table() else { return };
    let mut own = table.span().filter(|_| !table.is_dotted());
    for (key, value) in table {
        let key = table.key(key).and_then(Key::span);
        match (value, key.zip(value.span())) {
            (Item::Value(_), Some((key, value))) => match &mut own {
                Some(own) => own.end = own.end.max(value.end),
                None => ranges.push(key.start..value.end),
            },
            (Item::ArrayOfTables(tables), _) => {
                tables.iter().for_each(|table| places(&Item::Table(table.clone()), ranges));
            }
            _ => places(value, ranges),
        }
    }
    ranges.extend(own);
}

/// `text` with other text in the places named, which must not overlap.
fn spliced(text: &str, mut splices: Vec<(Range<usize>, String)>) -> String {
    splices.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in splices {
        out.push_str(&text[from..range.start.max(from)]);
        out.push_str(&new);
        from = range.end.max(from);
    }
    out.push_str(&text[from..]);
    out
}

/// A place with the rest of its lines, and with the empty line that set it apart.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = line_end(text, range.end);
    let follows = text[end..].lines().next().unwrap_or_default();
    let before = text[..start].strip_suffix('\n').unwrap_or_default();
    let is_apart = follows.trim().is_empty() && before.trim_end_matches('\r').ends_with('\n');
    let empty_line = before.rfind('\n').map_or(0, |at| at + 1);
    if is_apart { empty_line..end } else { start..end }
}

/// Where the line ends in which `at` lies.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}

/// An item of a list on one line, with the comma that goes with it.
fn with_comma(text: &str, range: Range<usize>) -> Range<usize> {
    let after = text[range.end..].trim_start_matches([' ', '\t']);
    if let Some(rest) = after.strip_prefix(',') {
        return range.start..text.len() - rest.trim_start_matches([' ', '\t']).len();
    }
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    before.strip_suffix(',').map_or(range.clone(), |before| before.len()..range.end)
}

/// `text` with a table at its end.
fn append(text: &str, lines: &[String]) -> String {
    let end = new_line(text);
    let mut out = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        out.push_str(end);
    }
    if !text.trim().is_empty() {
        out.push_str(end);
    }
    format!("{out}{}{end}", lines.join(end))
}

/// How the lines of `text` end.
fn new_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn parse(text: &str) -> Result<Document<&str>, Mistake> {
    Document::parse(text).map_err(|error| {
        let line = line_of(text, error.span().map_or(0, |span| span.start));
        Mistake::Syntax { line, reason: error.message().to_owned() }
    })
}

/// `key = value`
fn field((key, value): &(String, Value)) -> String {
    format!("{key} = {}", literal(value))
}

/// Strings and lists of them: an entry has nothing else.
fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).collect::<Array>().to_string()
        }
        value => toml_edit::Value::from(value.as_str().unwrap_or_default()).to_string(),
    }
}

fn table(table: &dyn TableLike) -> Value {
    let pairs = table.iter().map(|(key, item)| (key.to_owned(), plain(item)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// An item as JSON knows it; a number or a time as it is written.
fn plain(item: &Item) -> Value {
    let of_value = |value: &toml_edit::Value| plain(&Item::Value(value.clone()));
    match item {
        Item::None => Value::Null,
        Item::Table(all) => table(all),
        Item::ArrayOfTables(all) => all.iter().map(|one| table(one)).collect(),
        Item::Value(toml_edit::Value::InlineTable(all)) => table(all),
        Item::Value(toml_edit::Value::Array(all)) => all.iter().map(of_value).collect(),
        Item::Value(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Item::Value(value) => Value::String(format!("{} {value}", value.type_name())),
    }
}
