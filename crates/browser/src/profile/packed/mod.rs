//! Profiles as archives, for where their browsers share no disk with us.
//!
//! The one idea: what comes back was written by strangers. Of an archive only plain files with the names
//! that a profile has are taken, up to a bound; a link in it leads nowhere, because none is made. Bounds
//! are those of what is read, not of what it says of itself.

mod bounded;
mod pages;
mod unpack;
mod written;

pub use bounded::BoundedTar;
pub use pages::{PageFolder, PageFolders};
pub use unpack::{UNREAD, unpack};

use crate::profile::compile::{
    CacheKey, CompileError, DEFAULT, ProfileCache, StateRows, Store, StoreArchive, Times,
    write_rest,
};
use crate::profile::preferences::Preferences;
use crate::profile::{ProfileError, memory};
use baton_session::{Receipt, State};
use std::fs::File;
use std::io;
use std::io::BufWriter;
use std::path::Path;

/// What of a profile is there already; of that, the state need not have anything.
#[derive(Debug, Clone, Default)]
pub struct AtHand {
    /// Its localStorage.
    pub local_storage: Option<StoreArchive>,
    /// What only pages make: its databases, caches, files and service workers.
    pub pages: Option<StoreArchive>,
}

/// The profile of what is in neither of the stores.
const REST: &str = "rest";
/// A store from which on it is worth an archive of its own, in bytes.
const LARGE: u64 = 1 << 20;
/// How much is written at once, in bytes.
const CHUNK: usize = 256 << 10;

/// A new profile with a state, as tar archives in memory. Its browser keeps the cookies that end with it,
/// for the browser after it.
#[derive(Debug)]
pub struct Pack {
    /// Stores that are large, and so are not copied.
    large: Vec<StoreArchive>,
    /// All else.
    archive: File,
    receipt: Receipt,
}

impl Pack {
    /// Makes a profile with a state, in a new folder of `scratch`, in which nothing stays. With a key, what
    /// the cache has under it is not made again, and what is made is kept there. What is at hand takes the
    /// place of the state's. Blocks on the disk.
    pub fn make(
        state: &State,
        scratch: &Path,
        times: Times,
        cached: Option<(&ProfileCache, CacheKey)>,
        at_hand: &AtHand,
    ) -> Result<Self, CompileError> {
        let folder = tempfile::tempdir_in(scratch);
        let folder = folder.map_err(ProfileError::new("make a folder in", scratch))?;
        let rows = StateRows::of(state, times);
        let local_storage = at_hand.local_storage.as_ref();
        let stores =
            Store::each(|store| match local_storage.filter(|_| store == Store::LocalStorage) {
                Some(known) => Ok(known.clone()),
                None => find_or_make(store, &rows, folder.path(), times, cached),
            })?;
        let stores: Vec<StoreArchive> = stores.into_iter().chain(at_hand.pages.clone()).collect();
        let mut receipt: Receipt =
            stores.iter().flat_map(|store| store.receipt().items.clone()).collect();
        let rest = folder.path().join(REST);
        receipt.extend(write_rest(state, &rest, times)?);
        receipt.sort();
        keep_cookies_of_sessions(&rest)?;
        let (large, small): (Vec<_>, Vec<_>) =
            stores.into_iter().partition(|store| store.size() >= LARGE);
        let archive = archive(&small, &rest).map_err(ProfileError::new("pack", &rest))?;
        let place = folder.path().to_owned();
        folder.close().map_err(ProfileError::new("remove", place))?;
        Ok(Self { large, archive, receipt })
    }

    /// What of the state is in it.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Its archives, each from its beginning. All of them, in any order, are the profile.
    pub fn open(&self) -> io::Result<Vec<File>> {
        let files = self.large.iter().map(StoreArchive::file).chain([&self.archive]);
        files.map(memory::again).collect()
    }
}

fn find_or_make(
    store: Store,
    rows: &StateRows,
    folder: &Path,
    times: Times,
    cached: Option<(&ProfileCache, CacheKey)>,
) -> Result<StoreArchive, CompileError> {
    if let Some(kept) = cached.and_then(|(cache, key)| cache.find(key, store, times.now)) {
        return Ok(kept);
    }
    let profile = folder.join(store.kind().as_str());
    rows.write(store, &profile)?;
    let made = StoreArchive::of(store, rows, &profile)?;
    if let Some((cache, key)) = cached {
        cache.keep(key, store, made.clone());
    }
    Ok(made)
}

