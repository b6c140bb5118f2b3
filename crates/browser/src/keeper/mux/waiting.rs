//! Calls of clients that wait until the keeper has prepared a page.
//!
//! What a session has said takes effect in another process only once it is answered there, and a page that goes
//! to a site moves to one. So a call that sends a page somewhere waits until the keeper was answered, which takes
//! milliseconds, with all that its client says on the same session after it; never longer than the caller has
//! patience. That is so for a page that waits for its debugger, and for one that is there already: the first one of a
//! browser has a process that only begins.

use super::{ClientId, HELD, HELD_BYTES, Mux};
use crate::cdp::Envelope;
use std::collections::VecDeque;

/// What sends a page somewhere.
const GOES: [&str; 3] = ["Page.navigate", "Page.navigateToHistoryEntry", "Page.reload"];

/// What waits, each kind for as long as there is patience with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::keeper) enum WaitingKind {
    /// Of clients, for pages that are being prepared.
    Calls,
    /// Of pages, for what is handed over to them.
    Documents,
}

impl WaitingKind {
    pub(in crate::keeper) const ALL: [Self; 2] = [Self::Calls, Self::Documents];
}

/// Calls, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct WaitingCalls {
    calls: VecDeque<WaitingCall>,
    bytes: usize,
}

#[derive(Debug)]
struct WaitingCall {
    client: ClientId,
    session: Option<String>,
    frame: Vec<u8>,
}

impl WaitingCalls {
    /// Forgets those of a client that left.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.calls.retain(|call| call.client != client);
        self.bytes = self.calls.iter().map(|call| call.frame.len()).sum();
    }

    fn is_full(&self) -> bool {
        self.calls.len() > HELD || self.bytes > HELD_BYTES
    }

    fn has(&self, client: ClientId, session: Option<&str>) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|call| call.client == client && call.session.as_deref() == session)
    }
}

impl Mux {
    /// Whether a call has to wait.
    pub(super) fn comes_too_early(
        &self,
        client: ClientId,
        session: Option<&str>,
        method: &str,
    ) -> bool {
        if self.waiting.has(client, session) {
            return true;
        }
        let route = session.and_then(|session| self.sessions.get(session));
        let target = route.and_then(|route| route.target.as_deref());
        GOES.contains(&method) && target.is_some_and(|target| self.is_preparing_page(target))
    }

    pub(super) fn keep_waiting(&mut self, client: ClientId, session: Option<&str>, frame: &[u8]) {
        let (session, frame) = (session.map(str::to_owned), frame.to_vec());
        self.waiting.bytes += frame.len();
        self.waiting.calls.push_back(WaitingCall { client, session, frame });
        if self.waiting.is_full() {
            self.go_on(true);
        }
    }

    /// Whether anything of this kind waits.
    pub(in crate::keeper) fn waits(&self, kind: WaitingKind) -> bool {
        match kind {
            WaitingKind::Calls => !self.waiting.calls.is_empty(),
            WaitingKind::Documents => self.holds_documents(),
        }
    }

    /// What waits of this kind goes on, whatever starts.
    pub(in crate::keeper) fn lose_patience(&mut self, kind: WaitingKind) -> Vec<super::Action> {
        match kind {
            WaitingKind::Calls => self.go_on(true),
            WaitingKind::Documents => self.let_documents_go(),
        }
        self.take_actions()
    }

    /// Makes the calls that need not wait any more, or all of them.
    pub(super) fn go_on(&mut self, at_any_rate: bool) {
        for WaitingCall { client, session, frame } in std::mem::take(&mut self.waiting).calls {
            let Ok(Envelope { id: Some(id), method: Some(method), params, .. }) =
                Envelope::parse(&frame)
            else {
                continue;
            };
            let is_early = self.comes_too_early(client, session.as_deref(), &method);
            if is_early && !at_any_rate {
                self.keep_waiting(client, session.as_deref(), &frame);
                continue;
            }
            if is_early {
                // One that hangs is waited for once.
                self.wait_no_more(session.as_deref());
            }
            self.call(client, id, &method, session.as_deref(), params);
        }
    }
}
