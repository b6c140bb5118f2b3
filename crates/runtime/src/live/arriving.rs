//! What is made ready for a session that comes here from another node, while it still runs there.
//!
//! The one idea: a profile takes long to make, so it is made of the newest snapshot there is, before the last one. What
//! was captured since is told by the names of parts, so a profile that is older never counts for more than what both
//! have: what differs is filled anew, and one that has what is gone by now is not taken at all.
//!
//! There is one for each session, in a folder that is emptied when a node starts, and it goes with the session that
//! came, with one that does not come, or after a while.

use super::load::Loaded;
use super::{BrowserSupervisor, LiveError};
use baton_browser::profile::Note;
use baton_browser::profile::at_rest;
use baton_browser::profile::compile::{OF_PAGES, StoreArchive, Times, write_rows};
use baton_browser::restore::{Ground, Made};
use baton_session::{PartKind, PartRef, Session, SessionId, StorageKey, Text};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};
use tokio::time::{Instant, sleep_until};

/// How many sessions are awaited at once.
const MOST: usize = 32;
/// How long one is awaited, from when something of it last came.
const LIFE: Duration = Duration::from_mins(10);

/// The sessions that are awaited here.
#[derive(Default)]
pub(super) struct Arrivals {
    awaited: Mutex<HashMap<SessionId, Arrival>>,
    /// For which a profile is being made, also for one that is awaited no more.
    making: Mutex<HashSet<SessionId>>,
}

/// A session that is awaited.
struct Arrival {
    /// Which one of all that were awaited, so that none ends in the place of another.
    number: u64,
    /// Until when.
    until: Instant,
    ready: Option<ReadyProfile>,
}

/// A profile that was made ready.
pub(super) struct ReadyProfile {
    /// Of what it was made.
    parts: Vec<PartRef>,
    /// When that was captured.
    taken_at: at_rest::Instant,
    /// Whether what only pages make is in it as it should be.
    is_whole: bool,
}

impl ReadyProfile {
    /// What it holds exactly as `wanted` has it, of what only pages make; none where it holds anything that is not
    /// wanted any more.
    fn holds_of(&self, wanted: &[PartRef]) -> Option<Made> {
        let of_keys =
            |part: &&PartRef| part.kind == PartKind::LocalStorage || OF_PAGES.contains(&part.kind);
        let names: BTreeSet<_> = wanted.iter().map(|part| (part.kind, &part.name)).collect();
        let mut held = self.parts.iter().filter(of_keys);
        // A folder of the browser's own is written where there is none, and so would stay as it is.
        let is_outdated = |part: &PartRef| {
            !names.contains(&(part.kind, &part.name))
                || part.kind == PartKind::Raw && !wanted.contains(part)
        };
        if held.any(is_outdated) {
            return None;
        }
        if !self.is_whole {
            return Some(Made::default());
        }
        let held: BTreeSet<_> = self.parts.iter().map(name_of).collect();
        let same = wanted.iter().filter(|part| held.contains(&name_of(part)));
        let (now, made) = (by_key(wanted), by_key(&self.parts));
        let stored = now.into_iter().filter(|(key, parts)| made.get(key) == Some(parts));
        Some(Made {
            databases: same.filter_map(database_of).collect(),
            stored: stored.map(|(key, _)| key).collect(),
        })
    }
}

/// Which database a part is of, by key and name; none where it is of none.
fn database_of(part: &PartRef) -> Option<(StorageKey, Text)> {
    // So are parts named of which a key has several.
    let name = (part.kind == PartKind::Database).then_some(&part.name)?;
    serde_json::from_str(name).ok()
}

/// What a part is, with the hash of its bytes.
type PartName<'a> = (PartKind, &'a str, [u8; 32]);

fn name_of(part: &PartRef) -> PartName<'_> {
    (part.kind, &part.name, part.hash.0)
}

/// What only pages make, by key, but for databases.
fn by_key(parts: &[PartRef]) -> BTreeMap<StorageKey, BTreeSet<PartName<'_>>> {
    let mut keys: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let is_stored = |kind| kind != PartKind::Database && OF_PAGES.contains(&kind);
    for part in parts.iter().filter(|part| is_stored(part.kind)) {
        if let Some(key) = part.key() {
            keys.entry(key).or_default().insert(name_of(part));
        }
    }
    keys
}

