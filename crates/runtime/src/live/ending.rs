//! Ends keepers and browsers, whether or not they answer.
//!
//! The one idea: whoever is asked and does not answer is killed, but only if it is ours. A browser
//! that a person started on a session's profile is named, and left alone.

use super::Hub;
use super::error::LiveError;
use baton_browser::cdp::Connection;
use baton_browser::keeper;
use baton_browser::launch;
use baton_session::SessionId;
use std::time::Duration;

/// How long a browser whose keeper died, or that was killed, may take to be gone.
const DYING: Duration = Duration::from_secs(10);
/// How long the files of a browser that has ended may take to be closed.
const CLOSING: Duration = Duration::from_secs(1);

/// How a browser ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    /// Gently: it writes what it holds to its profile.
    Close,
    /// At once.
    Kill,
}

impl Hub {
    /// Ends the keeper of a session, and with it its browser; one that does not answer is killed.
    /// True when there was one.
    pub(super) async fn end_keeper(&self, id: SessionId, how: Ending) -> bool {
        let answered = match self.connect(id).await {
            Ok(Some(link)) => {
                end(&link.connection, how).await;
                true
            }
            Ok(None) => return false,
            Err(error) => {
                tracing::warn!(session = %id, %error, "a keeper does not answer");
                false
            }
        };
        // Whoever still listens did not end as asked.
        match self.config().keepers.force(&self.config().data.socket(id)).await {
            Ok(killed) => answered || killed,
            Err(error) => {
                tracing::error!(session = %id, %error, "a keeper could not be killed");
                true
            }
        }
    }

    /// Waits until no browser holds the profile. A browser outlives its keeper for a moment; one of
    /// ours that takes longer hangs, and is killed.
    pub(super) async fn wait_for_profile(&self, id: SessionId) -> Result<(), LiveError> {
        match self.wait_until_free(id).await {
            Err(LiveError::ProfileInUse { profile, .. }) if launch::kill_leftover(&profile)? => {
                self.wait_until_free(id).await
            }
            waited => waited,
        }
    }

    async fn wait_until_free(&self, id: SessionId) -> Result<(), LiveError> {
        let profile = self.config().data.profile(id);
        match launch::wait_until_free(&profile, DYING).await? {
            None => self.wait_until_unclaimed(id).await,
            Some(pid) => Err(LiveError::ProfileInUse { profile, pid }),
        }
    }

    /// Waits until no browser of ours has the profile, in no container and on no machine.
    pub(super) async fn wait_until_unclaimed(&self, id: SessionId) -> Result<(), LiveError> {
        Ok(launch::wait_until_unclaimed(&self.config().data.profile(id), CLOSING).await?)
    }
}

/// Asks a keeper to end with its browser, and waits until both are gone.
pub(super) async fn end(connection: &Connection, how: Ending) {
    let ended = match how {
        Ending::Close => keeper::close(connection).await,
        Ending::Kill => keeper::kill(connection).await,
    };
    if let Err(error) = ended {
        tracing::warn!(%error, "a keeper did not end as asked");
    }
}
