//! From the browser to clients.
//!
//! While a hidden page is being made its id is not known yet, but its events already flow. So the
//! frames for those who must not see it are held back, in order, until the reply names the id.

use super::super::protocol::Role;
use super::frame::{self, Params};
use super::{Action, Call, ClientId, HELD, HELD_BYTES, Kind, Mux, Route};
use crate::cdp::{CallFailure, Envelope};

impl Mux {
    /// The browser sent a frame.
    pub(in super::super) fn on_browser_message(&mut self, frame: &[u8]) -> Vec<Action> {
        self.sort(frame);
        self.release();
        self.take_actions()
    }

    fn sort(&mut self, frame: &[u8]) {
        match Envelope::parse(frame) {
            Ok(envelope) if envelope.id.is_some() => self.reply(frame, &envelope),
            Ok(envelope) if envelope.method.is_some() => self.event(frame, &envelope),
            Ok(_) => self.not_understood("a message without id and method"),
            Err(error) => self.not_understood(&error.to_string()),
        }
    }

    fn not_understood(&mut self, found: &str) {
        self.not_understood += 1;
        tracing::warn!(found, "a message of the browser was not understood");
    }

    fn reply(&mut self, frame: &[u8], envelope: &Envelope<'_>) {
        let Some(number) = envelope.id else { return };
        if let Some(Call::Of { client, kind, .. }) = self.calls.get(&number)
            && *kind != Kind::Hidden
            && self.must_wait(*client)
        {
            self.hold(frame);
            return;
        }
        match self.calls.remove(&number) {
            Some(Call::Of { client, id, session, kind }) => {
                self.reply_to(client, id, session.as_deref(), kind, envelope);
            }
            Some(Call::Join(client)) => self.joined(client, envelope),
            Some(Call::Orphan) => {
                self.hiding = self.hiding.saturating_sub(1);
                if let Some(target) = Params::parse(envelope.result).target {
                    self.targets.hide(&target, ClientId::MAX);
                    self.close_target(&target);
                }
            }
            Some(Call::Anchor) => self.anchor_made(envelope),
            Some(Call::Version) => self.version_told(envelope),
            Some(Call::Other(method)) => {
                if let Some(CallFailure { code, message }) = envelope.error.map(CallFailure::parse)
                {
                    tracing::debug!(method, code, message, "a call of the keeper failed");
                }
            }
            None => {}
        }
    }

    fn reply_to(
        &mut self,
        client: ClientId,
        id: u64,
        session: Option<&str>,
        kind: Kind,
        envelope: &Envelope<'_>,
    ) {
        if kind == Kind::Hidden {
            if let Some(target) = Params::parse(envelope.result).target {
                self.targets.hide(&target, client);
            }
            self.hiding = self.hiding.saturating_sub(1);
        }
        let Some((role, _)) = self.client(client) else {
            return;
        };
        let reply = match (envelope.error, kind) {
            (Some(error), _) => frame::reply(id, session, "error", error.get()),
            (None, Kind::Targets) => {
                let seen = |id: &str| self.targets.visible(role, id);
                let body = frame::filter_targets(frame::text(envelope.result), seen);
                frame::reply(id, session, "result", &body)
            }
            (None, _) => frame::reply(id, session, "result", frame::text(envelope.result)),
        };
        self.answer(client, reply);
    }

    fn joined(&mut self, client: ClientId, envelope: &Envelope<'_>) {
        let root = Params::parse(envelope.result).session;
        let Some(joined) = self.clients.get_mut(&client) else {
            // It left while the browser answered.
            if let Some(root) = root {
                self.detach(None, &root);
            }
            return;
        };
        let Some(root) = root else {
            self.drop_client(client);
            let reason = "the browser gave no session of its own to it".to_owned();
            self.out.push(Action::Disconnect(client, reason));
            return;
        };
        joined.root = Some(root.clone().into_owned());
        let route = Route { client: Some(client), parent: None, hidden: false };
        self.sessions.insert(root.into_owned(), route);
        self.out.push(Action::Ready(client));
    }

