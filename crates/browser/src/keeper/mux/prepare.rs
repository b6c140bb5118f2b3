//! Targets that the keeper prepares: pages, frames and workers before their first script.
//!
//! The *prelude* is what must hold for each of them and must outlive the node; without one, none is attached
//! to at all. What it sets on a page holds in all frames of its process, and a prelude that is for pages alone
//! costs no frame and no worker anything.
//!
//! A frame that starts in a process of its own waits for the keeper, which is attached to what is inside of a
//! page from the page's beginning on, and [leads clients to it](super::inside).

use super::{Action, Call, Mux, Params, Route};
use crate::cdp::Envelope;
use crate::keeper::mux;
use crate::keeper::prelude::{PreludeCall, TargetKind};
use std::collections::HashMap;

const PAGES: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"},{"exclude":true}]}"#;
/// With what no page holds.
const ALL: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"},{"type":"shared_worker"},{"type":"service_worker"},{"exclude":true}]}"#;
/// What a page, a frame or a worker holds.
const INSIDE: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"iframe"},{"type":"worker"},{"exclude":true}]}"#;
const LET_GO: &str = r#"{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}"#;
pub(super) const RUN: &str = "Runtime.runIfWaitingForDebugger";
/// What a page answers that has a process, whatever it does, and that changes nothing.
const LAST: &str = "Runtime.getIsolateId";

/// What the keeper knows of what it prepares.
#[derive(Debug, Default)]
pub(super) struct Preparing {
    attaching: bool,
    /// By its session.
    prepared: HashMap<String, Prepared>,
    /// Where pages go that clients made, by target.
    bound: HashMap<String, String>,
}

/// A target with a session of the keeper's own.
#[derive(Debug)]
struct Prepared {
    target: String,
    kind: TargetKind,
    /// How many answers are still to come of those after which what it was told holds, wherever it goes.
    unanswered: usize,
}

impl Prepared {
    fn is_answered(&self) -> bool {
        self.unanswered == 0
    }
}

impl Preparing {
    /// A target ended.
    pub(super) fn destroyed(&mut self, target: &str) {
        self.bound.remove(target);
    }

    /// Its session, once what it was told holds.
    fn session_of(&self, target: &str) -> Option<String> {
        let mut all = self.prepared.iter();
        all.find(|(_, one)| one.target == target && one.is_answered())
            .map(|(session, _)| session.clone())
    }
}

impl Mux {
    /// Whether this is a session of the keeper's own.
    pub(super) fn is_own(&self, session: &str) -> bool {
        self.own.preparing.prepared.contains_key(session)
    }

    pub(super) fn begin_prelude(&mut self) {
        let has_any = !self.setup.prelude.is_empty() || self.has_storage();
        if !has_any || self.own.preparing.attaching {
            return;
        }
        self.own.preparing.attaching = true;
        self.prepare_browser();
        let params = if self.prepares_inside() { ALL } else { PAGES };
        self.send_own(None, "Target.setAutoAttach", params);
    }

    /// Whether the keeper has a session of its own for this target.
    pub(super) fn prepares(&self, target: &str) -> bool {
        self.own.preparing.prepared.values().any(|one| one.target == target)
    }

    /// Whether this is a page for which the keeper has an identity or storage, and to which it was not answered yet.
    pub(super) fn is_preparing_page(&self, target: &str) -> bool {
        let is_it = |one: &Prepared| {
            one.target == target && one.kind == TargetKind::Page && !one.is_answered()
        };
        let is_prepared = self.reaches_inside() || self.has_storage();
        is_prepared && self.own.preparing.prepared.values().any(is_it)
    }

    /// What the page of a client's session was told may not hold yet, and is waited for no more.
    pub(super) fn wait_no_more(&mut self, session: Option<&str>) {
        let route = session.and_then(|session| self.sessions.get(session));
        let Some(target) = route.and_then(|route| route.target.clone()) else { return };
        let all = self.own.preparing.prepared.values_mut();
        all.filter(|one| one.target == target).for_each(|one| one.unanswered = 0);
    }

