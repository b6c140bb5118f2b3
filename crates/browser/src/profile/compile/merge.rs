//! Puts a state into a profile that is there.
//!
//! The one idea: the profile is never worked on. Another one is made beside it, of links to its files
//! and new ones in the place of those that change, and synced; then the two change places in one step.
//! Whatever fails before that leaves the profile as it was, byte for byte.

use super::store::usable_areas;
use super::{
    CompileError, Times, area_lines, cookie_lines, in_store, leave_environment, write_others,
};
use crate::launch;
use crate::launch::LockState;
use crate::plain::expect_file;
use crate::profile::cookies::StorePlace;
use crate::profile::{ProfileError, cookies, create_folder, local_storage, permissions, sync_all};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Permission, Receipt, State};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

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
    let next = StagedFolder::beside(profile)?;
    let default = profile.join("Default");
    let place = StorePlace::find(&default).map_err(ProfileError::new("look into", default))?;
    let changed = CHANGED.map(str::to_owned).into_iter();
    let changed: Vec<_> =
        changed.chain(place.files().map(|name| format!("Default/{name}"))).collect();
    link(profile, next.path(), &changed)?;
    let receipt = change(state, profile, &next, place, times)?;
    sync_all(&paths(next.path())?)?;
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
    next: &StagedFolder,
    place: StorePlace,
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
    receipt.extend(write_others(state, next.path()));
    // Which languages a person chose there is not for a state to say.
    leave_environment(&state.environment, state.environment.identity.as_ref(), &mut receipt);
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

/// A folder that goes when it is not put in place.
#[derive(Debug)]
pub(super) struct StagedFolder {
    path: PathBuf,
    is_ours: bool,
}

impl StagedFolder {
    /// A new, empty one, which only its owner may read.
    pub(super) fn beside(profile: &Path) -> Result<Self, ProfileError> {
        let name = profile.file_name().unwrap_or_default().to_string_lossy();
        let parent = profile.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let made = tempfile::Builder::new()
            .prefix(&format!(".{name}.baton-"))
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent);
        let path = made.map_err(ProfileError::new("create a folder in", parent))?.keep();
        Ok(Self { path, is_ours: true })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// It has another name now.
    pub(super) fn took_its_place(mut self) {
        self.is_ours = false;
    }

    /// Changes places with the profile, in one step; what was the profile goes with this one.
    fn exchange(&self, profile: &Path) -> Result<(), ProfileError> {
        let failed = ProfileError::new("put in its place", profile);
        renameat_with(CWD, &self.path, CWD, profile, RenameFlags::EXCHANGE)
            .map_err(|error| failed(error.into()))?;
        let parent = profile.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let synced = fs::File::open(parent).and_then(|folder| folder.sync_all());
        synced.map_err(ProfileError::new("sync", parent))
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "a folder beside a profile was left behind");
        }
    }
}

/// Links every file below `from` into `to`, but for those whose path below `from` is in `but` and what
/// a running browser has there. A file that is linked must not be written, only replaced.
pub(super) fn link(from: &Path, to: &Path, but: &[String]) -> Result<(), ProfileError> {
    link_below(from, to, Path::new(""), but)
}

fn link_below(from: &Path, to: &Path, below: &Path, but: &[String]) -> Result<(), ProfileError> {
    let (source, target) = (from.join(below), to.join(below));
    create_folder(&target)?;
    let failed = |source| ProfileError::new("read", from.join(below))(source);
    let rights = fs::metadata(&source).map_err(failed)?.permissions();
    for entry in fs::read_dir(&source).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = below.join(entry.file_name());
        let (one, other) = (from.join(&path), to.join(&path));
        let kind = entry.file_type().map_err(failed)?;
        if but.iter().any(|name| path == Path::new(name)) || is_lock(&entry.file_name()) {
            continue;
        }
        if kind.is_dir() {
            link_below(from, to, &path, but)?;
        } else if kind.is_symlink() {
            let copied = fs::read_link(&one).and_then(|target| symlink(target, &other));
            copied.map_err(ProfileError::new("copy", one))?;
        } else if kind.is_file() {
            // Where the disk knows no links, a copy does as well.
            let linked = fs::hard_link(&one, &other).or_else(|_| fs::copy(&one, &other).map(drop));
            linked.map_err(ProfileError::new("copy", one))?;
        }
    }
    let mode = fs::Permissions::from_mode(rights.mode());
    fs::set_permissions(&target, mode).map_err(ProfileError::new("set the rights of", target))
}

fn is_lock(name: &std::ffi::OsStr) -> bool {
    ["SingletonLock", "SingletonCookie", "SingletonSocket"].iter().any(|lock| name == *lock)
}

/// Every file and folder of a profile, the profile itself too, for syncing.
pub(super) fn paths(folder: &Path) -> Result<Vec<PathBuf>, ProfileError> {
    let mut paths = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = paths.get(at).cloned() {
        at += 1;
        let failed = |source| ProfileError::new("read", &path)(source);
        if !path.symlink_metadata().map_err(failed)?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() || kind.is_file() {
                paths.push(entry.path());
            }
        }
    }
    Ok(paths)
}
