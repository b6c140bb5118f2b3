//! What comes seldom: rules that are asked only where a text has what they need.
//!
//! The one idea: most texts are short and of one line, and pay one comparison for all of these rules.

use crate::classes::{CONTROL, DASH, DIGIT, FOREIGN, LINE, OPEN, QUOTE, SLASH, SPACE};
use crate::kind::Kind;
use crate::ranges::Ranges;
use crate::search::Search;
use crate::signs::{CODE, Signs};
use crate::work::Work;
use crate::{codes, columns, comments, further, keys, lines, phrases, prints, records, settings};

/// Notes the secrets that such a rule finds.
pub(crate) fn find(work: &mut Work<'_>, text: &str, kind: Kind, signs: Signs, found: &mut Ranges) {
    if !found.is_empty() {
        further::find(text, found);
    }
    if kind == Kind::Code {
        if signs.has(SLASH) && text.contains("//") {
            comments::find(work, text, found);
        }
        return;
    }
    if signs.has(DIGIT) && signs.has(CODE | FOREIGN) {
        codes::find(work, text, found);
    }
    if signs.has(SPACE) && text.len() >= phrases::SHORTEST_PHRASE {
        phrases::find(text, found);
    }
    if signs.has(LINE) {
        if signs.has(DASH) {
            keys::find_blocks(text, found);
        }
        settings::find(work, text, found);
        columns::find(work, text, found);
        if signs.has(SPACE) {
            prints::find(work, text, found);
            lines::find(work, text, found);
        }
    }
    if signs.has(SPACE) {
        settings::find_commands(work, text, found);
    }
    if signs.has(CONTROL) {
        records::find(work, text, found);
    }
    if !found.is_empty() {
        keys::find_pairs(work, text, found);
    }
    if signs.has(QUOTE) {
        let mut search = Search { work, text, bytes: text.as_bytes(), found };
        if signs.has(SPACE) {
            search.quotations();
        }
        if signs.has(OPEN) {
            search.functions_of_sql();
        }
    }
}