    fn event(&mut self, frame: &[u8], envelope: &Envelope<'_>) {
        let (Some(method), session) = (&envelope.method, envelope.session.as_deref()) else {
            return;
        };
        let Some(session) = session else {
            self.own_event(method, None, &Params::parse(envelope.params));
            return;
        };
        let Some(route) = self.sessions.get(session) else {
            return;
        };
        let hidden = route.hidden;
        let Some(client) = route.client else {
            self.own_event(method, Some(session), &Params::parse(envelope.params));
            return;
        };
        if self.must_wait(client) {
            self.hold(frame);
        } else if !hidden && self.passes(client, session, method, envelope) {
            let Some((_, root)) = self.client(client) else {
                return;
            };
            let seen = Some(session).filter(|session| *session != root);
            self.answer(client, frame::event(method, seen, frame::text(envelope.params)));
        }
    }

    /// Keeps the routes and says whether the client may see the event.
    fn passes(
        &mut self,
        client: ClientId,
        session: &str,
        method: &str,
        envelope: &Envelope<'_>,
    ) -> bool {
        if !method.starts_with("Target.") {
            return true;
        }
        let params = Params::parse(envelope.params);
        let role = self.clients.get(&client).map_or(Role::Client, |client| client.role);
        let visible = params.target_id().is_none_or(|id| self.targets.visible(role, id));
        match (method, params.session.as_deref()) {
            ("Target.attachedToTarget", Some(child)) => {
                self.announce(client, session, child, !visible);
                if !visible {
                    self.let_go(session, child, params.waiting);
                }
                visible
            }
            ("Target.detachedFromTarget", Some(child)) => {
                let hidden = self.forget(child).is_some_and(|route| route.hidden);
                visible && !hidden
            }
            _ => visible,
        }
    }

    fn announce(&mut self, client: ClientId, parent: &str, child: &str, hidden: bool) {
        let route = Route { client: Some(client), parent: Some(parent.to_owned()), hidden };
        self.sessions.insert(child.to_owned(), route);
    }

    /// A client was attached to what it must not see: no other client would resume it.
    fn let_go(&mut self, session: &str, child: &str, waiting: bool) {
        if waiting {
            self.send_own(Some(child), "Runtime.runIfWaitingForDebugger", "{}");
        }
        self.detach(Some(session), child);
    }

    /// Forgets a session and all that were announced on it.
    pub(super) fn forget(&mut self, session: &str) -> Option<Route> {
        let route = self.sessions.remove(session)?;
        // The reply that names a hidden page is awaited in any case.
        let answers = |call: &Call| match call {
            Call::Of { session: of, kind, .. } => {
                of.as_deref() != Some(session) || *kind == Kind::Hidden
            }
            _ => true,
        };
        self.calls.retain(|_, call| answers(call));
        let children: Vec<String> = self
            .sessions
            .iter()
            .filter(|(_, child)| child.parent.as_deref() == Some(session))
            .map(|(id, _)| id.clone())
            .collect();
        for child in children {
            self.forget(&child);
        }
        Some(route)
    }

    fn must_wait(&self, client: ClientId) -> bool {
        if self.releasing {
            return false;
        }
        let role = self.clients.get(&client).map(|client| client.role);
        self.own.anchor_is_being_made() || (role == Some(Role::Client) && self.hiding > 0)
    }

    fn hold(&mut self, frame: &[u8]) {
        self.held_bytes += frame.len();
        self.held.push_back(frame.to_vec());
    }

    /// Passes on what was held, when nothing hidden is being made any more. Beyond the bound all
    /// passes at once: rather a glimpse of a hidden page than a lost or unbounded frame.
    fn release(&mut self) {
        let full = self.held.len() > HELD || self.held_bytes > HELD_BYTES;
        if !full && (self.own.anchor_is_being_made() || self.hiding > 0) {
            return;
        }
        self.held_bytes = 0;
        self.releasing = true;
        for frame in std::mem::take(&mut self.held) {
            self.sort(&frame);
        }
        self.releasing = false;
    }
}
