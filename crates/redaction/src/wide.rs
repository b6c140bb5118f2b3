//! Wide letters: UTF-16 that was read byte by byte, so that something stands between all letters.
//!
//! The one idea: the body is read without what stands between; where that hides something, it is shown so.

use crate::work::Work;

/// The body without secrets, and without what stands between its letters; `None` where nothing does, or
/// nothing is hidden.
pub(crate) fn redact(work: &mut Work<'_>, body: &str, mime: &str) -> Option<String> {
    if !body.chars().take(4).any(is_between) {
        return None;
    }
    let between = body.chars().filter(|c| is_between(*c)).count();
    if between * 3 < body.chars().count() {
        return None;
    }
    let plain: String = body.chars().filter(|c| !is_between(*c)).collect();
    let shown = work.body(&plain, Some(mime));
    (shown != plain).then_some(shown)
}

fn is_between(letter: char) -> bool {
    matches!(letter, '\0' | char::REPLACEMENT_CHARACTER)
}
