//! One tab of the relay: what is kept of it, and its sender.

use super::redactors::SharedRedactor;
use super::{LookError, Relay, Sight};
use crate::limits::Limits;
use crate::secrets::{Clean, Page, Revealed};
use crate::tab::{EventPair, Kept, TabBuffer};
use baton_api::debug::{ConsoleEvent, DebugTab, EpochMs, GapReason, NetworkEvent, TabToken};
use baton_redaction::Redactor;
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
    /// The upstream service, or the session, that it belongs to.
    pub cocoon_id: String,
    /// What people call that.
    pub cocoon_name: Option<String>,
}

/// How a tab stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// So many times its sender reported something.
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
    /// That of its session, or of its upstream service: what one tab shows as a secret is one in the others.
    redactor: SharedRedactor,
    kept: Mutex<Kept>,
    used: AtomicUsize,
    life: watch::Sender<Life>,
}

impl Tab {
    pub(super) fn new(
        token: TabToken,
        about: About,
        limits: Limits,
        redactor: SharedRedactor,
    ) -> Self {
        Self {
            token,
            about,
            begun: Timestamp::now(),
            limits,
            redactor,
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

    /// What a reader with this sight sees.
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

    /// Tells the readers that wait that the tab is gone; how many bytes were kept.
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

    /// Tells the readers that wait that the sender reported; whether its browser was not connected before.
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

    /// Tells the readers that wait that its browser is not connected.
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

/// Reports what a tab does. The tab is gone when this is dropped.
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
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::page(page, limits));
        let page = EventPair { clean: Clean::page(page, limits, &mut self.redactor()), revealed };
        self.change(|kept| kept.show(page));
        self.relay.tell(&self.tab.about.owner);
    }

    /// Something happened to a request.
    pub fn network(&self, event: NetworkEvent) {
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::network(event.clone(), limits));
        let event =
            EventPair { clean: Clean::network(event, limits, &mut self.redactor()), revealed };
        self.change(|kept| kept.network(event));
    }

    /// Something was written to the console.
    pub fn console(&self, event: ConsoleEvent) {
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::console(event.clone(), limits));
        let event =
            EventPair { clean: Clean::console(event, limits, &mut self.redactor()), revealed };
        self.change(|kept| kept.console(event));
    }

    /// Something is missing from here on: so many events, or an unknown number.
    pub fn miss(&self, reason: GapReason, missing: Option<u64>) {
        self.change(|kept| kept.miss(reason, missing, now()));
    }

    /// The sender counts its events anew if its epoch is another one. The last event that is here, in the
    /// sender's count.
    pub fn begin(&self, epoch: u64) -> u64 {
        self.change(|kept| kept.begin(epoch, now()))
    }

    /// Its browser is not connected, until the sender reports something again.
    pub fn offline(&self) {
        self.miss(GapReason::Disconnected, None);
        self.tab.leave();
        self.relay.tell(&self.tab.about.owner);
    }

    /// Secrets are kept from now on, for those who may see them; or no longer, and those that were kept
    /// are forgotten.
    pub fn reveal(&self, on: bool) {
        let (before, after) = self.tab.reveal(on);
        self.relay.account(before, after);
        self.relay.tell(&self.tab.about.owner);
    }

    /// Whether secrets are kept.
    pub fn reveals(&self) -> bool {
        self.tab.kept().revealed().is_some()
    }

    fn redactor(&self) -> MutexGuard<'_, Redactor> {
        self.tab.redactor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> T {
        let (done, before, after) = {
            let mut kept = self.tab.kept();
            let before = kept.used();
            let done = change(&mut kept);
            self.tab.weighs(&kept);
            (done, before, kept.used())
        };
        if self.tab.tell() {
            self.relay.tell(&self.tab.about.owner);
        }
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
