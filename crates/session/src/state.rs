//! A state: everything that a browser held at one instant, with the environment that its pages saw; and
//! what tells one state from another.

use crate::certificate::{self, Certificate};
use crate::cookie::{self, Cookie, Expiry};
use crate::egress::Egress;
use crate::id::PartHash;
use crate::identity::{BrowserName, Identity};
use crate::json;
use crate::permission::{self, Permission};
use crate::storage::{Entries, StorageKey};
use crate::stored::{Cache, Database, FileEntry, Registration};
use crate::tab::Tab;
use crate::text::Text;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Everything that a browser held at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct State {
    /// Every cookie of the default context, those of a site in the [order](cookie::order) in which they
    /// are sent.
    pub cookies: Vec<Cookie>,
    /// What each storage key holds.
    pub origins: BTreeMap<StorageKey, OriginState>,
    /// Tabs in the order of the window.
    pub tabs: Vec<Tab>,
    /// Viewport, user agent, identity, time zone, locale, geolocation, permissions, certificates.
    pub environment: Environment,
}

/// What one storage key holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OriginState {
    /// localStorage.
    pub local_storage: Entries,
    /// IndexedDB databases by name.
    pub databases: Vec<Database>,
    /// Cache Storage: caches by position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// The origin private file system, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileEntry>,
    /// Service worker registrations by scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub service_workers: Vec<Registration>,
    /// The browser's own folders of IndexedDB, byte by byte: only in what was exported as deep as can
    /// be, because they hold keys that a site marked as not extractable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<FileEntry>,
}

impl OriginState {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.local_storage.is_empty() && !self.has_pages()
    }

    /// The database with this name.
    pub fn database(&self, name: &Text) -> Option<&Database> {
        self.databases.iter().find(|database| &database.name == name)
    }

    /// The same in its order: itself, when it is.
    pub(crate) fn normal(&self) -> Cow<'_, Self> {
        if self.is_normal() {
            return Cow::Borrowed(self);
        }
        let mut normal = self.clone();
        normal.normalize();
        Cow::Owned(normal)
    }

    /// Whether [`normalize`](Self::normalize) would change nothing.
    fn is_normal(&self) -> bool {
        let scripts = |one: &Registration| one.scripts.is_sorted_by(|a, b| a.url <= b.url);
        self.databases.is_sorted_by(|a, b| a.name <= b.name)
            && self.caches.is_sorted_by(|a, b| (a.position, &a.name) <= (b.position, &b.name))
            && self.files.is_sorted_by(|a, b| a.path <= b.path)
            && self.raw.is_sorted_by(|a, b| a.path <= b.path)
            && self.service_workers.is_sorted_by(|a, b| a.scope <= b.scope)
            && self.service_workers.iter().all(scripts)
    }

    pub(crate) fn normalize(&mut self) {
        self.databases.sort_by(|a, b| a.name.cmp(&b.name));
        self.caches.sort_by(|a, b| (a.position, &a.name).cmp(&(b.position, &b.name)));
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.raw.sort_by(|a, b| a.path.cmp(&b.path));
        self.service_workers.sort_by(|a, b| a.scope.cmp(&b.scope));
        for registration in &mut self.service_workers {
            registration.scripts.sort_by(|a, b| a.url.cmp(&b.url));
        }
    }
}

/// What storage keys hold, without their localStorage: what only a page of theirs can make.
pub type Pages = BTreeMap<StorageKey, OriginState>;

impl OriginState {
    /// Whether it holds what only a page can make: anything but localStorage.
    pub fn has_pages(&self) -> bool {
        let Self { local_storage: _, databases, caches, files, service_workers, raw } = self;
        !(databases.is_empty()
            && caches.is_empty()
            && files.is_empty()
            && service_workers.is_empty()
            && raw.is_empty())
    }

    /// Takes that out.
    fn take_pages(&mut self) -> Self {
        let local_storage = std::mem::take(&mut self.local_storage);
        Self {
            local_storage: Entries::default(),
            ..std::mem::replace(self, Self { local_storage, ..Self::default() })
        }
    }

    /// Gives it what only a page can make, in the place of what it has.
    fn put_pages(&mut self, pages: Self) {
        let local_storage = std::mem::take(&mut self.local_storage);
        *self = Self { local_storage, ..pages };
    }
}

impl State {
    /// Takes out what only pages can make.
    pub fn take_pages(&mut self) -> Pages {
        let pages = self.origins.iter_mut().map(|(key, origin)| (key.clone(), origin.take_pages()));
        pages.filter(|(_, pages)| !pages.is_empty()).collect()
    }

    /// Gives these keys what only pages can make, in the place of what they have.
    pub fn put_pages(&mut self, pages: Pages) {
        for (key, pages) in pages {
            self.origins.entry(key).or_default().put_pages(pages);
        }
    }
}

impl State {
    /// Sorts what has no order of its own, and cookies as they are sent, and drops empty storage keys, so that equal states are
    /// equal values.
    pub fn normalize(&mut self) {
        cookie::order(&mut self.cookies);
        self.origins.values_mut().for_each(OriginState::normalize);
        self.origins.retain(|_, origin| !origin.is_empty());
        for tab in &mut self.tabs {
            tab.session_storage.retain(|_, entries| !entries.is_empty());
        }
        permission::normalize(&mut self.environment.permissions);
        certificate::normalize(&mut self.environment.certificates);
    }

    /// The tab in front; the first one when none says so.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.active).or_else(|| self.tabs.first())
    }
}

