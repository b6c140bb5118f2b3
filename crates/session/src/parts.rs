//! Parts: a state cut into content-addressed pieces, and put together again.
//!
//! A snapshot is a list of parts. What did not change has the same hash as before, so history and
//! sync cost what changed and no more.

use crate::certificate::{self, Certificate};
use crate::cookie::{self, Cookie};
use crate::egress::Egress;
use crate::id::PartHash;
use crate::json;
use crate::state::{Environment, OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::stored::{Cache, Database, FileEntry, Registration};
use crate::tab::Tab;
use crate::text::Text;
use crate::text_form::words;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

words! {
    /// What a part holds.
    PartKind, else UnknownPartKind ("kind of part"):
    /// Viewport, user agent, identity, browser, time zone, locale, geolocation, permissions. One per state; its name is empty.
    Environment "environment",
    /// The cookies of one site; named by the site.
    Cookies "cookies",
    /// The localStorage of one storage key; named by the key.
    LocalStorage "local-storage",
    /// One IndexedDB database; named by `[storage key, database]` as JSON.
    Database "database",
    /// One cache of Cache Storage; named by `[storage key, cache]` as JSON.
    Cache "cache",
    /// The origin private file system of one storage key; named by the key.
    Files "files",
    /// The service worker registrations of one storage key; named by the key.
    ServiceWorkers "service-workers",
    /// The browser's own folders of the databases of one storage key; named by the key.
    Raw "raw",
    /// One tab; named by its position, from `0000`.
    Tab "tab",
    /// The preview image; its name is empty.
    Preview "preview",
    /// What could not be read, and stands as last known; its name is empty.
    Unread "unread",
    /// The icon of the site in front; named by the site.
    Icon "icon",
    /// The certificates that the browser trusts; its name is empty. It is not in the part of the
    /// environment: a Baton that knows none of them would read that, and write it without them, while a
    /// kind that it does not know it refuses.
    Certificates "certificates",
    /// The way out to the network; its name is empty. It is a kind of its own for the same reason: without it
    /// the browser would go everywhere.
    Egress "egress",
    /// What sign-ins changed that were seen here; its name is empty.
    SignIns "sign-ins",
}

impl PartKind {
    /// Whether it is a picture for people, which lies beside the state: nothing of it is restored, and it is
    /// never worth failing for.
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Preview | Self::Icon)
    }

    /// Whether it is the environment, or what of that is a kind of its own.
    pub fn is_of_environment(self) -> bool {
        matches!(self, Self::Environment | Self::Certificates | Self::Egress)
    }

    /// Whether a revision never holds it, because it says something of this node's own captures only.
    pub fn is_of_one_node(self) -> bool {
        matches!(self, Self::Unread | Self::Icon | Self::SignIns)
    }
}

/// A piece of a state with its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// What it holds.
    pub kind: PartKind,
    /// Which one of its kind.
    pub name: String,
    /// JSON, or a PNG for a picture.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({} {:?}, {} bytes)", self.kind, self.name, self.bytes.len())
    }
}

/// A piece of a state by reference: a line of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRef {
    /// What it holds.
    pub kind: PartKind,
    /// Which one of its kind.
    pub name: String,
    /// SHA-256 of its bytes.
    pub hash: PartHash,
    /// Length of its bytes.
    pub size: u64,
}

impl Part {
    /// Its line in a snapshot.
    pub fn reference(&self) -> PartRef {
        PartRef {
            kind: self.kind,
            name: self.name.clone(),
            hash: PartHash::of(&self.bytes),
            size: self.bytes.len() as u64,
        }
    }
}

impl Part {
    /// Of which storage key it is; none when it is of none, or its name says nothing.
    pub fn key(&self) -> Option<StorageKey> {
        key_of(self.kind, &self.name)
    }

    /// Of which site it is; none when it is of no single one.
    pub fn site(&self) -> Option<Site> {
        site_of(self.kind, &self.name)
    }
}

impl PartRef {
    /// Of which storage key it is; none when it is of none, or its name says nothing.
    pub fn key(&self) -> Option<StorageKey> {
        key_of(self.kind, &self.name)
    }

    /// Of which site it is; none when it is of no single one.
    pub fn site(&self) -> Option<Site> {
        site_of(self.kind, &self.name)
    }
}

fn site_of(kind: PartKind, name: &str) -> Option<Site> {
    match kind {
        PartKind::Cookies => Some(Site::of_host(name)),
        _ => key_of(kind, name).map(|key| key.site()),
    }
}

