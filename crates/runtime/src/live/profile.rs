//! The files of a session: its folder with profile and log, what is written into the profile before a
//! browser starts on it, and whether it is the one that a snapshot was made equal to.
//!
//! Beside the state of a snapshot that is whom the browser trusts, what sites may do, and the browser's own
//! folders of databases, where a snapshot that was imported has some.

use super::close::Ending;
use super::load::Loaded;
use super::{BrowserSupervisor, LiveError, expect_checked_in};
use crate::table::Hold;
use baton_browser::launch::Folder;
use baton_browser::live::Live;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{CacheKey, Times};
use baton_browser::profile::{AtRest, Note, certificates, drop_older, is_blank, permissions, raw};
use baton_browser::restore::{Ground, Made, PermissionChoice, Restored, choose};
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{
    Certificate, Environment, FileEntry, Owner, Receipt, Session, SessionId, SnapshotId, State,
    StorageKey, Term,
};
use baton_store::blocking::blocking;
use baton_store::data::write_private;
use jiff::Timestamp;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The certificates that a profile was given.
pub(super) struct Trusted {
    certificates: Vec<Certificate>,
    /// Why the profile was not given them.
    refused: Option<String>,
}

impl BrowserSupervisor {
    /// Gives the profile of a session that was never started whom it trusts.
    pub(super) async fn begin_certificates(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<(), LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = environment.certificates.clone();
        self.blocking(move || certificates::write(&profile, &wanted)).await
    }

    /// Gives a profile, on which no browser runs, whom it trusts by the snapshot, and no others. The receipt
    /// says what cannot be written: then its sites are refused, and nothing else is.
    pub(super) async fn give_certificates(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<Trusted, LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = environment.certificates.clone();
        let write = move || {
            let refused = certificates::write(&profile, &wanted).err();
            let refused = refused.map(|error| error.to_string());
            Ok::<_, LiveError>(Trusted { certificates: wanted, refused })
        };
        let trusted = self.blocking(write).await?;
        if let Some(error) = &trusted.refused {
            tracing::warn!(session = %id, error, "a profile was not told whom its browser trusts");
        }
        Ok(trusted)
    }
}

impl Trusted {
    /// Notes in `restored` what became of them.
    pub(super) fn tell(&self, restored: &mut Restored) {
        for certificate in &self.certificates {
            let place = certificate.place();
            restored.receipt.push(match &self.refused {
                None => ReceiptItem {
                    verified: Verified::None,
                    ..ReceiptItem::restored(ItemKind::Environment, place)
                },
                Some(reason) => ReceiptItem::rejected(ItemKind::Environment, place, reason),
            });
        }
    }
}

/// The permissions that a profile was given.
pub(super) struct Given {
    choices: Vec<PermissionChoice>,
    /// Whether every site may know the place of the browser.
    everywhere: bool,
    /// Why the profile was not given them.
    refused: Option<String>,
}

impl BrowserSupervisor {
    /// Gives the profile of a session that was never started what its sites may do.
    pub(super) async fn begin_permissions(
        &self,
        id: SessionId,
        environment: &Environment,
    ) -> Result<(), LiveError> {
        self.create_files(id)?;
        let profile = self.config().data.profile(id);
        let (wanted, everywhere) =
            (environment.permissions.clone(), environment.geolocation.is_some());
        self.blocking(move || permissions::write(&profile, &wanted, everywhere, now())).await
    }

    /// Gives a profile, on which no browser runs, what sites may do by its own settings and by the snapshot,
    /// and makes the environment that of both. The receipt says what cannot be written.
    pub(super) async fn give_permissions(
        &self,
        id: SessionId,
        environment: &mut Environment,
        ground: Option<&Ground>,
    ) -> Result<Given, LiveError> {
        let profile = self.config().data.profile(id);
        let wanted = std::mem::take(&mut environment.permissions);
        let everywhere = environment.geolocation.is_some();
        let taken_at = ground.map(|ground| ground.taken_at);
        let work = move || {
            let found = permissions::read(&profile);
            let known = found.as_ref().ok().and_then(|found| found.as_deref());
            let choices = choose(&wanted, known, taken_at);
            let chosen: Vec<_> = choices.iter().map(|choice| choice.permission.clone()).collect();
            let written =
                found.and_then(|_| permissions::write(&profile, &chosen, everywhere, now()));
            let refused = written.err().map(|error| error.to_string());
            Ok::<_, LiveError>(Given { choices, everywhere, refused })
        };
        let given = self.blocking(work).await?;
        let chosen = given.choices.iter().map(|choice| choice.permission.clone());
        environment.permissions.extend(chosen);
        Ok(given)
    }

