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
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The screens, by session.
#[derive(Default)]
pub(super) struct Screens(Mutex<HashMap<SessionId, Arc<ScreenPlace>>>);

/// Where the screen of one session is.
#[derive(Default)]
struct ScreenPlace {
    /// Held while it starts, so that two viewers who come at once share it: a browser that does not answer makes
    /// nobody wait but its own viewers.
    starting: tokio::sync::Mutex<()>,
    screen: Mutex<Weak<Screen>>,
}

impl Screens {
    /// The place of a session; those that nobody needs any more go.
    fn place(&self, id: SessionId) -> Arc<ScreenPlace> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who waits for one has it too.
        places.retain(|_, place| Arc::strong_count(place) > 1 || place.living().is_some());
        Arc::clone(places.entry(id).or_default())
    }

    /// The screen of a session, if somebody watches it.
    fn living(&self, id: SessionId) -> Option<Arc<Screen>> {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.get(&id)?.living()
    }
}

impl ScreenPlace {
    fn living(&self) -> Option<Arc<Screen>> {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        screen.filter(|screen| !screen.has_ended())
    }

    fn set(&self, screen: &Arc<Screen>) {
        *self.screen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(screen);
    }
}

impl BrowserSupervisor {
    /// The screen of an active session's browser.
    pub async fn screen(&self, id: SessionId) -> Result<Arc<Screen>, LiveError> {
        let place = self.0.screens.place(id);
        if let Some(screen) = place.living() {
            return Ok(screen);
        }
        let _starting = place.starting.lock().await;
        // Who came first may have started it.
        if let Some(screen) = place.living() {
            return Ok(screen);
        }
        let link = match keeper::connect(&self.config().data.socket(id), Role::Client).await {
            Ok(link) => link,
            Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
            Err(error) => return Err(error.into()),
        };
        let screen = Arc::new(Screen::start(link).await?);
        place.set(&screen);
        Ok(screen)
    }

    /// The screen of a session's browser, if somebody watches it. Waits for none that starts.
    pub fn watched_screen(&self, id: SessionId) -> Option<Arc<Screen>> {
        self.0.screens.living(id)
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