fn key_of(kind: PartKind, name: &str) -> Option<StorageKey> {
    match kind {
        PartKind::Database | PartKind::Cache => key(kind, name).ok(),
        PartKind::LocalStorage | PartKind::Files | PartKind::ServiceWorkers | PartKind::Raw => {
            Some(StorageKey::new(name))
        }
        _ => None,
    }
}

/// A part whose bytes are not what its kind says.
#[derive(Debug, thiserror::Error)]
#[error("expected {kind} part {name:?} to hold valid JSON of its kind: {source}")]
pub struct InvalidPart {
    /// What it should hold.
    pub kind: PartKind,
    /// Which one of its kind.
    pub name: String,
    source: serde_json::Error,
}

/// Cuts a state into parts, sorted by kind and name. Pictures are not part of a state, and what could not
/// be read is not either.
pub fn split(state: &State) -> Vec<Part> {
    let mut environment = state.environment.clone();
    let mut certificates = std::mem::take(&mut environment.certificates);
    let egress = environment.egress.take();
    let mut parts = vec![encode(PartKind::Environment, String::new(), &environment)];
    if !certificates.is_empty() {
        certificate::normalize(&mut certificates);
        parts.push(encode(PartKind::Certificates, String::new(), &certificates));
    }
    parts.extend(egress.map(|egress| encode(PartKind::Egress, String::new(), &egress)));
    parts.extend(split_cookies(&state.cookies));
    for (key, origin) in &state.origins {
        parts.extend(split_origin(key, origin));
    }
    for (position, tab) in state.tabs.iter().enumerate() {
        parts.push(encode(PartKind::Tab, format!("{position:04}"), tab));
    }
    parts.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    parts
}

/// Cuts cookies alone into the parts that they are of any state, in no order.
pub fn split_cookies(cookies: &[Cookie]) -> impl Iterator<Item = Part> {
    let sites = cookies_by_site(cookies).into_iter();
    sites.map(|(site, cookies)| encode(PartKind::Cookies, site.to_string(), &cookies))
}

/// Puts a state together from its parts. A part that cannot be read costs itself only: it is
/// returned beside the state.
pub fn join<'a>(parts: impl IntoIterator<Item = &'a Part>) -> (State, Vec<InvalidPart>) {
    let mut joining = StateBuilder::default();
    for part in parts {
        joining.add(&part.name, Piece::read(part));
    }
    joining.finish()
}

/// The cookies of each site, in the order in which they are sent.
fn cookies_by_site(cookies: &[Cookie]) -> BTreeMap<Site, Vec<&Cookie>> {
    let mut sites: BTreeMap<Site, Vec<&Cookie>> = BTreeMap::new();
    for cookie in cookies {
        sites.entry(cookie.site()).or_default().push(cookie);
    }
    for cookies in sites.values_mut() {
        cookie::order(cookies);
    }
    sites
}

fn encode<T: Serialize + ?Sized>(kind: PartKind, name: String, value: &T) -> Part {
    Part { kind, name, bytes: json::bytes(value) }
}

/// Cuts what one storage key holds into parts.
fn split_origin(key: &StorageKey, origin: &OriginState) -> Vec<Part> {
    let mut parts = Vec::new();
    if !origin.local_storage.is_empty() {
        parts.push(encode(PartKind::LocalStorage, key.to_string(), &origin.local_storage));
    }
    for database in &origin.databases {
        parts.push(encode(PartKind::Database, named(key, &database.name), database));
    }
    for cache in &origin.caches {
        parts.push(encode(PartKind::Cache, named(key, &cache.name), cache));
    }
    if !origin.files.is_empty() {
        let files = sorted(&origin.files, |file| &file.path);
        parts.push(encode(PartKind::Files, key.to_string(), &files));
    }
    if !origin.service_workers.is_empty() {
        let registrations = sorted(&origin.service_workers, |registration| &registration.scope);
        parts.push(encode(PartKind::ServiceWorkers, key.to_string(), &registrations));
    }
    if !origin.raw.is_empty() {
        let raw = sorted(&origin.raw, |file| &file.path);
        parts.push(encode(PartKind::Raw, key.to_string(), &raw));
    }
    parts
}

fn sorted<T, K: Ord + ?Sized>(things: &[T], by: impl Fn(&T) -> &K) -> Vec<&T> {
    let mut sorted: Vec<&T> = things.iter().collect();
    sorted.sort_by(|a, b| by(a).cmp(by(b)));
    sorted
}

/// The name of one of several that a storage key has.
fn named(key: &StorageKey, name: &Text) -> String {
    json::text(&(key, name))
}

/// What a part holds.
///
/// To read a part takes nothing but its bytes, so it can be done while other parts are still on their
/// way. Where a piece belongs, the name of its part says.
pub struct Piece(Held);

