//! Bodies, by what they are.

use super::text::{self, Kind};
use super::{HIDDEN, form, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A body without its secrets. `mime` is what it says to be; where that is missing or wrong, the body's
/// own look decides.
pub fn redact(body: &str, mime: Option<&str>) -> String {
    let mime = mime.unwrap_or_default().to_ascii_lowercase();
    let start = body.trim_start();
    if mime.contains("json") || start.starts_with(['{', '[']) {
        return json::redact(body, Kind::Data);
    }
    if mime.contains("x-www-form-urlencoded") || (mime.is_empty() && is_form(start)) {
        return form::redact(body);
    }
    if mime.contains("multipart") || start.starts_with("--") {
        return form::redact_multipart(body);
    }
    let is_code =
        ["javascript", "ecmascript", "css", "wasm"].iter().any(|word| mime.contains(word));
    text::redact(body, if is_code { Kind::Code } else { Kind::Data }).into_owned()
}

/// A body that came as base64, which may be cut, without its secrets: text as text, pictures and the like
/// as base64. Nobody can say what is in any other, so it is hidden. True when it is base64.
pub fn redact_base64(body: &str, mime: Option<&str>) -> (String, bool) {
    let whole = &body.as_bytes()[..body.len() - body.len() % 4];
    let Ok(bytes) = STANDARD.decode(whole) else { return (HIDDEN.to_owned(), false) };
    match text_of(&bytes) {
        Some(text) => (redact(text, mime), false),
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

fn is_form(body: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_.~%+&=[]*!'()".contains(&c);
    body.contains('=') && body.bytes().all(fits)
}
