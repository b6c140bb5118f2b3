//! Opens a session: a keeper with a browser, its tabs, and a first snapshot.

use super::Hub;
use super::ending::Ending;
use super::error::LiveError;
use super::runner::Known;
use crate::table::Hold;
use baton_api::{OpenSession, SharedFolder};
use baton_browser::cdp::CdpError;
use baton_browser::launch::{Folder, expect_itself};
use baton_browser::live::Live;
use baton_session::SnapshotReason;
use baton_session::redact::ShownAddress;
use baton_session::{Session, State};
use futures_util::future::join_all;
use std::time::Duration;
use url::Url;

/// How long a site may take to answer before its tab is left to go on by itself.
const TAB_LIMIT: Duration = Duration::from_secs(15);

fn folder(SharedFolder { path, writable }: &SharedFolder) -> Folder {
    Folder { path: path.into(), writable: *writable }
}

impl Hub {
    /// Starts a browser for a session whose row exists. When this returns, a first snapshot is on disk.
    pub(crate) async fn open(
        &self,
        _hold: &Hold,
        session: &Session,
        request: &OpenSession,
    ) -> Result<(), LiveError> {
        let opened = self.open_taken(session, request).await;
        if opened.is_err() {
            self.forget(session.id);
            self.end_keeper(session.id, Ending::Kill).await;
        }
        opened
    }

    async fn open_taken(&self, session: &Session, request: &OpenSession) -> Result<(), LiveError> {
        let term = self.acquire(session).await?;
        self.create_files(session.id)?;
        let folders: Vec<Folder> = request.files.iter().map(folder).collect();
        if !folders.is_empty() {
            self.note_folders(session.id, &folders)?;
        }
        self.begin_permissions(session.id, &request.environment).await?;
        self.begin_certificates(session.id, &request.environment).await?;
        self.start_browser(session, &request.environment).await?;
        let link = self.connect_to(session.id).await?;
        if let Some(agent) = &request.environment.user_agent {
            expect_itself(agent, &link.welcome.browser_version)?;
        }
        let known = State { environment: request.environment.clone(), ..State::default() };
        let live = self.on_its_profile(session, Live::start(link, known).await?);
        // Before any page is asked for: then nothing of it is missed.
        self.record_if_asked(session, request.reveal).await;
        self.open_tabs(session, &live, &request.urls).await?;
        let runner = self.watch(session.clone(), term, live, Known::default());
        self.note_profile(session.id, term, None).await;
        self.capture(runner.session.id, SnapshotReason::Open).await?;
        Ok(())
    }

    /// Opens all tabs at once, in their order: a site that does not answer costs the others nothing.
    async fn open_tabs(
        &self,
        session: &Session,
        live: &Live,
        urls: &[Url],
    ) -> Result<(), LiveError> {
        if urls.is_empty() {
            live.open_blank_tab().await?;
        }
        join_all(urls.iter().map(|url| self.open_tab(session, live, url)))
            .await
            .into_iter()
            .collect::<Result<(), _>>()?;
        live.show_first_tab().await?;
        Ok(())
    }

    async fn open_tab(&self, session: &Session, live: &Live, url: &Url) -> Result<(), LiveError> {
        let tab = live.open_unvisited_tab().await?;
        self.wait_until_recorded(session.id, &tab).await;
        let reason = match live.fill_tab(&tab, url, TAB_LIMIT).await {
            Ok(None) => return Ok(()),
            Ok(Some(reason)) => reason,
            Err(error @ CdpError::TimedOut { .. }) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        let url = ShownAddress::of(url.as_str());
        tracing::warn!(%url, reason, "a tab's site did not answer");
        Ok(())
    }
}
