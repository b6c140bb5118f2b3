//! What is remembered of a tab's history, and what is not.

use baton_session::tab::{HistoryEntry, Scroll};
use baton_session::value::Node;
use baton_session::{History, Tab, Value};

fn entry(id: i64, url: &str) -> HistoryEntry {
    HistoryEntry { id, url: url.to_owned(), ..HistoryEntry::default() }
}

/// An entry of which its page told.
fn told(id: i64, url: &str) -> HistoryEntry {
    HistoryEntry {
        same_document: true,
        state: Some(Value::primitive(Node::Bool(true))),
        scroll: Scroll { x: 0, y: 300 },
        ..entry(id, url)
    }
}

#[test]
fn an_entry_is_remembered_for_as_long_as_it_is_there() {
    let before = History { entries: vec![told(1, "/a"), told(2, "/b"), told(3, "/c")], current: 2 };
    // The browser has forgotten the oldest, and the tab has gone on.
    let mut after =
        History { entries: vec![entry(2, "/b"), entry(3, "/c"), entry(4, "/d")], current: 2 };
    after.recall(&before);
    assert_eq!(after.entries, [told(2, "/b"), told(3, "/c"), entry(4, "/d")]);
}

#[test]
fn what_was_told_of_another_address_is_not_of_this_one() {
    let before = History { entries: vec![told(1, "/a"), told(2, "/b")], current: 0 };
    let mut after = History { entries: vec![entry(1, "/a"), entry(2, "/replaced")], current: 1 };
    after.recall(&before);
    let replaced = HistoryEntry { same_document: true, ..entry(2, "/replaced") };
    assert_eq!(after.entries, [told(1, "/a"), replaced]);
}

#[test]
fn entries_without_a_number_are_strangers() {
    let before = History { entries: vec![told(0, "/a")], current: 0 };
    let mut after = History { entries: vec![entry(0, "/a")], current: 0 };
    after.recall(&before);
    assert_eq!(after.entries, [entry(0, "/a")]);
}

#[test]
fn a_history_that_tells_nothing_but_the_address_is_none() {
    let simple = |entries| {
        let mut history = History { entries, current: 0 };
        history.simplify();
        history.is_empty()
    };
    assert!(simple(vec![entry(1, "/a")]));
    assert!(!simple(vec![told(1, "/a")]));
    assert!(!simple(vec![entry(1, "/a"), entry(2, "/b")]));
}

#[test]
fn a_tab_of_an_older_snapshot_has_no_history() {
    let tab: Tab = serde_json::from_str(r#"{"url":"https://app.test/"}"#).unwrap();
    assert!(tab.history.is_empty());
    assert_eq!(tab.history.here(), None);
    let count_is_off = History { entries: vec![entry(1, "/a")], current: 7 };
    assert_eq!(count_is_off.here(), None);
}