    /// Whether the keeper is attached to frames and workers as well.
    pub(super) fn reaches_inside(&self) -> bool {
        self.prepares_inside() || self.hands_over_to_frames()
    }

    /// Whether frames and workers are prepared as well.
    fn prepares_inside(&self) -> bool {
        let is_inside =
            |call: &PreludeCall| call.is_for(TargetKind::Frame) || call.is_for(TargetKind::Worker);
        self.setup.prelude.iter().any(is_inside)
    }

    /// What is said once, on the connection itself.
    fn prepare_browser(&mut self) {
        for call in self.setup.prelude.clone() {
            if call.method.starts_with("Browser.") {
                self.send_own(None, &call.method, &call.params.to_string());
            }
        }
    }

    /// What is said to a target of this kind.
    fn prepare(&mut self, session: &str, kind: TargetKind) {
        for call in self.setup.prelude.clone() {
            if call.is_for(kind) && !call.method.starts_with("Browser.") {
                self.send_own(Some(session), &call.method, &call.params.to_string());
            }
        }
    }

    /// A client was attached to a target that it may see. A worker runs as soon as the first of its sessions
    /// lets it go, which may be the client's.
    pub(super) fn prepare_for_client(&mut self, session: &str, kind: &str) {
        let kind = TargetKind::of(kind).filter(|kind| *kind == TargetKind::Worker);
        if let Some(kind) = kind.filter(|_| self.reaches_inside()) {
            self.prepare(session, kind);
        }
    }

    /// Replaces the prelude. What is new is set at once, also in targets that exist; what is left out
    /// ends with its target, or at once when nothing is left.
    pub(super) fn set_prelude(&mut self, prelude: Vec<PreludeCall>) {
        let reached_inside = self.reaches_inside();
        self.setup.prelude = prelude;
        if !self.own.preparing.attaching {
            self.begin_prelude();
            return;
        }
        if self.setup.prelude.is_empty() {
            self.own.preparing = Preparing::default();
            self.send_own(None, "Target.setAutoAttach", LET_GO);
            return;
        }
        self.own.preparing.attaching = false;
        self.begin_prelude();
        let all = self.own.preparing.prepared.iter();
        let all: Vec<_> = all.map(|(session, one)| (session.clone(), one.kind)).collect();
        let is_new = self.reaches_inside() && !reached_inside;
        for (session, kind) in all {
            self.prepare(&session, kind);
            if is_new {
                self.send_own(Some(&session), "Target.setAutoAttach", INSIDE);
            }
            self.ask_whether_prepared(&session, kind);
        }
    }

    /// The same for who holds the multiplexer; nothing is said anew that holds.
    pub(in crate::keeper) fn change_prelude(&mut self, prelude: Vec<PreludeCall>) -> Vec<Action> {
        if prelude != self.setup.prelude {
            self.set_prelude(prelude);
        }
        self.take_actions()
    }

    /// The keeper was attached to a target.
    pub(super) fn attached(&mut self, parent: Option<&str>, params: &Params<'_>) {
        let (Some(child), Some(info)) = (params.session.as_deref(), &params.info) else {
            return;
        };
        if info.kind == "browser" {
            // The root session of a client that joins; the reply to its call follows.
            return;
        }
        let target = info.id.as_ref();
        let route = Route {
            client: None,
            parent: parent.map(str::to_owned),
            hidden: false,
            target: Some(target.to_owned()),
            waits: false,
            is_relayed: false,
        };
        self.sessions.insert(child.to_owned(), route);
        let Some(kind) = TargetKind::of(&info.kind) else {
            if params.waiting {
                self.send_own(Some(child), RUN, "{}");
            }
            return;
        };
        let preparing = &mut self.own.preparing;
        let inside_of = parent.and_then(|parent| preparing.prepared.get(parent));
        let inside_of = inside_of.map(|parent| parent.target.clone());
        let one = Prepared { target: target.to_owned(), kind, unanswered: 0 };
        preparing.prepared.insert(child.to_owned(), one);
        self.prepare(child, kind);
        if kind == TargetKind::Page {
            let first = params.waiting && self.hints().is_some();
            self.watch_documents(child, first, params);
            self.stop_at_workers(child, params);
        } else if kind == TargetKind::Frame && self.hands_over_to_frames() {
            self.watch_documents(child, false, params);
            self.moved_out(target, child);
        }
        if self.reaches_inside() {
            self.send_own(Some(child), "Target.setAutoAttach", INSIDE);
        }
        if let Some(parent) = inside_of {
            self.came_inside(child, target, &info.kind, &parent, params.waiting);
        } else if params.waiting {
            self.let_run(child);
        } else {
            self.ask_whether_prepared(child, kind);
        }
        self.send_off(target);
    }

