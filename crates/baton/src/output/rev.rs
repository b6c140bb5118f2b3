//! The name of a revision, as short as people can type it.

use baton_session::RevisionId;

/// How many digits of a revision's hash are shown at least: what people type must not become too short.
const SHORTEST: usize = 8;

/// The beginning of a revision's name that none of the others has.
pub(super) fn short(rev: &RevisionId, others: &[RevisionId]) -> String {
    let whole = rev.to_string();
    let others: Vec<String> =
        others.iter().filter(|other| *other != rev).map(ToString::to_string).collect();
    let shared =
        |other: &String| whole.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let hash = whole.find('-').unwrap_or(0) + 1;
    let unique = others.iter().map(shared).max().unwrap_or(0) + 1;
    whole.chars().take(unique.max(hash + SHORTEST)).collect()
}
