//! Makes a profile of a state, with no browser running.
//!
//! The one idea: what a browser keeps as rows is written as rows. Cookies, localStorage and what sites
//! may do are there before the browser starts, so no page has to be visited for them. What only a page
//! can make, and what no profile has, is listed; a resume brings it back.

mod ahead;
mod archive;
mod areas;
mod cache;
mod key;
mod merge;
mod rest;
mod shelf;
mod store;
mod tree;

pub use archive::StoreArchive;
pub use cache::ProfileCache;
pub use key::CacheKey;
pub use merge::merge;
pub(super) use store::{DEFAULT, Rows, Store};

use super::cookies::CookieStoreError;
use super::instant::Instant;
use super::keep::{create_folder, rename, sync_all};
use super::leveldb::LevelDbError;
use super::local_storage::{Areas, Unwritable};
use super::{ProfileError, certificates, permissions};
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Cookie, Receipt, State};
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
    let next = tree::Stage::beside(profile)?;
    let mut receipt = write_rows(state, next.path(), times)?;
    receipt.extend(write_rest(state, next.path(), times)?);
    sync_all(&tree::paths(next.path())?)?;
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
    let mut receipt = rest::write(state, profile);
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
    let rows = Rows::of(state, times);
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
    /// Somebody has it open.
    #[error("expected nobody to use the profile at {}, found it open in process {pid}: close that browser first", profile.display())]
    InUse {
        /// Which profile.
        profile: PathBuf,
        /// Whose it is.
        pid: u32,
    },
    /// Somebody elsewhere may have it open.
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

/// A disk that is full is told as such, whoever notices it.
fn is_full(path: &Path) -> CompileError {
    ProfileError::new("write", path)(ErrorKind::StorageFull.into()).into()
}
