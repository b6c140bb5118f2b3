//! Whether secrets of the tabs of a session are kept.

use super::relay::{About, LookError, Relay, TabSender};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether secrets of a session's tabs are kept: of those that it has, and of those that come.
#[derive(Debug, Clone)]
pub struct Revealing {
    relay: Relay,
    about: Arc<About>,
    on: Arc<Mutex<bool>>,
}

impl Revealing {
    /// They are not yet.
    pub(super) fn new(relay: Relay, about: About) -> Self {
        Self { relay, about: Arc::new(about), on: Arc::default() }
    }

    /// Whose the tabs are.
    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// Keeps them from now on, or no longer; then those that were kept are forgotten.
    pub fn switch(&self, on: bool) {
        // Held until all tabs have heard it: one that is added meanwhile waits for it.
        let mut is_on = self.on.lock().unwrap_or_else(PoisonError::into_inner);
        *is_on = on;
        self.relay.reveal(&self.about.owner, &self.about.browser_id, on);
    }

    /// Adds a tab, whose secrets are kept if those of the others are.
    pub(super) fn add(&self) -> Result<TabSender, LookError> {
        let is_on = self.on.lock().unwrap_or_else(PoisonError::into_inner);
        let tab = self.relay.add((*self.about).clone())?;
        tab.reveal(*is_on);
        Ok(tab)
    }
}
