//! Opens a session: a keeper with a browser, one of its own or one that others started, its tabs, and a first
//! snapshot.

use super::close::Ending;
use super::lease::Taker;
use super::runner::SnapshotBaseline;
use super::signed_in::note_browser;
use super::{BrowserSupervisor, LiveError};
use crate::table::Hold;
use baton_api::{OpenSession, SharedFolder};
use baton_browser::cdp::{CdpError, Transport};
use baton_browser::keeper::{
    Beats, BrowserSpec, EgressSpec, KeeperError, KeeperLink, KeeperSpec, PreludeCall, Role,
    StartedKeeper, prelude,
};
use baton_browser::launch::{BrowserPlaces, Folder, LaunchOptions, made_whole};
use baton_browser::live::Live;
use baton_browser::{keeper, launch};
use baton_redaction::ShownAddress;
use baton_session::{Environment, Session, SessionId, SnapshotReason, State};
use futures_util::future::join_all;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How long a site may take to answer before its tab is left to go on by itself.
const TAB_LIMIT: Duration = Duration::from_secs(15);

fn folder(SharedFolder { path, writable }: &SharedFolder) -> Folder {
    Folder { path: path.into(), writable: *writable }
}

impl BrowserSupervisor {
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
        let _place = self.take_place(session.id)?;
        let term = self.acquire(session, Taker::Owner).await?;
        self.create_files(session.id)?;
        let folders: Vec<Folder> = request.files.iter().map(folder).collect();
        if !folders.is_empty() {
            self.note_folders(session.id, &folders)?;
        }
        self.begin_permissions(session.id, &request.environment).await?;
        self.begin_certificates(session.id, &request.environment).await?;
        let _told = self.start_browser(session, &request.environment).await?;
        let link = self.connect_to(session.id).await?;
        // No page is there yet but the keeper's own.
        let mut environment = self.make_whole(&link, request.environment.clone()).await?;
        environment.browser = None;
        note_browser(&mut environment, &link.welcome.browser_version, &session.name);
        let known = State { environment, ..State::default() };
        let live = self.on_its_profile(session, Live::start(link, known).await?);
        // Before any page is asked for: then nothing of it is missed.
        self.record_if_asked(session, request.reveal).await;
        self.open_tabs(session, &live, &request.urls).await?;
        let runner = self.watch(session.clone(), term, live, SnapshotBaseline::default());
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

impl BrowserSupervisor {
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
        let term = self.acquire(session, Taker::Owner).await?;
        let _told = self.start_attached(session.id, cdp_url).await?;
        let link = self.connect_to(session.id).await?;
        let live = Live::start(link, State::default()).await?;
        self.watch(session.clone(), term, live, SnapshotBaseline::default());
        self.record_if_asked(session, false).await;
        self.capture(session.id, SnapshotReason::Open).await?;
        Ok(())
    }
}

impl BrowserSupervisor {
    /// The browser that sessions are opened in, if there is one.
    pub fn browser(&self) -> Option<PathBuf> {
        self.program().ok()
    }

    /// The same for callers that need one.
    pub(super) fn program(&self) -> Result<PathBuf, LiveError> {
        let config = self.config();
        let places = BrowserPlaces::of(&config.inherited);
        Ok(launch::find_browser(config.browser.as_ref(), &places)?)
    }

    /// Starts a keeper with a browser on the session's own profile. What this returns is kept until the node has
    /// connected for good.
    pub(super) async fn start_browser(
        &self,
        session: &Session,
        environment: &Environment,
    ) -> Result<StartedKeeper, LiveError> {
        let (config, program) = (self.config(), self.program()?);
        let options = LaunchOptions {
            files: config.data.files_of(session.id),
            folders: self.folders(session)?,
            confine: config.confine,
            sandbox: config.sandbox,
            extra_args: config.switches.iter().map(ToString::to_string).collect(),
            hidden: Some(config.data.path().to_owned()),
            headed: session.headed,
            environment: environment.clone(),
            inherited: config.inherited.clone(),
            // The data folder is locked, the session's lease is held, and a browser of ours claims its
            // profile: a lock of Chromium that names another host is of a container that is no more.
            break_foreign_lock: true,
            ..LaunchOptions::new(program, config.data.profile(session.id))
        };
        let egress = config.egress.way_out(&session.owner, environment.egress.as_ref())?;
        let browser = BrowserSpec::Launch(Box::new(options));
        self.start_keeper(session.id, browser, prelude(environment), egress).await
    }

    /// Makes the identity of a browser that runs whole, where its user agent names another one.
    pub(super) async fn make_whole(
        &self,
        link: &KeeperLink,
        environment: Environment,
    ) -> Result<Environment, LiveError> {
        let whole = made_whole(environment.clone(), &link.welcome.browser_version)?;
        if whole.identity != environment.identity {
            let prelude = json!({ "prelude": prelude(&whole) });
            link.connection.browser().call("Baton.setPrelude", prelude).await?;
        }
        Ok(whole)
    }

    /// Starts a keeper on a browser that Baton did not start.
    async fn start_attached(&self, id: SessionId, url: &Url) -> Result<StartedKeeper, LiveError> {
        let browser = BrowserSpec::Attach { url: url.to_string() };
        self.start_keeper(id, browser, Vec::new(), None).await
    }

    async fn start_keeper(
        &self,
        id: SessionId,
        browser: BrowserSpec,
        prelude: Vec<PreludeCall>,
        egress: Option<EgressSpec>,
    ) -> Result<StartedKeeper, LiveError> {
        let data = &self.config().data;
        self.create_files(id)?;
        let mut beats = self.beats();
        let spec = KeeperSpec {
            session: id,
            socket: data.socket(id),
            browser,
            log: data.keeper_log(id),
            hold_until: beats.as_mut().map(Beats::until),
            prelude,
            egress,
        };
        let started = self.config().keepers.spawn(&spec, beats).await?;
        let ready = &started.ready;
        tracing::info!(session = %id, keeper = ready.pid, browser = ready.browser_pid, "keeper started");
        if !ready.confinement.holds() {
            tracing::warn!(session = %id, "its browser has every file of its user");
        }
        Ok(started)
    }

    /// Connects to the session's keeper; none when no keeper listens.
    pub(super) async fn connect(&self, id: SessionId) -> Result<Option<KeeperLink>, LiveError> {
        match keeper::connect(&self.config().data.socket(id), Role::Node).await {
            Ok(link) => {
                self.hold(id, &link.connection).await;
                Ok(Some(link))
            }
            Err(KeeperError::NotRunning { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to the browser of a session as one client more, without speaking.
    pub async fn knock(&self, id: SessionId) -> Result<Transport, LiveError> {
        match keeper::knock(&self.config().data.socket(id), Role::Client).await {
            Ok((transport, _)) => Ok(transport),
            Err(KeeperError::NotRunning { .. }) => Err(LiveError::NotActive(id)),
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to a keeper that must be there.
    pub(super) async fn connect_to(&self, id: SessionId) -> Result<KeeperLink, LiveError> {
        self.connect(id).await?.ok_or(LiveError::NotActive(id))
    }
}
