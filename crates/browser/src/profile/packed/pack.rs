//! A new profile on its way to where it is used.

use crate::profile::ProfileError;
use crate::profile::compile::{
    CacheKey, CompileError, DEFAULT, Kept, ProfileCache, Rows, Store, StoreKey, Times, write_rest,
};
use crate::profile::preferences::Preferences;
use baton_session::cookie::Expiry;
use baton_session::{Receipt, State};
use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How much is written at once, in bytes.
const CHUNK: usize = 256 << 10;

/// A new profile with a state, as a tar archive. Its browser keeps the cookies that end with it, for the
/// browser after it.
#[derive(Debug)]
pub struct Pack {
    archive: File,
    receipt: Receipt,
    /// The stores that were made, each in a profile of its own below the folder.
    made: Vec<Made>,
    folder: TempDir,
}

/// A store that was made.
#[derive(Debug)]
struct Made {
    store: Store,
    key: Option<StoreKey>,
    /// When the first of its cookies ends.
    until: Option<Expiry>,
    receipt: Receipt,
}

/// Where a store comes from.
enum Source {
    Kept(Kept),
    Made(Made),
}

/// The profile of what is in neither of the two stores.
const REST: &str = "rest";

impl Pack {
    /// Makes a profile with a state in a new folder of `scratch`, which goes with this. With a key, what the
    /// cache has under it is not made again. What was kept of `local_storage` takes the place of the
    /// state's. Blocks on the disk.
    pub fn make(
        state: &State,
        scratch: &Path,
        times: Times,
        cached: Option<(&ProfileCache, CacheKey)>,
        local_storage: Option<&Kept>,
    ) -> Result<Self, CompileError> {
        let folder = tempfile::tempdir_in(scratch);
        let folder = folder.map_err(ProfileError::new("make a folder in", scratch))?;
        let rows = Rows::of(state, times);
        let sources = Store::each(|store| {
            let key = cached.map(|(_, key)| key.of_store(store));
            let at_hand = local_storage.filter(|_| store == Store::LocalStorage).cloned();
            let find = || cached.zip(key).and_then(|((cache, _), key)| cache.find(key, times.now));
            let kept = at_hand.or_else(find);
            if let Some(kept) = kept {
                return Ok(Source::Kept(kept));
            }
            rows.write(store, &place(&folder, store))?;
            let (until, receipt) = (rows.until(store), rows.receipt_of(store));
            Ok(Source::Made(Made { store, key, until, receipt }))
        })?;
        let mut receipt = rows.receipt();
        if let Some(kept) = local_storage {
            receipt.extend(kept.receipt().clone());
        }
        let rest = folder.path().join(REST);
        receipt.extend(write_rest(state, &rest, times)?);
        receipt.sort();
        keep_cookies_of_sessions(&rest)?;
        let archive = archive(&sources, &folder);
        let archive = archive.map_err(ProfileError::new("pack", folder.path()))?;
        let made = sources.into_iter().filter_map(Source::made).collect();
        Ok(Self { archive, receipt, made, folder })
    }

    /// What of the state is in it.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// The archive, from its beginning. It is in memory, and goes when nobody has it open any more.
    pub fn open(&self) -> io::Result<File> {
        let mut archive = self.archive.try_clone()?;
        archive.rewind()?;
        Ok(archive)
    }

    /// Keeps in the cache what was made under a key, and removes the folder. Blocks on the disk.
    pub fn keep(self, cache: &ProfileCache) -> Result<(), ProfileError> {
        for Made { store, key, until, receipt } in self.made {
            if let Some(key) = key {
                cache.keep(key, until, receipt, &place(&self.folder, store))?;
            }
        }
        let place = self.folder.path().to_owned();
        self.folder.close().map_err(ProfileError::new("remove", place))
    }
}

impl Source {
    fn made(self) -> Option<Made> {
        match self {
            Self::Made(made) => Some(made),
            Self::Kept(_) => None,
        }
    }
}

/// The profile in which a store is made.
fn place(folder: &TempDir, store: Store) -> PathBuf {
    folder.path().join(store.kind().as_str())
}

