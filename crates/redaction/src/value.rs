//! A value in which others may stand: JSON, an address, pairs, or base64 of any of them.

use crate::HIDDEN;
use crate::address::{self, is_address};
use crate::body::base64_text;
use crate::form::{self, is_form};
use crate::json;
use crate::kind::Kind;
use crate::look::Look;
use crate::work::Work;

/// The value without its secrets; `None` when it is words, or nothing.
pub(crate) fn redact(work: &mut Work<'_>, value: &str, kind: Kind) -> Option<String> {
    let start = value.trim_start();
    let deep = match start.as_bytes().first()? {
        b'{' | b'[' if value.contains('"') && json::begins(start) => {
            work.deeper(|work| json::redact(work, value, kind))
        }
        _ if is_address(start) => work.deeper(|work| address::redact(work, value)),
        _ => match base64_text(start) {
            Some(text) => work.deeper(|work| {
                let hides = is_pair_of_keys(&text) || work.body(&text, None) != text;
                if hides { HIDDEN.to_owned() } else { value.to_owned() }
            }),
            None if start.contains('&') && is_form(start) => {
                work.deeper(|work| form::redact(work, value))
            }
            None => return None,
        },
    };
    // What is too deep to be looked at is hidden.
    Some(deep.unwrap_or_else(|| HIDDEN.to_owned()))
}

/// The name of a key and the key, of both of which nobody reads a word: what is given for Basic (RFC 7617).
fn is_pair_of_keys(text: &str) -> bool {
    let is_key = |part: &str| !part.contains(char::is_whitespace) && Look::of(part) >= Look::Opaque;
    text.split_once(':').is_some_and(|(name, key)| is_key(name) && is_key(key))
}
