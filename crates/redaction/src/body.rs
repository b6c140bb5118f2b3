//! Bodies, by what they are.

use crate::kind::Kind;
use crate::work::Work;
use crate::{HIDDEN, form, json, keys, multipart, sockets, stream, table, wide};
use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// How far JSON may begin from the start of a message: `42[…]`, `CONNECT {…}`.
const MAX_PREFIX: usize = 64;
/// The longest list that may be a key, in bytes.
const MAX_LIST: usize = 512;

/// A body without its secrets. `mime` is what it says to be; where that is missing or wrong, the body's
/// own look decides.
pub(crate) fn redact(work: &mut Work<'_>, body: &str, mime: Option<&str>) -> String {
    let mime = mime.unwrap_or_default().to_ascii_lowercase();
    let start = body.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    // What says that it is JSON and begins otherwise is something else.
    let is_other = mime.contains("json") && !start.starts_with(['{', '[', '"', '\\', ')', '/']);
    let mime = if is_other && !starts_json_soon(start) { String::new() } else { mime };
    let has = |words: &[&str]| words.iter().any(|word| mime.contains(word));
    if let Some(shown) = wide::redact(work, body, &mime) {
        return shown;
    }
    if mime.is_empty()
        && let Some(shown) = sockets::redact(work, body)
    {
        return shown;
    }
    // Frames of bytes: nobody can say what is in them.
    if has(&["grpc-web-text"]) && base64_text(start).is_none() {
        return HIDDEN.to_owned();
    }
    if start.starts_with('[') && start.len() < MAX_LIST && keys::is_list_of_bytes(start) {
        return format!("[\"{HIDDEN}\"]");
    }
    let is_stream = start.starts_with("data:") || start.starts_with("event:");
    if has(&["event-stream"]) || (is_stream && !has(&["yaml"])) {
        return stream::redact(work, body);
    }
    if has(&["javascript", "ecmascript", "css", "wasm"]) && !json::begins(start) {
        return work.text(body, Kind::Code).into_owned();
    }
    let says_json = has(&["json"]) && !start.starts_with('{');
    if says_json || json::begins(start) || starts_json_soon(start) {
        return json::redact(work, body, Kind::Data);
    }
    if has(&["multipart"]) || (start.starts_with("--") && body.contains("isposition")) {
        return multipart::redact(work, body, Some(&mime));
    }
    if has(&["x-www-form-urlencoded"]) || (!has(&["html", "xml", "svg"]) && form::is_form(start)) {
        return form::redact(work, body);
    }
    let may_be_table = has(&["csv", "tab-separated", "text/plain"]) || mime.is_empty();
    if may_be_table && let Some(table) = table::redact(work, body, mime.contains("tab")) {
        return table;
    }
    if mime.is_empty() || has(&["plain", "base64", "grpc-web-text"]) {
        return work.value(body).into_owned();
    }
    work.text(body, Kind::Data).into_owned()
}

/// Messages of other protocols have a few letters before their JSON.
fn starts_json_soon(start: &str) -> bool {
    let head = &start[..start.floor_char_boundary(MAX_PREFIX)];
    let Some(at) = head.find(['{', '[']) else { return false };
    let is_prefix = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, ' ' | '/' | ',' | '-' | '\'' | ')' | '}' | '&' | '\n' | ':' | '.' | '_')
    };
    let prefix = &head[..at];
    prefix.len() <= 40
        && prefix.chars().all(is_prefix)
        && !prefix.contains('=')
        && matches!(start[at + 1..].trim_start().chars().next(), Some('"' | '{' | '['))
}

/// A body that came as base64, which may be cut. True when it still is base64.
pub(crate) fn redact_base64(work: &mut Work<'_>, body: &str, mime: Option<&str>) -> (String, bool) {
    let whole = &body.as_bytes()[..body.len() - body.len() % 4];
    let Ok(bytes) = STANDARD.decode(whole) else { return (HIDDEN.to_owned(), false) };
    match text_of(&bytes) {
        Some(text) => (work.body(text, mime), false),
        None if is_media(mime.unwrap_or_default()) => (body.to_owned(), true),
        None => (HIDDEN.to_owned(), false),
    }
}

/// The text, if it is one; its last character may be cut.
fn text_of(bytes: &[u8]) -> Option<&str> {
    match str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

fn is_media(mime: &str) -> bool {
    let mime = mime.to_ascii_lowercase();
    ["image/", "font/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind))
}

/// The shortest base64 that may hold a name and its value.
const MIN_BASE64: usize = 16;
const FORGIVING: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, FORGIVING);
const URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, FORGIVING);

/// The text that a value stands for, if it is base64 of words, JSON and the like.
pub(crate) fn base64_text(value: &str) -> Option<String> {
    let value = value.trim_end();
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&c);
    if value.len() < MIN_BASE64 || !value.bytes().all(fits) {
        return None;
    }
    let joined = value.replace(['\r', '\n'], "");
    let engine = if joined.contains(['-', '_']) { &URL } else { &PLAIN };
    // The first bytes say whether it is text at all: most values are not.
    let head = joined.get(..12)?;
    if !engine.decode(head).ok()?.iter().all(|c| is_text(*c)) {
        return None;
    }
    let whole = &joined[..joined.len() - usize::from(joined.trim_end_matches('=').len() % 4 == 1)];
    let bytes = engine.decode(whole).ok()?;
    let text = text_of(&bytes)?;
    (text.len() >= 8 && text.chars().all(|c| c >= ' ' || c.is_whitespace()))
        .then(|| text.to_owned())
}

fn is_text(c: u8) -> bool {
    (b' '..0x7f).contains(&c) || matches!(c, b'\n' | b'\r' | b'\t') || c >= 0xc2
}
