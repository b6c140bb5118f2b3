//! Whether a session's profile is the one that its snapshot came from, and what it holds then.

use super::load::Loaded;
use super::{Hub, LiveError};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::{AtRest, Note};
use baton_browser::restore::Ground;
use baton_session::{Session, SessionId, SnapshotId, Term};

impl Hub {
    /// The ground for a resume; none when the snapshot is not the session's newest one, or the
    /// profile is not the one that it came from. No browser runs on the profile.
    pub(super) async fn ground(
        &self,
        session: &Session,
        loaded: &Loaded,
    ) -> Result<Option<Ground>, LiveError> {
        if !loaded.is_newest {
            return Ok(None);
        }
        let profile = self.config().data.profile(session.id);
        let (id, term) = (loaded.snapshot, loaded.term);
        let taken_at = Instant(loaded.taken_at.as_microsecond());
        self.blocking(move || {
            let note = Note::read(&profile);
            let ours = note.filter(|note| Some(note.term) == term || note.from == Some(id));
            Ok::<_, LiveError>(ours.map(|note| Ground {
                at_rest: AtRest::read(&profile),
                taken_at,
                same_boot: note.is_of_this_boot(),
            }))
        })
        .await
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
