//! One tab of the relay: what is kept of it.

use super::error::LookError;
use super::sight::Sight;
use crate::limits::Limits;
use crate::tab::Kept;
use crate::tab::TabBuffer;
use baton_api::debug::{DebugTab, TabToken};
use baton_session::Owner;
use jiff::Timestamp;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Whose tab it is, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Who may look.
    pub owner: Owner,
    /// In which browser.
    pub browser_id: String,
    /// The cocoon, or the session, that it belongs to.
    pub cocoon_id: String,
    /// What people call that.
    pub cocoon_name: Option<String>,
}

/// How a tab stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// So many times something was told of it.
    Told(u64),
    /// Its browser is not connected.
    Offline,
    /// It was closed.
    Gone,
}

/// One tab.
#[derive(Debug)]
pub(super) struct Tab {
    pub(super) token: TabToken,
    pub(super) about: About,
    pub(super) begun: Timestamp,
    limits: Limits,
    kept: Mutex<Kept>,
    used: AtomicUsize,
    life: watch::Sender<Life>,
}

impl Tab {
    pub(super) fn new(token: TabToken, about: About, limits: Limits) -> Self {
        Self {
            token,
            about,
            begun: Timestamp::now(),
            limits,
            kept: Mutex::new(Kept::new(limits)),
            used: AtomicUsize::new(0),
            life: watch::Sender::new(Life::Told(0)),
        }
    }

    /// The tab as lists show it.
    pub(super) fn view(&self) -> DebugTab {
        let (kept, about) = (self.kept(), &self.about);
        let page = kept.clean().page();
        DebugTab {
            token: self.token.clone(),
            browser_id: about.browser_id.clone(),
            url: page.url.clone(),
            title: page.title.clone(),
            cocoon_id: about.cocoon_id.clone(),
            cocoon_name: about.cocoon_name.clone(),
            revealed: kept.revealed().is_some(),
            offline: *self.life.borrow() == Life::Offline,
        }
    }

    /// What somebody sees who looks like this.
    pub(super) fn read<T>(
        &self,
        sight: Sight,
        look: impl FnOnce(&TabBuffer) -> T,
    ) -> Result<T, LookError> {
        let kept = self.kept();
        match sight {
            Sight::Hidden => Ok(look(kept.clean())),
            Sight::Revealed => {
                let none = || LookError::NotRevealed { token: self.token.clone() };
                kept.revealed().map(look).ok_or_else(none)
            }
        }
    }

    pub(super) fn life(&self) -> watch::Receiver<Life> {
        self.life.subscribe()
    }

    /// How many bytes are kept.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Halves what is kept; how many bytes that freed.
    pub(super) fn halve(&self) -> usize {
        let mut kept = self.kept();
        let before = kept.used();
        kept.halve();
        let after = kept.used();
        self.used.store(after, Ordering::Relaxed);
        before - after
    }

    /// Tells those who wait that the tab is gone; how many bytes were kept.
    pub(super) fn end(&self) -> usize {
        self.life.send_replace(Life::Gone);
        self.kept().used()
    }

    /// Secrets are kept from now on, or no longer; how many bytes are kept before and after.
    pub(super) fn reveal(&self, on: bool) -> (usize, usize) {
        let mut kept = self.kept();
        let before = kept.used();
        kept.reveal(on);
        self.weighs(&kept);
        (before, kept.used())
    }

    /// Notes how many bytes are kept now.
    pub(super) fn weighs(&self, kept: &Kept) {
        self.used.store(kept.used(), Ordering::Relaxed);
    }

    /// Tells those who wait that something was told; whether its browser was not connected before.
    pub(super) fn tell(&self) -> bool {
        let mut was_offline = false;
        self.life.send_modify(|life| {
            was_offline = *life == Life::Offline;
            *life = match *life {
                Life::Told(times) => Life::Told(times + 1),
                Life::Offline => Life::Told(0),
                Life::Gone => Life::Gone,
            }
        });
        was_offline
    }

    /// Tells those who wait that its browser is not connected.
    pub(super) fn leave(&self) {
        self.life.send_replace(Life::Offline);
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
