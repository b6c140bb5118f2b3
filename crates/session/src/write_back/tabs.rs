//! The tabs of a session after a browser somewhere else had them, or some of what they hold.
//!
//! The one idea: what that browser has open at its end is what there is of the sites that it shows. A tab takes the
//! place of the session's own at the same origin, and one that has none is added; but what was never there is as it
//! was: tabs that it was not given, and sessionStorage that no page of it was handed. What was handed over is where it
//! went, or gone. Where it is gone, somebody may have signed out, so what other tabs keep of that site is named; where
//! it has another value, so is what keeps the one that was handed over.

use super::MOST_NAMED;
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::storage::{Entries, Site, StorageKey};
use crate::tab::Tab;
use crate::text::Text;
use std::collections::{BTreeMap, BTreeSet};

/// The most tabs that a session has of a browser elsewhere besides its own.
const MOST_ADDED: usize = 100;

const NOT_THERE: &str = "it is as before, for it was not there; of this site another tab was, which gave up or changed \
                         what it kept: where somebody signed out, this tab may be signed in still";
const TOO_MANY: &str = "expected at most 100 tabs besides the session's own";

/// A tab of the session that a browser elsewhere was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenTab {
    /// Where it stands among the session's.
    pub position: usize,
    /// Where it was.
    pub url: String,
    /// Whose sessionStorage of it a page was handed.
    pub handed: BTreeSet<StorageKey>,
}

/// What a browser elsewhere has open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TabsAfter {
    /// In the order of its windows; `None` when it is not known.
    pub tabs: Option<Vec<Tab>>,
    /// The session's tabs that it was given.
    pub given: Vec<GivenTab>,
    /// Whether those were opened there: then of them those that are not there any more were closed.
    pub were_opened: bool,
}

/// Something of a site that was not handed in.
pub(super) struct Foreign {
    pub(super) kind: ItemKind,
    pub(super) place: String,
    pub(super) site: Site,
}

/// The tabs of a session, and what there is to say of them.
pub(super) struct MergedTabs {
    pub(super) tabs: Vec<Tab>,
    /// What is not taken.
    pub(super) foreign: Vec<Foreign>,
    /// What has no room, and what is kept although its site may have been signed out.
    pub(super) named: Receipt,
}

