//! Multipart forms (RFC 2046, RFC 7578): parts between lines of a boundary, each with headers of its own.
//!
//! The one idea: the name of a part stands in its headers, so a part is its name and a value, or a body
//! within a body.

use crate::HIDDEN;
use crate::kind::Kind;
use crate::names::Weight;
use crate::work::Work;
use percent_encoding::percent_decode_str;

/// The form without its secrets: by the boundary of its type, or the first that stands in it.
pub(crate) fn redact(work: &mut Work<'_>, form: &str, mime: Option<&str>) -> String {
    let Some(boundary) = boundary_of(form, mime) else {
        return work.text(form, Kind::Data).into_owned();
    };
    let mut out = String::with_capacity(form.len());
    let (mut start, mut at) = (0, 0);
    for line in form.split_inclusive('\n') {
        let end = at + line.len();
        if is_delimiter(line, &boundary) {
            put_piece(work, &form[start..at], &mut out);
            out.push_str(&work.without_seen(line));
            start = end;
        }
        at = end;
    }
    put_piece(work, &form[start..], &mut out);
    out
}

/// The boundary that the type says, if the form has it; it may say another one.
fn boundary_of(form: &str, mime: Option<&str>) -> Option<String> {
    let said = mime.and_then(|mime| param(mime, "boundary"));
    let fits = |said: &String| form.lines().any(|line| is_delimiter(line, said));
    said.filter(fits).or_else(|| first_boundary(form))
}

/// The first line with two dashes that a header follows, or that is the first of all.
fn first_boundary(form: &str) -> Option<String> {
    let mut lines = form.lines().peekable();
    let mut is_first = true;
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("--").map(str::trim_end).filter(|name| !name.is_empty());
        let is_header = lines.peek().is_some_and(|next| begins_with(next, "content-"));
        if let Some(name) = name.filter(|_| is_first || is_header) {
            return Some(name.to_owned());
        }
        is_first = false;
    }
    None
}

fn is_delimiter(line: &str, boundary: &str) -> bool {
    let rest = line.strip_prefix("--").and_then(|rest| rest.strip_prefix(boundary));
    rest.is_some_and(|rest| matches!(rest.trim_end(), "" | "--"))
}

fn begins_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// A part, or what stands before the first and behind the last one.
fn put_piece(work: &mut Work<'_>, piece: &str, out: &mut String) {
    if piece.is_empty() {
        return;
    }
    // The line break before a boundary belongs to the boundary.
    let content = piece.strip_suffix('\n').unwrap_or(piece);
    let content = content.strip_suffix('\r').unwrap_or(content);
    let line_end = &piece[content.len()..];
    match head_length(content) {
        Some(length) => {
            let (head, value) = content.split_at(length);
            out.push_str(&work.text(head, Kind::Data));
            put_value(work, head, value, out);
        }
        None => out.push_str(&work.text(content, Kind::Data)),
    }
    out.push_str(line_end);
}

/// Where the headers end, if a part begins with some (or with the empty line that ends them).
fn head_length(piece: &str) -> Option<usize> {
    let mut at = 0;
    for line in piece.split_inclusive('\n') {
        at += line.len();
        let text = line.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Some(at);
        }
        // A form that was cut begins within a header.
        let is_header = text.contains(':') || text.starts_with([' ', '\t']);
        if !is_header && at > line.len() {
            return None;
        }
    }
    None
}

fn put_value(work: &mut Work<'_>, head: &str, value: &str, out: &mut String) {
    let disposition = header(head, "disposition");
    let weight = disposition.as_deref().map_or(Weight::Plain, |said| weight_of(work, said));
    let inner = value.trim();
    if weight > Weight::Plain && work.hides(weight, inner) {
        let start = value.len() - value.trim_start().len();
        out.push_str(&value[..start]);
        out.push_str(HIDDEN);
        out.push_str(&value[start + inner.len()..]);
        return;
    }
    let mime = header(head, "type");
    let is_file = disposition.is_some_and(|said| param(&said, "filename").is_some());
    match mime.as_deref() {
        Some(mime) if begins_with(mime, "application/http") => put_message(work, value, out),
        Some(mime) => out.push_str(&work.body(value, Some(mime))),
        // A part without headers is a text, not the value of a field.
        None if is_file || head.trim().is_empty() => out.push_str(&work.body(value, None)),
        None => out.push_str(&work.value(value)),
    }
}

/// A message of HTTP within a batch: its headers, and its body by their type.
fn put_message(work: &mut Work<'_>, message: &str, out: &mut String) {
    let Some(length) = head_length(message) else {
        out.push_str(&work.text(message, Kind::Data));
        return;
    };
    let (head, body) = message.split_at(length);
    out.push_str(&work.text(head, Kind::Data));
    if body.trim().is_empty() {
        out.push_str(body);
    } else {
        out.push_str(&work.body(body, header(head, "type").as_deref()));
    }
}

/// What the names of a part weigh: `name`, and `name*` of RFC 5987.
fn weight_of(work: &mut Work<'_>, disposition: &str) -> Weight {
    let plain = param(disposition, "name").map(|name| work.weigh(&name));
    let encoded = param(disposition, "name*").map(|name| {
        let name = name.splitn(3, '\'').last().unwrap_or_default();
        work.weigh(&percent_decode_str(name).decode_utf8_lossy())
    });
    plain.into_iter().chain(encoded).max().unwrap_or(Weight::Plain)
}

/// The value of the header `Content-…`, with the lines that are folded below it.
fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines();
    let mut value = lines.find_map(|line| {
        let (before, value) = line.split_once(':')?;
        let (_, last) = before.trim().rsplit_once('-')?;
        last.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })?;
    for line in lines.take_while(|line| line.starts_with([' ', '\t'])) {
        value.push(' ');
        value.push_str(line.trim());
    }
    Some(value)
}

/// The value of one parameter of a header, without its quotes.
fn param(header: &str, name: &str) -> Option<String> {
    let mut rest = header;
    loop {
        // What stands before the first semicolon has no name, and so fits none.
        let (key, value) = match rest.split_once(['=', ';']) {
            Some((key, after)) if rest[key.len()..].starts_with('=') => (key.trim(), after),
            Some((_, after)) => {
                rest = after;
                continue;
            }
            None => return None,
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => split_quoted(&value[1..], quote),
            _ => value.split_once(';').unwrap_or((value, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.trim().to_owned());
        }
        rest = after;
    }
}

/// Some escape the quotes in a name and others do not: the last quote is one that a semicolon follows.
fn split_quoted(text: &str, quote: char) -> (&str, &str) {
    for (at, _) in text.match_indices(quote) {
        let rest = text[at + 1..].trim_start();
        if rest.is_empty() || rest.starts_with(';') {
            return (&text[..at], rest);
        }
    }
    (text, "")
}
