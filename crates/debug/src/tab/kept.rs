//! What is kept of a tab: for everyone without its secrets and, once somebody has asked to see those, a
//! second time with them.
//!
//! The one idea: whoever may not see secrets is answered from a buffer that never held any. Nothing is
//! hidden on the way out, so no way out can forget it, and no filter can be used to guess at what is
//! hidden. The second buffer begins as a copy of the first, so that a request has one number in both.

use super::TabBuffer;
use crate::limits::Limits;
use crate::secrets::{Clean, Page, Revealed};
use baton_api::debug::{ConsoleEvent, EpochMs, GapReason, NetworkEvent};
use std::fmt;

/// What is kept of a tab.
#[derive(Debug)]
pub(crate) struct Kept {
    clean: TabBuffer,
    revealed: Option<WithSecrets>,
}

/// A buffer that holds secrets.
struct WithSecrets(TabBuffer);

/// What is in it goes to no log.
impl fmt::Debug for WithSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithSecrets(_)")
    }
}

/// An event, and once more with its secrets when those are kept.
pub(crate) struct EventPair<T> {
    pub(crate) clean: Clean<T>,
    pub(crate) revealed: Option<Revealed<T>>,
}

impl Kept {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { clean: TabBuffer::new(limits), revealed: None }
    }

    /// What everyone may see.
    pub(crate) fn clean(&self) -> &TabBuffer {
        &self.clean
    }

    /// The same with the secrets that came since they are kept; none when they are not.
    pub(crate) fn revealed(&self) -> Option<&TabBuffer> {
        self.revealed.as_ref().map(|WithSecrets(buffer)| buffer)
    }

    /// Secrets are kept from now on; or no longer, and those that were are forgotten.
    pub(crate) fn reveal(&mut self, on: bool) {
        if !on {
            self.revealed = None;
        } else if self.revealed.is_none() {
            self.revealed = Some(WithSecrets(self.clean.clone()));
        }
    }

    pub(crate) fn show(&mut self, page: EventPair<Page>) {
        let EventPair { clean, revealed } = page;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.page = revealed.unwrap_or_else(|| clean.clone().into()).into_inner();
        }
        self.clean.show(clean);
    }

    pub(crate) fn network(&mut self, event: EventPair<NetworkEvent>) {
        let EventPair { clean, revealed } = event;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.take_event(revealed.unwrap_or_else(|| clean.clone().into()).into_inner());
        }
        self.clean.network(clean);
    }

    pub(crate) fn console(&mut self, event: EventPair<ConsoleEvent>) {
        let EventPair { clean, revealed } = event;
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            buffer.take_line(revealed.unwrap_or_else(|| clean.clone().into()).into_inner());
        }
        self.clean.console(clean);
    }

    /// See [`TabBuffer::miss`].
    pub(crate) fn miss(&mut self, reason: GapReason, missing: Option<u64>, at: EpochMs) {
        self.each(|buffer| buffer.miss(reason, missing, at));
    }

    /// See [`TabBuffer::begin`]. The last event that is here, in the sender's count.
    pub(crate) fn begin(&mut self, epoch: u64, at: EpochMs) -> u64 {
        self.each(|buffer| {
            buffer.begin(epoch, at);
        });
        self.clean.last_event()
    }

    /// How many bytes are kept.
    pub(crate) fn used(&self) -> usize {
        self.clean.used() + self.revealed().map_or(0, TabBuffer::used)
    }

    /// Drops the older half.
    pub(crate) fn halve(&mut self) {
        self.each(|buffer| buffer.shrink_to(buffer.used() / 2));
    }

    fn each(&mut self, mut change: impl FnMut(&mut TabBuffer)) {
        change(&mut self.clean);
        if let Some(WithSecrets(buffer)) = &mut self.revealed {
            change(buffer);
        }
    }
}
