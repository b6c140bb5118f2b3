//! The way of a tab through its history, as far as it can be gone again.
//!
//! The one idea: entries that share a document are made in one blank document of their origin, under
//! their own addresses (`history.pushState`). So no address is ever navigated to twice, whatever two
//! neighbours have in common, and no page of a site is needed.

use super::places::own_key;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::redact::ShownAddress;
use baton_session::{History, HistoryEntry, Tab};

/// The entries that a tab is given back.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The last one, when the tab's own address is no page of a site.
    pub(super) history: History,
    /// How many entries no document of ours can stand for.
    left_out: usize,
}

impl Way {
    /// The way of a tab; none of a tab without a history.
    pub(super) fn of(tab: &Tab) -> Option<Result<Self, &'static str>> {
        let History { entries, current } = &tab.history;
        let here = tab.history.here();
        if entries.is_empty() {
            return None;
        }
        if here.is_none_or(|here| here.url != tab.url) {
            return Some(Err("the tab had moved on when its history was read"));
        }
        let mut way = Self::default();
        let mut is_next = false;
        for (at, entry) in entries.iter().enumerate() {
            let is_stranded = at > *current && own_key(&tab.url).is_none();
            if is_stranded || own_key(&entry.url).is_none() {
                way.left_out += usize::from(at != *current);
                is_next = false;
                continue;
            }
            let before = way.history.entries.last().filter(|_| is_next);
            let is_same = before.is_some_and(|before| own_key(&before.url) == own_key(&entry.url));
            let same_document = entry.same_document && is_same;
            if at <= *current {
                way.history.current = way.history.entries.len();
            }
            way.history.entries.push(HistoryEntry { id: 0, same_document, ..entry.clone() });
            is_next = true;
        }
        Some(Ok(way))
    }

    /// The entries of each document, in their order.
    pub(super) fn documents(&self) -> impl Iterator<Item = &[HistoryEntry]> {
        self.history.entries.chunk_by(|_, entry| entry.same_document)
    }

    /// The line of a way that was gone to its end.
    pub(super) fn item(&self, tab: &Tab) -> ReceiptItem {
        let lost = |entry: &&HistoryEntry| {
            entry.state.as_ref().is_some_and(|state| state.losses().next().is_some())
        };
        let lost = self.history.entries.iter().filter(lost).count();
        let place = ShownAddress::of(&tab.url);
        let reason = match (self.left_out, lost) {
            (0, 0) => return ReceiptItem::restored(ItemKind::History, place),
            (0, lost) => format!("{lost} states hold a value that no script can read"),
            (left_out, _) => {
                let all = tab.history.entries.len();
                format!("{left_out} of {all} entries are no pages of a site, and were left out")
            }
        };
        ReceiptItem::not_portable(ItemKind::History, place, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::receipt::Outcome;

    /// A tab at the entry `current`; an entry with an equals sign shares the document before it.
    fn tab(current: usize, urls: &[&str]) -> Tab {
        let entry = |url: &&str| HistoryEntry {
            url: url.trim_start_matches('=').to_owned(),
            same_document: url.starts_with('='),
            ..HistoryEntry::default()
        };
        let entries: Vec<_> = urls.iter().map(entry).collect();
        Tab {
            url: entries[current].url.clone(),
            history: History { entries, current },
            ..Tab::default()
        }
    }

    fn way(tab: &Tab) -> (Vec<Vec<String>>, usize, ReceiptItem) {
        let way = Way::of(tab).unwrap().unwrap();
        let urls = |entries: &[HistoryEntry]| entries.iter().map(|e| e.url.clone()).collect();
        (way.documents().map(urls).collect(), way.history.current, way.item(tab))
    }

    #[test]
    fn entries_of_one_document_are_made_together() {
        let tab = tab(1, &["http://a/", "=http://a/#1", "http://b/", "=http://b/2"]);
        let (documents, current, item) = way(&tab);
        assert_eq!(documents, [["http://a/", "http://a/#1"], ["http://b/", "http://b/2"]]);
        assert_eq!((current, item.outcome), (1, Outcome::Restored));
    }

    #[test]
    fn what_is_no_page_of_a_site_is_left_out_and_told() {
        let tab = tab(3, &["http://a/", "data:,x", "=http://a/#1", "http://a/2", "blob:x"]);
        let (documents, current, item) = way(&tab);
        assert_eq!(documents, [["http://a/"], ["http://a/#1"], ["http://a/2"]]);
        assert_eq!((current, item.outcome), (2, Outcome::NotPortable));
        let reason = "2 of 5 entries are no pages of a site, and were left out";
        assert_eq!(item.reason.as_deref(), Some(reason));
    }

    #[test]
    fn a_tab_that_is_no_page_of_a_site_goes_on_from_the_last_that_was() {
        let (documents, current, item) =
            way(&tab(2, &["http://a/", "http://b/", "data:,x", "http://c/"]));
        assert_eq!(documents, [["http://a/"], ["http://b/"]]);
        assert_eq!((current, item.outcome), (1, Outcome::NotPortable));
        let (_, _, item) = way(&tab(1, &["http://a/", "data:,x"]));
        assert_eq!(item.outcome, Outcome::Restored);
    }

    #[test]
    fn no_two_origins_share_a_document_whatever_a_snapshot_says() {
        let (documents, ..) = way(&tab(0, &["http://a/", "=http://b/"]));
        assert_eq!(documents.len(), 2);
    }

    #[test]
    fn a_history_of_another_visit_is_not_taken() {
        let mut tab = tab(0, &["http://a/"]);
        tab.url = "http://b/".to_owned();
        assert!(Way::of(&tab).unwrap().is_err());
        tab.history.entries.clear();
        assert!(Way::of(&tab).is_none());
    }
}
