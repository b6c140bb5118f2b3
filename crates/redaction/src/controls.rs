//! Colours of terminals (ECMA-48): `ESC [ 33 m` between a name and its value.
//!
//! The one idea: the text is read without them; where that hides something, it is shown without them too.

use crate::HIDDEN;
use crate::kind::Kind;
use crate::work::Work;

/// The text without secrets and colours; `None` where it has no colours, or nothing is hidden.
pub(crate) fn redact(work: &mut Work<'_>, text: &str, kind: Kind) -> Option<String> {
    let plain = without_colours(text)?;
    let shown = work.deeper(|work| work.text(&plain, kind).into_owned());
    let shown = shown.unwrap_or_else(|| HIDDEN.to_owned());
    (shown != plain).then_some(shown)
}

fn without_colours(text: &str) -> Option<String> {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
        // A letter ends it, which says what it does.
        let rest = &part[end..];
        plain.push_str(rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest));
    }
    (plain.len() < text.len()).then_some(plain)
}
