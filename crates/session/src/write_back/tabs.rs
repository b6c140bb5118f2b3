//! The tabs of a session after a browser somewhere else had them, or some of what they hold.
//!
//! The one idea: what that browser has open at its end is what there is of the sites that it shows. A tab takes the
//! place of the session's own at the same origin, and one that has none is added; the session's other tabs were
//! never there, and are as they were. But sessionStorage that was handed over is where it went, or gone.

use crate::receipt::ItemKind;
use crate::storage::{Site, StorageKey};
use crate::tab::Tab;
use std::collections::BTreeSet;

/// The most tabs that a session has of a browser elsewhere besides its own.
const MOST_ADDED: usize = 100;

/// What a browser elsewhere has open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TabsAfter {
    /// In the order of its windows; none when it is not known.
    pub tabs: Vec<Tab>,
    /// The sessionStorage that was handed over to one of its tabs.
    pub handed_over: BTreeSet<StorageKey>,
    /// Whether the session's tabs were opened there: then those that are not there any more were closed.
    pub were_opened: bool,
}

/// Something of a site that was not handed in.
pub(super) struct Foreign {
    pub(super) kind: ItemKind,
    pub(super) place: String,
    pub(super) site: Site,
}

/// The tabs `before`, after a browser that has `after`; and what of that is not taken. Without `sites` all is.
pub(super) fn merged(
    before: Vec<Tab>,
    after: TabsAfter,
    sites: Option<&BTreeSet<Site>>,
) -> (Vec<Tab>, Vec<Foreign>) {
    let TabsAfter { tabs, handed_over, were_opened } = after;
    let mut foreign = Vec::new();
    let shown: BTreeSet<Site> = before.iter().map(|tab| Site::of_origin(&tab.url)).collect();
    let mut taken = Vec::new();
    for mut tab in tabs.into_iter().filter(|tab| origin(&tab.url).is_some()) {
        let site = Site::of_origin(&tab.url);
        let is_taken = |site: &Site| sites.is_none_or(|sites| sites.contains(site));
        if !is_taken(&site) && !shown.contains(&site) {
            let place = tab.place();
            foreign.push(Foreign { kind: ItemKind::Tab, place, site });
            continue;
        }
        tab.session_storage.retain(|key, entries| {
            if is_taken(&key.site()) {
                return true;
            }
            if !entries.is_empty() {
                let (kind, place) = (ItemKind::SessionStorage, key.to_string());
                foreign.push(Foreign { kind, place, site: key.site() });
            }
            false
        });
        taken.push(tab);
    }
    (joined(before, taken, &handed_over, were_opened), foreign)
}

fn joined(
    before: Vec<Tab>,
    tabs: Vec<Tab>,
    handed_over: &BTreeSet<StorageKey>,
    were_opened: bool,
) -> Vec<Tab> {
    if tabs.is_empty() {
        // Nothing is known of what was open: what there was may be there still.
        return before;
    }
    if were_opened {
        return tabs;
    }
    let mut joined = before;
    for tab in &mut joined {
        tab.session_storage.retain(|key, _| !handed_over.contains(key));
    }
    let front = tabs.iter().position(|tab| tab.active);
    let mut places: Vec<usize> = Vec::new();
    let mut added = 0;
    for tab in tabs {
        let its_origin = origin(&tab.url);
        let is_free =
            |(at, one): &(usize, &Tab)| origin(&one.url) == its_origin && !places.contains(at);
        let mut own: Vec<_> = joined.iter().enumerate().filter(is_free).collect();
        // The one in front was the one that was handed over.
        own.sort_by_key(|(_, one)| !one.active);
        let own = own.first().map(|(at, _)| *at);
        match own {
            Some(at) => {
                let known = std::mem::replace(&mut joined[at], tab);
                let tab = &mut joined[at];
                for (key, entries) in known.session_storage {
                    tab.session_storage.entry(key).or_insert(entries);
                }
                if tab.url == known.url {
                    tab.history = known.history;
                }
                places.push(at);
            }
            None if added < MOST_ADDED => {
                added += 1;
                joined.push(tab);
                places.push(joined.len() - 1);
            }
            None => places.push(usize::MAX),
        }
    }
    let front = front.and_then(|front| places.get(front)).filter(|at| **at < joined.len());
    if let Some(front) = front {
        for (at, tab) in joined.iter_mut().enumerate() {
            tab.active = at == *front;
        }
    }
    joined
}

