//! How tabs are asked, wherever their browsers are connected.
//!
//! One process holds all tabs, and the relay answers by itself. Where several nodes share a database, a
//! bus that passes questions between them takes its place; doors know the trait alone.

use super::Relay;
use super::error::LookError;
use super::sight::Sight;
use super::tab::{Life, Tab};
use crate::ask::{ConsoleFilter, Found, RequestFilter};
use crate::har::{Har, har};
use baton_api::debug::{
    ConsoleEntry, ConsoleFilters, DebugTab, NetworkFilters, NetworkRequest, TabToken,
};
use baton_session::Owner;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a question may wait for something new.
pub const MAX_WAIT: Duration = Duration::from_secs(20);

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
    ) -> Answer<'a, Found<NetworkRequest>>;

    /// The console of a tab; when nothing fits, the lines that come within `wait`.
    fn console<'a>(
        &'a self,
        owner: &'a Owner,
        token: &'a TabToken,
        sight: Sight,
        filters: &'a ConsoleFilters,
        wait: Duration,
    ) -> Answer<'a, Found<ConsoleEntry>>;

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
    ) -> Answer<'a, Found<NetworkRequest>> {
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
    ) -> Answer<'a, Found<ConsoleEntry>> {
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
/// news only to whoever follows.
async fn wait_for<T>(
    tab: &Tab,
    wait: Duration,
    follows: bool,
    look: impl Fn() -> Result<Found<T>, LookError>,
) -> Result<Found<T>, LookError> {
    let deadline = Instant::now() + wait.min(MAX_WAIT);
    let mut life = tab.life();
    loop {
        let now = *life.borrow_and_update();
        let found = look()?;
        let is_news = !found.items.is_empty() || follows && !found.gaps.is_empty();
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
