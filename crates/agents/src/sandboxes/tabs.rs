//! What the browser of an agent is given of the tabs of the session that a sandbox has, and what its maker hears of
//! that.
//!
//! The one idea: tabs that open by themselves are in the way of a program, which takes the first page that it finds
//! for its own. So what logs in, sessionStorage, waits for the first page or frame that it is of, whoever opens that;
//! where the tabs were is said by a variable, and only a browser that a person starts opens them. Which tabs of the
//! session these are is remembered: of the others nothing changes, whatever becomes of these.

use baton_browser::keeper::HandedOver;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem};
use baton_session::write_back::{GivenTab, TabsAfter};
use baton_session::{Entries, StorageKey, Tab};

/// The variable with the addresses of the tabs, a line each.
pub(super) const ADDRESSES: &str = "BATON_TABS";
/// How many tabs are given at most: a sandbox has bounds.
const MOST: usize = 50;
/// How long their addresses may be together, in bytes: a variable has bounds (`execve(2)`).
const MOST_ADDRESSES: usize = 64 << 10;
/// How much sessionStorage is given at most, in bytes of UTF-16.
const MOST_BYTES: usize = 16 << 20;

const OPENED: &str = "BATON_TABS names it; a browser that a person starts opens it";
const FILLED: &str = "the first page of its origin gets it";
const FILLED_IN_A_FRAME: &str = "the first frame that has this partition gets it";
const OF_NO_DOCUMENT: &str = "no document has this partition again: it ended with its frame";
const TOO_MUCH: &str =
    "a sandbox gets 50 tabs and 16 MiB of sessionStorage at most: baton sessions resume brings all";

/// The tabs that are given, in their order, with what their pages get.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HandedTabs {
    tabs: Vec<Tab>,
    /// Where each of them stands among the session's.
    positions: Vec<usize>,
}

impl HandedTabs {
    pub(super) fn of(tabs: &[Tab]) -> Self {
        // The one in front is among them, and has the first word in what fits.
        let mut order: Vec<usize> =
            (0..tabs.len()).filter(|at| is_address(&tabs[*at].url)).collect();
        order.sort_by_key(|at| !tabs[*at].active);
        let mut left = MOST_ADDRESSES;
        let mut positions: Vec<usize> = order
            .into_iter()
            .filter(|at| {
                let length = tabs[*at].url.len() + 1;
                let fits = length <= left;
                left -= if fits { length } else { 0 };
                fits
            })
            .take(MOST)
            .collect();
        positions.sort_unstable();
        let given: Vec<&Tab> = positions.iter().map(|at| &tabs[*at]).collect();
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by_key(|at| !given[*at].active);
        let mut left = MOST_BYTES;
        let mut taken: Vec<Tab> = given.iter().map(|tab| bare(tab)).collect();
        // Frames have the last word in it.
        let pages = order.iter().map(|at| (*at, true));
        for (at, of_pages) in pages.chain(order.iter().map(|at| (*at, false))) {
            for (key, entries) in &given[at].session_storage {
                let size = size(entries);
                let is_one = key.is_first_party() == of_pages && key.is_reachable();
                if is_one && !entries.is_empty() && size <= left {
                    left -= size;
                    taken[at].session_storage.insert(key.clone(), entries.clone());
                }
            }
        }
        Self { tabs: taken, positions }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tabs.is_empty()
    }

    /// For a wrapper.
    pub(super) fn to_tabs(&self) -> Vec<Tab> {
        self.tabs.clone()
    }

    /// Which tabs of the session they are, in the order in which a wrapper counts them; of none a page was handed anything
    /// yet.
    pub(super) fn given(&self) -> Vec<GivenTab> {
        let all = self.positions.iter().zip(&self.tabs);
        let given = |(position, tab): (&usize, &Tab)| {
            let (position, url) = (*position, tab.url.clone());
            GivenTab { position, url, ..GivenTab::default() }
        };
        all.map(given).collect()
    }

