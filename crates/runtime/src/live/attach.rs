//! Attaches to a browser that somebody else started.

use super::Hub;
use super::ending::Ending;
use super::error::LiveError;
use super::runner::Known;
use crate::table::Hold;
use baton_browser::live::Live;
use baton_session::SnapshotReason;
use baton_session::{Session, State};
use url::Url;

impl Hub {
    /// Watches the browser at `cdp_url` for a session whose row exists. When this returns, a first
    /// snapshot is on disk. The browser is not ours: it is left running when the session ends.
    pub(crate) async fn attach(
        &self,
        _hold: &Hold,
        session: &Session,
        cdp_url: &Url,
    ) -> Result<(), LiveError> {
        let attached = self.attach_taken(session, cdp_url).await;
        if attached.is_err() {
            self.forget(session.id);
            self.end_keeper(session.id, Ending::Kill).await;
        }
        attached
    }

    async fn attach_taken(&self, session: &Session, cdp_url: &Url) -> Result<(), LiveError> {
        let term = self.acquire(session).await?;
        self.start_attached(session.id, cdp_url).await?;
        let link = self.connect_to(session.id).await?;
        let live = Live::start(link, State::default()).await?;
        self.watch(session.clone(), term, live, Known::default());
        self.record_if_asked(session, false).await;
        self.capture(session.id, SnapshotReason::Open).await?;
        Ok(())
    }
}
