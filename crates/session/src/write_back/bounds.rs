//! What of a session there is room for in a snapshot, after a browser somewhere else had it.
//!
//! The one idea: whatever ran there could store as much as it liked, and that costs itself alone. What is too much is
//! as it was before, and named; all else is written, a token that was renewed among it. So a sandbox always ends with
//! what a snapshot takes.

use super::MOST_NAMED;
use crate::cookie::{Cookie, CookieIdentity};
use crate::json;
use crate::parts::{self, Part, PartKind, PartRef};
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::state::State;
use crate::storage::{Site, StorageKey};
use crate::tab::{History, Tab};
use crate::text::Text;
use std::collections::{BTreeMap, BTreeSet};

/// How much one snapshot holds at most. The store says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of one part.
    pub part_bytes: u64,
    /// The most parts.
    pub parts: usize,
    /// The most bytes of the list of them.
    pub list_bytes: u64,
}

/// How many parts a snapshot may have beside those of a state: its picture, the icon of a site, what sign-ins changed,
/// and what was not read.
const BESIDE: usize = 4;
/// What a part adds to the list beside its name, in bytes: its kind, the digits of its hash and its size.
const LINE: u64 = 128;
/// How much is shown of the name of something that has no room, in characters.
const SHOWN: usize = 200;

const NO_ROOM: &str = "there is no room for it in a snapshot beside the others";

impl Bounds {
    /// What is left of it beside parts that are carried over as they are.
    #[must_use]
    pub fn beside(mut self, carried: &[PartRef]) -> Self {
        let lines: u64 = carried.iter().map(|part| line_of(&part.name)).sum();
        self.parts = self.parts.saturating_sub(carried.len());
        self.list_bytes = self.list_bytes.saturating_sub(lines);
        self
    }

    /// Whether a snapshot holds all of a state.
    pub fn hold(&self, state: &State) -> bool {
        let parts = parts::split(state);
        let is_twice =
            |pair: &[Part]| (pair[0].kind, &pair[0].name) == (pair[1].kind, &pair[1].name);
        let list: u64 = parts.iter().map(line).sum();
        parts.len() + BESIDE <= self.parts
            && list <= self.list_bytes
            && parts.iter().all(|part| self.takes(part))
            && !parts.windows(2).any(is_twice)
    }

    fn takes(&self, part: &Part) -> bool {
        part.bytes.len() as u64 <= self.part_bytes
    }

    fn too_large(&self) -> String {
        format!("expected at most {} bytes in a snapshot, found more", self.part_bytes)
    }
}

/// The state `after`, as far as a snapshot holds it beside what it held `before`: what is too much is as before, and
/// has a line.
pub fn fitted(before: &State, mut after: State, bounds: &Bounds) -> (State, Receipt) {
    let mut left = TooMuch::default();
    fit_cookies(before, &mut after, bounds, &mut left);
    after.tabs.retain_mut(|tab| fit_tab(tab, bounds, &mut left));
    if after.tabs.is_empty() {
        // A browser without a tab shows nothing.
        after.tabs.clone_from(&before.tabs);
    }
    let mut known = by_place(parts::split(before));
    let (mut kept, mut new) = (Vec::new(), Vec::new());
    for (place, part) in by_place(parts::split(&after)) {
        let held = known.remove(&place);
        if bounds.takes(&part) || held.as_ref() == Some(&part) {
            let to = if held.is_some() { &mut kept } else { &mut new };
            to.push(part);
        } else {
            left.leave(&part, &bounds.too_large());
            kept.extend(held);
        }
    }
    let taken = choose(&kept, new, bounds, &mut left);
    let (state, _) = parts::join(kept.iter().chain(&taken));
    (state, left.receipt())
}

/// The parts by what they hold; of those that are said to hold the same the last one.
fn by_place(parts: Vec<Part>) -> BTreeMap<(PartKind, String), Part> {
    parts.into_iter().map(|part| ((part.kind, part.name.clone()), part)).collect()
}

/// How many bytes a part takes of the list.
fn line(part: &Part) -> u64 {
    line_of(&part.name)
}

fn line_of(name: &str) -> u64 {
    json::bytes(name).len() as u64 + LINE
}

