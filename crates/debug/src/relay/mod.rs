//! The relay: brings what browsers tell to the readers of their tabs.
//!
//! The one idea: a sender holds a [`TabSender`], and the tab is there as long as that is held.
//! A reader goes by the [`Bus`] and never waits for a browser: what was sent is here, in memory
//! only and bounded, and what is missing is marked. A tab is seen by its owner only; to others it is
//! gone. `tab` is one of them, and its sender; `redactors` is what is known to be a secret in a session.

mod redactors;
mod tab;

pub use tab::{About, TabSender};

use super::limits::Limits;
use crate::har::{Har, har};
use crate::query::{ConsoleFilter, Matches, QueryError, RequestFilter};
use baton_api::debug::{
    ConsoleEntry, ConsoleFilters, DebugErrorCode, DebugTab, NetworkFilters, NetworkRequest,
    TabToken,
};
use baton_session::Owner;
use futures_util::future::BoxFuture;
use redactors::Redactors;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tab::{Life, Tab};
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until, timeout_at};

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

/// Which names mean a secret here, and which do not: `[debug] redact`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Names whose values are secrets.
    pub names: Vec<String>,
    /// Names whose values are none, whatever they look like; what is known to be a key is one still.
    pub allow: Vec<String>,
}

/// Whose tabs changed.
#[derive(Debug)]
struct Changes(broadcast::Sender<Owner>);

/// How many changes wait for one who listens; who is later looks at everything.
const WAITING: usize = 256;

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

#[derive(Debug, Default)]
struct Inner {
    limits: RelayLimits,
    redaction: Redaction,
    /// Taken while `tabs` is.
    redactors: Mutex<Redactors>,
    tabs: Mutex<HashMap<TabToken, Arc<Tab>>>,
    /// Wakes the callers that wait for other tabs of an owner, or for a tab that shows something else.
    changed: Changes,
    /// Bytes of all of them. It may be behind for a moment, and below zero.
    used: AtomicI64,
}

/// What a reader sees of the secrets in a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// None of them.
    Hidden,
    /// Those that were kept because a client asked for it. The caller that gives this has checked the
    /// scope `reveal`, and notes it.
    Revealed,
}

/// Why there is no answer about a tab. What follows the first line says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookError {
    /// There is no such tab, there is none any more, or it is another owner's.
    #[error(
        "expected a tab with the token {token}, found none\nit was closed, or its browser ended; list the tabs again"
    )]
    TabGone {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// Nothing new can come: the tab's browser is not connected.
    #[error(
        "expected the browser of tab {token} to be connected, found that it is not\nwhat it told before can still be asked for"
    )]
    BrowserOffline {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// Secrets of this tab are not kept.
    #[error(
        "expected a tab whose secrets are kept, found that those of tab {token} are hidden before anything is kept\nkeep them from now on with baton debug on ID --reveal or, in a browser of your own, in the extension's popup"
    )]
    NotRevealed {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// An owner has so many tabs that no other one is taken.
    #[error("expected at most {most} tabs that are looked into, found more\nclose some tabs")]
    TooManyTabs {
        /// How many there may be.
        most: usize,
    },
    /// The question makes no sense.
    #[error(transparent)]
    Ask(#[from] QueryError),
}

impl LookError {
    /// What it is in the debug protocol.
    pub fn code(&self) -> DebugErrorCode {
        match self {
            Self::TabGone { .. } => DebugErrorCode::TabGone,
            Self::BrowserOffline { .. } => DebugErrorCode::BrowserOffline,
            Self::NotRevealed { .. } => DebugErrorCode::NotRevealed,
            Self::TooManyTabs { .. } => DebugErrorCode::TooManyTabs,
            Self::Ask(_) => DebugErrorCode::InvalidFilter,
        }
    }
}

impl Relay {
    /// A relay without tabs.
    pub fn new(limits: RelayLimits) -> Self {
        Self::redacting(limits, Redaction::default())
    }

    /// The same, with names of one's own.
    pub fn redacting(limits: RelayLimits, redaction: Redaction) -> Self {
        Self(Arc::new(Inner { limits, redaction, ..Inner::default() }))
    }

    /// Which names mean a secret here, and which do not.
    pub fn redaction(&self) -> &Redaction {
        &self.0.redaction
    }

    /// How much it keeps.
    pub fn limits(&self) -> &RelayLimits {
        &self.0.limits
    }

    /// Adds a tab, and returns its sender. Refused when its owner has too many.
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
        let redactor = {
            let mut redactors = self.0.redactors.lock().unwrap_or_else(PoisonError::into_inner);
            redactors.of(&about.owner, &about.cocoon_id, &self.0.redaction)
        };
        let tab = Arc::new(Tab::new(token.clone(), about, self.0.limits.tab, redactor));
        tabs.insert(token, Arc::clone(&tab));
        self.tell(&tab.about.owner);
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
        self.tell(owner);
    }

    /// A caller that waits for it hears the owner of every tab that comes, goes or shows something else from now on.
    pub fn listen(&self) -> broadcast::Receiver<Owner> {
        self.0.changed.0.subscribe()
    }

    fn tell(&self, owner: &Owner) {
        if self.0.changed.0.receiver_count() > 0 {
            // The last one may leave at this moment.
            let _ = self.0.changed.0.send(owner.clone());
        }
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
            self.tell(&tab.about.owner);
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

/// How long a question may wait for something new.
pub const MAX_WAIT: Duration = Duration::from_secs(20);

/// The shortest time from the question of a reader that follows to its answer: what comes within it is told
/// together. A tab that tells without end is so asked for at most 91 times a second, which is 5,455 a
/// minute and below the 6,000 that a key may ask for; one that tells seldom is heard as soon as it does.
pub const GATHERING: Duration = Duration::from_millis(11);

/// What a bus answers, some time.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, LookError>>;

/// The way to the tabs of all browsers. Every question is answered within [`MAX_WAIT`].
pub trait Bus: Send + Sync {
    /// The tabs of an owner, in the order in which they came.
    fn tabs<'a>(&'a self, owner: &'a Owner) -> Answer<'a, Vec<DebugTab>>;

    /// The requests of a tab; when nothing fits, those that come within `wait`.
    fn network<'a>(
        &'a self,
        owner: &'a Owner,
        token: &'a TabToken,
        sight: Sight,
        filters: &'a NetworkFilters,
        wait: Duration,
    ) -> Answer<'a, Matches<NetworkRequest>>;

    /// The console of a tab; when nothing fits, the lines that come within `wait`.
    fn console<'a>(
        &'a self,
        owner: &'a Owner,
        token: &'a TabToken,
        sight: Sight,
        filters: &'a ConsoleFilters,
        wait: Duration,
    ) -> Answer<'a, Matches<ConsoleEntry>>;

    /// What is kept of a tab, as an archive.
    fn har<'a>(&'a self, owner: &'a Owner, token: &'a TabToken, sight: Sight) -> Answer<'a, Har>;
}

