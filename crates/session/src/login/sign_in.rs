//! What a sign-in changed: the cookies and entries of a site that are new since a password was entered there.
//!
//! The one idea: names guess, and a change is seen. Where a password was entered and its form is gone, what is new
//! at the site since then may be the login, whatever it is called. What was another at every visit before proves
//! nothing, and what is known to measure visitors stays what it is. Names are kept, and never a value.

use super::signs::{Sign, of_cookie, of_entry};
use crate::changed;
use crate::cookie::Cookie;
use crate::diff::{Change, Diff, DiffItem, SiteDiff, diff};
use crate::json;
use crate::parts::{Part, PartKind};
use crate::receipt::ItemKind;
use crate::state::{OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::tab::Tab;
use crate::text::Text;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// How many things are noted of one sign-in, and how long the name of each may be with its place.
const ITEMS: usize = 20;
const LONGEST: usize = 500;
/// How many sign-ins are noted of one site, and of all.
const AT_A_SITE: usize = 4;
const MOST: usize = 100;
/// How many names a sentence has.
const NAMED: usize = 3;

/// What a sign-in changed at one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// Where a password was entered.
    pub site: Site,
    /// When the first snapshot was taken that has what it changed.
    pub at: Timestamp,
    /// What is new since then, or another.
    changed: Vec<DiffItem>,
}

/// A thing by its kind, its place and the name of an entry.
type Thing = (ItemKind, String, Option<String>);

fn thing(item: &DiffItem) -> Thing {
    (item.kind, item.place.clone(), item.entry.clone())
}

impl SignIn {
    /// What a sign-in changed at a site from `before` a password was entered to `after` its form was gone; none
    /// where nothing did that may be a login, or nobody knows what the site had before. `earlier` is what was held
    /// before that, the oldest first.
    pub fn between(
        site: &Site,
        before: &State,
        after: &State,
        earlier: &[State],
        at: Timestamp,
    ) -> Option<Self> {
        let past: Vec<State> =
            earlier.iter().chain([before]).map(|state| of_site(state, site)).collect();
        if past.iter().all(|state| state.tabs.is_empty()) {
            // What is there since the first visit, and what since the sign-in, cannot be told apart.
            return None;
        }
        let (before, after) = (past.last()?, of_site(after, site));
        let moves: Vec<DiffItem> =
            past.windows(2).flat_map(|two| diff(&two[0], &two[1]).items).collect();
        let was_there: BTreeSet<Thing> = moves.iter().map(thing).collect();
        let is_restless = |item: &&DiffItem| item.change != Change::Added;
        let restless: BTreeSet<Thing> = moves.iter().filter(is_restless).map(thing).collect();
        let signs = signs(&after);
        let is_of_it = |item: &DiffItem| {
            let sign = signs.get(&thing(item)).copied().unwrap_or(Sign::Else);
            match item.change {
                Change::Added => sign > Sign::Else && !was_there.contains(&thing(item)),
                Change::Changed => {
                    sign == Sign::Likely
                        && has_another_value(item)
                        && !restless.contains(&thing(item))
                }
                Change::Removed => false,
            }
        };
        let mut changed = diff(before, &after).items;
        changed.retain(|item| is_of_it(item) && length(item) <= LONGEST);
        changed.truncate(ITEMS);
        (!changed.is_empty()).then(|| Self { site: site.clone(), at, changed })
    }

    /// What changed, as what a person's work changed is told.
    pub fn changes(&self) -> Vec<SiteDiff> {
        changed::at_sites(&Diff { items: self.changed.clone(), ..Diff::default() })
    }

    /// The same as a sentence, with the names of the first.
    pub fn sentence(&self) -> String {
        let changes = self.changes();
        let said = changed::sentence(&changes, None, self.at);
        // A page may use whole documents as names, and write into them what it wants an agent to read.
        let is_plain = |name: &&String| {
            name.len() <= 40
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
        };
        let names: Vec<&str> = changes
            .iter()
            .flat_map(|one| &one.names)
            .filter(is_plain)
            .take(NAMED)
            .map(String::as_str)
            .collect();
        let names =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let day = self.at.strftime("%Y-%m-%d");
        format!("{said}{names} since a password was entered there on {day}")
    }
}

/// What is held of a site, as far as sign-ins are seen in it, and which tabs show it.
fn of_site(state: &State, site: &Site) -> State {
    let cookies = state.cookies.iter().filter(|cookie| cookie.site() == *site).cloned().collect();
    let of_key = |key: &StorageKey| key.is_first_party() && key.site() == *site;
    let origins = state.origins.iter().filter(|(key, _)| of_key(key));
    let origins = origins.map(|(key, origin)| {
        let local_storage = origin.local_storage.clone();
        (key.clone(), OriginState { local_storage, ..OriginState::default() })
    });
    let tabs = state.tabs.iter().filter(|tab| shows(tab, site)).map(|tab| {
        let areas = tab.session_storage.iter().filter(|(key, _)| of_key(key));
        let session_storage = areas.map(|(key, area)| (key.clone(), area.clone())).collect();
        Tab { id: tab.id.clone(), url: tab.url.clone(), session_storage, ..Tab::default() }
    });
    State { cookies, origins: origins.collect(), tabs: tabs.collect(), ..State::default() }
}

fn shows(tab: &Tab, site: &Site) -> bool {
    Url::parse(&tab.url).is_ok_and(|url| url.host_str().map(Site::of_host).as_ref() == Some(site))
}

