//! Reads a profile into a state, with no browser running, or beside one that is.
//!
//! The one idea: a profile belongs to a person. Nothing of it is ever opened in place; its files are read
//! into memory or copied, and the copies go. What cannot be read costs itself only, and is named with its
//! reason.
//!
//! Of encrypted cookies the keyring is asked once, and only when a value needs it.

mod folder;
mod stored;
mod tabs;

pub use folder::{NamedProfile, ProfileChoice, ProfileFolder, Reason, names};
pub(super) use stored::SESSION_STORAGE;
pub(super) use tabs::FOLDER as OPEN_TABS;

use super::crypt::{CryptError, EncryptionKey, Keys};
use super::formats::Instant;
use super::keyring::KeyringError;
use super::leveldb::Lost;
use super::{
    Fault, ProfileError, certificates, cookies, crypt, is_ours, local_storage, permissions,
};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Receipt, State};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};

/// What a profile holds.
#[derive(Debug, Default)]
pub struct Read {
    /// Cookies, localStorage, tabs with their sessionStorage, permissions, and whom it trusts.
    pub state: State,
    /// What could not be read, or is of no use any more, with the reason.
    pub left_out: Receipt,
    /// Why cookies or localStorage could not be read, all or a part of them, if that is so: then what is in
    /// the state is not what the profile holds.
    pub fault: Option<Fault>,
}

/// What a line says that is about everything of its kind.
const ALL_COOKIES: &str = "all cookies";
const ALL_STORAGE: &str = "all localStorage";
/// Why entries are left out that are there.
const STRANGE: &str = "they are of a form that is not known";

/// Why nothing of a folder was read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no profile.
    #[error("expected a Chrome profile at {} (a folder with Cookies or Local Storage in it, or in its folder Default), found none", .0.display())]
    NoProfile(PathBuf),
    /// It has several profiles.
    #[error("expected one profile in {}, found {}: name the folder of one of them", path.display(), names.join(", "))]
    Several {
        /// The user data dir.
        path: PathBuf,
        /// The folders of its profiles.
        names: Vec<String>,
    },
    /// A file could not be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// Reads a profile and changes nothing in it; a browser may be running on it, which writes cookies and
/// localStorage some seconds late. `ask` is asked for the keyring's password when a cookie needs it.
/// Blocks on the disk.
pub fn read<'a>(folder: &ProfileFolder, ask: &'a mut AskPassword<'a>, now: Instant) -> Read {
    let path = folder.path();
    let mut read = Read::default();
    read.cookies(path, &mut Decryptor::new(ask), now);
    read.local_storage(path);
    read.tabs(path);
    read.permissions(path);
    read.certificates(path);
    read.left_out.extend(stored::left_out(path));
    read.state.normalize();
    read.left_out.sort();
    read
}

impl Read {
    fn cookies(&mut self, path: &Path, keys: &mut Decryptor<'_>, now: Instant) {
        let open = |value: &[u8], host: &str, version| keys.open(value, host, version);
        let place = match cookies::StorePlace::find(path) {
            Ok(place) => place,
            Err(error) => {
                self.blame(Fault::of(is_ours(&error), &error));
                return self.refuse(ItemKind::Cookie, ALL_COOKIES, error);
            }
        };
        if let Some(other) = place.other {
            self.leave_cookies(path, other, place.name);
        }
        let found = match cookies::read(&path.join(place.name), open) {
            Ok(found) => found.unwrap_or_default(),
            Err(error) => {
                self.blame(Fault::of(error.is_ours(), &error));
                return self.refuse(ItemKind::Cookie, ALL_COOKIES, error);
            }
        };
        self.left_out.extend(found.left_out);
        for cookie in found.cookies {
            match cookie.validate(Expiry(now.0)) {
                Ok(()) => self.state.cookies.push(cookie),
                Err(reason) => self.refuse(ItemKind::Cookie, cookie.place(), reason),
            }
        }
    }

    /// Names a second store, of which no browser takes notice, unless it is an empty one.
    fn leave_cookies(&mut self, path: &Path, other: &str, counts: &str) {
        let count = match cookies::count(&path.join(other)) {
            Ok(0) => return,
            Ok(1) => "1 cookie".to_owned(),
            Ok(count) => format!("{count} cookies"),
            Err(_) => ALL_COOKIES.to_owned(),
        };
        // No path: what stands before a slash would be taken for the domain of a cookie.
        let place = if other == cookies::NAME { "outside of" } else { "in" };
        let reason = format!("a browser reads those in {counts}, and never these");
        self.refuse(ItemKind::Cookie, format!("{count} {place} the folder Network"), reason);
    }

