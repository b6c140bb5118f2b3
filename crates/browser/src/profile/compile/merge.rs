//! Puts a state into a profile that is there.
//!
//! The one idea: the profile is never worked on. Another one is made beside it, of links to its files
//! and new ones in the place of those that change, and synced; then the two change places in one step.
//! Whatever fails before that leaves the profile as it was, byte for byte.

use super::areas::usable_areas;
use super::tree::{self, Stage};
use super::{CompileError, Times, area_lines, cookie_lines, in_store, rest};
use crate::launch::{self, LockState};
use crate::profile::bounds::expect_file;
use crate::profile::cookies::{self, Place};
use crate::profile::keep::{create_folder, sync_all};
use crate::profile::{ProfileError, local_storage, permissions};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Permission, Receipt, State};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What is written anew, below the profile, beside its cookies.
const CHANGED: [&str; 5] = [
    "Default/Local Storage/leveldb",
    "Default/LocalStorage",
    "Default/LocalStorage-journal",
    "Default/LocalStorage-wal",
    "Default/LocalStorage-shm",
];

/// Puts cookies, localStorage and permissions of a state into the profile at `profile`, on which no
/// browser runs. A cookie takes the place of the same one, the localStorage of a storage key that of
/// all its entries; everything else stays. The receipt has a line for each item of the state. Blocks
/// on the disk.
pub fn merge(state: &State, profile: &Path, times: Times) -> Result<Receipt, CompileError> {
    if !profile.join("Default").is_dir() {
        return Err(CompileError::NoProfile(profile.to_owned()));
    }
    // The folder itself changes places, not a link to it, and "." has nothing beside it.
    let real = fs::canonicalize(profile).map_err(ProfileError::new("find", profile))?;
    let profile = real.as_path();
    expect_free(profile)?;
    let next = Stage::beside(profile)?;
    let default = profile.join("Default");
    let place = Place::find(&default).map_err(ProfileError::new("look into", default))?;
    let changed = CHANGED.map(str::to_owned).into_iter();
    let changed: Vec<_> =
        changed.chain(place.files().map(|name| format!("Default/{name}"))).collect();
    tree::link(profile, next.path(), &changed)?;
    let receipt = change(state, profile, &next, place, times)?;
    sync_all(&tree::paths(next.path())?)?;
    // A browser that came meanwhile writes to what would be thrown away.
    expect_free(profile)?;
    next.exchange(profile)?;
    Ok(receipt)
}

fn expect_free(profile: &Path) -> Result<(), CompileError> {
    if let LockState::OtherHost { host, pid } = launch::lock::check(profile)? {
        return Err(CompileError::Elsewhere { profile: profile.to_owned(), host, pid });
    }
    match launch::lock::holder(profile)? {
        Some(pid) => Err(CompileError::InUse { profile: profile.to_owned(), pid }),
        None => Ok(()),
    }
}

fn change(
    state: &State,
    profile: &Path,
    next: &Stage,
    place: Place,
    times: Times,
) -> Result<Receipt, CompileError> {
    let (from, to) = (profile.join("Default"), next.path().join("Default"));
    let (cookies, mut receipt) = cookies::usable(&state.cookies, Expiry(times.now.0));
    let store = to.join(place.name);
    if from.join(place.name).exists() {
        for name in place.files() {
            copy(&from.join(&name), &to.join(&name))?;
        }
        let merged = cookies::merge(&store, &cookies, times.written);
        merged.map_err(in_store(&from.join(place.name)))?;
    } else {
        cookies::create(&store, &cookies, times.written).map_err(in_store(&store))?;
    }
    let (areas, strange) = usable_areas(state, times.written);
    receipt.extend(strange);
    receipt.extend(cookie_lines(&cookies));
    receipt.extend(area_lines(&areas));
    merge_areas(profile, &to, areas, times)?;
    receipt.extend(rest::write(state, next.path()));
    leave_certificates(state, &mut receipt);
    merge_permissions(state, profile, next.path(), times)?;
    receipt.sort();
    Ok(receipt)
}

/// Both databases with what the profile holds, and in it what is new.
fn merge_areas(
    profile: &Path,
    to: &Path,
    new: local_storage::Areas,
    times: Times,
) -> Result<(), CompileError> {
    let unreadable = |reason| CompileError::LocalStorage { profile: profile.to_owned(), reason };
    let found = local_storage::read(&profile.join("Default"));
    let found = found.map_err(|error| unreadable(error.to_string()))?;
    if found.strange > 0 {
        let reason =
            format!("{} entries are of a form that this Baton does not know", found.strange);
        return Err(unreadable(reason));
    }
    if !found.lost.is_none() {
        return Err(unreadable(found.lost.to_string()));
    }
    let mut areas = found.areas;
    areas.extend(new);
    create_folder(&to.join("Local Storage"))?;
    Ok(local_storage::write(to, &areas, times.now)?)
}

/// The permissions of the state, and of the profile those about which the state says nothing.
fn merge_permissions(
    state: &State,
    profile: &Path,
    next: &Path,
    times: Times,
) -> Result<(), CompileError> {
    if state.environment.permissions.is_empty() {
        return Ok(());
    }
    let mut all: Vec<Permission> = permissions::read(profile)?.unwrap_or_default();
    all.retain(|one| state.environment.permissions.iter().all(|new| new.key() != one.key()));
    all.extend(state.environment.permissions.iter().cloned());
    let everywhere = permissions::tells_place(profile)?;
    Ok(permissions::write(next, &all, everywhere, times.now)?)
}

/// Whom a person's own browser trusts, no session decides.
fn leave_certificates(state: &State, receipt: &mut Receipt) {
    let reason =
        "a profile that is there trusts nobody more: add it in that browser's own settings";
    for certificate in &state.environment.certificates {
        receipt.push(ReceiptItem::rejected(ItemKind::Environment, certificate.place(), reason));
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), ProfileError> {
    let copied = fs::metadata(from)
        .and_then(|found| expect_file(&found))
        .and_then(|()| reflink_copy::reflink_or_copy(from, to));
    match copied {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ProfileError::new("copy", from)(error))
        }
        _ => Ok(()),
    }
}