/// The origin of an address of the web.
fn origin(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Entries;
    use crate::text::Text;

    fn tab(url: &str, active: bool, stored: &[(&str, &str)]) -> Tab {
        let areas = stored.iter().map(|(origin, token)| {
            (StorageKey::first_party(origin), [("token", *token)].into_iter().collect())
        });
        Tab { url: url.to_owned(), active, session_storage: areas.collect(), ..Tab::default() }
    }

    fn before() -> Vec<Tab> {
        vec![
            tab("https://shop.test/list", false, &[("https://shop.test", "list")]),
            tab("https://shop.test/cart", true, &[("https://shop.test", "cart")]),
            tab("https://news.test/", false, &[("https://news.test", "reader")]),
        ]
    }

    fn handed(origins: &[&str]) -> BTreeSet<StorageKey> {
        origins.iter().map(|origin| StorageKey::first_party(origin)).collect()
    }

    /// Each tab: where, whether in front, and its tokens.
    fn told(tabs: &[Tab]) -> Vec<String> {
        let token = |entries: &Entries| entries.0[&Text::from("token")].to_lossy();
        let areas = |tab: &Tab| tab.session_storage.values().map(token).collect::<Vec<_>>();
        let front = |tab: &Tab| if tab.active { "*" } else { "" };
        tabs.iter().map(|tab| format!("{}{} {:?}", front(tab), tab.url, areas(tab))).collect()
    }

    #[test]
    fn a_tab_takes_the_place_of_the_sessions_own_and_the_others_stay() {
        let open = vec![
            tab("https://shop.test/paid", false, &[("https://shop.test", "new")]),
            tab("https://shop.test/more", false, &[]),
            tab("https://shop.test/help", true, &[]),
            tab("about:blank", false, &[]),
        ];
        let handed_over = handed(&["https://shop.test"]);
        let after = TabsAfter { tabs: open, handed_over, were_opened: false };
        let (tabs, _) = merged(before(), after, None);
        assert_eq!(
            told(&tabs),
            [
                "https://shop.test/more []",
                "https://shop.test/paid [\"new\"]",
                "https://news.test/ [\"reader\"]",
                "*https://shop.test/help []",
            ]
        );
    }

    #[test]
    fn what_was_handed_over_and_is_nowhere_any_more_is_gone() {
        let after = TabsAfter {
            tabs: vec![tab("https://news.test/world", true, &[])],
            handed_over: handed(&["https://shop.test"]),
            were_opened: false,
        };
        let (tabs, _) = merged(before(), after, None);
        assert_eq!(
            told(&tabs),
            [
                "https://shop.test/list []",
                "https://shop.test/cart []",
                "*https://news.test/world [\"reader\"]",
            ]
        );
        // Where nothing is known of what was open, nothing is given up.
        let after =
            TabsAfter { handed_over: handed(&["https://shop.test"]), ..TabsAfter::default() };
        assert_eq!(merged(before(), after, None).0, before());
    }

    #[test]
    fn tabs_that_were_opened_there_are_what_is_open_there() {
        let open = vec![tab("https://news.test/world", true, &[])];
        let after =
            TabsAfter { tabs: open.clone(), handed_over: BTreeSet::new(), were_opened: true };
        assert_eq!(merged(before(), after, None).0, open);
    }

    #[test]
    fn nothing_comes_of_sites_that_were_not_handed_in() {
        let sites: BTreeSet<Site> = [Site::of_host("shop.test")].into();
        let areas = [("https://shop.test", "new"), ("https://bank.test", "planted")];
        let open = vec![
            tab("https://bank.test/", true, &[("https://bank.test", "planted")]),
            tab("https://shop.test/a", false, &areas),
            tab("https://news.test/a", false, &[("https://news.test", "new")]),
        ];
        let after = TabsAfter { tabs: open, handed_over: BTreeSet::new(), were_opened: true };
        let (tabs, foreign) = merged(before(), after, Some(&sites));
        assert_eq!(told(&tabs), ["https://shop.test/a [\"new\"]", "https://news.test/a []"]);
        let foreign: Vec<_> = foreign.iter().map(|one| (one.kind, &*one.place)).collect();
        assert_eq!(
            foreign,
            [
                (ItemKind::Tab, "https://bank.test/"),
                (ItemKind::SessionStorage, "https://bank.test/"),
                (ItemKind::SessionStorage, "https://news.test/"),
            ]
        );
    }
}