    /// A browser of ours, whose own profile tells what sites may do.
    pub(super) fn on_its_profile(&self, session: &Session, live: Live) -> Live {
        let live = live.on_profile(self.config().data.profile(session.id));
        if session.headed { live } else { live.headless() }
    }
}

impl Given {
    /// Notes in `restored` what became of them.
    pub(super) fn tell(&self, restored: &mut Restored) {
        restored.tell_permissions(&self.choices, self.refused.as_deref());
        if let Some(reason) = self.refused.as_ref().filter(|_| self.everywhere) {
            let item = ReceiptItem::rejected(ItemKind::Permission, "geolocation anywhere", reason);
            restored.receipt.push(item);
        }
    }
}

fn now() -> Instant {
    Instant(Timestamp::now().as_microsecond())
}

impl BrowserSupervisor {
    /// Reads the folders of some keys from the profile of a session that has no browser.
    pub(crate) async fn read_raw(
        &self,
        hold: &Hold,
        keys: Vec<StorageKey>,
    ) -> Result<Vec<(StorageKey, Vec<FileEntry>)>, LiveError> {
        expect_checked_in(hold)?;
        let id = hold.id();
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.wait_for_profile(id).await?;
        let profile = self.config().data.profile(id);
        let read = move |key: StorageKey| {
            let raw = raw::read(&profile, &key)?;
            Ok::<_, LiveError>((key, raw))
        };
        self.blocking(move || keys.into_iter().map(read).collect::<Result<Vec<_>, _>>()).await
    }

    /// Takes the folders out of the state and writes those that the profile does not have. No browser runs on
    /// it. What cannot be written is reported; its databases come from their records then.
    pub(super) async fn write_raw(
        &self,
        id: SessionId,
        state: &mut State,
    ) -> Result<Receipt, LiveError> {
        let origins = state.origins.iter_mut().filter(|(_, origin)| !origin.raw.is_empty());
        let folders: Vec<_> =
            origins.map(|(key, origin)| (key.clone(), std::mem::take(&mut origin.raw))).collect();
        if folders.is_empty() {
            return Ok(Receipt::default());
        }
        let profile = self.config().data.profile(id);
        self.blocking(move || {
            let mut receipt = Receipt::default();
            for (key, files) in folders {
                if let Err(error) = raw::write(&profile, &key, &files) {
                    receipt.push(ReceiptItem::rejected(ItemKind::IndexedDb, key.as_str(), error));
                }
            }
            Ok::<_, LiveError>(receipt)
        })
        .await
    }
}

impl BrowserSupervisor {
    /// The ground for a resume. Where one was made ready, that is it; where no profile is yet, one is compiled of the snapshot. None when
    /// there is one that the snapshot did not come from, or the snapshot is not the session's newest.
    /// No browser runs on the profile.
    pub(super) async fn ground(
        &self,
        session: &Session,
        loaded: &mut Loaded,
    ) -> Result<Option<Ground>, LiveError> {
        if let Some(ground) = self.take_ready(session.id, loaded).await {
            return Ok(Some(ground));
        }
        let profile = self.config().data.profile(session.id);
        if is_blank(&profile) {
            return self.compile(profile, loaded).await.map(Some);
        }
        if !loaded.is_newest {
            return Ok(None);
        }
        let (id, term) = (loaded.snapshot, loaded.term);
        let taken_at = Instant(loaded.taken_at.as_microsecond());
        self.blocking(move || {
            let note = Note::read(&profile);
            let ours = note.filter(|note| Some(note.term) == term || note.from == Some(id));
            // A browser that is newer than the last one may read the other database.
            drop_older(&profile)?;
            Ok::<_, LiveError>(ours.map(|note| Ground {
                at_rest: AtRest::read(&profile),
                taken_at,
                same_boot: note.is_of_this_boot(),
                is_compiled: false,
                made: Made::default(),
            }))
        })
        .await
    }

