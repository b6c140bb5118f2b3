//! What a person's work changed in a session, as a sentence: how much of which kind, at which sites, and for how
//! long the new logins last. Never a value.

use crate::cookie::Cookie;
use crate::diff::{Change, Diff, SiteDiff};
use crate::receipt::ItemKind;
use crate::state::State;
use crate::storage::Site;
use jiff::Timestamp;

/// How many sites the sentence names; of more it says how many.
const SITES: usize = 5;

/// The changes at sites; tabs, their history and settings are none.
pub fn at_sites(diff: &Diff) -> Vec<SiteDiff> {
    let counts = |kind| {
        !matches!(
            kind,
            ItemKind::Tab | ItemKind::History | ItemKind::Environment | ItemKind::Permission
        )
    };
    diff.by_site().into_iter().filter(|one| one.site.is_some() && counts(one.kind)).collect()
}

/// When the first of the cookies ends that `after` has and `before` has not, or not so; none when none of them
/// has an end.
pub fn first_end(before: &State, after: &State) -> Option<Timestamp> {
    let is_new = |cookie: &&Cookie| !before.cookies.contains(cookie);
    let end = after.cookies.iter().filter(is_new).filter_map(|cookie| cookie.expires).min()?;
    Timestamp::from_microsecond(end.0).ok()
}

/// The changes in a sentence, such as `2 cookies and 1 database at bank.example are new; ends in 14 days`.
pub fn sentence(changes: &[SiteDiff], ends_at: Option<Timestamp>, now: Timestamp) -> String {
    let mut sites: Vec<&str> =
        changes.iter().filter_map(|one| one.site.as_ref()).map(Site::as_str).collect();
    sites.dedup();
    let mut said: Vec<String> =
        sites.iter().take(SITES).filter_map(|site| at_site(changes, site)).collect();
    if sites.len() > SITES {
        said.push(format!("{} more sites changed", sites.len() - SITES));
    }
    if said.is_empty() {
        return "nothing changed at any site".to_owned();
    }
    if let Some(end) = ends_at {
        said.push(format!("ends {}", until(end, now)));
    }
    said.join("; ")
}

fn at_site(changes: &[SiteDiff], site: &str) -> Option<String> {
    let words = [(Change::Added, "new"), (Change::Changed, "changed"), (Change::Removed, "gone")];
    let mut said: Vec<String> = Vec::new();
    for (change, word) in words {
        let counted: Vec<(usize, String)> = changes
            .iter()
            .filter(|one| one.site.as_ref().is_some_and(|found| found.as_str() == site))
            .filter_map(|one| {
                let count = match change {
                    Change::Added => one.added,
                    Change::Changed => one.changed,
                    Change::Removed => one.removed,
                };
                (count > 0).then(|| (count, counted(one.kind, count)))
            })
            .collect();
        let verb =
            if counted.iter().map(|(count, _)| count).sum::<usize>() == 1 { "is" } else { "are" };
        let things = listed(counted.into_iter().map(|(_, thing)| thing).collect());
        let Some(things) = things else { continue };
        // The site is named once.
        let place = if said.is_empty() { format!(" at {site}") } else { String::new() };
        said.push(format!("{things}{place} {verb} {word}"));
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// `1 cookie`, `2 databases`.
fn counted(kind: ItemKind, count: usize) -> String {
    let (one, many) = match kind {
        ItemKind::Cookie => ("cookie", "cookies"),
        ItemKind::LocalStorage => ("entry of local storage", "entries of local storage"),
        ItemKind::SessionStorage => ("entry of session storage", "entries of session storage"),
        ItemKind::IndexedDb => ("database", "databases"),
        ItemKind::Cache => ("cache", "caches"),
        ItemKind::Files => ("file", "files"),
        ItemKind::ServiceWorker => ("service worker", "service workers"),
        _ => ("item", "items"),
    };
    format!("{count} {}", if count == 1 { one } else { many })
}

/// With commas, and an `and` before the last.
fn listed(mut things: Vec<String>) -> Option<String> {
    let last = things.pop()?;
    Some(if things.is_empty() { last } else { format!("{} and {last}", things.join(", ")) })
}

/// How long it is until then, in the largest unit of which there are two.
fn until(then: Timestamp, now: Timestamp) -> String {
    let seconds = then.as_second().saturating_sub(now.as_second()).max(0);
    // What was set a moment ago for two weeks lasts two weeks.
    let minutes = (seconds + 30) / 60;
    let (hours, days) = ((minutes + 30) / 60, (minutes + 12 * 60) / (24 * 60));
    let (count, unit) = match (days, hours) {
        (2.., _) => (days, "day"),
        (_, 2..) => (hours, "hour"),
        _ => (minutes, "minute"),
    };
    format!("in {count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(site: &str, kind: ItemKind, counts: [usize; 3]) -> SiteDiff {
        let [added, changed, removed] = counts;
        let site = Some(Site::of_host(site));
        SiteDiff { site, kind, added, removed, changed, names: Vec::new() }
    }

    #[test]
    fn a_sentence_says_what_is_new_where_and_for_how_long() {
        let now = Timestamp::UNIX_EPOCH;
        let days = |days: i64| Timestamp::from_second(days * 86_400 - 3).unwrap();
        let told = |changes: &[SiteDiff], end| sentence(changes, end, now);
        let signed_in = [
            change("bank.example", ItemKind::Cookie, [2, 0, 0]),
            change("bank.example", ItemKind::IndexedDb, [1, 0, 0]),
        ];
        assert_eq!(
            told(&signed_in, Some(days(14))),
            "2 cookies and 1 database at bank.example are new; ends in 14 days"
        );
        let more = [
            change("a.example", ItemKind::Cookie, [1, 2, 0]),
            change("b.example", ItemKind::LocalStorage, [0, 0, 1]),
        ];
        assert_eq!(
            told(&more, None),
            "1 cookie at a.example is new, 2 cookies are changed; 1 entry of local storage at \
             b.example is gone"
        );
        assert_eq!(told(&[], Some(days(1))), "nothing changed at any site");
        let many: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"]
            .map(|name| change(&format!("{name}.example"), ItemKind::Cookie, [1, 0, 0]))
            .into();
        assert!(told(&many, None).ends_with("; 2 more sites changed"), "{}", told(&many, None));
    }

    #[test]
    fn time_is_told_in_its_largest_unit() {
        let told = |seconds| until(Timestamp::from_second(seconds).unwrap(), Timestamp::UNIX_EPOCH);
        assert_eq!((told(86_400).as_str(), told(3600).as_str()), ("in 24 hours", "in 60 minutes"));
        assert_eq!((told(60).as_str(), told(-5).as_str()), ("in 1 minute", "in 0 minutes"));
    }
}