/// Those of the new parts for which there is room beside the others.
fn choose(kept: &[Part], new: Vec<Part>, bounds: &Bounds, left: &mut TooMuch) -> Vec<Part> {
    let mut places = bounds.parts.saturating_sub(kept.len() + BESIDE);
    let mut bytes = bounds.list_bytes.saturating_sub(kept.iter().map(line).sum());
    let mut taken = Vec::new();
    for part in in_turn(new) {
        let line = line(&part);
        if places > 0 && line <= bytes {
            places -= 1;
            bytes -= line;
            taken.push(part);
        } else {
            left.leave(&part, NO_ROOM);
        }
    }
    taken
}

/// New parts in the order in which they find room, which the parts of one site, or of one key of it, take from no other:
/// first what is of no site, then one of each site after the other, its cookies before all, and one of each of its keys
/// before the second of any.
fn in_turn(parts: Vec<Part>) -> Vec<Part> {
    let mut of_keys: BTreeMap<(Option<Site>, Option<StorageKey>), usize> = BTreeMap::new();
    let mut ranked: Vec<(Option<Site>, usize, Part)> = Vec::with_capacity(parts.len());
    for part in parts {
        let (site, key) = (part.site(), part.key());
        let rank = of_keys.entry((site.clone(), key)).or_default();
        ranked.push((site, *rank, part));
        *rank += 1;
    }
    // Parts of one rank stay in the order of their kinds and names.
    ranked.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
    let mut of_sites: BTreeMap<Site, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, Part)> = Vec::with_capacity(ranked.len());
    for (site, _, part) in ranked {
        let turn = match site {
            Some(site) => {
                let turn = of_sites.entry(site).or_default();
                *turn += 1;
                *turn
            }
            None => 0,
        };
        turns.push((turn, part));
    }
    // And those of one turn in that of their sites.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, part)| part).collect()
}

/// Takes out cookies of sites that have more than one part holds: of those that were not there before, the largest.
fn fit_cookies(before: &State, after: &mut State, bounds: &Bounds, left: &mut TooMuch) {
    let too_large = parts::split_cookies(&after.cookies).filter(|part| !bounds.takes(part));
    let too_large: BTreeSet<String> = too_large.map(|part| part.name).collect();
    if too_large.is_empty() {
        return;
    }
    let known: BTreeSet<CookieIdentity<'_>> = before.cookies.iter().map(Cookie::identity).collect();
    let mut order: Vec<(bool, u64, usize)> = Vec::new();
    for (at, cookie) in after.cookies.iter().enumerate() {
        if too_large.contains(cookie.site().as_str()) {
            let is_new = !known.contains(&cookie.identity());
            // With the comma behind it.
            order.push((is_new, json::bytes(cookie).len() as u64 + 1, at));
        }
    }
    order.sort_unstable();
    // Without the brackets around them.
    let (most, mut rooms, mut gone) =
        (bounds.part_bytes.saturating_sub(2), BTreeMap::new(), BTreeSet::new());
    for (_, size, at) in order {
        let cookie = &after.cookies[at];
        let room = rooms.entry(cookie.site()).or_insert(most);
        if size <= *room {
            *room -= size;
        } else {
            left.name(ItemKind::Cookie, &cookie.place(), &bounds.too_large());
            gone.insert(at);
        }
    }
    let cookies = std::mem::take(&mut after.cookies).into_iter().enumerate();
    after.cookies =
        cookies.filter(|(at, _)| !gone.contains(at)).map(|(_, cookie)| cookie).collect();
}

/// Takes out of a tab that is larger than a part what it keeps, the largest first. Says whether it fits then.
fn fit_tab(tab: &mut Tab, bounds: &Bounds, left: &mut TooMuch) -> bool {
    let size = |tab: &Tab| json::bytes(tab).len() as u64;
    let mut now = size(tab);
    if now <= bounds.part_bytes {
        return true;
    }
    let areas = tab.session_storage.iter().map(|(key, entries)| {
        // With the colon and the comma.
        let size = json::bytes(key).len() + json::bytes(entries).len() + 2;
        (size as u64, key.clone())
    });
    let mut areas: Vec<(u64, StorageKey)> = areas.collect();
    areas.sort_unstable();
    while now > bounds.part_bytes
        && let Some((area, key)) = areas.pop()
    {
        tab.session_storage.remove(&key);
        now = now.saturating_sub(area);
        left.name(ItemKind::SessionStorage, key.as_str(), &bounds.too_large());
    }
    if size(tab) > bounds.part_bytes && !tab.history.is_empty() {
        tab.history = History::default();
        left.name(ItemKind::History, &tab.place(), &bounds.too_large());
    }
    let fits = size(tab) <= bounds.part_bytes;
    if !fits {
        left.name(ItemKind::Tab, &tab.place(), &bounds.too_large());
    }
    fits
}

