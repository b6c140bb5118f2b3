//! Records of texts that end with a NUL each, a name and its value in turn, as PostgreSQL's first message
//! and the environment of a process have them.

use crate::names::Weight;
use crate::ranges::Ranges;
use crate::work::Work;

/// A longer text is no name, in bytes.
const MAX_NAME: usize = 64;

/// Notes the values behind names of secrets.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let (mut at, mut weight) = (0, Weight::Plain);
    for part in text.split('\0') {
        let range = at..at + part.len();
        at = range.end + 1;
        let own =
            if part.is_empty() || part.len() > MAX_NAME { Weight::Plain } else { work.weigh(part) };
        // Two names in a row are a list of names.
        let hides = weight > own && work.hides(weight, part);
        if hides {
            found.add(range);
        }
        weight = if hides { Weight::Plain } else { own };
    }
}