enum Held {
    Environment(Box<Environment>),
    Certificates(Vec<Certificate>),
    Egress(Egress),
    Cookies(Vec<Cookie>),
    LocalStorage(Entries),
    Database(Database),
    Cache(Cache),
    Files(Vec<FileEntry>),
    ServiceWorkers(Vec<Registration>),
    Raw(Vec<FileEntry>),
    Tab(Box<Tab>),
    /// Nothing of a state.
    Aside,
}

impl Piece {
    /// Reads what a part holds.
    pub fn read(part: &Part) -> Result<Self, InvalidPart> {
        Ok(Self(match part.kind {
            PartKind::Environment => Held::Environment(decode(part)?),
            PartKind::Certificates => Held::Certificates(decode(part)?),
            PartKind::Egress => Held::Egress(decode(part)?),
            PartKind::Cookies => Held::Cookies(decode(part)?),
            PartKind::LocalStorage => Held::LocalStorage(decode(part)?),
            PartKind::Database => Held::Database(decode(part)?),
            PartKind::Cache => Held::Cache(decode(part)?),
            PartKind::Files => Held::Files(decode(part)?),
            PartKind::ServiceWorkers => Held::ServiceWorkers(decode(part)?),
            PartKind::Raw => Held::Raw(decode(part)?),
            PartKind::Tab => Held::Tab(decode(part)?),
            PartKind::Preview | PartKind::Unread | PartKind::Icon | PartKind::SignIns => {
                Held::Aside
            }
        }))
    }
}

impl fmt::Debug for Piece {
    /// What a session holds is never shown by chance.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Piece")
    }
}

/// A state that is put together.
#[derive(Debug, Default)]
pub struct StateBuilder {
    state: State,
    /// By the length of the name first, so that tab 10000 comes after tab 9999.
    tabs: BTreeMap<(usize, String), Tab>,
    invalid: Vec<InvalidPart>,
}

impl StateBuilder {
    /// Puts the piece of a part with this name in its place, or notes that it could not be read.
    pub fn add(&mut self, name: &str, piece: Result<Piece, InvalidPart>) {
        if let Err(error) = piece.and_then(|piece| self.place(name, piece.0)) {
            self.invalid.push(error);
        }
    }

    /// The state, and the parts that are not in it.
    pub fn finish(mut self) -> (State, Vec<InvalidPart>) {
        self.state.tabs = self.tabs.into_values().collect();
        self.state.normalize();
        (self.state, self.invalid)
    }

    fn place(&mut self, name: &str, held: Held) -> Result<(), InvalidPart> {
        match held {
            // Each of the three may come first.
            Held::Environment(mut environment) => {
                environment.certificates.append(&mut self.state.environment.certificates);
                environment.egress = environment.egress.or(self.state.environment.egress.take());
                self.state.environment = *environment;
            }
            Held::Egress(egress) => self.state.environment.egress = Some(egress),
            Held::Certificates(certificates) => {
                self.state.environment.certificates.extend(certificates);
            }
            Held::Cookies(cookies) => self.state.cookies.extend(cookies),
            Held::LocalStorage(entries) => self.of(StorageKey::new(name)).local_storage = entries,
            Held::Database(database) => {
                self.of(key(PartKind::Database, name)?).databases.push(database);
            }
            Held::Cache(cache) => self.of(key(PartKind::Cache, name)?).caches.push(cache),
            Held::Files(files) => self.of(StorageKey::new(name)).files = files,
            Held::ServiceWorkers(registrations) => {
                self.of(StorageKey::new(name)).service_workers = registrations;
            }
            Held::Raw(raw) => self.of(StorageKey::new(name)).raw = raw,
            Held::Tab(tab) => {
                self.tabs.insert((name.len(), name.to_owned()), *tab);
            }
            Held::Aside => {}
        }
        Ok(())
    }

    fn of(&mut self, key: StorageKey) -> &mut OriginState {
        self.state.origins.entry(key).or_default()
    }
}

/// The storage key in the name of one of several things that it has.
fn key(kind: PartKind, name: &str) -> Result<StorageKey, InvalidPart> {
    let (key, _): (StorageKey, Text) =
        serde_json::from_str(name).map_err(|source| invalid(kind, name, source))?;
    Ok(key)
}

fn decode<T: DeserializeOwned>(part: &Part) -> Result<T, InvalidPart> {
    serde_json::from_slice(&part.bytes).map_err(|source| invalid(part.kind, &part.name, source))
}

fn invalid(kind: PartKind, name: &str, source: serde_json::Error) -> InvalidPart {
    InvalidPart { kind, name: name.to_owned(), source }
}
