//! What a session holds after a browser somewhere else had its profile.
//!
//! The one idea: only what was there can have changed there. The rest of the session, tabs that were not opened
//! among it, is as it was. And of the profile, only the sites that were handed in: whatever ran there could write
//! what it liked, and a cookie of a bank that it planted would log the session's owner in as another person.

mod bounds;
mod cookies;
mod permissions;
mod tabs;
mod unlent;

pub use bounds::{Bounds, fitted};
pub use tabs::{GivenTab, TabsAfter};

use crate::parts::{PartKind, PartRef};
use crate::receipt::{ItemKind, Outcome, Receipt, ReceiptItem};
use crate::state::{OriginState, Pages, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::stored::{Cache, Database, Registration, no_script_reads};
use crate::text::Text;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use unlent::Folders;

/// The most items that are named which were not taken back.
const MOST_NAMED: usize = 200;

/// Which sites are taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TakeBack {
    /// Those that were handed in: that the session had a cookie or anything stored of.
    #[default]
    Lent,
    /// All that the profile holds.
    All,
}

/// What a session held when it was handed in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Before {
    /// That, as far as it can be read now.
    pub state: State,
    /// The sites of which it had a cookie, or anything stored.
    pub sites: BTreeSet<Site>,
    /// Its parts that cannot be read any more.
    pub damaged: Vec<PartRef>,
}

impl From<State> for Before {
    /// Of a session of which all can be read.
    fn from(state: State) -> Self {
        Self { sites: lent(&state), state, damaged: Vec::new() }
    }
}

/// What a session holds now, and what of a profile was not taken for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrittenBack {
    /// What it holds.
    pub state: State,
    /// The parts that it had and that cannot be read any more.
    pub damaged: Vec<PartRef>,
    /// Those of them that stay as they are, unless something came back in their place.
    pub kept: Vec<PartRef>,
    /// What the profile held of sites that were not handed in, item by item up to a bound, and what the session can
    /// have no longer.
    pub left_out: Receipt,
    /// How many items that were, by site.
    pub left_sites: BTreeMap<Site, usize>,
}

/// What a profile holds that was handed in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct After {
    /// Its cookies and localStorage, and what sites may do by its settings.
    pub state: State,
    /// What it has open.
    pub tabs: TabsAfter,
    /// What only pages make, of the keys of which it was read: what is not there any more is gone.
    pub pages: Pages,
    /// Keys with databases that were not read, because their sites were not handed in.
    pub others: Vec<StorageKey>,
}

/// What is left of `before`, of which the items in the receipt were in a profile that holds `after` now.
pub fn written_back(
    before: Before,
    after: After,
    handed_in: &Receipt,
    which: TakeBack,
) -> WrittenBack {
    let mut rest = Left::default();
    let Before { state: before, sites, damaged } = before;
    let After { state: mut after, tabs, mut pages, others } = after;
    let sites = (which == TakeBack::Lent).then_some(sites);
    if let Some(lent) = &sites {
        after.cookies.retain(|cookie| {
            lent.contains(&cookie.site())
                || rest.note(ItemKind::Cookie, cookie.place(), cookie.site())
        });
        after.origins.retain(|key, origin| {
            let site = Site::of_origin(key.origin());
            origin.local_storage.is_empty()
                || lent.contains(&site)
                || rest.note(ItemKind::LocalStorage, key.to_string(), site)
        });
        pages.retain(|key, _| lent.contains(&key.site()));
        for key in others {
            rest.note(ItemKind::IndexedDb, key.to_string(), key.site());
        }
    }
    let handed = HandedIn::of(handed_in);
    let kept = damaged.iter().filter(|part| handed.leaves(part, &pages)).cloned().collect();
    let cookies = cookies::merged(&before.cookies, after.cookies);
    let mut state = State { cookies, ..before };
    let tabs::MergedTabs { tabs: open, foreign, named } =
        tabs::merged(std::mem::take(&mut state.tabs), tabs, sites.as_ref());
    state.tabs = open;
    let known = std::mem::take(&mut state.environment.permissions);
    let (may, of_others, not_taken) =
        permissions::merged(known, after.environment.permissions, sites.as_ref());
    state.environment.permissions = may;
    for tabs::Foreign { kind, place, site } in foreign.into_iter().chain(of_others) {
        rest.note(kind, place, site);
    }
    for (key, origin) in &mut state.origins {
        if handed.has(ItemKind::LocalStorage, key.as_str()) {
            origin.local_storage = Entries::default();
        }
    }
    for (key, origin) in after.origins {
        if !origin.local_storage.is_empty() {
            state.origins.entry(key).or_default().local_storage = origin.local_storage;
        }
    }
    let mut left_out = rest.receipt();
    left_out.extend(not_taken);
    left_out.extend(named);
    for (key, found) in pages {
        let origin = state.origins.entry(key.clone()).or_default();
        let is_damaged = damaged.iter().any(|part| part.key().as_ref() == Some(&key));
        left_out.extend(handed.settle(&key, origin, found, is_damaged));
    }
    state.normalize();
    WrittenBack { state, damaged, kept, left_out, left_sites: rest.sites }
}

