//! Makes a profile of a state, with no browser running.
//!
//! The one idea: what a browser keeps as rows is written as rows. Cookies, localStorage and what sites
//! may do are there before the browser starts, so no page has to be visited for them. What only a page
//! can make, and what no profile has, is listed; a resume brings it back.

mod ahead;
mod cache;
mod merge;
mod store;

pub use cache::{CacheKey, ProfileCache};
pub use merge::merge;
pub use store::StoreArchive;
pub(super) use store::{DEFAULT, StateRows, Store};

use super::cookies::CookieStoreError;
use super::instant::Instant;
use super::keep::{create_folder, rename, sync_all};
use super::leveldb::LevelDbError;
use super::local_storage::{Areas, Unwritable};
use super::{ProfileError, certificates, permissions, raw};
use baton_redaction::ShownAddress;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::state::OriginState;
use baton_session::{Cookie, Receipt, State, StorageKey, Tab};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// When a profile is compiled, and of which instant it shall be.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Cookies that ended before it are left out.
    pub now: Instant,
    /// When everything is said to have been written.
    pub written: Instant,
}

impl Times {
    /// Everything was written just now.
    pub fn at(now: Instant) -> Self {
        Self { now, written: now }
    }
}

/// Makes a new profile at `profile`, where nothing is or an empty folder: a whole one, synced, or none.
/// The receipt has a line for each item of the state. Blocks on the disk.
pub fn compile(state: &State, profile: &Path, times: Times) -> Result<Receipt, CompileError> {
    match fs::read_dir(profile).map(|mut entries| entries.next().is_none()) {
        Ok(false) => return Err(CompileError::NotEmpty(profile.to_owned())),
        Ok(true) => {}
        Err(_) if !profile.exists() => {}
        Err(error) => return Err(ProfileError::new("read", profile)(error).into()),
    }
    let parent =
        profile.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    create_folder(parent)?;
    let next = merge::StagedFolder::beside(profile)?;
    let mut receipt = write_rows(state, next.path(), times)?;
    receipt.extend(write_rest(state, next.path(), times)?);
    sync_all(&merge::paths(next.path())?)?;
    rename(next.path(), profile)?;
    next.took_its_place();
    receipt.sort();
    Ok(receipt)
}

/// Writes what of a state is neither a cookie nor localStorage into `profile`, and lists what no profile
/// has. Blocks on the disk.
pub(super) fn write_rest(
    state: &State,
    profile: &Path,
    times: Times,
) -> Result<Receipt, CompileError> {
    let mut receipt = write_others(state, profile);
    for certificate in &state.environment.certificates {
        receipt.push(written(ItemKind::Environment, certificate.place()));
    }
    let environment = &state.environment;
    let everywhere = environment.geolocation.is_some();
    permissions::write(profile, &environment.permissions, everywhere, times.now)?;
    certificates::write(profile, &environment.certificates)?;
    Ok(receipt)
}

/// Writes the cookies and the localStorage of a state into a profile that has none, and on which no
/// browser runs. Nothing is synced. The receipt has a line for each of both. Blocks on the disk.
pub fn write_rows(state: &State, profile: &Path, times: Times) -> Result<Receipt, CompileError> {
    let rows = StateRows::of(state, times);
    Store::each(|store| rows.write(store, profile))?;
    Ok(rows.receipt())
}

/// A line for each cookie that was written.
fn cookie_lines(cookies: &[Cookie]) -> Receipt {
    cookies.iter().map(|cookie| written(ItemKind::Cookie, cookie.place())).collect()
}

/// A line for each area that was written.
fn area_lines(areas: &Areas) -> Receipt {
    areas.keys().map(|key| written(ItemKind::LocalStorage, key.as_str().to_owned())).collect()
}

/// What no browser has confirmed yet.
fn written(kind: ItemKind, place: String) -> ReceiptItem {
    ReceiptItem { verified: Verified::None, ..ReceiptItem::restored(kind, place) }
}

fn in_store(path: &Path) -> impl FnOnce(CookieStoreError) -> CompileError + use<> {
    let path = path.to_owned();
    move |source| match source {
        CookieStoreError::Sqlite(error) if error.is_full() => is_full(&path),
        source => CompileError::Cookies { path, source },
    }
}