    fn local_storage(&mut self, path: &Path) {
        let found = match local_storage::read(path) {
            Ok(found) => found,
            Err(error) => {
                self.blame(Fault::of(error.is_ours(), &error));
                return self.refuse(ItemKind::LocalStorage, ALL_STORAGE, error);
            }
        };
        if found.strange > 0 {
            let what = format!("{} entries", found.strange);
            self.refuse(ItemKind::LocalStorage, what, STRANGE);
        }
        if !found.lost.is_none() {
            self.blame(Fault::of(false, &found.lost));
            self.lose(ItemKind::LocalStorage, &found.lost);
        }
        for (key, area) in found.areas {
            if !area.entries.is_empty() {
                self.state.origins.entry(key).or_default().local_storage = area.entries;
            }
        }
    }

    fn tabs(&mut self, path: &Path) {
        let tabs::FoundTabs { tabs, left_out } = tabs::read(path).unwrap_or_else(|error| {
            self.refuse(ItemKind::Tab, "all tabs", error);
            tabs::FoundTabs::default()
        });
        self.left_out.extend(left_out);
        let stored::StoredNamespaces { mut namespaces, strange, lost } = stored::read(path)
            .unwrap_or_else(|error| {
                self.refuse(ItemKind::SessionStorage, "all sessionStorage", error);
                stored::StoredNamespaces::default()
            });
        if strange > 0 {
            self.refuse(ItemKind::SessionStorage, format!("{strange} entries"), STRANGE);
        }
        if !lost.is_none() {
            self.lose(ItemKind::SessionStorage, &lost);
        }
        for tabs::FoundTab { mut tab, namespace } in tabs {
            tab.session_storage = namespaces.remove(&namespace).unwrap_or_default();
            self.state.tabs.push(tab);
        }
        // What is left belongs to tabs that were closed.
    }

    fn permissions(&mut self, path: &Path) {
        match permissions::read_in(path) {
            Ok(found) => self.state.environment.permissions = found.unwrap_or_default(),
            Err(error) => self.refuse(ItemKind::Permission, "all permissions", error),
        }
    }

    /// Notes damage behind which the reader went on.
    fn lose(&mut self, kind: ItemKind, lost: &Lost) {
        let on = "what is behind was read, as a browser does: entries may be missing, or be older";
        self.refuse(kind, lost.place(), format!("{lost}; {on}"));
    }

    fn certificates(&mut self, path: &Path) {
        match certificates::read_in(path) {
            Ok(found) => {
                self.state.environment.certificates = found.certificates;
                if found.left > 0 {
                    let what = format!("{} certificates", found.left);
                    let reason = "they are distrusted, trusted under conditions, or not readable";
                    self.refuse(ItemKind::Environment, what, reason);
                }
            }
            Err(error) => self.refuse(ItemKind::Environment, "all certificates", error),
        }
    }

    /// Notes a fault. One of ours counts more: what else there is to blame can be seen later.
    fn blame(&mut self, fault: Fault) {
        if self.fault.is_none() || matches!(fault, Fault::Ours(_)) {
            self.fault = Some(fault);
        }
    }

    fn refuse(&mut self, kind: ItemKind, place: impl Into<String>, reason: impl std::fmt::Display) {
        self.left_out.push(ReceiptItem::rejected(kind, place, reason));
    }
}

/// Asks for the password with which the browser of a profile encrypts its cookies.
pub type AskPassword<'a> = dyn FnMut() -> Result<SecretString, KeyringError> + 'a;

/// The keys of one profile, as far as they are known.
struct Decryptor<'a> {
    ask: &'a mut AskPassword<'a>,
    keys: Keys,
    /// What the keyring said, once it was asked.
    asked: Option<Result<(), KeyringError>>,
}

impl<'a> Decryptor<'a> {
    fn new(ask: &'a mut AskPassword<'a>) -> Self {
        Self { ask, keys: Keys::new(None), asked: None }
    }

    /// The plain text of a value of a host, in a store of this version; or why there is none.
    fn open(&mut self, encrypted: &[u8], host_key: &str, version: i64) -> Result<String, String> {
        let schema = u32::try_from(version).unwrap_or(u32::MAX);
        match crypt::open(encrypted, host_key, &self.keys, schema) {
            Err(CryptError::NoKeyringKey) => {
                self.ask_keyring().map_err(|error| one_line(&error))?;
                crypt::open(encrypted, host_key, &self.keys, schema)
                    .map_err(|error| one_line(&error))
            }
            opened => opened.map_err(|error| one_line(&error)),
        }
    }

    fn ask_keyring(&mut self) -> Result<(), KeyringError> {
        let (ask, keys) = (&mut self.ask, &mut self.keys);
        let asked = self.asked.get_or_insert_with(|| {
            let password = ask()?;
            *keys =
                Keys::new(Some(EncryptionKey::from_password(password.expose_secret().as_bytes())));
            Ok(())
        });
        asked.clone()
    }
}

/// A line of a receipt has no line breaks.
fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().replace('\n', "; ")
}