/// Stores and the profile `rest` as one archive.
fn archive(stores: &[StoreArchive], rest: &Path) -> io::Result<File> {
    let mut files = tar::Builder::new(BufWriter::with_capacity(CHUNK, memory::file()?));
    stores.iter().try_for_each(|store| store.write_to(files.get_mut()))?;
    files.append_dir_all(DEFAULT, rest.join(DEFAULT))?;
    memory::seal(files.into_inner()?.into_inner()?)
}

/// Has the browser begin where the last one ended, which is when it keeps the cookies of a session.
fn keep_cookies_of_sessions(profile: &Path) -> Result<(), ProfileError> {
    const WHERE_IT_ENDED: u64 = 1;
    let mut preferences = Preferences::load(profile)?.unwrap_or_default();
    if let Some(session) = preferences.object_mut(&["session"]) {
        session.insert("restore_on_startup".to_owned(), WHERE_IT_ENDED.into());
    }
    preferences.write_fresh(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::formats::Instant;
    use crate::profile::keyring::KeyringError;
    use crate::profile::packed::unpack;
    use crate::profile::read::{ProfileFolder, read};
    use baton_session::{Part, StorageKey, parts};
    use std::fs;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    const TIMES: Times = Times { now: Instant(0), written: Instant(0) };

    fn state() -> State {
        let cookie = serde_json::json!({
            "name": "sid", "value": "1", "domain": "app.test", "path": "/", "expires": 4_000_000,
            "sourceScheme": "Secure", "sourcePort": 443,
        });
        let mut state =
            State { cookies: vec![serde_json::from_value(cookie).unwrap()], ..State::default() };
        let key = StorageKey::new("https://app.test/");
        let long = "x".repeat(800 << 10);
        state.origins.entry(key).or_default().local_storage =
            [("token".to_owned(), long)].into_iter().collect();
        state
    }

    /// What a sandbox would hand back of it.
    fn handed_back(pack: &Pack) -> State {
        let folder = tempfile::tempdir().unwrap();
        for archive in pack.open().unwrap() {
            let mut pages = PageFolders::new(folder.path().join("pages"));
            assert!(unpack(archive, folder.path(), &mut pages).unwrap());
        }
        let mut no_key = || Err(KeyringError::Locked);
        read(&ProfileFolder::find(folder.path()).unwrap(), &mut no_key, Instant(0)).state
    }

    #[test]
    fn what_was_kept_is_handed_in_as_if_it_were_made() {
        let (scratch, cache, mut state) =
            (tempfile::tempdir().unwrap(), ProfileCache::new(4 << 20), state());
        let parts: Vec<_> = parts::split(&state).iter().map(Part::reference).collect();
        let key = CacheKey::of(&parts);
        let cached = Some((&cache, key));
        let first = Pack::make(&state, scratch.path(), TIMES, cached, &AtHand::default()).unwrap();
        assert_eq!(handed_back(&first).origins, state.origins);
        assert_eq!(first.receipt().losses().count(), 0);
        let mut archives = first.open().unwrap();
        assert_eq!(archives.len(), 2);
        // A receiver changes nothing for the next one.
        let path = format!("/proc/self/fd/{}", archives[0].as_raw_fd());
        let again = fs::File::options().write(true).open(path);
        assert!(again.and_then(|mut file| file.write_all(b"x")).is_err());
        assert!(archives[1].write_all(b"x").is_err());
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        // The cookies are small, and made anew: here, other ones.
        state.cookies[0].value = "2".to_owned();
        let again = Pack::make(&state, scratch.path(), TIMES, cached, &AtHand::default()).unwrap();
        assert!(first.large[0].is(&again.large[0]), "it was not made again");
        let back = handed_back(&again);
        assert_eq!((&back.origins, &back.cookies), (&state.origins, &state.cookies));
        // Without any of its own it is the same.
        let local_storage = cache.local_storage(key, TIMES.now);
        let at_hand = AtHand { local_storage, ..AtHand::default() };
        let without = State { cookies: state.cookies.clone(), ..State::default() };
        let third = Pack::make(&without, scratch.path(), TIMES, None, &at_hand).unwrap();
        assert_eq!((handed_back(&third), third.receipt()), (back, again.receipt()));
    }
}