/// What found no room.
#[derive(Default)]
struct TooMuch {
    named: Receipt,
    /// How much is not named.
    more: usize,
}

impl TooMuch {
    fn leave(&mut self, part: &Part, why: &str) {
        let name = &part.name;
        let of_key = || serde_json::from_str::<(StorageKey, Text)>(name).ok();
        let (kind, place) = match part.kind {
            PartKind::Cookies => (ItemKind::Cookie, None),
            PartKind::LocalStorage => (ItemKind::LocalStorage, None),
            PartKind::Database | PartKind::Raw => (ItemKind::IndexedDb, of_key()),
            PartKind::Cache => (ItemKind::Cache, of_key()),
            PartKind::Files => (ItemKind::Files, None),
            PartKind::ServiceWorkers => (ItemKind::ServiceWorker, None),
            PartKind::Tab => (ItemKind::Tab, None),
            PartKind::Environment | PartKind::Certificates | PartKind::Egress => {
                (ItemKind::Environment, None)
            }
            PartKind::Preview | PartKind::Unread | PartKind::Icon | PartKind::SignIns => {
                (ItemKind::Part, None)
            }
        };
        let place = place.map_or_else(|| name.clone(), |(key, text)| key.place_of(&text));
        self.name(kind, &place, why);
    }

    fn name(&mut self, kind: ItemKind, place: &str, why: &str) {
        if self.named.items.len() < MOST_NAMED {
            let place: String = place.chars().take(SHOWN).collect();
            self.named.push(ReceiptItem::rejected(kind, place, why));
        } else {
            self.more += 1;
        }
    }

