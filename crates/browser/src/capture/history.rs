//! The history of a tab: its entries as the browser lists them, and what the page tells of its own.
//!
//! The one idea: the page knows which entries share its document, and only of the entry at which it
//! stands how far it is scrolled and what its state is. Of all others an earlier capture knows, which
//! read them when the tab was there. A page counts the entries of its own origin around its own, but
//! for those at which only a frame in it moved.

use crate::beginning::is_blank;
use baton_session::history::Scroll;
use baton_session::value::{Node, Object};
use baton_session::{History, HistoryEntry, Tab, Value};
use serde::Deserialize;
use url::{Origin, Url};

/// What `Page.getNavigationHistory` answers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    current_index: usize,
    entries: Vec<ListedEntry>,
}

#[derive(Debug, Clone, Deserialize)]
struct ListedEntry {
    id: i64,
    url: String,
    title: String,
}

/// What a page tells of the entry at which it stands.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Told {
    #[serde(default)]
    state: Option<Value>,
    /// Whether the state is that of an earlier entry, or none, and is to be asked for elsewhere.
    #[serde(default)]
    pub(super) stale: bool,
    /// The page's own name for the entry.
    #[serde(default)]
    entry: String,
    scroll: Scroll,
    /// How many entries the page counts before it, and after it.
    known: Around,
    /// How many of them, next to it, show its document.
    shared: Around,
}

/// What `history_state.js` returns.
#[derive(Debug, Deserialize)]
pub(super) struct ToldState {
    entry: String,
    state: Option<Value>,
}

impl Told {
    /// Whether what the page's own scripts were told is of this entry.
    pub(super) fn is_of(&self, told: &ToldState) -> bool {
        self.entry == told.entry
    }

    /// Takes the state that the page's own scripts are told.
    pub(super) fn take(&mut self, told: ToldState) {
        self.state = told.state;
    }

    /// Notes that there may be a state, which could not be read.
    pub(super) fn lose_state(&mut self) {
        let lost = Object::Lost { kind: "history.state".to_owned() };
        self.state = Some(Value { root: Node::Ref(0), heap: vec![lost] });
    }
}

/// Something counted on both sides of an entry.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Around {
    before: usize,
    after: usize,
}

impl ListedEntry {
    fn origin(&self) -> Option<Origin> {
        Url::parse(&self.url).ok().map(|url| url.origin())
    }
}

impl Listed {
    /// Address and title of the current entry.
    pub(super) fn here(&self) -> (&str, &str) {
        let here = self.entries.get(self.current_index);
        here.map_or(("", ""), |entry| (&entry.url, &entry.title))
    }

    /// Gives a tab this history, with what it knew of the same entries before.
    pub(super) fn merge(&self, told: Option<&Told>, tab: &mut Tab) {
        let mut history = self.history();
        history.recall(&tab.history);
        if let Some(told) = told {
            self.tell(told, &mut history);
        }
        // The empty page with which a tab begins is no place to go back to.
        let beginning = self.entries[..self.current_index.min(self.entries.len())].iter();
        let beginning = beginning.take_while(|entry| is_blank(&entry.url)).count();
        history.entries.drain(..beginning);
        history.current -= beginning;
        history.simplify();
        tab.history = history;
    }

    fn history(&self) -> History {
        let entry = |entry: &ListedEntry| HistoryEntry {
            id: entry.id,
            url: entry.url.clone(),
            title: entry.title.clone(),
            ..HistoryEntry::default()
        };
        let entries = self.entries.iter().map(entry).collect();
        History { entries, current: self.current_index }
    }

    /// Puts in what the page told.
    fn tell(&self, told: &Told, history: &mut History) {
        let at = self.current_index;
        if at >= history.entries.len() {
            return;
        }
        let frames = self.steps_of_frames(told.known, history);
        let is_of_a_frame = |entry: &usize| frames.contains(entry);
        let entries = &mut history.entries;
        entries[at].state.clone_from(&told.state);
        entries[at].scroll = told.scroll;
        // From the entry to both ends of the document, and one step further: that is another one.
        let mut mark = |side: &mut dyn Iterator<Item = usize>, mut left: usize| {
            for entry in side {
                entries[entry].same_document = is_of_a_frame(&entry) || left > 0;
                if !entries[entry].same_document {
                    break;
                }
                left -= usize::from(!is_of_a_frame(&entry));
            }
        };
        mark(&mut (1..=at).rev(), told.shared.before);
        mark(&mut (at + 1..self.entries.len()), told.shared.after);
    }

