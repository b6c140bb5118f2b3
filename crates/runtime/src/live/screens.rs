//! The screens of sessions that somebody watches.
//!
//! The one idea: a session has one screen, which all who watch it share, and none while nobody does: it ends
//! with the last of them, and with its browser. Who watches on asks again, and has the one of the next browser.
//! What a person decides there about the wishes of sites outlives it: a screen's own word would end with it.

use super::{BrowserSupervisor, LiveError};
use baton_browser::keeper;
use baton_browser::keeper::{KeeperError, Role};
use baton_browser::profile::at_rest::Instant;
use baton_browser::screen::{PermissionQuestion, Screen};
use baton_session::SessionId;
use baton_session::permission::Setting;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;

/// The screens, by session. Held while one starts, so that two viewers who come at once share it.
pub(super) type Screens = Mutex<HashMap<SessionId, Weak<Screen>>>;

impl BrowserSupervisor {
    /// The screen of an active session's browser.
    pub async fn screen(&self, id: SessionId) -> Result<Arc<Screen>, LiveError> {
        let mut screens = self.0.screens.lock().await;
        screens.retain(|_, screen| screen.strong_count() > 0);
        let found = screens.get(&id).and_then(Weak::upgrade);
        if let Some(screen) = found.filter(|screen| !screen.has_ended()) {
            return Ok(screen);
        }
        let link = match keeper::connect(&self.config().data.socket(id), Role::Client).await {
            Ok(link) => link,
            Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
            Err(error) => return Err(error.into()),
        };
        let screen = Arc::new(Screen::start(link).await?);
        screens.insert(id, Arc::downgrade(&screen));
        Ok(screen)
    }

    /// The screen of a session's browser, if somebody watches it.
    pub async fn watched_screen(&self, id: SessionId) -> Option<Arc<Screen>> {
        let screens = self.0.screens.lock().await;
        screens.get(&id).and_then(Weak::upgrade).filter(|screen| !screen.has_ended())
    }

    /// Gives a site what it asked a person for, or refuses it.
    pub async fn decide(
        &self,
        id: SessionId,
        asked: &PermissionQuestion,
        setting: Setting,
    ) -> Result<(), LiveError> {
        let runner = self.runner(id)?;
        let now = Instant(Timestamp::now().as_microsecond());
        Ok(runner.live.decide(asked, setting, now).await?)
    }
}
