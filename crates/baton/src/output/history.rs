//! The snapshots of a session and what differs between them, for people.

use super::table;
use super::table::Table;
use baton_api::{History, SnapshotView};
use baton_session::diff::{Change, Diff, DiffItem};
use baton_session::receipt::ItemKind;
use baton_session::{Forecast, SnapshotId};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// How many names of entries a line shows.
const NAMES: usize = 5;

/// The snapshots of a session, with the start of each id that no other one has.
pub(crate) fn history(history: &History) -> String {
    if history.items.is_empty() {
        return "no snapshots yet; baton sessions capture takes one".to_owned();
    }
    let now = Timestamp::now();
    let length = table::unique_length(history.items.iter().map(|item| item.id));
    let mut table = Table::new(&["SNAPSHOT", "TAKEN", "REASON", "PARTS", "SIZE", "WORTH"]);
    for item in &history.items {
        table.row([
            table::start(item.id, length),
            table::age(item.taken_at, now),
            item.reason.as_str().to_owned(),
            item.parts.to_string(),
            table::size(item.bytes),
            worth(item, history.resumes_from),
        ]);
    }
    table.render()
}

fn worth(item: &SnapshotView, resumes_from: Option<SnapshotId>) -> String {
    let damaged = format!("{} damaged", table::counted(item.damaged, "part"));
    let marks = [
        (resumes_from == Some(item.id), "a resume takes it"),
        (item.damaged > 0, damaged.as_str()),
        (item.shrunk, "shrunk"),
        (item.sibling, "sibling"),
        (item.saved, "saved"),
    ];
    let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
    marks.collect::<Vec<_>>().join(", ")
}

/// What differs: a line for what is alike, with the sums below.
pub(crate) fn diff(diff: &Diff) -> String {
    if diff.items.is_empty() {
        return "nothing changed".to_owned();
    }
    let mut groups: BTreeMap<(ItemKind, &str, Change), Vec<&DiffItem>> = BTreeMap::new();
    for item in &diff.items {
        groups.entry((item.kind, &item.place, item.change)).or_default().push(item);
    }
    let mut table = Table::new(&["KIND", "WHERE", "CHANGE", "WHAT"]);
    for ((kind, place, change), items) in groups {
        let kind = kind.to_string().replace('_', " ");
        table.row([kind, place.to_owned(), change.to_string(), what(&items)]);
    }
    let Diff { added, removed, changed, .. } = diff;
    format!("{}\n{added} added, {removed} removed, {changed} changed", table.render())
}

/// The names of entries or fields, or the numbers of records.
fn what(items: &[&DiffItem]) -> String {
    let entries = items.iter().filter_map(|item| item.entry.as_deref());
    let fields = items.iter().flat_map(|item| item.fields.iter().map(String::as_str));
    let names: Vec<&str> = entries.chain(fields).collect();
    if let Some((kind, records)) = items.iter().find_map(|item| Some((item.kind, item.records?))) {
        let (one, many) =
            if kind == ItemKind::Cache { ("entry", "entries") } else { ("record", "records") };
        let noun = if records.after == 1 { one } else { many };
        return format!("{} {noun}, before {}", records.after, records.before);
    }
    match names.len().checked_sub(NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMES].join(", ")),
    }
}