/// Stores and the rest as one archive.
fn archive(sources: &[Source], folder: &TempDir) -> io::Result<File> {
    let room = BufWriter::with_capacity(CHUNK, in_memory()?);
    let mut files = tar::Builder::new(room);
    for source in sources {
        match source {
            Source::Kept(kept) => kept.write_to(files.get_mut())?,
            Source::Made(made) => made.store.add_to(&mut files, &place(folder, made.store))?,
        }
    }
    files.append_dir_all(DEFAULT, folder.path().join(REST).join(DEFAULT))?;
    Ok(files.into_inner()?.into_inner()?)
}

/// A file that no disk has.
#[cfg(target_os = "linux")]
fn in_memory() -> io::Result<File> {
    let file = rustix::fs::memfd_create("profile", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// A file without a name.
#[cfg(not(target_os = "linux"))]
fn in_memory() -> io::Result<File> {
    tempfile::tempfile()
}

/// Has the browser begin where the last one ended, which is when it keeps the cookies of a session.
fn keep_cookies_of_sessions(profile: &Path) -> Result<(), ProfileError> {
    const WHERE_IT_ENDED: u64 = 1;
    let mut preferences = Preferences::load(profile)?.unwrap_or_default();
    if let Some(session) = preferences.object_mut(&["session"]) {
        session.insert("restore_on_startup".to_owned(), WHERE_IT_ENDED.into());
    }
    preferences.put(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::instant::Instant;
    use crate::profile::keyring::KeyringError;
    use crate::profile::packed::unpack;
    use crate::profile::read::{ProfileFolder, read};
    use baton_session::{Part, StorageKey, parts};
    use std::fs;

    const TIMES: Times = Times { now: Instant(0), written: Instant(0) };

    fn state() -> State {
        let cookie = serde_json::json!({
            "name": "sid", "value": "1", "domain": "app.test", "path": "/", "expires": 4_000_000,
            "sourceScheme": "Secure", "sourcePort": 443,
        });
        let mut state =
            State { cookies: vec![serde_json::from_value(cookie).unwrap()], ..State::default() };
        let key = StorageKey::new("https://app.test/");
        let long = "x".repeat(300 << 10);
        state.origins.entry(key).or_default().local_storage =
            [("token".to_owned(), long)].into_iter().collect();
        state
    }

    /// What a sandbox would hand back of it.
    fn handed_back(pack: &Pack) -> State {
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(pack.open().unwrap(), folder.path()).unwrap());
        let mut no_key = || Err(KeyringError::Locked);
        read(&ProfileFolder::find(folder.path()).unwrap(), &mut no_key, Instant(0)).state
    }

    #[test]
    fn what_was_kept_is_handed_in_as_if_it_were_made() {
        let (scratch, cache, mut state) =
            (tempfile::tempdir().unwrap(), ProfileCache::new(1 << 20), state());
        let parts: Vec<_> = parts::split(&state).iter().map(Part::reference).collect();
        let key = CacheKey::of(&parts);
        let cached = Some((&cache, key));
        let first = Pack::make(&state, scratch.path(), TIMES, cached, None).unwrap();
        assert_eq!(handed_back(&first).origins, state.origins);
        assert_eq!(first.receipt().losses().count(), 0);
        first.keep(&cache).unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        // The cookies are small, and made anew: here, other ones.
        state.cookies[0].value = "2".to_owned();
        let again = Pack::make(&state, scratch.path(), TIMES, cached, None).unwrap();
        assert_eq!(again.made.len(), 1);
        let back = handed_back(&again);
        assert_eq!((&back.origins, &back.cookies), (&state.origins, &state.cookies));
        // Without any of its own it is the same.
        let kept = cache.local_storage(key, TIMES.now);
        let without = State { cookies: state.cookies.clone(), ..State::default() };
        let third = Pack::make(&without, scratch.path(), TIMES, None, kept.as_ref()).unwrap();
        assert_eq!((handed_back(&third), third.receipt()), (back, again.receipt()));
    }
}