    /// The lines of what is named, and how much there is besides.
    fn receipt(mut self) -> Receipt {
        if self.more > 0 {
            let place = format!("{} more", self.more);
            self.named.push(ReceiptItem::rejected(ItemKind::Part, place, NO_ROOM));
        }
        self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::OriginState;
    use crate::storage::Entries;

    const BOUNDS: Bounds = Bounds { part_bytes: 4000, parts: 24, list_bytes: 1 << 20 };

    fn entries(value: &str) -> Entries {
        [("token", value)].into_iter().collect()
    }

    fn stored(origins: &[(&str, &str)]) -> State {
        let origin =
            |value: &str| OriginState { local_storage: entries(value), ..OriginState::default() };
        let origins =
            origins.iter().map(|(at, value)| (StorageKey::first_party(at), origin(value)));
        State { origins: origins.collect(), ..State::default() }
    }

    fn cookie(name: &str, value: &str) -> Cookie {
        let json = serde_json::json!({ "name": name, "value": value, "domain": "shop.test" });
        serde_json::from_value(json).unwrap()
    }

    fn token(state: &State, origin: &str) -> Option<String> {
        let origin = state.origins.get(&StorageKey::first_party(origin))?;
        Some(origin.local_storage.0[&Text::from("token")].to_lossy())
    }

    fn places(receipt: &Receipt) -> Vec<&str> {
        receipt.items.iter().map(|item| item.place.as_str()).collect()
    }

    #[test]
    fn of_very_many_keys_those_that_were_there_and_some_of_each_site_find_room() {
        let before = stored(&[("https://shop.test", "old"), ("https://news.test", "old")]);
        let mut after = stored(&[("https://shop.test", "new"), ("https://www.news.test", "new")]);
        for number in 0..100 {
            let key = StorageKey::first_party(&format!("https://a{number:03}.shop.test"));
            after.origins.entry(key).or_default().local_storage = entries("many");
        }
        after.cookies = vec![cookie("sid", "rotated")];
        assert!(!BOUNDS.hold(&after));
        let (state, left) = fitted(&before, after, &BOUNDS);
        assert!(BOUNDS.hold(&state));
        assert_eq!(state.cookies[0].value, "rotated");
        assert_eq!(token(&state, "https://shop.test").as_deref(), Some("new"));
        assert_eq!(token(&state, "https://www.news.test").as_deref(), Some("new"));
        // What was removed there is not back because there was too much of something else.
        assert_eq!(token(&state, "https://news.test"), None);
        let kept = state.origins.len() - 2;
        assert_eq!(left.items.len(), 100 - kept);
        assert_eq!(places(&left)[0], format!("https://a{kept:03}.shop.test/"), "in their order");
    }

    #[test]
    fn what_is_too_large_is_as_before_and_costs_nothing_else() {
        let large = "x".repeat(5000);
        let before = stored(&[("https://shop.test", "old"), ("https://news.test", "old")]);
        let after = stored(&[
            ("https://shop.test", &large),
            ("https://news.test", "new"),
            ("https://m.shop.test", &large),
        ]);
        let (state, left) = fitted(&before, after, &BOUNDS);
        assert_eq!(token(&state, "https://shop.test").as_deref(), Some("old"));
        assert_eq!(token(&state, "https://news.test").as_deref(), Some("new"));
        assert_eq!(token(&state, "https://m.shop.test"), None);
        assert_eq!(places(&left), ["https://m.shop.test/", "https://shop.test/"]);
        // What was so large before is no harm of anybody's.
        let (state, left) = fitted(
            &stored(&[("https://a.test", &large)]),
            stored(&[("https://a.test", &large)]),
            &BOUNDS,
        );
        assert_eq!((token(&state, "https://a.test"), left), (Some(large), Receipt::default()));
    }

    #[test]
    fn of_too_many_cookies_of_a_site_those_that_are_new_and_large_have_no_room() {
        let before = State { cookies: vec![cookie("sid", "old")], ..State::default() };
        let large = "x".repeat(1200);
        let large = large.as_str();
        let all = [("a", large), ("b", "small"), ("c", large), ("sid", large), ("d", large)];
        let cookies = all.map(|(name, value)| cookie(name, value)).to_vec();
        let (state, left) = fitted(&before, State { cookies, ..State::default() }, &BOUNDS);
        let names: Vec<&str> = state.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "sid"], "in the order in which they are sent");
        assert_eq!(places(&left), ["shop.test/ c", "shop.test/ d"]);
    }

    #[test]
    fn a_tab_that_keeps_too_much_stays_without_the_most_of_it() {
        let area = |origin: &str, size: usize| {
            (StorageKey::first_party(origin), entries(&"x".repeat(size)))
        };
        let areas = [area("https://shop.test", 100), area("https://ads.test", 5000)].into();
        let url = "https://shop.test/".to_owned();
        let tab = Tab { url, active: true, session_storage: areas, ..Tab::default() };
        let endless =
            Tab { url: format!("https://shop.test/{}", "x".repeat(5000)), ..Tab::default() };
        let after = State { tabs: vec![tab, endless], ..State::default() };
        let (state, left) = fitted(&State::default(), after, &BOUNDS);
        let [tab] = &state.tabs[..] else { panic!("{} tabs", state.tabs.len()) };
        let keys: Vec<&str> = tab.session_storage.keys().map(StorageKey::as_str).collect();
        assert_eq!(keys, ["https://shop.test/"]);
        let kinds: Vec<ItemKind> = left.items.iter().map(|item| item.kind).collect();
        assert_eq!(kinds, [ItemKind::SessionStorage, ItemKind::Tab]);
    }

    #[test]
    fn long_names_take_no_more_room_than_the_list_has() {
        let bounds = Bounds { list_bytes: 3000, ..BOUNDS };
        let long = format!("https://a{}.test", "x".repeat(3000));
        let after = stored(&[("https://shop.test", "new"), (&long, "new")]);
        let (state, left) = fitted(&State::default(), after, &bounds);
        assert!(bounds.hold(&state));
        assert_eq!(token(&state, "https://shop.test").as_deref(), Some("new"));
        assert_eq!(left.items.len(), 1);
        assert_eq!(left.items[0].place.chars().count(), SHOWN);
    }

    #[test]
    fn very_many_that_have_no_room_are_named_up_to_a_bound() {
        let mut after = State::default();
        for number in 0..1000 {
            let key = StorageKey::first_party(&format!("https://a{number:03}.shop.test"));
            after.origins.entry(key).or_default().local_storage = entries("many");
        }
        let (state, left) = fitted(&State::default(), after, &BOUNDS);
        assert_eq!(left.items.len(), MOST_NAMED + 1);
        let more = 1000 - state.origins.len() - MOST_NAMED;
        assert_eq!(left.items.last().unwrap().place, format!("{more} more"));
    }
}
