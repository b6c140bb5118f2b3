//! The relay: brings what browsers tell to whoever looks into their tabs.
//!
//! The one idea: whoever tells holds a [`TabSender`], and the tab is there as long as that is held.
//! Whoever asks goes by the [`Bus`] and never waits for a browser: what was told is here, in memory
//! only and bounded, and what is missing is marked. A tab is seen by its owner only; to others it is
//! gone. Rooms: `tab` is one tab, `sender` who tells of it, `bus` is how it is asked, `sight` who sees secrets, `error` why there is no answer.

mod bus;
mod error;
mod sender;
mod sight;
mod tab;

pub use bus::{Answer, Bus, MAX_WAIT};
pub use error::LookError;
pub use sender::TabSender;
pub use sight::Sight;
pub use tab::About;

use super::limits::Limits;
use baton_api::debug::{DebugTab, TabToken};
use baton_session::Owner;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tab::Tab;
use tokio::sync::watch;

/// How much a relay keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayLimits {
    /// Of one tab.
    pub tab: Limits,
    /// Tabs of one owner.
    pub tabs: usize,
    /// Bytes of all tabs together. What exceeds it drops the oldest of the tab that takes most.
    pub bytes: usize,
}

impl Default for RelayLimits {
    fn default() -> Self {
        Self { tab: Limits::default(), tabs: 500, bytes: 512 << 20 }
    }
}

/// The tabs of a node. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Relay(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    limits: RelayLimits,
    tabs: Mutex<HashMap<TabToken, Arc<Tab>>>,
    /// Wakes whoever waits for other tabs, or for a tab that shows something else.
    changed: watch::Sender<()>,
    /// Bytes of all of them. It may be behind for a moment, and below zero.
    used: AtomicI64,
}

impl Relay {
    /// A relay without tabs.
    pub fn new(limits: RelayLimits) -> Self {
        Self(Arc::new(Inner { limits, ..Inner::default() }))
    }

    /// How much it keeps.
    pub fn limits(&self) -> &RelayLimits {
        &self.0.limits
    }

    /// A tab that somebody begins to tell of. Refused when its owner has too many.
    pub fn add(&self, about: About) -> Result<TabSender, LookError> {
        self.add_again(TabToken::new(rand::random()), about)
    }

    /// The same for a tab that had a token before this relay began.
    pub fn add_again(&self, token: TabToken, about: About) -> Result<TabSender, LookError> {
        let most = self.0.limits.tabs;
        let mut tabs = self.tabs();
        if tabs.contains_key(&token) {
            return Err(LookError::TabGone { token });
        }
        let found = tabs.values().filter(|tab| tab.about.owner == about.owner).count();
        if found >= most {
            return Err(LookError::TooManyTabs { most });
        }
        let tab = Arc::new(Tab::new(token.clone(), about, self.0.limits.tab));
        tabs.insert(token, Arc::clone(&tab));
        self.tell();
        Ok(TabSender::new(self.clone(), tab))
    }

    /// Keeps the secrets of all tabs that a browser of this owner has now, or does so no longer.
    pub(crate) fn reveal(&self, owner: &Owner, browser_id: &str, on: bool) {
        let of_it =
            |tab: &&Arc<Tab>| tab.about.owner == *owner && tab.about.browser_id == browser_id;
        let tabs: Vec<Arc<Tab>> = self.tabs().values().filter(of_it).cloned().collect();
        for tab in tabs {
            let (before, after) = tab.reveal(on);
            self.account(before, after);
        }
        self.tell();
    }

    /// Whoever waits for it hears of every tab that comes, goes or shows something else from now on.
    pub fn listen(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    fn tell(&self) {
        self.0.changed.send_replace(());
    }

    /// The tabs of an owner, in the order in which they came.
    fn tabs_of(&self, owner: &Owner) -> Vec<DebugTab> {
        let mut found: Vec<Arc<Tab>> =
            self.tabs().values().filter(|tab| tab.about.owner == *owner).cloned().collect();
        found.sort_by_key(|tab| tab.begun);
        found.iter().map(|tab| tab.view()).collect()
    }

    fn find(&self, owner: &Owner, token: &TabToken) -> Result<Arc<Tab>, LookError> {
        let tab = self.tabs().get(token).filter(|tab| tab.about.owner == *owner).cloned();
        tab.ok_or_else(|| LookError::TabGone { token: token.clone() })
    }

    fn remove(&self, token: &TabToken) {
        let tab = self.tabs().remove(token);
        if let Some(tab) = tab {
            self.account(tab.end(), 0);
            self.tell();
        }
    }

    /// Notes that a tab takes so many bytes more, or fewer.
    fn account(&self, before: usize, after: usize) {
        let change = signed(after) - signed(before);
        let used = self.0.used.fetch_add(change, Ordering::Relaxed) + change;
        if change > 0 && used > signed(self.0.limits.bytes) {
            self.make_room();
        }
    }

    /// Halves what is kept of the tab that takes most.
    fn make_room(&self) {
        let largest = self.tabs().values().max_by_key(|tab| tab.used()).cloned();
        if let Some(tab) = largest {
            self.account(tab.halve(), 0);
        }
    }

    fn tabs(&self) -> MutexGuard<'_, HashMap<TabToken, Arc<Tab>>> {
        self.0.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