    /// What the variable says; none where there is no tab.
    pub(super) fn addresses(&self) -> Option<String> {
        let all: Vec<&str> = self.tabs.iter().map(|tab| tab.url.as_str()).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// A line of the receipt of a profile, as it is where a wrapper has the tabs.
    pub(super) fn settled(&self, item: ReceiptItem) -> ReceiptItem {
        if item.outcome != Outcome::NotPortable {
            return item;
        }
        let (is_given, waits, never) = match item.kind {
            ItemKind::Tab => {
                let is_it = |tab: &Tab| tab.place() == item.place;
                (self.tabs.iter().any(is_it), OPENED, TOO_MUCH)
            }
            ItemKind::SessionStorage => {
                let key = StorageKey::new(item.place.as_str());
                let is_given = self.tabs.iter().any(|tab| tab.session_storage.contains_key(&key));
                let waits = if key.is_first_party() { FILLED } else { FILLED_IN_A_FRAME };
                (is_given, waits, if key.is_reachable() { TOO_MUCH } else { OF_NO_DOCUMENT })
            }
            _ => return item,
        };
        if is_given {
            ReceiptItem::pending(item.kind, item.place, waits)
        } else if item.kind == ItemKind::Tab && !item.place.starts_with("http") {
            item
        } else {
            ReceiptItem::not_portable(item.kind, item.place, never)
        }
    }
}

/// Whether it is one of the web, and a line.
fn is_address(url: &str) -> bool {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    is_web && !url.contains(char::is_control)
}

/// Where it is, and nothing else.
fn bare(tab: &Tab) -> Tab {
    Tab { url: tab.url.clone(), active: tab.active, ..Tab::default() }
}

fn size(entries: &Entries) -> usize {
    entries.0.iter().map(|(key, value)| (key.len() + value.len()) * 2).sum()
}

/// What a browser had open, by its profile, of those that it was given, and by the notes of its wrapper. A profile that
/// tells of no tab does not say that none was open.
pub(super) fn after(
    tabs: Vec<Tab>,
    mut given: Vec<GivenTab>,
    notes: Option<HandedOver>,
) -> TabsAfter {
    let HandedOver { areas, tabs: were_opened } = notes.unwrap_or_default();
    for (tab, key) in areas {
        // What it says of others is none of the wrapper's notes.
        if let Some(one) = given.get_mut(tab) {
            one.handed.insert(key);
        }
    }
    TabsAfter { tabs: (!tabs.is_empty()).then_some(tabs), given, were_opened }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(url: &str, active: bool, key: &str, bytes: usize) -> Tab {
        let entries = [("a", "x".repeat(bytes))].into_iter().collect();
        let session_storage = [(StorageKey::new(key), entries)].into();
        Tab { url: url.to_owned(), active, session_storage, ..Tab::default() }
    }

    #[test]
    fn the_tab_in_front_has_the_first_word_in_what_fits() {
        let large = MOST_BYTES / 2 - 100;
        let mut all = vec![
            tab("https://a.test/", false, "https://a.test/", large),
            tab("about:blank", false, "https://a.test/", 1),
        ];
        all.extend(
            (0..60).map(|_| tab("https://b.test/", false, "https://b.test/^0https://a.test", 1)),
        );
        all.push(tab("https://c.test/", true, "https://c.test/", large));
        let given = HandedTabs::of(&all);
        assert_eq!(given.tabs.len(), MOST);
        assert_eq!(given.tabs.last().unwrap().url, "https://c.test/");
        assert_eq!(given.tabs.last().unwrap().session_storage.len(), 1);
        assert!(given.tabs[0].session_storage.is_empty(), "there is no room for it");
        assert_eq!(given.tabs[1].session_storage.len(), 1, "a small one of a frame fits");
        // Which of the session's they are: those that are too many are none of them.
        let positions: Vec<usize> = given.given().iter().map(|tab| tab.position).collect();
        let expected: Vec<usize> = [0].into_iter().chain(2..50).chain([62]).collect();
        assert_eq!(positions, expected);
        let long = format!("https://a.test/{}", "x".repeat(MOST_ADDRESSES));
        let long =
            [tab(&long, true, "https://a.test/", 1), tab("https://a.test/a\nb", false, "k", 1)];
        assert!(HandedTabs::of(&long).is_empty(), "no variable could name it");
    }

    #[test]
    fn what_pages_have_goes_before_what_frames_have() {
        let (of_frame, of_page) = ("https://b.test/^0https://a.test", "https://a.test/");
        let mut front = tab("https://a.test/", true, of_frame, MOST_BYTES / 2 - 100);
        let nonce = ("https://c.test/^1a^2b", "1");
        for (key, value) in [nonce, ("https://b.test/^31", "2")] {
            let entries = [("a", value)].into_iter().collect();
            front.session_storage.insert(StorageKey::new(key), entries);
        }
        let other = tab("https://a.test/2", false, of_page, MOST_BYTES / 4);
        let given = HandedTabs::of(&[front, other]);
        let keys = |at: usize| -> Vec<&str> {
            given.tabs[at].session_storage.keys().map(StorageKey::as_str).collect()
        };
        assert_eq!((keys(0), keys(1)), (vec!["https://b.test/^31"], vec![of_page]));
    }

    #[test]
    fn what_the_notes_say_of_a_tab_that_was_given_counts_and_nothing_else() {
        let all = [
            tab("about:blank", false, "https://a.test/", 1),
            tab("https://a.test/", true, "https://a.test/", 1),
        ];
        let notes =
            HandedOver::read("0 https://a.test/\n7 https://a.test/\nhttps://a.test/\ntabs\n");
        let after = after(Vec::new(), HandedTabs::of(&all).given(), Some(notes));
        let handed = [StorageKey::new("https://a.test/")].into();
        let given = GivenTab { position: 1, url: "https://a.test/".to_owned(), handed };
        assert_eq!((after.given, after.were_opened), (vec![given], true));
    }

    #[test]
    fn a_profile_that_tells_of_no_tab_does_not_say_what_is_open() {
        assert_eq!(after(Vec::new(), Vec::new(), None).tabs, None);
        let open = vec![tab("https://logout.test/", true, "https://a.test/", 1)];
        assert_eq!(after(open.clone(), Vec::new(), None).tabs, Some(open));
    }

    #[test]
    fn a_receipt_says_what_waits_for_a_page_and_what_does_not_come() {
        let of_frame = "https://b.test/^0https://a.test";
        let given = HandedTabs::of(&[
            tab("https://a.test/", true, "https://a.test/", 1),
            tab("https://a.test/", false, of_frame, 1),
        ]);
        let line = |kind, place: &str| {
            let settled =
                given.settled(ReceiptItem::not_portable(kind, place, "no profile has it"));
            (settled.outcome, settled.reason.unwrap())
        };
        let pending = |reason: &str| (Outcome::Pending, reason.to_owned());
        let never = |reason: &str| (Outcome::NotPortable, reason.to_owned());
        assert_eq!(line(ItemKind::Tab, "https://a.test/"), pending(OPENED));
        assert_eq!(line(ItemKind::SessionStorage, "https://a.test/"), pending(FILLED));
        assert_eq!(line(ItemKind::SessionStorage, "https://b.test/"), never(TOO_MUCH));
        assert_eq!(line(ItemKind::SessionStorage, of_frame), pending(FILLED_IN_A_FRAME));
        let other = "https://c.test/^0https://a.test";
        assert_eq!(line(ItemKind::SessionStorage, other), never(TOO_MUCH));
        let nonce = "https://c.test/^1a^2b";
        assert_eq!(line(ItemKind::SessionStorage, nonce), never(OF_NO_DOCUMENT));
        assert_eq!(line(ItemKind::Environment, "viewport"), never("no profile has it"));
    }
}