    /// The entries at which only a frame moved: they bear the address of the entry before, and there
    /// are more entries of the page's origin than the page counts.
    fn steps_of_frames(&self, known: Around, history: &History) -> Vec<usize> {
        let at = self.current_index;
        let origin = self.entries[at].origin();
        let is_own = |entry: &&ListedEntry| origin.is_some() && entry.origin() == origin;
        let before = self.entries[..at].iter().rev().take_while(is_own).count();
        let after = self.entries[at + 1..].iter().take_while(is_own).count();
        let is_step = |entry: &usize| self.entries[*entry].url == self.entries[*entry - 1].url;
        let pick = |entries: &mut dyn Iterator<Item = usize>, count| {
            let mut steps: Vec<_> = entries.filter(is_step).collect();
            // One that was told before is the surest.
            steps.sort_by_key(|entry| !history.entries[*entry].same_document);
            steps.truncate(count);
            steps
        };
        let mut steps =
            pick(&mut (at - before + 1..=at).rev(), before.saturating_sub(known.before));
        steps.extend(pick(&mut (at + 1..=at + after), after.saturating_sub(known.after)));
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A tab at the entry `current` of those listed.
    fn listed(current: usize, urls: &[&str]) -> Listed {
        let entry = |(at, url): (usize, &&str)| json!({ "id": at + 1, "url": url, "title": "" });
        let entries: Vec<_> = urls.iter().enumerate().map(entry).collect();
        serde_json::from_value(json!({ "currentIndex": current, "entries": entries })).unwrap()
    }

    fn told(known: (usize, usize), shared: (usize, usize)) -> Told {
        let around = |(before, after)| Around { before, after };
        let (known, shared) = (around(known), around(shared));
        let scroll = Scroll { x: 0, y: 7 };
        Told { state: None, stale: false, entry: String::new(), scroll, known, shared }
    }

    /// The entries that share the document of the one before, by a sign.
    fn signs(tab: &Tab) -> String {
        let sign = |entry: &HistoryEntry| if entry.same_document { '=' } else { '|' };
        tab.history.entries.iter().map(sign).collect()
    }

    #[test]
    fn the_page_tells_which_entries_share_its_document() {
        let mut tab = Tab::default();
        // In the middle, a frame moved at `#1`.
        let all =
            ["http://a/", "http://b/", "http://b/#1", "http://b/#1", "http://b/#2", "http://b/c"];
        listed(2, &all).merge(Some(&told((1, 2), (1, 1))), &mut tab);
        assert_eq!(signs(&tab), "||===|");
        assert_eq!(tab.history.here().map(|here| here.scroll.y), Some(7));
        // What was once told is known when the tab is elsewhere.
        listed(0, &all).merge(Some(&told((0, 0), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "||===|");
        assert_eq!(tab.history.entries[2].scroll.y, 7);
        assert_eq!(tab.history.current, 0);
    }

    #[test]
    fn two_documents_at_one_address_are_two() {
        let mut tab = Tab::default();
        let all = ["http://a/", "http://a/", "http://a/"];
        listed(1, &all).merge(Some(&told((1, 1), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "|||");
        listed(2, &all).merge(Some(&told((1, 0), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "||=");
    }

    #[test]
    fn how_a_tab_began_is_no_place_to_go_back_to() {
        let mut tab = Tab::default();
        listed(1, &["about:blank", "/a"]).merge(None, &mut tab);
        assert!(tab.history.is_empty());
        listed(3, &["about:blank", "chrome://newtab/", "/a", "/b"]).merge(None, &mut tab);
        assert_eq!((tab.history.entries.len(), tab.history.current), (2, 1));
        listed(0, &["about:blank", "/a"]).merge(None, &mut tab);
        assert_eq!((tab.history.entries.len(), tab.history.current), (2, 0));
    }

    #[test]
    fn a_list_that_makes_no_sense_does_no_harm() {
        let mut tab = Tab::default();
        listed(9, &["about:blank", "/a"]).merge(Some(&told((9, 9), (9, 9))), &mut tab);
        listed(0, &[]).merge(Some(&told((0, 0), (0, usize::MAX))), &mut tab);
        assert!(tab.history.is_empty());
    }
}
