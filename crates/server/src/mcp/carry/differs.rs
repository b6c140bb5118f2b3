//! What the choice of a revision would change, by site and kind: counts and names, never a value.

use super::text;
use baton_api::sync::{ConflictDetails, RevisionDifference};
use baton_session::RevisionId;
use baton_session::diff::SiteDiff;
use serde_json::{Value, json};

/// How many sites and kinds of a revision are told.
const LINES: usize = 10;
/// How many names of each.
const NAMES: usize = 5;

/// How a sibling differs from the revision that counts.
pub(super) fn of(
    details: Option<&ConflictDetails>,
    rev: RevisionId,
) -> Option<&RevisionDifference> {
    details?.differences.iter().find(|difference| difference.rev == rev)
}

/// What becomes of the session when the sibling is kept, a line for each site and kind. Nothing where
/// one of the two deletes the session.
pub(super) fn lines(difference: &RevisionDifference) -> Vec<String> {
    if let Some(why) = &difference.unreadable {
        return vec![format!("  cannot be compared: {}", text::plain(why))];
    }
    let mut told: Vec<String> = difference.sites.iter().take(LINES).map(line).collect();
    let more = difference.sites.len().saturating_sub(LINES);
    if more > 0 {
        told.push(format!("  and {more} more"));
    }
    told
}

fn line(one: &SiteDiff) -> String {
    let site = one.site.as_ref().map_or("no site", |site| site.as_str());
    let counts = [(one.added, "added"), (one.removed, "removed"), (one.changed, "changed")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    let names: Vec<String> = one.names.iter().take(NAMES).map(|name| text::plain(name)).collect();
    let (kind, counts) = (one.kind.to_string().replace('_', " "), counts.join(", "));
    let told = format!("  keeping it changes {} {kind}: {counts}", text::plain(site));
    let rest = if one.names.len() > NAMES { ", …" } else { "" };
    if names.is_empty() { told } else { format!("{told} ({}{rest})", names.join(", ")) }
}

/// The same for programs; null where nothing was compared.
pub(super) fn data(difference: &RevisionDifference) -> Value {
    match &difference.unreadable {
        Some(why) => json!({"unreadable": text::plain(why)}),
        None => json!(difference.sites),
    }
}