    /// A session of a client, or of the keeper's own, was ended by the browser.
    pub(super) fn detached(&mut self, params: &Params<'_>) {
        let gone = params.session.as_deref().and_then(|session| self.forget(session));
        if let Some(client) = gone.and_then(|route| route.client) {
            self.drop_client(client);
            let reason = "the browser ended its session".to_owned();
            self.out.push(mux::Action::Disconnect(client, reason));
        }
    }

    /// A target that waits for the keeper goes on.
    pub(super) fn let_run(&mut self, session: &str) {
        self.send_last(session, RUN);
    }

    /// A page that does not wait for the keeper is asked something of no consequence: calls are answered in their order,
    /// so once this one is, what was said before holds.
    fn ask_whether_prepared(&mut self, session: &str, kind: TargetKind) {
        if kind == TargetKind::Page {
            self.send_last(session, LAST);
        }
    }

    /// Says something after which what was said before holds, once it is answered.
    fn send_last(&mut self, session: &str, method: &'static str) {
        if let Some(one) = self.own.preparing.prepared.get_mut(session) {
            one.unanswered += 1;
        }
        self.send(Some(session), method, "{}", Call::Prepared(session.to_owned()));
    }

    pub(super) fn prepared_answered(&mut self, session: &str, envelope: &Envelope<'_>) {
        let Some(one) = self.own.preparing.prepared.get_mut(session) else { return };
        one.unanswered = one.unanswered.saturating_sub(1);
        let target = one.target.clone();
        // What could not be said was lost, and that is told in its own time.
        if envelope.error.is_none() {
            self.send_off(&target);
        }
    }

    /// A session of the keeper's own ended.
    pub(super) fn lose(&mut self, session: &str) {
        self.own.preparing.prepared.remove(session);
        self.lose_steps(session);
    }
}

impl Mux {
    /// The parameters of a new page that first shows nothing, and the address at which it is to be: its first
    /// request would leave before the page can be prepared.
    pub(super) fn blank_first(&self, params: &str) -> Option<(String, String)> {
        if self.hints().is_none() && !self.has_storage() {
            return None;
        }
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(params).ok()?;
        let address = fields.get("url")?.as_str()?.to_owned();
        let is_web = |scheme: &str| {
            address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if !is_web("http:") && !is_web("https:") {
            return None;
        }
        fields.insert("url".to_owned(), "about:blank".into());
        Some((serde_json::Value::from(fields).to_string(), address))
    }

    /// A page that a client made is to go to an address.
    pub(super) fn bind(&mut self, page: &str, address: &str) {
        self.own.preparing.bound.insert(page.to_owned(), address.to_owned());
        self.send_off(page);
    }

    /// Sends a page to its address, when it is prepared and no client holds it.
    pub(super) fn send_off(&mut self, page: &str) {
        let is_held = |route: &Route| route.waits && route.target.as_deref() == Some(page);
        if !self.own.preparing.bound.contains_key(page) || self.sessions.values().any(is_held) {
            return;
        }
        // What was said before that is answered keeps its effect in another process.
        let Some(session) = self.own.preparing.session_of(page) else { return };
        if let Some(address) = self.own.preparing.bound.remove(page) {
            self.send_own(Some(&session), "Page.navigate", &mux::object("url", &address));
        }
    }

    /// A client lets a target go.
    pub(super) fn client_let_go(&mut self, session: &str) {
        let Some(route) = self.sessions.get_mut(session) else { return };
        route.waits = false;
        if let Some(target) = route.target.clone() {
            self.send_off(&target);
        }
    }
}
