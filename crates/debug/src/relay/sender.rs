//! Who tells of a tab.

use super::Relay;
use super::tab::{About, Tab};
use crate::secrets::{Clean, Page, Revealed};
use crate::tab::{Kept, Told};
use baton_api::debug::{ConsoleEvent, EpochMs, GapReason, NetworkEvent, TabToken};
use jiff::Timestamp;
use std::sync::Arc;

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
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::page(page, limits));
        let page = Told { clean: Clean::page(page, limits), revealed };
        self.change(|kept| kept.show(page));
        self.relay.tell();
    }

    /// Something happened to a request.
    pub fn network(&self, event: NetworkEvent) {
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::network(event.clone(), limits));
        let event = Told { clean: Clean::network(event, limits), revealed };
        self.change(|kept| kept.network(event));
    }

    /// Something was written to the console.
    pub fn console(&self, event: ConsoleEvent) {
        let limits = self.tab.limits();
        let revealed = self.reveals().then(|| Revealed::console(event.clone(), limits));
        let event = Told { clean: Clean::console(event, limits), revealed };
        self.change(|kept| kept.console(event));
    }

    /// Something is missing from here on: so many events, or nobody knows how many.
    pub fn miss(&self, reason: GapReason, missing: Option<u64>) {
        self.change(|kept| kept.miss(reason, missing, now()));
    }

    /// The sender counts its events anew if its epoch is another one. The last event that is here, in the
    /// sender's count.
    pub fn begin(&self, epoch: u64) -> u64 {
        self.change(|kept| kept.begin(epoch, now()))
    }

    /// Its browser is not connected, until something is told again.
    pub fn offline(&self) {
        self.miss(GapReason::Disconnected, None);
        self.tab.leave();
        self.relay.tell();
    }

    /// Secrets are kept from now on, for those who may see them; or no longer, and those that were kept
    /// are forgotten.
    pub fn reveal(&self, on: bool) {
        let (before, after) = self.tab.reveal(on);
        self.relay.account(before, after);
        self.relay.tell();
    }

    /// Whether secrets are kept.
    pub fn reveals(&self) -> bool {
        self.tab.kept().revealed().is_some()
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
            self.relay.tell();
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
