//! Makes of a session what a sandbox would be handed, before somebody asks for it.
//!
//! The one idea: nobody waits for it, so it is never in the way. The work is done on a thread of its own
//! with the lowest priority, and what it leaves gives way to what somebody asked for.

use super::Hub;
use super::error::LiveError;
use crate::latest::Latest;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{CacheKey, CompileError, ProfileCache, Times};
use baton_session::{PartKind, PartRef, Session, parts};
use baton_store::{SealedParts, StoreError};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::thread;
use tokio::sync::oneshot;

/// Why nothing was made.
#[derive(Debug, thiserror::Error)]
pub enum NotPrepared {
    /// The session cannot be read.
    #[error(transparent)]
    Session(#[from] LiveError),
    /// A part of it cannot be read.
    #[error(transparent)]
    Part(#[from] StoreError),
    /// It does not become a profile.
    #[error(transparent)]
    Profile(#[from] CompileError),
    /// There is no thread for it.
    #[error("no thread for it: {0}")]
    NoThread(#[from] std::io::Error),
    /// The thread ended early.
    #[error("the work was stopped before its end")]
    Stopped,
}

impl Hub {
    /// Lets go of what is kept of an older state of a session. Returns what a sandbox would be handed.
    pub async fn drop_outdated(&self, session: &Session) -> Result<Option<Latest>, LiveError> {
        let found = self.last_good(session.id).await?;
        let key = found.as_ref().map(|found| key_of(session, found));
        self.compiled().forget(session.id, key);
        Ok(found)
    }

    /// Makes what is kept of a session that has no browser, if it is worth it and not there: in a folder
    /// of `scratch`, in which nothing stays. Returns whether there was something to make, and it is kept.
    pub async fn prepare(&self, session: &Session, scratch: PathBuf) -> Result<bool, NotPrepared> {
        let Some(found) = self.drop_outdated(session).await? else { return Ok(false) };
        let (key, now) = (key_of(session, &found), Timestamp::now().as_microsecond());
        let kinds = self.compiled().lacks(key, Instant(now));
        if kinds.is_empty() {
            return Ok(false);
        }
        let wanted = found.snapshot.parts.iter().filter(|part| kinds.contains(&part.kind));
        let wanted: Vec<PartRef> = wanted.cloned().collect();
        let sealed = self.store().fetch_sealed_parts(&session.owner, &wanted).await?;
        let written = Instant(found.snapshot.taken_at.as_microsecond());
        let times = Times { now: Instant(now), written };
        let cache = self.compiled().clone();
        let work = move || make(&cache, key, &kinds, &sealed, times, &scratch);
        let (done, made) = oneshot::channel();
        thread::Builder::new().name("prepare".to_owned()).spawn(move || {
            step_back();
            // Nobody waits any more when the node ends.
            let _ = done.send(work());
        })?;
        made.await.map_err(|_| NotPrepared::Stopped)?
    }
}

fn key_of(session: &Session, found: &Latest) -> CacheKey {
    CacheKey::of(&found.snapshot.parts).of_session(session.id)
}

fn make(
    cache: &ProfileCache,
    key: CacheKey,
    kinds: &[PartKind],
    sealed: &SealedParts,
    times: Times,
    scratch: &Path,
) -> Result<bool, NotPrepared> {
    let opened: Vec<_> = sealed.open().into_iter().collect::<Result<_, _>>()?;
    let (state, invalid) = parts::join(&opened);
    drop(opened);
    if !invalid.is_empty() {
        // Whoever hands it in is told which part it is, and makes the rest.
        return Ok(false);
    }
    Ok(cache.make_ahead(key, kinds, &state, scratch, times)?)
}

/// Lets everybody else go first: on Linux this is of a thread, and of those that it starts.
#[cfg(target_os = "linux")]
fn step_back() {
    const LAST: i32 = 19;
    if let Err(error) = rustix::process::setpriority_process(None, LAST) {
        tracing::debug!(%error, "what is prepared has the usual priority");
    }
}

/// Elsewhere there are no sandboxes.
#[cfg(not(target_os = "linux"))]
fn step_back() {}