    /// A profile with the cookies and the localStorage of a snapshot.
    async fn compile(&self, profile: PathBuf, loaded: &mut Loaded) -> Result<Ground, LiveError> {
        let written = Instant(loaded.taken_at.as_microsecond());
        let now = Instant(Timestamp::now().as_microsecond());
        let (key, cache) = (CacheKey::of(&loaded.good), self.0.compiled.clone());
        let state = std::mem::take(&mut loaded.state);
        let work = move || {
            // Said to be of the snapshot's instant: nothing in it is later than the snapshot.
            cache.write_rows(key, &state, &profile, Times { now, written })?;
            Ok::<_, LiveError>((state, Ground::compiled(&profile, written)))
        };
        let (state, ground) = self.blocking(work).await?;
        loaded.state = state;
        Ok(ground)
    }

    /// Notes in the profile of a running browser whose state it holds.
    pub(super) async fn note_profile(&self, id: SessionId, term: Term, from: Option<SnapshotId>) {
        let profile = self.config().data.profile(id);
        if !profile.exists() {
            // A browser that others started.
            return;
        }
        let noted = self.blocking(move || Note::new(term, from).write(&profile));
        if let Err(error) = noted.await {
            tracing::warn!(session = %id, %error, "the profile bears no note; a resume takes the snapshot");
        }
    }
}

/// The profile of this session and its other files are gone from the disk. What removes the row of a session
/// asks for it: when the node dies in between, the row is still there to be deleted again, and no cookies are
/// left behind.
#[derive(Debug)]
pub struct FilesGone(SessionId);

impl FilesGone {
    /// Whose files they were.
    pub fn session(&self) -> SessionId {
        self.0
    }
}

impl BrowserSupervisor {
    /// Makes the session's folder, which only its user may enter.
    pub(super) fn create_files(&self, id: SessionId) -> Result<(), LiveError> {
        let folder = self.config().data.session(id);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(LiveError::file(folder))
    }

    /// Notes which folders of the machine the browser of a session sees beside its own.
    pub(super) fn note_folders(&self, id: SessionId, folders: &[Folder]) -> Result<(), LiveError> {
        let path = self.config().data.folders_of(id);
        let text = serde_json::to_vec(folders).map_err(io::Error::from);
        let text = text.map_err(LiveError::file(path.clone()))?;
        Ok(write_private(&path, &text)?)
    }

    /// Which folders of the machine the browser of a session sees beside its own: those of the settings
    /// and those that it was opened with, and only if it is the owner's for whom the node runs.
    pub(super) fn folders(&self, session: &Session) -> Result<Vec<Folder>, LiveError> {
        if session.owner != Owner::local() {
            return Ok(Vec::new());
        }
        let config = self.config();
        let path = config.data.folders_of(session.id);
        let mut folders: Vec<Folder> = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| LiveError::file(path)(error.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(LiveError::file(path)(error)),
        };
        folders.extend(config.folders.iter().cloned());
        // Looked at each time: a link may lead elsewhere by now.
        folders.iter().try_for_each(|folder| config.data.expect_apart(&folder.path))?;
        Ok(folders)
    }

    /// Removes the session's folder with its profile. A session that is watched is refused, and so is one
    /// whose profile a browser of others holds.
    pub async fn delete_files(&self, hold: &Hold) -> Result<FilesGone, LiveError> {
        expect_checked_in(hold)?;
        let id = hold.id();
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.end_keeper(id, Ending::Kill).await;
        self.wait_for_profile(id).await?;
        let data = self.config().data.clone();
        self.blocking(move || {
            remove(&data.session(id))?;
            remove(&data.files_of(id))?;
            remove(&data.socket(id))
        })
        .await?;
        Ok(FilesGone(id))
    }

    /// Runs what waits for the disk off the async threads.
    pub(super) async fn blocking<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, LiveError>
    where
        T: Send + 'static,
        E: Into<LiveError> + Send + 'static,
    {
        blocking(work).await?.map_err(Into::into)
    }
}

/// Removes a folder with all that is in it, or a file; one that is gone is no error.
fn remove(path: &Path) -> Result<(), LiveError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LiveError::file(path)(error)),
        _ => Ok(()),
    }
}