/// The sites of which a session has a cookie, or anything stored.
pub fn lent(state: &State) -> BTreeSet<Site> {
    let stored = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
    let stored = stored.map(|(key, _)| Site::of_origin(key.origin()));
    let areas = state.tabs.iter().flat_map(|tab| tab.session_storage.keys().map(StorageKey::site));
    state.cookies.iter().map(crate::cookie::Cookie::site).chain(stored).chain(areas).collect()
}

/// What was in a profile when it was handed in.
struct HandedIn<'a> {
    whole: BTreeSet<(ItemKind, &'a str)>,
    /// But for what no script can read.
    in_part: BTreeSet<(ItemKind, &'a str)>,
}

impl<'a> HandedIn<'a> {
    fn of(receipt: &'a Receipt) -> Self {
        let places = |is_one: fn(&ReceiptItem) -> bool| {
            let items = receipt.items.iter().filter(|item| is_one(item));
            items.map(|item| (item.kind, item.place.as_str())).collect()
        };
        Self {
            whole: places(|item| item.outcome == Outcome::Restored),
            in_part: places(ReceiptItem::is_back_in_part),
        }
    }

    fn has(&self, kind: ItemKind, place: &str) -> bool {
        self.whole.contains(&(kind, place))
    }

    fn has_part(&self, kind: ItemKind, place: &str) -> bool {
        self.in_part.contains(&(kind, place))
    }

    /// Whether a part that cannot be read any more stays, because what it held was not in the profile, or is of a key
    /// of which no page was read. Cookies were all there, and tabs have no places but in their row.
    fn leaves(&self, part: &PartRef, read: &Pages) -> bool {
        let Some(key) = part.key() else { return false };
        let is_read = read.contains_key(&key);
        let had = |kind| {
            let name = serde_json::from_str::<(StorageKey, Text)>(&part.name);
            name.is_ok_and(|(_, name)| self.has(kind, &key.place_of(&name)))
        };
        let had_workers = || {
            let begin = format!("{key} ");
            let is_one = |(kind, place): &(ItemKind, &str)| {
                *kind == ItemKind::ServiceWorker && place.starts_with(&begin)
            };
            self.whole.iter().any(is_one)
        };
        match part.kind {
            PartKind::LocalStorage => !self.has(ItemKind::LocalStorage, key.as_str()),
            PartKind::Database => !is_read || !had(ItemKind::IndexedDb),
            PartKind::Cache => !is_read || !had(ItemKind::Cache),
            PartKind::Files => !is_read || !self.has(ItemKind::Files, key.as_str()),
            PartKind::ServiceWorkers => !is_read || !had_workers(),
            // Folders of another instant are worth nothing beside what was read.
            _ => !is_read,
        }
    }

    /// Takes what pages found of a key, of which a part may be damaged. What was not in the profile cannot have been
    /// deleted there. Says what of that has no place any more.
    fn settle(
        &self,
        key: &StorageKey,
        origin: &mut OriginState,
        found: OriginState,
        is_damaged: bool,
    ) -> Receipt {
        let OriginState { mut databases, mut caches, files, service_workers, .. } = found;
        let mut lost = Receipt::default();
        let raw = std::mem::take(&mut origin.raw);
        let before_raw = if raw.is_empty() { Vec::new() } else { origin.databases.clone() };
        let is_one = |one: &Database, other: &Database| one.name == other.name;
        let was_in = |one: &Database| self.has(ItemKind::IndexedDb, &key.place_of(&one.name));
        for now in &mut databases {
            let Some(before) = origin.database(&now.name).filter(|one| !was_in(one)) else {
                continue;
            };
            let records = unlent::keep_records(before, now);
            if records > 0 {
                let (place, why) = (key.place_of(&now.name), in_another_form(records));
                lost.push(ReceiptItem::not_portable(ItemKind::IndexedDb, place, why));
            }
        }
        origin.databases.retain_mut(|before| {
            let was_deleted = !databases.iter().any(|now| is_one(before, now))
                && self.has_part(ItemKind::IndexedDb, &key.place_of(&before.name));
            !was_deleted || unlent::leave_unreadable_records(before)
        });
        merge(&mut origin.databases, databases, is_one, was_in);
        let is_one = |one: &Cache, other: &Cache| one.name == other.name;
        let was_in = |one: &Cache| self.has(ItemKind::Cache, &key.place_of(&one.name));
        for now in &mut caches {
            let before = origin.caches.iter().find(|before| is_one(before, now));
            if let Some(before) = before.filter(|one| !was_in(one)) {
                unlent::keep_responses(before, now);
            }
        }
        origin.caches.retain_mut(|before| {
            let was_deleted = !caches.iter().any(|now| is_one(before, now))
                && self.has_part(ItemKind::Cache, &key.place_of(&before.name));
            !was_deleted || unlent::leave_unreadable_responses(before)
        });
        merge(&mut origin.caches, caches, is_one, was_in);
        let is_one = |one: &Registration, other: &Registration| one.scope == other.scope;
        let was_in = |one: &Registration| self.has(ItemKind::ServiceWorker, &one.place(key));
        merge(&mut origin.service_workers, service_workers, is_one, was_in);
        if self.has(ItemKind::Files, key.as_str()) || !files.is_empty() {
            origin.files = files;
        }
        // They are of another instant: what a page can read is written over it, wherever they are used.
        if !raw.is_empty() {
            match unlent::folders(&before_raw, &origin.databases, is_damaged) {
                Folders::Stay => origin.raw = raw,
                Folders::Go => {}
                Folders::Lost(why) => {
                    lost.push(ReceiptItem::not_portable(ItemKind::IndexedDb, key.to_string(), why));
                }
            }
        }
        lost
    }
}

fn in_another_form(records: usize) -> String {
    format!("{}, and its database has another form now", no_script_reads(records))
}

/// Takes what was found in the place of what was in the profile.
fn merge<T>(
    known: &mut Vec<T>,
    found: Vec<T>,
    is_one: impl Fn(&T, &T) -> bool,
    was_in: impl Fn(&T) -> bool,
) {
    known.retain(|one| !was_in(one) && !found.iter().any(|found| is_one(found, one)));
    known.extend(found);
}

/// What is not taken.
#[derive(Default)]
struct Left {
    named: Receipt,
    sites: BTreeMap<Site, usize>,
}

impl Left {
    /// Notes an item. Says that it does not stay.
    fn note(&mut self, kind: ItemKind, place: String, site: Site) -> bool {
        if self.named.items.len() < MOST_NAMED {
            let why = "its site was not handed in; takeBack all takes it";
            self.named.push(ReceiptItem::rejected(kind, place, why));
        }
        *self.sites.entry(site).or_default() += 1;
        false
    }

    /// The items that are named, and how many there are besides.
    fn receipt(&mut self) -> Receipt {
        let mut receipt = std::mem::take(&mut self.named);
        let all: usize = self.sites.values().sum();
        if let Some(more @ 1..) = all.checked_sub(receipt.items.len()) {
            let (place, why) = (format!("{more} more"), "their sites were not handed in");
            receipt.push(ReceiptItem::rejected(ItemKind::Cookie, place, why));
        }
        receipt
    }
}
