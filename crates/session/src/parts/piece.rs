//! Pieces: what parts hold, read, and the state that they make.
//!
//! The one idea: to read a part takes nothing but its bytes, so it can be done while other parts are
//! still on their way. Where a piece belongs, the name of its part says.

use super::{InvalidPart, Part, PartKind};
use crate::cache::Cache;
use crate::certificate::Certificate;
use crate::cookie::Cookie;
use crate::database::Database;
use crate::environment::Environment;
use crate::file::FileEntry;
use crate::registration::Registration;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::{Entries, StorageKey};
use crate::tab::Tab;
use crate::text::Text;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// What a part holds.
pub struct Piece(Held);

enum Held {
    Environment(Box<Environment>),
    Certificates(Vec<Certificate>),
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
            PartKind::Cookies => Held::Cookies(decode(part)?),
            PartKind::LocalStorage => Held::LocalStorage(decode(part)?),
            PartKind::Database => Held::Database(decode(part)?),
            PartKind::Cache => Held::Cache(decode(part)?),
            PartKind::Files => Held::Files(decode(part)?),
            PartKind::ServiceWorkers => Held::ServiceWorkers(decode(part)?),
            PartKind::Raw => Held::Raw(decode(part)?),
            PartKind::Tab => Held::Tab(decode(part)?),
            PartKind::Preview | PartKind::Unread | PartKind::Icon => Held::Aside,
        }))
    }
}

impl fmt::Debug for Piece {
    /// What a session holds is shown to nobody by chance.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Piece")
    }
}

/// A state that is put together.
#[derive(Debug, Default)]
pub struct Joining {
    state: State,
    /// By the length of the name first, so that tab 10000 comes after tab 9999.
    tabs: BTreeMap<(usize, String), Tab>,
    invalid: Vec<InvalidPart>,
}

impl Joining {
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
            // Each of both may come first.
            Held::Environment(mut environment) => {
                environment.certificates.append(&mut self.state.environment.certificates);
                self.state.environment = *environment;
            }
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
