//! Starts keepers and finds those that run.

use super::Hub;
use super::error::LiveError;
use baton_browser::cdp::Transport;
use baton_browser::keeper::{
    self, BrowserSpec, KeeperError, KeeperLink, KeeperSpec, PreludeCall, Role,
};
use baton_browser::launch::{self, LaunchOptions};
use baton_session::{Environment, Session, SessionId};
use serde_json::json;
use std::path::PathBuf;
use url::Url;

impl Hub {
    /// The browser that sessions are opened in, if there is one.
    pub fn browser(&self) -> Option<PathBuf> {
        self.program().ok()
    }

    /// The same for whoever needs one.
    pub(super) fn program(&self) -> Result<PathBuf, LiveError> {
        let config = self.config();
        let path = config.inherited.get("PATH").map(std::ffi::OsStr::new);
        Ok(launch::find_browser(config.browser.as_deref(), path)?)
    }

    /// Starts a keeper with a browser on the session's own profile.
    pub(super) async fn start_browser(
        &self,
        session: &Session,
        environment: &Environment,
    ) -> Result<(), LiveError> {
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
        self.start_keeper(session.id, BrowserSpec::Launch(Box::new(options)), prelude(environment))
            .await
    }

    /// Starts a keeper on a browser that somebody else started.
    pub(super) async fn start_attached(&self, id: SessionId, url: &Url) -> Result<(), LiveError> {
        self.start_keeper(id, BrowserSpec::Attach { url: url.to_string() }, Vec::new()).await
    }

    async fn start_keeper(
        &self,
        id: SessionId,
        browser: BrowserSpec,
        prelude: Vec<PreludeCall>,
    ) -> Result<(), LiveError> {
        let data = &self.config().data;
        self.create_files(id)?;
        let spec = KeeperSpec {
            session: id,
            socket: data.socket(id),
            browser,
            log: data.keeper_log(id),
            hold_until: self.hold_until(),
            prelude,
        };
        let ready = self.config().keepers.spawn(&spec).await?;
        tracing::info!(session = %id, keeper = ready.pid, browser = ready.browser_pid, "keeper started");
        if !ready.confinement.holds() {
            tracing::warn!(session = %id, "its browser has every file of its user");
        }
        Ok(())
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

/// What must hold in every page from its first script on and cannot be given at launch.
fn prelude(environment: &Environment) -> Vec<PreludeCall> {
    let Some(place) = environment.geolocation else { return Vec::new() };
    // That sites may know it stands in the profile: granted over CDP, it would end with any other
    // client that granted something and left.
    vec![PreludeCall {
        method: "Emulation.setGeolocationOverride".to_owned(),
        params: json!({
            "latitude": place.latitude,
            "longitude": place.longitude,
            "accuracy": place.accuracy,
        }),
    }]
}