/// Why no profile was made. What was there is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A new profile would be mixed with something else.
    #[error("expected {} to be an empty folder, or none, found files in it", .0.display())]
    NotEmpty(PathBuf),
    /// It is not what it should be merged into.
    #[error("expected a Chrome profile at {} (a folder with a folder Default), found none", .0.display())]
    NoProfile(PathBuf),
    /// A process has it open.
    #[error("expected nobody to use the profile at {}, found it open in process {pid}: close that browser first", profile.display())]
    InUse {
        /// Which profile.
        profile: PathBuf,
        /// Whose it is.
        pid: u32,
    },
    /// A process elsewhere may have it open.
    #[error("expected nobody to use the profile at {}, found it locked by process {pid} on host {host:?}: close that browser, or remove SingletonLock if it is gone", profile.display())]
    Elsewhere {
        /// Which profile.
        profile: PathBuf,
        /// The host named in the lock.
        host: String,
        /// The process named in the lock.
        pid: u32,
    },
    /// Its lock could not be read.
    #[error(transparent)]
    Lock(#[from] crate::launch::LaunchError),
    /// Its cookies could not be read or written.
    #[error("could not use {}: {source}", path.display())]
    Cookies {
        /// The store.
        path: PathBuf,
        /// Why.
        source: CookieStoreError,
    },
    /// Its localStorage could not be read.
    #[error("could not read the localStorage of {}: {reason}", profile.display())]
    LocalStorage {
        /// Which profile.
        profile: PathBuf,
        /// Why.
        reason: String,
    },
    /// Its localStorage could not be written.
    #[error("could not write localStorage: {0}")]
    Unwritten(String),
    /// A file could not be read or written.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The process is ending.
    #[error("the work was stopped before its end")]
    Stopped,
}

impl From<Unwritable> for CompileError {
    fn from(error: Unwritable) -> Self {
        match error {
            Unwritable::Profile(error) => error.into(),
            Unwritable::LevelDb(LevelDbError::File { path, source }) => {
                ProfileError::new("write", path)(source).into()
            }
            Unwritable::Sqlite { path, source } if source.is_full() => is_full(&path),
            other => Self::Unwritten(other.to_string()),
        }
    }
}

/// A disk that is full is reported as such, whatever notices it.
fn is_full(path: &Path) -> CompileError {
    ProfileError::new("write", path)(ErrorKind::StorageFull.into()).into()
}

const NEEDS_A_PAGE: &str = "only a page can make it: baton import and baton sessions resume do";
const NEEDS_A_TAB: &str =
    "a profile has no tabs: baton import and baton sessions resume bring them";

/// Writes the browser's own folders of databases, if the state has some, and lists everything else
/// that is neither a cookie nor localStorage.
fn write_others(state: &State, profile: &Path) -> Receipt {
    let mut receipt = Receipt::default();
    for (key, origin) in &state.origins {
        databases(profile, key, origin, &mut receipt);
        let mut leave = |kind, place: String| {
            receipt.push(ReceiptItem::not_portable(kind, place, NEEDS_A_PAGE));
        };
        for cache in &origin.caches {
            leave(ItemKind::Cache, format!("{key} {}", cache.name.to_lossy()));
        }
        if !origin.files.is_empty() {
            leave(ItemKind::Files, key.to_string());
        }
        for registration in &origin.service_workers {
            leave(
                ItemKind::ServiceWorker,
                format!("{key} {}", ShownAddress::of(&registration.scope)),
            );
        }
    }
    state.tabs.iter().for_each(|tab| leave_tab(tab, &mut receipt));
    leave_environment(state, &mut receipt);
    receipt
}

fn databases(profile: &Path, key: &StorageKey, origin: &OriginState, receipt: &mut Receipt) {
    let written = if origin.raw.is_empty() {
        Err(NEEDS_A_PAGE.to_owned())
    } else {
        raw::write(profile, key, &origin.raw).map_err(|error| error.to_string())
    };
    for database in &origin.databases {
        let place = format!("{key} {}", database.name.to_lossy());
        receipt.push(match &written {
            Ok(_) => ReceiptItem {
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::IndexedDb, place)
            },
            Err(reason) => ReceiptItem::not_portable(ItemKind::IndexedDb, place, reason),
        });
    }
}

fn leave_tab(tab: &Tab, receipt: &mut Receipt) {
    if tab.url == "about:blank" && tab.session_storage.is_empty() {
        return;
    }
    let place = ShownAddress::of(&tab.url);
    receipt.push(ReceiptItem::not_portable(ItemKind::Tab, place, NEEDS_A_TAB));
    for key in tab.session_storage.keys() {
        let kind = ItemKind::SessionStorage;
        receipt.push(ReceiptItem::not_portable(kind, key.as_str(), NEEDS_A_TAB));
    }
}

/// Settings that the browser is started with, and permissions, which are settings of a profile.
fn leave_environment(state: &State, receipt: &mut Receipt) {
    let environment = &state.environment;
    let settings = [
        ("viewport", environment.viewport.is_some()),
        ("user agent", environment.user_agent.is_some()),
        ("time zone", environment.timezone.is_some()),
        ("locale", environment.locale.is_some()),
        ("geolocation", environment.geolocation.is_some()),
    ];
    for (name, _) in settings.into_iter().filter(|(_, is_set)| *is_set) {
        let reason = "a profile has no such setting: give it to the browser that you start";
        receipt.push(ReceiptItem::not_portable(ItemKind::Environment, name, reason));
    }
    for permission in &environment.permissions {
        receipt.push(match permission.validate() {
            Ok(()) => ReceiptItem {
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::Permission, permission.place())
            },
            Err(reason) => ReceiptItem::rejected(ItemKind::Permission, permission.place(), reason),
        });
    }
}