impl BrowserSupervisor {
    /// Awaits a session of another node, for a while. What comes ahead of it has a folder from now on. Returns which one
    /// of all that are awaited it is.
    pub(crate) fn arrives(&self, id: SessionId) -> Result<u64, LiveError> {
        let number = {
            let mut awaited = self.awaited();
            let until = Instant::now() + LIFE;
            if let Some(arrival) = awaited.get_mut(&id) {
                arrival.until = until;
                return Ok(arrival.number);
            }
            if awaited.len() >= MOST {
                return Err(LiveError::TooManyArrive { most: MOST });
            }
            let number = rand::random();
            awaited.insert(id, Arrival { number, until, ready: None });
            number
        };
        let (supervisor, folder) = (self.clone(), self.config().data.arriving_of(id));
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(LiveError::file(folder))?;
        // The folder is emptied at the start of the next node, if this one ends before.
        tokio::spawn(async move {
            let until = || {
                let awaited = supervisor.awaited();
                awaited.get(&id).filter(|one| one.number == number).map(|one| one.until)
            };
            while let Some(until) = until() {
                if until <= Instant::now() {
                    return supervisor.forget_arrival(id).await;
                }
                sleep_until(until).await;
            }
        });
        Ok(number)
    }

    /// Awaits a session no longer, and removes what is left of all that came ahead of it.
    pub async fn forget_arrival(&self, id: SessionId) {
        if self.awaited().remove(&id).is_none() {
            return;
        }
        let folder = self.config().data.arriving_of(id);
        let removed = self.blocking(move || or_nothing(fs::remove_dir_all(&folder), &folder));
        if let Err(error) = removed.await {
            tracing::warn!(session = %id, %error, "what came ahead of a session was not removed");
        }
    }

    /// Makes a profile of the newest snapshot of a session that runs at another node. Where one is being made for it
    /// already, that one counts; but for one of an arrival that was forgotten, which is removed: then none is ready, and
    /// the session comes without it.
    pub async fn make_ready(&self, session: &Session) -> Result<(), LiveError> {
        let id = session.id;
        self.expect_room(id)?;
        let number = self.arrives(id)?;
        let Some(_making) = MakingOfProfile::begin(self, id) else { return Ok(()) };
        let made = self.make_ready_for(session, number).await;
        let is_awaited = self.awaited().get(&id).is_some_and(|arrival| arrival.number == number);
        if !is_awaited {
            // It came without it, or does not come. What came ahead of it since then, if it is to come again, stays.
            let folder = self.config().data.arriving_of(id);
            let profile = folder.join("profile");
            let removed = self.blocking(move || {
                or_nothing(fs::remove_dir_all(&profile), &profile)?;
                match fs::remove_dir(&folder) {
                    Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
                    removed => or_nothing(removed, &folder),
                }
            });
            removed.await?;
        }
        made
    }

    async fn make_ready_for(&self, session: &Session, number: u64) -> Result<(), LiveError> {
        let id = session.id;
        self.awaited().entry(id).and_modify(|arrival| arrival.ready = None);
        let Loaded { good, mut state, taken_at, is_whole, .. } =
            self.load_last_good(session).await?;
        if !is_whole {
            // Who resumes it says what is damaged.
            return Ok(());
        }
        let scratch = self.config().data.arriving_of(id);
        let pages = state.take_pages();
        let made =
            if pages.is_empty() { None } else { Some(self.make_pages(pages, &scratch).await?) };
        let taken_at = at_rest::Instant(taken_at.as_microsecond());
        let is_whole = made.as_ref().is_none_or(StoreArchive::is_whole);
        let profile = scratch.join("profile");
        let write = move || {
            or_nothing(fs::remove_dir_all(&profile), &profile)?;
            if let Some(made) = made {
                made.write_into(&profile)?;
            }
            let now = at_rest::Instant(Timestamp::now().as_microsecond());
            // Nothing in it is later than the snapshot.
            write_rows(&state, &profile, Times { now, written: taken_at })?;
            Ok::<_, LiveError>(())
        };
        self.blocking(write).await?;
        let ready = ReadyProfile { parts: good, taken_at, is_whole };
        let mut awaited = self.awaited();
        let Some(arrival) = awaited.get_mut(&id).filter(|arrival| arrival.number == number) else {
            return Ok(());
        };
        arrival.ready = Some(ready);
        drop(awaited);
        tracing::info!(session = %id, is_whole, "a profile is ready for a session that comes");
        Ok(())
    }

    /// Puts the profile that was made ready for a session in the place of an outdated one, and says what it holds of
    /// what is brought back. None where there is none, or where it has what the session has no more. No browser runs on
    /// the profile, and its state is kept beside it.
    pub(super) async fn take_ready(&self, id: SessionId, loaded: &Loaded) -> Option<Ground> {
        let ready = self.awaited().get_mut(&id)?.ready.take()?;
        let made = ready.holds_of(&loaded.good)?;
        let (ahead, profile) = (self.config().data.arriving_of(id), self.config().data.profile(id));
        let (term, snapshot, taken_at) = (loaded.term, loaded.snapshot, ready.taken_at);
        let put = self.blocking(move || {
            let note = Note::read(&profile);
            if note.is_some_and(|note| Some(note.term) == term || note.from == Some(snapshot)) {
                // It ran here last: its own profile is nearer.
                return Ok(None);
            }
            replace(&profile, &ahead)?;
            Ok::<_, LiveError>(Some(Ground::compiled(&profile, taken_at)))
        });
        match put.await {
            Ok(ground) => ground.map(|ground| ground.with_pages(made)),
            Err(error) => {
                tracing::warn!(session = %id, %error, "a profile that was made ready is not taken");
                None
            }
        }
    }