/// What a session was opened with, and what was decided about the wishes of sites since; a field left
/// out is the browser's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Environment {
    /// Inner size of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
    /// The `User-Agent` header and `navigator.userAgent`. One of another version or system of Chrome,
    /// Chromium or Edge brings the `identity` of that; a session is not opened with one of any other browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Who the browser says that it is beside that. What contradicts `userAgent` or `locale` is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The browser that it was signed in with, by its own name. Nothing follows from it but a word in the
    /// receipt of a resume in another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<BrowserName>,
    /// An IANA time zone such as `Asia/Tokyo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// A BCP 47 tag such as `ja-JP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Where the browser says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// What sites may do and may not; about all else they ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// Whom the browser trusts beside those that its maker does: authorities of one's own, and servers
    /// that signed their certificates themselves. Each is one certificate in PEM; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
    /// Its way out to the network; left out when it goes there by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<Egress>,
}

impl Environment {
    /// Whether its user agent names a browser, so that sites see that one wherever it runs.
    pub fn names_a_browser(&self) -> bool {
        self.user_agent.as_deref().is_some_and(|agent| BrowserName::of_user_agent(agent).is_some())
    }

    /// Notes that it goes on in `here`, and returns the browser that it was signed in with where sites see
    /// another one now. The first one stays noted, but for a newer version of it.
    pub fn note_browser(&mut self, here: BrowserName) -> Option<BrowserName> {
        if self.names_a_browser() {
            return None;
        }
        match &self.browser {
            Some(before) if !before.goes_on_as(&here) => Some(before.clone()),
            _ => {
                self.browser = Some(here);
                None
            }
        }
    }
}

/// Inner size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Viewport {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// A place on Earth, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Geolocation {
    /// Degrees north, −90 to 90.
    pub latitude: f64,
    /// Degrees east, −180 to 180.
    pub longitude: f64,
    /// Radius of certainty in metres.
    #[serde(default = "one_metre")]
    pub accuracy: f64,
}

fn one_metre() -> f64 {
    1.0
}

/// SHA-256 of the canonical JSON of a state, as 64 hexadecimal digits. It does not depend on the
/// order of cookies, origins or databases, nor on the names that one browser gave to its tabs and
/// their entries.
pub fn checksum(state: &State) -> String {
    let mut state = state.clone();
    state.normalize();
    for tab in &mut state.tabs {
        tab.id.clear();
        tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    }
    PartHash::of(&json::canonical(&state)).to_string()
}

/// Which cookies and storage keys a state held, without their values.
///
/// Never clobber: a browser that lost its profile leaves a state with little in it. A runner that remembers
/// what the last good state held can tell such a state from a usual change, and keep the good one. What goes
/// while a browser lives and answers, a person or the site removed, and it is gone: signing out has to last.
/// What is missing after a death is lost. Only hashes are remembered: no name stays in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Each cookie by domain, path, name and partition, with its end. From which port it came may become
    /// known later.
    cookies: HashMap<u64, Option<Expiry>>,
    /// Each storage key that held something.
    storage: BTreeSet<u64>,
}

impl Holdings {
    /// What `state` holds.
    pub fn of(state: &State) -> Self {
        let mut holdings = Self { storage: storage(state), ..Self::default() };
        holdings.add_cookies(&state.cookies);
        holdings
    }

    /// These cookies are held as well, or end at another time than was known.
    pub fn add_cookies(&mut self, cookies: &[Cookie]) {
        self.cookies.extend(cookies.iter().map(|cookie| (identity(cookie), cookie.expires)));
    }

    /// Whether `state` has shrunk since: more than half of these cookies, not counting those that
    /// had expired by `now`, or more than half of these storage keys are gone.
    pub fn has_shrunk_to(&self, state: &State, now: Expiry) -> bool {
        let there: BTreeSet<u64> =
            state.cookies.iter().filter(|cookie| lives(cookie, now)).map(identity).collect();
        let unexpired = self.cookies.iter().filter(|(_, end)| end.is_none_or(|end| end > now));
        let cookies: Vec<bool> = unexpired.map(|(key, _)| there.contains(key)).collect();
        let now_there = storage(state);
        let storage: Vec<bool> = self.storage.iter().map(|key| now_there.contains(key)).collect();
        half_is_gone(&cookies) || half_is_gone(&storage)
    }
}

impl Holdings {
    /// Whether `state` has shrunk by the clock of its browser alone, which has lived and answered since: more
    /// than half of these cookies are gone because they end by `clock`, the wall's, and not by `now`, which
    /// cannot be set.
    pub fn has_faded_to(&self, state: &State, now: Expiry, clock: Expiry) -> bool {
        let there: BTreeSet<u64> = state.cookies.iter().map(identity).collect();
        let unexpired = self.cookies.iter().filter(|(_, end)| end.is_none_or(|end| end > now));
        let faded = |(key, end): (&u64, &Option<Expiry>)| {
            end.is_some_and(|end| end <= clock) && !there.contains(key)
        };
        half_is_gone(&unexpired.map(|held| !faded(held)).collect::<Vec<_>>())
    }
}

fn lives(cookie: &Cookie, now: Expiry) -> bool {
    cookie.expires.is_none_or(|end| end > now)
}

fn identity(cookie: &Cookie) -> u64 {
    hash(&cookie.identity())
}

fn storage(state: &State) -> BTreeSet<u64> {
    let full = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
    full.map(|(key, _)| hash(key)).collect()
}

/// Whether more than half of them are not there any more; of nothing, nothing can go.
fn half_is_gone(still_there: &[bool]) -> bool {
    let gone = still_there.iter().filter(|there| !**there).count();
    gone * 2 > still_there.len()
}

/// Equal within one process, which is as long as it is remembered.
fn hash(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}
