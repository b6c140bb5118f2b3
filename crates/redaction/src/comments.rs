//! Comments of programs: sentences of people within code.

use crate::ranges::Ranges;
use crate::search::{Search, each};
use crate::signs::{Signs, VALUE};
use crate::work::Work;

/// A longer comment is no sentence, in bytes.
const MAX_COMMENT: usize = 512;

/// Notes what comments say of secrets: `// login: admin / x`.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    for (at, _) in each(text, "// ") {
        let is_comment =
            at == 0 || bytes[at - 1].is_ascii_whitespace() || matches!(bytes[at - 1], b';' | b'}');
        let near = &text[at..text.floor_char_boundary(at + MAX_COMMENT)];
        let is_whole = near.contains('\n') || at + near.len() == text.len();
        if !is_comment || !is_whole {
            continue;
        }
        let comment = near.lines().next().unwrap_or_default();
        if Signs::of(comment).has(VALUE) {
            let mut inner = Ranges::default();
            let bytes = comment.as_bytes();
            Search { work, text: comment, bytes, found: &mut inner }.sentences();
            found.add_all(&inner, at);
        }
    }
}