    fn awaited(&self) -> MutexGuard<'_, HashMap<SessionId, Arrival>> {
        self.0.arrivals.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn making(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.arrivals.making.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A profile that is being made for a session: no other one is made for it meanwhile, in the same folder.
struct MakingOfProfile {
    supervisor: BrowserSupervisor,
    id: SessionId,
}

impl MakingOfProfile {
    fn begin(supervisor: &BrowserSupervisor, id: SessionId) -> Option<Self> {
        let is_first = supervisor.making().insert(id);
        is_first.then(|| Self { supervisor: supervisor.clone(), id })
    }
}

impl Drop for MakingOfProfile {
    fn drop(&mut self) {
        self.supervisor.making().remove(&self.id);
    }
}

/// Puts the profile in the folder `ahead` in the place of another one.
fn replace(profile: &Path, ahead: &Path) -> Result<(), LiveError> {
    let outdated = ahead.join("outdated");
    or_nothing(fs::rename(profile, &outdated), profile)?;
    let ready: PathBuf = ahead.join("profile");
    fs::rename(&ready, profile).map_err(LiveError::file(ready))?;
    // It is in place, whatever becomes of the other one: that goes with all that came ahead.
    if let Err(error) = or_nothing(fs::remove_dir_all(&outdated), &outdated) {
        tracing::warn!(%error, "a profile that was replaced is still there");
    }
    Ok(())
}

/// What is gone need not be removed.
fn or_nothing(done: io::Result<()>, path: &Path) -> Result<(), LiveError> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LiveError::file(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::PartHash;

    fn part(kind: PartKind, name: &str, text: &str) -> PartRef {
        let (name, hash) = (name.to_owned(), PartHash::of(text.as_bytes()));
        PartRef { kind, name, hash, size: 1 }
    }

    const SHOP: &str = "https://shop.test/";

    fn named(name: &str, text: &str) -> PartRef {
        part(PartKind::Database, &format!(r#"["{SHOP}","{name}"]"#), text)
    }

    fn database(text: &str) -> PartRef {
        named("db", text)
    }

    fn cache(text: &str) -> PartRef {
        part(PartKind::Cache, &format!(r#"["{SHOP}","shell"]"#), text)
    }

    fn ready(parts: &[PartRef]) -> ReadyProfile {
        ReadyProfile { parts: parts.to_vec(), taken_at: at_rest::Instant(0), is_whole: true }
    }

    /// The names of databases that are held, and whether the caches and the like are.
    fn held(before: &ReadyProfile, wanted: &[PartRef]) -> (Vec<String>, bool) {
        let Made { databases, stored } = before.holds_of(wanted).unwrap();
        let shop = StorageKey::new(SHOP);
        assert!(databases.iter().all(|(key, _)| *key == shop));
        let names = databases.iter().map(|(_, name)| name.to_lossy()).collect();
        (names, stored.contains(&shop))
    }

    #[test]
    fn what_is_the_same_is_held_and_what_changed_is_not() {
        let (local, cookies) =
            (part(PartKind::LocalStorage, SHOP, "1"), part(PartKind::Cookies, "shop.test", "1"));
        let before = ready(&[local, cookies, cache("1"), database("1"), named("mail", "1")]);
        let later = |cache, database, mail| {
            [part(PartKind::LocalStorage, SHOP, "2"), cache, database, named("mail", mail)]
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let held = |before: &ReadyProfile, wanted: [PartRef; 4]| held(before, &wanted);
        let same = later(cache("1"), database("1"), "1");
        assert_eq!(held(&before, same.clone()), (names(&["db", "mail"]), true));
        // One that changed takes no other one along.
        let one = later(cache("1"), database("2"), "1");
        assert_eq!(held(&before, one), (names(&["mail"]), true));
        let stored = later(cache("2"), database("1"), "2");
        assert_eq!(held(&before, stored), (names(&["db"]), false));
        let half = ReadyProfile { is_whole: false, ..before };
        assert_eq!(held(&half, same), (Vec::new(), false));
    }

    #[test]
    fn what_was_removed_since_does_not_rise_again() {
        let local = part(PartKind::LocalStorage, SHOP, "1");
        let before = ready(&[local.clone(), database("1")]);
        assert_eq!(before.holds_of(&[local]), None);
        assert_eq!(before.holds_of(&[database("1")]), None);
        let raw = |text| part(PartKind::Raw, SHOP, text);
        assert_eq!(ready(&[raw("1")]).holds_of(&[raw("2")]), None);
        assert!(ready(&[raw("1")]).holds_of(&[raw("1")]).is_some());
    }
}
