//! Whether a session's profile is the one that its snapshot came from, and what it holds then.

use super::Hub;
use super::error::LiveError;
use super::load::Loaded;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{CacheKey, Times};
use baton_browser::profile::{AtRest, Note, drop_older, is_blank};
use baton_browser::restore::Ground;
use baton_session::{Session, SessionId, SnapshotId, Term};
use jiff::Timestamp;
use std::path::PathBuf;

impl Hub {
    /// The ground for a resume. Where no profile is yet, one is compiled of the snapshot. None when
    /// there is one that the snapshot did not come from, or the snapshot is not the session's newest.
    /// No browser runs on the profile.
    pub(super) async fn ground(
        &self,
        session: &Session,
        loaded: &mut Loaded,
    ) -> Result<Option<Ground>, LiveError> {
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
            // The browser of somebody else.
            return;
        }
        let noted = self.blocking(move || Note::new(term, from).write(&profile));
        if let Err(error) = noted.await {
            tracing::warn!(session = %id, %error, "the profile bears no note; a resume takes the snapshot");
        }
    }
}