impl Bus for Relay {
    fn tabs<'a>(&'a self, owner: &'a Owner) -> Answer<'a, Vec<DebugTab>> {
        Box::pin(async move { Ok(self.tabs_of(owner)) })
    }

    fn network<'a>(
        &'a self,
        owner: &'a Owner,
        token: &'a TabToken,
        sight: Sight,
        filters: &'a NetworkFilters,
        wait: Duration,
    ) -> Answer<'a, Matches<NetworkRequest>> {
        Box::pin(async move {
            let filter = RequestFilter::new(filters)?;
            let tab = self.find(owner, token)?;
            let follows = filters.after.is_some();
            wait_for(&tab, wait, follows, || tab.read(sight, |buffer| filter.find(buffer))).await
        })
    }

    fn console<'a>(
        &'a self,
        owner: &'a Owner,
        token: &'a TabToken,
        sight: Sight,
        filters: &'a ConsoleFilters,
        wait: Duration,
    ) -> Answer<'a, Matches<ConsoleEntry>> {
        Box::pin(async move {
            let filter = ConsoleFilter::new(filters)?;
            let tab = self.find(owner, token)?;
            let follows = filters.after.is_some();
            wait_for(&tab, wait, follows, || tab.read(sight, |buffer| filter.find(buffer))).await
        })
    }

    fn har<'a>(&'a self, owner: &'a Owner, token: &'a TabToken, sight: Sight) -> Answer<'a, Har> {
        Box::pin(async move { self.find(owner, token)?.read(sight, har) })
    }
}

/// What is found now or, when that is nothing, what is found within `wait`. Something that is missing is
/// news only to a reader that follows.
async fn wait_for<T>(
    tab: &Tab,
    wait: Duration,
    follows: bool,
    look: impl Fn() -> Result<Matches<T>, LookError>,
) -> Result<Matches<T>, LookError> {
    let asked = Instant::now();
    let deadline = asked + wait.min(MAX_WAIT);
    let mut life = tab.life();
    loop {
        let now = *life.borrow_and_update();
        let found = look()?;
        let is_news = !found.items.is_empty() || follows && !found.gaps.is_empty();
        if is_news && follows && !wait.is_zero() {
            sleep_until(deadline.min(asked + GATHERING)).await;
            // A tab that is gone by then told this before.
            return Ok(look().unwrap_or(found));
        }
        if wait.is_zero() || is_news {
            return Ok(found);
        }
        match now {
            Life::Gone => return Err(LookError::TabGone { token: tab.token.clone() }),
            Life::Offline => return Err(LookError::BrowserOffline { token: tab.token.clone() }),
            Life::Told(_) => {}
        }
        if timeout_at(deadline, life.changed()).await.is_err() {
            return Ok(found);
        }
    }
}
