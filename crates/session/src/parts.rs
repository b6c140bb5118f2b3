//! Parts: a state cut into content-addressed pieces, and put together again.
//!
//! A snapshot is a list of parts. What did not change has the same hash as before, so history and
//! sync cost what changed and no more.

mod origin;
mod piece;

pub use piece::{Joining, Piece};

use crate::cookie::Cookie;
use crate::part_hash::PartHash;
use crate::site::Site;
use crate::state::State;
use crate::words::words;
use crate::{certificate, cookie, json};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

words! {
    /// What a part holds.
    PartKind, else UnknownPartKind ("kind of part"):
    /// Viewport, user agent, time zone, locale, geolocation, permissions. One per state; its name is empty.
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
}

impl PartKind {
    /// Whether it is a picture for people, which lies beside the state: nothing of it is restored, and it is
    /// never worth failing for.
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Preview | Self::Icon)
    }

    /// Whether a revision never holds it, because it says something of this node's own captures only.
    pub fn is_of_one_node(self) -> bool {
        matches!(self, Self::Unread | Self::Icon)
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
    let mut parts = vec![encode(PartKind::Environment, String::new(), &environment)];
    if !certificates.is_empty() {
        certificate::normalize(&mut certificates);
        parts.push(encode(PartKind::Certificates, String::new(), &certificates));
    }
    parts.extend(split_cookies(&state.cookies));
    for (key, origin) in &state.origins {
        parts.extend(origin::split(key, origin));
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
    let mut joining = Joining::default();
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
