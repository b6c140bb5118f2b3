//! What passes: from clients to the browser, and from the browser to clients.
//!
//! While a hidden page is being made its id is not known yet, but its events already flow. So the
//! frames for those who must not see it are held back, in order, until the reply names the id.

use super::guard::Verdict;
use super::{
    Action, CALLS, Call, ClientId, HELD, HELD_BYTES, Kind, Mux, Params, Route, TargetDescription,
    guard,
};
use crate::cdp::{CallFailure, Envelope};
use crate::keeper::mux;
use crate::keeper::protocol::Role;
use serde_json::value::RawValue;

/// What Chromium answers for a session or target that does not exist.
const NO_SESSION: (i64, &str) = (-32001, "Session with given id not found.");
const NO_TARGET: (i64, &str) = (-32602, "No target with given id found");
const NO_PARAMS: (i64, &str) = (-32602, "Invalid parameters");
/// What Chromium answers when it does not do as asked.
const REFUSED: i64 = -32000;
const TOO_MANY: (i64, &str) = (-32000, "too many calls wait for the browser");

impl Mux {
    /// A client sent a frame. One that is no CDP call costs the client its connection.
    pub(in crate::keeper) fn on_client_message(
        &mut self,
        client: ClientId,
        frame: &[u8],
    ) -> Vec<Action> {
        if self.clients.get(&client).is_some_and(|client| client.root.is_some()) {
            match Envelope::parse(frame) {
                Ok(Envelope { id: Some(_), method: Some(method), session, .. })
                    if self.comes_too_early(client, session.as_deref(), &method) =>
                {
                    self.keep_waiting(client, session.as_deref(), frame);
                }
                Ok(Envelope { id: Some(id), method: Some(method), session, params, .. }) => {
                    self.call(client, id, &method, session.as_deref(), params);
                }
                Ok(_) => self.garbage(client, "a message without id or method"),
                Err(error) => self.garbage(client, &error.to_string()),
            }
        }
        self.take_actions()
    }

    fn garbage(&mut self, client: ClientId, found: &str) {
        self.drop_client(client);
        let reason = format!("expected a CDP call, found {found}");
        self.out.push(Action::Disconnect(client, reason));
    }

    pub(super) fn call(
        &mut self,
        client: ClientId,
        id: u64,
        method: &str,
        session: Option<&str>,
        params: Option<&RawValue>,
    ) {
        let Some((role, root)) = self.client(client) else {
            return;
        };
        if !session.is_none_or(|session| self.owns(client, session)) {
            self.answer(client, mux::refusal(id, None, NO_SESSION.0, NO_SESSION.1));
            return;
        }
        if let Some(command) = method.strip_prefix("Baton.") {
            self.command(client, id, session, command, params);
            return;
        }
        let is_guarded = role == Role::Client && !self.setup.is_theirs;
        if method == "Browser.close" && is_guarded {
            self.close_for_client(client, id, session);
            return;
        }
        if self.is_about_inside(client, id, method, session, params) {
            return;
        }
        let text = if is_guarded {
            guard::judge(method, params, self.setup.files.as_ref())
        } else {
            Verdict::Passes(mux::given(params))
        };
        let mut text = match text {
            Verdict::Passes(text) => text.into_owned(),
            Verdict::Refused(why) => {
                // Some tools try again and never say what they heard.
                tracing::info!(client, method, why, "a call was refused");
                self.answer(client, mux::refusal(id, session, REFUSED, &why));
                return;
            }
        };
        let mut kind = Kind::Plain;
        if method.starts_with("Target.") || method.starts_with("Browser.") {
            // Read strictly here: what we misread, Chromium might read as a hidden target.
            let Some(parsed) = Params::read(params) else {
                self.answer(client, mux::refusal(id, session, NO_PARAMS.0, NO_PARAMS.1));
                return;
            };
            if parsed.target.as_deref().is_some_and(|id| !self.targets.visible(role, id)) {
                self.answer(client, mux::refusal(id, session, NO_TARGET.0, NO_TARGET.1));
                return;
            }
            kind = kind_of(role, method, &parsed);
            if method == "Target.createTarget" {
                text = self.page_params(&text, &parsed);
                if kind == Kind::Plain
                    && let Some((blank, address)) = self.blank_first(&text)
                {
                    (text, kind) = (blank, Kind::Bound(address));
                }
            }
        }
        if self.calls.len() >= CALLS {
            self.answer(client, mux::refusal(id, session, TOO_MANY.0, TOO_MANY.1));
            return;
        }
        self.hiding += usize::from(kind == Kind::Hidden);
        if let (Some(session), "Runtime.runIfWaitingForDebugger") = (session, method) {
            self.client_let_go(session);
        }
        let call = Call::Of { client, id, session: session.map(str::to_owned), kind };
        let is_relayed = method == "Target.detachFromTarget" && self.is_relayed(params);
        let to = session.filter(|_| !is_relayed).unwrap_or(&root);
        self.send(Some(to), method, &text, call);
    }

    /// The parameters for a new page. Where a person would look for it in vain, in the minimized
    /// window of the anchor, the page gets a window of its own.
    fn page_params(&self, text: &str, parsed: &Params<'_>) -> String {
        let hidden = parsed.hidden || parsed.baton_hidden;
        let new_window = self.setup.headed && !hidden && !self.targets.any_visible_page();
        if new_window || parsed.baton_hidden {
            mux::page_params(text, new_window)
        } else {
            text.to_owned()
        }
    }

