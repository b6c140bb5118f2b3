//! The history of one tab, as commands tell it: entries come, and others make room for them.

use std::collections::BTreeMap;

/// The most entries that are kept of a tab; a browser keeps 50.
const MOST: usize = 256;

/// Address and title of each entry, by its place, and which one is shown.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: BTreeMap<i32, (String, String)>,
    shown: i32,
}

impl History {
    pub(super) fn put(&mut self, at: i32, entry: (String, String)) {
        if self.entries.len() < MOST || self.entries.contains_key(&at) {
            self.entries.insert(at, entry);
        }
    }

    pub(super) fn show(&mut self, at: i32) {
        self.shown = at;
    }

    /// So many entries from `first` on are gone, and those behind them moved up.
    pub(super) fn prune(&mut self, first: i32, count: i32) {
        if first < 0 || count <= 0 {
            return;
        }
        let end = first.saturating_add(count);
        if self.shown >= end {
            self.shown -= count;
        } else if self.shown >= first {
            self.shown = first - 1;
        }
        let behind = self.entries.split_off(&end);
        self.entries.retain(|at, _| *at < first);
        self.entries.extend(behind.into_iter().map(|(at, entry)| (at - count, entry)));
    }

    /// All from `first` on are gone.
    pub(super) fn prune_end(&mut self, first: i32) {
        self.prune(first, i32::MAX);
    }

    /// Address and title of the entry that is shown, or of the one nearest to it: not every entry is
    /// noted.
    pub(super) fn into_shown(mut self) -> Option<(String, String)> {
        let next = self.entries.range(self.shown..).next().map(|(at, _)| *at);
        let at = next.or_else(|| self.entries.last_key_value().map(|(at, _)| *at))?;
        self.entries.remove(&at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(shown: i32) -> History {
        let mut history = History::default();
        for at in 0..5 {
            history.put(at, (at.to_string(), String::new()));
        }
        history.show(shown);
        history
    }

    fn shown(history: History) -> String {
        history.into_shown().unwrap().0
    }

    #[test]
    fn what_is_shown_stays_when_others_go() {
        for (first, count, at, wanted) in
            [(0, 2, 3, "3"), (0, 1, 0, "1"), (1, 2, 4, "4"), (3, 2, 1, "1"), (3, 2, 4, "2")]
        {
            let mut history = history(at);
            history.prune(first, count);
            assert_eq!(shown(history), wanted, "{first} {count} {at}");
        }
        let mut history = history(1);
        history.prune_end(2);
        history.show(7);
        assert_eq!(shown(history), "1", "the nearest");
    }

    #[test]
    fn numbers_without_a_sense_change_nothing() {
        let mut history = history(2);
        for (first, count) in [(-1, 2), (0, 0), (1, -1), (i32::MIN, i32::MIN), (i32::MAX, i32::MAX)]
        {
            history.prune(first, count);
        }
        for at in 0..10_000 {
            history.put(at, Default::default());
        }
        assert_eq!(history.entries.len(), MOST);
        history.show(i32::MIN);
        history.prune(0, i32::MAX);
        assert_eq!(history.into_shown(), None);
    }
}
