//! Segments of a way behind the name of a secret: `/reset-token/…`.

use super::hidden::put_out;
use super::look::is_random;
use super::names::is_secret;
use std::borrow::Cow;

/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// The text without such segments, where they look like secrets: `/token/new` is none.
pub(super) fn hide_segments(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let fits = |c: &&u8| c.is_ascii_alphanumeric() || b"_-.~+=%".contains(c);
    let mut hidden = Vec::new();
    for (at, _) in text.match_indices('/') {
        let length = bytes[at + 1..].iter().take_while(fits).count();
        let segment = at + 1..at + 1 + length;
        if !is_random(&text[segment.clone()]) {
            continue;
        }
        let name = bytes[..at].iter().rev().take(MAX_NAME).take_while(fits).count();
        if is_secret(&text[at - name..at]) {
            hidden.push(segment);
        }
    }
    put_out(text, &hidden)
}