    /// `Browser.close` of a client ends its connection, not the session's browser.
    fn close_for_client(&mut self, client: ClientId, id: u64, session: Option<&str>) {
        self.answer(client, mux::reply(id, session, "result", "{}"));
        self.drop_client(client);
        self.out.push(Action::Disconnect(client, "it called Browser.close".to_owned()));
    }

    pub(super) fn client(&self, client: ClientId) -> Option<(Role, String)> {
        let client = self.clients.get(&client)?;
        Some((client.role, client.root.clone()?))
    }

    fn owns(&self, client: ClientId, session: &str) -> bool {
        let route = self.sessions.get(session);
        route.is_some_and(|route| route.client == Some(client) && !route.hidden)
    }

    pub(super) fn answer(&mut self, client: ClientId, frame: Vec<u8>) {
        self.out.push(Action::ToClient(client, frame));
    }
}

fn kind_of(role: Role, method: &str, params: &Params<'_>) -> Kind {
    match method {
        "Target.getTargets" => Kind::Targets,
        "Target.createBrowserContext" => Kind::Context,
        "Target.createTarget" if role == Role::Node && (params.hidden || params.baton_hidden) => {
            Kind::Hidden
        }
        _ => Kind::Plain,
    }
}

impl Mux {
    /// The browser sent a frame.
    pub(in crate::keeper) fn on_browser_message(&mut self, frame: &[u8]) -> Vec<Action> {
        self.sort(frame);
        self.release();
        self.go_on(false);
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
                self.reply_to(client, id, session.as_deref(), &kind, envelope);
            }
            Some(Call::Join(client)) => self.joined(client, envelope),
            Some(Call::Orphan) => {
                self.hiding = self.hiding.saturating_sub(1);
                if let Some(target) = Params::parse(envelope.result).target {
                    self.targets.hide(&target, ClientId::MAX);
                    self.close_target(&target);
                }
            }
            Some(Call::Prepared(session)) => self.prepared_answered(&session, envelope),
            Some(Call::Relay { under, target, answer }) => {
                self.relay_answered(&under, &target, answer, envelope);
            }
            Some(Call::StorageSet { frame, session }) => {
                self.storage_set(&frame, &session, envelope);
            }
            Some(Call::StopFilled(page)) => self.stop_filled(&page, envelope),
            Some(Call::StopSet(page)) => self.stop_set(&page, envelope),
            Some(Call::StorageKey(frame)) => self.storage_key_told(&frame, envelope),
            Some(Call::StorageLeft { frame, session }) => self.storage_left(&frame, &session),
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
        kind: &Kind,
        envelope: &Envelope<'_>,
    ) {
        if let (Kind::Bound(address), Some(page)) = (kind, Params::parse(envelope.result).target) {
            self.bind(&page, address);
        }
        if let (Kind::Context, Some(made)) = (kind, Params::parse(envelope.result).context) {
            self.context_made(&made);
        }
        if *kind == Kind::Hidden {
            if let Some(target) = Params::parse(envelope.result).target {
                self.targets.hide(&target, client);
            }
            self.hiding = self.hiding.saturating_sub(1);
        }
        let Some((role, _)) = self.client(client) else {
            return;
        };
        let reply = match (envelope.error, kind) {
            (Some(error), _) => mux::reply(id, session, "error", error.get()),
            (None, Kind::Targets) => {
                let seen = |id: &str| self.targets.visible(role, id);
                let body = mux::filter_targets(mux::text(envelope.result), seen);
                mux::reply(id, session, "result", &body)
            }
            (None, _) => mux::reply(id, session, "result", mux::text(envelope.result)),
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
        let route = Route::root(client);
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
        if self.is_own(session) && self.is_about_documents(session, method, envelope.params) {
            return;
        }
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
            return;
        }
        if hidden || self.tells_of_inside(client, session, method, envelope) {
            return;
        }
        if self.passes(client, session, method, envelope) {
            let Some((_, root)) = self.client(client) else {
                return;
            };
            let seen = Some(session).filter(|session| *session != root);
            self.answer(client, mux::event(method, seen, mux::text(envelope.params)));
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
        let is_of_browser = params.info.as_ref().is_some_and(TargetDescription::is_of_browser);
        let visible = params.target_id().is_none_or(|id| self.targets.visible(role, id))
            && !(is_of_browser && role == Role::Client && !self.setup.is_theirs);
        match (method, params.session.as_deref()) {
            ("Target.attachedToTarget", Some(child)) => {
                let route = Route::announced(client, session, !visible, &params);
                self.sessions.insert(child.to_owned(), route);
                if !visible {
                    self.let_go(session, child, params.waiting);
                } else if let Some(info) = &params.info {
                    self.prepare_for_client(child, &info.kind);
                }
                visible
            }
            ("Target.detachedFromTarget", Some(child)) => {
                let hidden = self.forget(child).is_some_and(|route| route.hidden);
                visible && !hidden
            }
            // Clients may know it from when it showed something else.
            ("Target.targetDestroyed", _) => {
                params.target_id().is_none_or(|id| self.targets.exists(role, id))
            }
            _ => visible,
        }
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
        self.lose(session);
        self.end_relayed_under(session, route.client);
        self.forget_inside(session);
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
        if let (Some(_), Some(target)) = (route.client, &route.target) {
            self.send_off(target);
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