/// Of a cookie also an end or a flag may be another.
fn has_another_value(item: &DiffItem) -> bool {
    item.kind != ItemKind::Cookie || item.fields.iter().any(|field| field == "value")
}

fn length(item: &DiffItem) -> usize {
    item.place.len() + item.entry.as_ref().map_or(0, String::len)
}

/// What each thing of a state says by itself.
fn signs(state: &State) -> BTreeMap<Thing, Sign> {
    let cookies = state.cookies.iter().map(|cookie| (of_a_cookie(cookie), of_cookie(cookie)));
    let entries = areas(state).flat_map(|(kind, key, entries)| {
        let sign = move |(name, value)| (of_an_entry(kind, key, name), of_entry(name, value));
        entries.0.iter().map(sign)
    });
    cookies.chain(entries).collect()
}

fn areas(state: &State) -> impl Iterator<Item = (ItemKind, &StorageKey, &Entries)> {
    let local = state.origins.iter();
    let local = local.map(|(key, origin)| (ItemKind::LocalStorage, key, &origin.local_storage));
    let session = state.tabs.iter().flat_map(|tab| &tab.session_storage);
    local.chain(session.map(|(key, entries)| (ItemKind::SessionStorage, key, entries)))
}

fn of_a_cookie(cookie: &Cookie) -> Thing {
    (ItemKind::Cookie, cookie.place(), None)
}

fn of_an_entry(kind: ItemKind, key: &StorageKey, name: &Text) -> Thing {
    (kind, key.to_string(), Some(name.to_lossy()))
}

/// What the sign-ins at the sites of a session changed, as far as that is still there: a part of its snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignIns(Vec<SignIn>);

impl SignIns {
    /// None.
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether none was seen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes one more. What it changed, no older one did.
    pub fn note(&mut self, sign_in: SignIn) {
        let now: BTreeSet<Thing> = sign_in.changed.iter().map(thing).collect();
        self.retain(|item| !now.contains(&thing(item)));
        let here = self.0.iter().filter(|one| one.site == sign_in.site).count();
        if let Some(oldest) = self.0.iter().position(|one| one.site == sign_in.site)
            && here >= AT_A_SITE
        {
            self.0.remove(oldest);
        } else if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(sign_in);
    }

    /// Keeps what a state still holds: what is gone, and comes back another time, is another thing.
    pub fn keep_held(&mut self, state: &State) {
        if self.is_empty() {
            return;
        }
        let sites: BTreeSet<&Site> = self.0.iter().map(|one| &one.site).collect();
        let cookies = state.cookies.iter().filter(|cookie| sites.contains(&cookie.site()));
        let entries = areas(state).filter(|(_, key, _)| sites.contains(&key.site()));
        let entries = entries.flat_map(|(kind, key, entries)| {
            entries.0.keys().map(move |name| of_an_entry(kind, key, name))
        });
        let held: BTreeSet<Thing> = cookies.map(of_a_cookie).chain(entries).collect();
        self.retain(|item| held.contains(&thing(item)));
    }

    fn retain(&mut self, stays: impl Fn(&DiffItem) -> bool) {
        self.0.iter_mut().for_each(|one| one.changed.retain(&stays));
        self.0.retain(|one| !one.changed.is_empty());
    }

    /// The part of a snapshot that notes them; none when there is none.
    pub fn part(&self) -> Option<Part> {
        let part =
            || Part { kind: PartKind::SignIns, name: String::new(), bytes: json::bytes(&self.0) };
        (!self.is_empty()).then(part)
    }

    /// Those that a snapshot with these parts notes. A note that is damaged says nothing.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Self {
        let mut notes = parts.into_iter().filter(|part| part.kind == PartKind::SignIns);
        notes.next().and_then(|part| serde_json::from_slice(&part.bytes).ok()).unwrap_or_default()
    }
}

/// Sign-ins by what they changed.
pub(super) struct Marks<'s>(BTreeMap<Thing, &'s SignIn>);

impl<'s> Marks<'s> {
    pub(super) fn new(sign_ins: &'s SignIns) -> Self {
        let all = sign_ins.0.iter();
        Self(all.flat_map(|one| one.changed.iter().map(move |item| (thing(item), one))).collect())
    }

    /// The sign-in that changed a cookie.
    pub(super) fn of_cookie(&self, cookie: &Cookie) -> Option<&'s SignIn> {
        self.of(|| of_a_cookie(cookie))
    }

    /// The sign-in that changed an entry.
    pub(super) fn of_entry(
        &self,
        kind: ItemKind,
        key: &StorageKey,
        name: &Text,
    ) -> Option<&'s SignIn> {
        self.of(|| of_an_entry(kind, key, name))
    }

    /// The newest sign-in that changed an entry of localStorage that is not loaded.
    pub(super) fn of_key(&self, key: &StorageKey) -> Option<&'s SignIn> {
        let local =
            |(kind, place, _): &Thing| *kind == ItemKind::LocalStorage && place == key.as_str();
        self.0
            .iter()
            .filter(|(thing, _)| local(thing))
            .map(|(_, one)| *one)
            .max_by_key(|one| one.at)
    }

    fn of(&self, thing: impl FnOnce() -> Thing) -> Option<&'s SignIn> {
        if self.0.is_empty() { None } else { self.0.get(&thing()).copied() }
    }
}
