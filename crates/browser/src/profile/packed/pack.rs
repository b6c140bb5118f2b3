//! A new profile on its way to where it is used.

use super::archive::Archive;
use super::source::{Made, Source, Sources};
use crate::profile::ProfileError;
use crate::profile::compile::{
    CacheKey, CompileError, Kept, ProfileCache, Rows, Store, Times, write_rest,
};
use crate::profile::preferences::Preferences;
use baton_session::{Receipt, State};
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::thread;
use tempfile::TempDir;

/// The profile of what is in neither of the two stores.
const REST: &str = "rest";

/// A new profile with a state, as a tar archive. Its browser keeps the cookies that end with it, for the
/// browser after it.
#[derive(Debug)]
pub struct Pack {
    archive: File,
    receipt: Receipt,
    /// The stores that were made, below the folder.
    made: Vec<Made>,
    folder: TempDir,
}

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
        let (rows, place) = (Rows::of(state, times), folder.path());
        let sources = Sources { rows, times, cached, local_storage, folder: place };
        let mut archive = Archive::new().map_err(ProfileError::new("pack", place))?;
        let stores = add_stores(&sources, &mut archive)?;
        let (mut receipt, rest) = (sources.receipt(), place.join(REST));
        receipt.extend(write_rest(state, &rest, times)?);
        receipt.sort();
        keep_cookies_of_sessions(&rest)?;
        let archive = archive.end(&rest)?;
        let made = stores.into_iter().filter_map(Source::made).collect();
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
        let place = self.folder.path();
        self.made.into_iter().try_for_each(|made| made.keep(cache, place))?;
        let place = place.to_owned();
        self.folder.close().map_err(ProfileError::new("remove", place))
    }
}

/// Adds both stores: the larger one while the other one is made.
fn add_stores(sources: &Sources<'_>, archive: &mut Archive) -> Result<[Source; 2], CompileError> {
    let (cookies, larger) = thread::scope(|scope| {
        let cookies = scope.spawn(|| sources.of(Store::Cookies));
        let larger = sources.of(Store::LocalStorage)?;
        archive.add(&larger, sources.folder)?;
        let cookies = cookies.join().unwrap_or(Err(CompileError::Stopped))?;
        Ok::<_, CompileError>((cookies, larger))
    })?;
    archive.add(&cookies, sources.folder)?;
    Ok([cookies, larger])
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