/// How soon cookies expire; nothing when none does within a week.
pub(super) fn forecast(forecast: &Forecast, now: Timestamp) -> Option<String> {
    let Forecast { cookies, expired, within_hour, within_day, within_week, next } = forecast;
    let windows = [(within_hour, "an hour"), (within_day, "a day"), (within_week, "a week")];
    let mut parts = Vec::new();
    if *expired > 0 {
        parts.push(format!("{expired} expired since the snapshot"));
    }
    if let Some((count, window)) = windows.into_iter().find(|(count, _)| **count > 0) {
        let next = next.map(|next| format!(", the next {}", table::until(next, now)));
        let next = next.unwrap_or_default();
        parts.push(format!("{count} of {cookies} expire within {window}{next}"));
    }
    (!parts.is_empty()).then(|| format!("cookies: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::{diff, forecast, history};
    use baton_api::{History, SnapshotReason, SnapshotView};
    use baton_session::diff::{Change, Diff, DiffItem, Records};
    use baton_session::receipt::ItemKind;
    use baton_session::{Forecast, SnapshotId};
    use jiff::{SignedDuration, Timestamp};

    fn snapshot(id: &str, reason: SnapshotReason) -> SnapshotView {
        let id: SnapshotId = id.parse().unwrap();
        let taken_at = Timestamp::now() - SignedDuration::from_hours(3);
        let (shrunk, sibling, saved) = (false, false, false);
        SnapshotView {
            id,
            taken_at,
            reason,
            parts: 5,
            bytes: 2048,
            shrunk,
            sibling,
            saved,
            damaged: 0,
            unread: Vec::new(),
        }
    }

    #[test]
    fn a_history_marks_what_each_snapshot_is_worth() {
        let kept = snapshot("0197c0de-5100-7000-8000-000000000000", SnapshotReason::Request);
        let lost = snapshot("0197c0de-51ff-7000-8000-000000000000", SnapshotReason::Interval);
        let mut late = snapshot("0197c0de-51ff-7100-8000-000000000000", SnapshotReason::Close);
        late.sibling = true;
        let resumes_from = Some(kept.id);
        let newest = snapshot("0197c0de-52ff-7000-8000-000000000000", SnapshotReason::Request);
        let newest = SnapshotView { damaged: 1, saved: true, ..newest };
        let items = vec![newest, late, SnapshotView { shrunk: true, ..lost }, kept];
        let given = History { items, resumes_from, ..History::default() };
        insta::assert_snapshot!(console::strip_ansi_codes(&history(&given)), @r"
        SNAPSHOT          TAKEN    REASON    PARTS  SIZE      WORTH
        0197c0de-52ff-70  3 h ago  request   5      2.00 KiB  1 part damaged, saved
        0197c0de-51ff-71  3 h ago  close     5      2.00 KiB  sibling
        0197c0de-51ff-70  3 h ago  interval  5      2.00 KiB  shrunk
        0197c0de-5100-70  3 h ago  request   5      2.00 KiB  a resume takes it
        ");
    }

    #[test]
    fn a_diff_names_entries_and_counts_records() {
        let item = |kind, place: &str, change| DiffItem {
            kind,
            place: place.to_owned(),
            site: None,
            entry: None,
            change,
            fields: Vec::new(),
            records: None,
        };
        let mut items = vec![DiffItem {
            fields: vec!["value".to_owned(), "expires".to_owned()],
            ..item(ItemKind::Cookie, "shop.test/ sid", Change::Changed)
        }];
        items.extend((0..7).map(|nth| DiffItem {
            entry: Some(format!("note {nth}")),
            ..item(ItemKind::LocalStorage, "https://shop.test/", Change::Removed)
        }));
        items.push(DiffItem {
            records: Some(Records { before: 3, after: 12 }),
            ..item(ItemKind::IndexedDb, "https://shop.test/ cart", Change::Changed)
        });
        let given = Diff { added: 0, removed: 7, changed: 2, items };
        insta::assert_snapshot!(console::strip_ansi_codes(&diff(&given)), @r"
        KIND           WHERE                    CHANGE   WHAT
        cookie         shop.test/ sid           changed  value, expires
        local storage  https://shop.test/       removed  note 0, note 1, note 2, note 3,
                                                         note 4 and 2 more
        indexed db     https://shop.test/ cart  changed  12 records, before 3
        0 added, 7 removed, 2 changed
        ");
        assert_eq!(diff(&Diff::default()), "nothing changed");
    }

    #[test]
    fn a_forecast_is_told_when_something_expires_soon() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let tell = |given: Forecast| forecast(&given, now).unwrap_or_default();
        let next = |minutes| Some(now + SignedDuration::from_mins(minutes));
        let lines = [
            tell(Forecast { cookies: 9, ..Forecast::default() }),
            tell(Forecast {
                cookies: 14,
                within_day: 12,
                within_week: 13,
                next: next(180),
                ..Forecast::default()
            }),
            tell(Forecast {
                cookies: 2,
                expired: 3,
                within_hour: 1,
                within_day: 2,
                within_week: 2,
                next: next(12),
            }),
            tell(Forecast { expired: 1, ..Forecast::default() }),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        cookies: 12 of 14 expire within a day, the next in 3 h
        cookies: 3 expired since the snapshot; 1 of 2 expire within an hour, the next in 12 min
        cookies: 1 expired since the snapshot
        ");
    }
}