/// The tabs `before`, after a browser that has `after`. Without `sites` all of that is taken.
pub(super) fn merged(
    before: Vec<Tab>,
    after: TabsAfter,
    sites: Option<&BTreeSet<Site>>,
) -> MergedTabs {
    let TabsAfter { tabs, given, were_opened } = after;
    let mut foreign = Vec::new();
    let Some(tabs) = tabs else {
        // What there was may be there still.
        return MergedTabs { tabs: before, foreign, named: Receipt::default() };
    };
    let shown: BTreeSet<Site> = before.iter().map(|tab| Site::of_origin(&tab.url)).collect();
    let is_taken = |site: &Site| sites.is_none_or(|sites| sites.contains(site));
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for mut tab in tabs {
        let site = Site::of_origin(&tab.url);
        let is_web = origin(&tab.url).is_some();
        if !is_web || !is_taken(&site) && !shown.contains(&site) {
            if is_web {
                let place = tab.place();
                foreign.push(Foreign { kind: ItemKind::Tab, place, site });
            }
            tab.session_storage.retain(|key, _| is_taken(&key.site()));
            left.push(tab);
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
    let (tabs, named) = joined(before, OpenTabs { taken, left }, &given, were_opened);
    MergedTabs { tabs, foreign, named }
}

/// The tabs that a browser elsewhere has open.
struct OpenTabs {
    /// Those that the session has from now on.
    taken: Vec<Tab>,
    /// Those that show nothing of its sites, with what they keep of these.
    left: Vec<Tab>,
}

impl OpenTabs {
    fn all(&self) -> impl Iterator<Item = &Tab> {
        self.taken.iter().chain(&self.left)
    }
}

/// A tab of the session, while those of a browser elsewhere take their places.
#[derive(Default)]
struct Place {
    tab: Tab,
    is_given: bool,
    /// Of which keys it had something that a page there was handed.
    handed: BTreeSet<StorageKey>,
    /// Whether what is there now is a tab of that browser.
    is_taken: bool,
}

impl Place {
    fn of(tab: Tab) -> Self {
        Self { tab, ..Self::default() }
    }

    /// Whether a tab there may be the one that was here: at the same origin, and without something of its own in the place
    /// of what never was there. A tab whose own sessionStorage no page was handed was not there itself, unless all that
    /// were given were opened.
    fn may_be(&self, tab: &Tab, own: &StorageKey, were_opened: bool) -> bool {
        let left = &self.tab.session_storage;
        let was_there = if were_opened { self.is_given } else { !left.contains_key(own) };
        let is_free = !self.is_taken && origin(&self.tab.url) == origin(&tab.url);
        is_free && was_there && left.keys().all(|key| !tab.session_storage.contains_key(key))
    }

    /// A tab there is the one that was here, with what that has besides.
    fn take(&mut self, tab: Tab) {
        let known = std::mem::replace(&mut self.tab, tab);
        self.tab.session_storage.extend(known.session_storage);
        if self.tab.url == known.url {
            self.tab.history = known.history;
        }
    }

    /// A tab there that shows nothing of the session's sites has what a page was handed of this one: it is that one, and
    /// went elsewhere.
    fn may_have_left(&self, tab: &Tab) -> bool {
        !self.is_taken && self.handed.iter().any(|key| tab.session_storage.contains_key(key))
    }

    /// The tab that was here is elsewhere there, and keeps this.
    fn take_kept(&mut self, kept: BTreeMap<StorageKey, Entries>) {
        self.is_taken = true;
        for (key, entries) in kept {
            // What was not handed over is no page's there.
            self.tab.session_storage.entry(key).or_insert(entries);
        }
    }

    /// Whether it was opened there, and closed. What was not handed over keeps it: its page never came.
    fn was_closed(&self) -> bool {
        let keeps_any = self.tab.session_storage.keys().any(StorageKey::is_reachable);
        self.is_given && !self.is_taken && !keeps_any
    }
}

fn joined(
    before: Vec<Tab>,
    open: OpenTabs,
    given: &[GivenTab],
    were_opened: bool,
) -> (Vec<Tab>, Receipt) {
    let mut places: Vec<Place> = before.into_iter().map(Place::of).collect();
    let handed = take_out(&mut places, given);
    let mut named = kept(&places, &handed, &open);
    let OpenTabs { taken, left } = open;
    let homes = find_all(&mut places, &taken, were_opened);
    let (mut front, mut added) = (None, 0);
    for (tab, home) in taken.into_iter().zip(homes) {
        let is_in_front = tab.active && front.is_none();
        let at = match home {
            Some(at) => {
                places[at].take(tab);
                at
            }
            None if were_opened || added < MOST_ADDED => {
                added += 1;
                places.push(Place { is_taken: true, ..Place::of(tab) });
                places.len() - 1
            }
            None => {
                named.push(ReceiptItem::rejected(ItemKind::Tab, tab.place(), TOO_MANY));
                continue;
            }
        };
        front = front.or(is_in_front.then_some(at));
    }
    for tab in left {
        if let Some(place) = places.iter_mut().find(|place| place.may_have_left(&tab)) {
            place.take_kept(tab.session_storage);
        }
    }
    if let Some(front) = front {
        for (at, place) in places.iter_mut().enumerate() {
            place.tab.active = at == front;
        }
    }
    if were_opened {
        close(&mut places);
    }
    (places.into_iter().map(|place| place.tab).collect(), named)
}

/// Takes away the tabs that were closed. A browser without a tab shows nothing: of all of them the one in front stays.
fn close(places: &mut Vec<Place>) {
    let in_front = || places.iter().position(|place| place.tab.active).unwrap_or_default();
    let stays = places.iter().all(Place::was_closed).then(in_front);
    let mut at = 0..;
    places.retain(|place| at.next() == stays || !place.was_closed());
}

/// Takes out of the session's tabs what pages elsewhere were handed of it.
fn take_out(places: &mut [Place], given: &[GivenTab]) -> Vec<(StorageKey, Entries)> {
    let mut handed = Vec::new();
    for one in given {
        // A part that cannot be read any more is no tab of the session's now.
        let place = places.get_mut(one.position).filter(|place| place.tab.url == one.url);
        let Some(place) = place else { continue };
        place.is_given = true;
        for key in &one.handed {
            if let Some(entries) = place.tab.session_storage.remove(key) {
                place.handed.insert(key.clone());
                handed.push((key.clone(), entries));
            }
        }
    }
    handed
}

/// Names what tabs keep of keys of which something that was handed over is gone; and what has the very value that an
/// entry had there, which is nowhere there any more: a page may sign out by an empty one.
fn kept(places: &[Place], handed: &[(StorageKey, Entries)], open: &OpenTabs) -> Receipt {
    let is_gone = |(key, entries): &&(StorageKey, Entries)| {
        entries.0.iter().any(|(entry, value)| {
            let had = handed.iter().filter(|(of, all)| of == key && all.0.contains_key(entry));
            let have = open.all().filter_map(|tab| tab.session_storage.get(key)?.0.get(entry));
            let have: Vec<_> = have.collect();
            // One that was renewed is not gone.
            have.len() < had.count() && !have.contains(&value)
        })
    };
    let gone: BTreeSet<&StorageKey> = handed.iter().filter(is_gone).map(|(key, _)| key).collect();
    let mut changed = BTreeSet::<(&StorageKey, &Text, &Text)>::new();
    for (key, entries) in handed {
        let entries = entries.0.iter().filter(|(_, value)| !value.is_empty());
        changed.extend(entries.map(|(entry, value)| (key, entry, value)));
    }
    for (key, entries) in open.all().flat_map(|tab| &tab.session_storage) {
        for (entry, value) in &entries.0 {
            changed.remove(&(key, entry, value));
        }
    }
    let all = places.iter().flat_map(|place| &place.tab.session_storage);
    let is_old = |(key, entries): &(&StorageKey, &Entries)| {
        let mut entries = entries.0.iter();
        gone.contains(key) || entries.any(|(entry, value)| changed.contains(&(*key, entry, value)))
    };
    let line = |(key, _): (&StorageKey, &Entries)| {
        ReceiptItem::rejected(ItemKind::SessionStorage, key.as_str(), NOT_THERE)
    };
    all.filter(is_old).take(MOST_NAMED).map(line).collect()
}

/// Where the session's tab is that each of the tabs there is. Those that keep something of their own are looked for first,
/// since a page was handed what it may be of.
fn find_all(places: &mut [Place], tabs: &[Tab], were_opened: bool) -> Vec<Option<usize>> {
    let own: Vec<Option<StorageKey>> = tabs.iter().map(own_key).collect();
    let keeps_own =
        |at: usize| own[at].as_ref().is_some_and(|own| tabs[at].session_storage.contains_key(own));
    let mut order: Vec<usize> = (0..tabs.len()).collect();
    order.sort_by_key(|at| !keeps_own(*at));
    let mut homes = vec![None; tabs.len()];
    for at in order {
        let Some(own) = &own[at] else { continue };
        let tab = &tabs[at];
        let free = places.iter().enumerate().filter(|(_, one)| one.may_be(tab, own, were_opened));
        let best = free.min_by_key(|(_, one)| {
            let is_alike = one.handed.contains(own) == keeps_own(at);
            (!is_alike, one.tab.url != tab.url, !one.tab.active)
        });
        homes[at] = best.map(|(home, _)| home);
        if let Some(home) = homes[at] {
            places[home].is_taken = true;
        }
    }
    homes
}

/// The key of what a tab itself keeps.
fn own_key(tab: &Tab) -> Option<StorageKey> {
    Some(StorageKey::first_party(&origin(&tab.url)?))
}

/// The origin of an address of the web.
fn origin(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests;
