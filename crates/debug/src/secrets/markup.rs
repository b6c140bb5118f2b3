//! Elements whose name is a secret's: `<password>value</password>`.

use super::hidden::put_out;
use super::names::is_secret;
use std::borrow::Cow;
use std::ops::Range;

/// The longest name of an element, and the longest rest of its tag, in bytes.
const MAX_NAME: usize = 64;
const MAX_TAG: usize = 512;

/// The text without what stands in such elements.
pub(super) fn hide_elements(text: &str) -> Cow<'_, str> {
    let mut hidden = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(content) = content_of(text, from) else { continue };
        if !text[content.clone()].trim().is_empty() {
            from = content.end;
            hidden.push(content);
        }
    }
    put_out(text, &hidden)
}

/// The content of the element whose name begins here, if it is a secret's.
fn content_of(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let fits = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b':');
    let length = bytes[start..].iter().take(MAX_NAME).take_while(|c| fits(c)).count();
    let name = &text[start..start + length];
    let local = name.rsplit(':').next().unwrap_or_default();
    if local.is_empty() || !is_secret(local) {
        return None;
    }
    let rest = bytes[start + length..].iter().take(MAX_TAG).position(|c| *c == b'>')?;
    let content = start + length + rest + 1;
    let end = bytes[content..].iter().position(|c| *c == b'<').unwrap_or(bytes.len() - content);
    Some(content..content + end)
}
