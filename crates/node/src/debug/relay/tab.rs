//! One tab of the relay: what is kept of it, and who tells.

use super::Relay;
use crate::debug::secrets::Page;
use crate::debug::{Clean, Limits, TabBuffer};
use baton_api::debug::{ConsoleEvent, DebugTab, EpochMs, GapReason, NetworkEvent, TabToken};
use baton_session::Owner;
use jiff::Timestamp;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    buffer: Mutex<TabBuffer>,
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
            buffer: Mutex::new(TabBuffer::new(limits)),
            used: AtomicUsize::new(0),
            life: watch::Sender::new(Life::Told(0)),
        }
    }

    /// The tab as lists show it.
    pub(super) fn view(&self) -> DebugTab {
        let (buffer, about) = (self.buffer(), &self.about);
        DebugTab {
            token: self.token.clone(),
            browser_id: about.browser_id.clone(),
            url: buffer.page().url.clone(),
            title: buffer.page().title.clone(),
            cocoon_id: about.cocoon_id.clone(),
            cocoon_name: about.cocoon_name.clone(),
            offline: *self.life.borrow() == Life::Offline,
        }
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&TabBuffer) -> T) -> T {
        look(&self.buffer())
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
        let mut buffer = self.buffer();
        let before = buffer.used();
        buffer.shrink_to(before / 2);
        let after = buffer.used();
        self.used.store(after, Ordering::Relaxed);
        before - after
    }

    /// Tells those who wait that the tab is gone; how many bytes were kept.
    pub(super) fn end(&self) -> usize {
        self.life.send_replace(Life::Gone);
        self.buffer().used()
    }

    fn buffer(&self) -> MutexGuard<'_, TabBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells of a tab. It is gone when this is dropped.
#[derive(Debug)]
pub struct TabSender {
    relay: Relay,
    tab: Arc<Tab>,
}

impl TabSender {
    pub(super) fn new(relay: Relay, tab: Arc<Tab>) -> Self {
        Self { relay, tab }
    }

    /// What it is called.
    pub fn token(&self) -> &TabToken {
        &self.tab.token
    }

    /// Whose it is, and where.
    pub fn about(&self) -> &About {
        &self.tab.about
    }

    /// It shows this.
    pub fn show(&self, page: &Page) {
        let page = Clean::page(page, &self.tab.limits);
        self.change(|buffer| buffer.show(page));
    }

    /// Something happened to a request.
    pub fn network(&self, event: NetworkEvent) {
        let event = Clean::network(event, &self.tab.limits);
        self.change(|buffer| buffer.network(event));
    }

    /// Something was written to the console.
    pub fn console(&self, event: ConsoleEvent) {
        let event = Clean::console(event, &self.tab.limits);
        self.change(|buffer| buffer.console(event));
    }

    /// Something is missing from here on: so many events, or nobody knows how many.
    pub fn miss(&self, reason: GapReason, missing: Option<u64>) {
        self.change(|buffer| buffer.miss(reason, missing, now()));
    }

    /// The sender counts its events anew if its epoch is another one. The last event that is here, in the
    /// sender's count.
    pub fn begin(&self, epoch: u64) -> u64 {
        self.change(|buffer| {
            buffer.begin(epoch, now());
            buffer.last_event()
        })
    }

    /// Its browser is not connected, until something is told again.
    pub fn offline(&self) {
        self.miss(GapReason::Disconnected, None);
        self.tab.life.send_replace(Life::Offline);
    }

    fn change<T>(&self, change: impl FnOnce(&mut TabBuffer) -> T) -> T {
        let (done, before, after) = {
            let mut buffer = self.tab.buffer();
            let before = buffer.used();
            let done = change(&mut buffer);
            self.tab.used.store(buffer.used(), Ordering::Relaxed);
            (done, before, buffer.used())
        };
        self.tab.life.send_modify(|life| {
            *life = match *life {
                Life::Told(times) => Life::Told(times + 1),
                Life::Offline => Life::Told(0),
                Life::Gone => Life::Gone,
            }
        });
        self.relay.account(before, after);
        done
    }
}

impl Drop for TabSender {
    fn drop(&mut self) {
        self.relay.remove(&self.tab.token);
    }
}

fn now() -> EpochMs {
    EpochMs::new(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default())
}
