//! A new profile on its way to where it is used.

use super::END;
use crate::profile::ProfileError;
use crate::profile::compile::{
    CacheKey, CompileError, DEFAULT, ProfileCache, Rows, Store, StoreKey, Times, write_rest,
};
use crate::profile::preferences::Preferences;
use baton_session::cookie::Expiry;
use baton_session::{Receipt, State};
use std::io::{self, Write};
use std::path::Path;
use tempfile::TempDir;
use zeroize::Zeroizing;

/// A new profile with a state. Its browser keeps the cookies that end with it, for the browser after it.
#[derive(Debug)]
pub struct Pack {
    /// What was made: the two stores, and what is in neither, each a profile of its own.
    folder: TempDir,
    /// What was kept, as archives.
    kept: Vec<Zeroizing<Vec<u8>>>,
    made: Vec<Made>,
    receipt: Receipt,
}

/// A store that was made.
#[derive(Debug)]
struct Made {
    store: Store,
    key: Option<StoreKey>,
    /// When the first of its cookies ends.
    until: Option<Expiry>,
}

/// Where a store comes from.
enum Source {
    Kept(Zeroizing<Vec<u8>>),
    Made(Made),
}

/// What of a profile is in neither of the two stores.
const REST: &str = "rest";

impl Pack {
    /// Makes a profile with a state in a new folder of `scratch`, which goes with this. With a key, what the
    /// cache has under it is not made again. Blocks on the disk.
    pub fn make(
        state: &State,
        scratch: &Path,
        times: Times,
        cached: Option<(&ProfileCache, CacheKey)>,
    ) -> Result<Self, CompileError> {
        let folder = tempfile::tempdir_in(scratch);
        let folder = folder.map_err(ProfileError::new("make a folder in", scratch))?;
        let rows = Rows::of(state, times);
        let sources = Store::each(|store| {
            let key = cached.map(|(_, key)| key.of_store(store));
            if let Some((cache, key)) = cached.map(|(cache, _)| cache).zip(key)
                && let Some(kept) = cache.find(key, times.now)?
            {
                return Ok(Source::Kept(kept));
            }
            rows.write(store, &folder.path().join(store.kind().as_str()))?;
            Ok(Source::Made(Made { store, key, until: rows.until(store) }))
        })?;
        let mut receipt = rows.receipt();
        let rest = folder.path().join(REST);
        receipt.extend(write_rest(state, &rest, times)?);
        receipt.sort();
        keep_cookies_of_sessions(&rest)?;
        let mut pack = Self { folder, kept: Vec::new(), made: Vec::new(), receipt };
        for source in sources {
            match source {
                Source::Kept(archive) => pack.kept.push(archive),
                Source::Made(made) => pack.made.push(made),
            }
        }
        Ok(pack)
    }

    /// What of the state is in it.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Writes it as a tar archive. Blocks on the disk.
    pub fn write_to(&self, to: impl Write) -> io::Result<()> {
        let mut files = tar::Builder::new(to);
        for archive in &self.kept {
            files.get_mut().write_all(&archive[..archive.len().saturating_sub(END)])?;
        }
        for Made { store, .. } in &self.made {
            store.add_to(&mut files, &self.place(*store))?;
        }
        files.append_dir_all(DEFAULT, self.folder.path().join(REST).join(DEFAULT))?;
        files.into_inner()?.flush()
    }

    /// Keeps in the cache what was made under a key, and removes the folder. Blocks on the disk.
    pub fn keep(self, cache: &ProfileCache) -> Result<(), ProfileError> {
        for Made { store, key, until } in &self.made {
            if let Some(key) = key {
                cache.keep(*key, *until, &self.place(*store))?;
            }
        }
        let place = self.folder.path().to_owned();
        self.folder.close().map_err(ProfileError::new("remove", place))
    }

    /// The profile in which a store was made.
    fn place(&self, store: Store) -> std::path::PathBuf {
        self.folder.path().join(store.kind().as_str())
    }
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
    use baton_session::{StorageKey, parts};
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
        let mut archive = Vec::new();
        pack.write_to(&mut archive).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(&*archive, folder.path()).unwrap());
        let mut no_key = || Err(KeyringError::Locked);
        read(&ProfileFolder::find(folder.path()).unwrap(), &mut no_key, Instant(0)).state
    }

    #[test]
    fn what_was_kept_is_handed_in_as_if_it_were_made() {
        let (scratch, cache, mut state) =
            (tempfile::tempdir().unwrap(), ProfileCache::new(1 << 20), state());
        let parts: Vec<_> = parts::split(&state).iter().map(|part| part.reference()).collect();
        let cached = Some((&cache, CacheKey::of(&parts)));
        let first = Pack::make(&state, scratch.path(), TIMES, cached).unwrap();
        assert_eq!(handed_back(&first).origins, state.origins);
        assert_eq!(first.receipt().losses().count(), 0);
        first.keep(&cache).unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        // The cookies are small, and made anew: here, other ones.
        state.cookies[0].value = "2".to_owned();
        let again = Pack::make(&state, scratch.path(), TIMES, cached).unwrap();
        assert_eq!((again.kept.len(), again.made.len()), (1, 1));
        let back = handed_back(&again);
        assert_eq!((&back.origins, &back.cookies), (&state.origins, &state.cookies));
    }
}
