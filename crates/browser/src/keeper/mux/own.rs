//! The keeper's own session: it watches targets, which are hidden from whom, keeps the anchor, and
//! prepares pages.
//!
//! The *anchor* is a page that stays open, because Chromium deletes every session cookie when the last
//! window of the default context closes. The *prelude* is what must hold for each page from its first
//! script on and must outlive the node; without one, no page is attached to at all. What it sets on a
//! page holds in all frames of it.
//!
//! A page of Chromium is two targets: a `tab`, announced first, and its page, announced next. Both must
//! be hidden, so the pairs are kept. A hidden target stays hidden for a while after its end, because
//! the news of its end reaches the keeper before it reaches the clients.

use super::{Action, Call, ClientId, Mux, Params, Route, TargetInfo};
use crate::cdp::{CallFailure, Envelope};
use crate::keeper::protocol::{PreludeCall, Role};
use baton_egress::Ledger;
use std::collections::{HashMap, HashSet, VecDeque};

const WATCH: &str = r#"{"discover":true,"filter":[{}]}"#;
/// Pages alone. A frame that waits for us would wait for ever when another client attaches to its page
/// at that moment: the browser then ends our session with it before we can let it go on.
const ATTACH: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"},{"exclude":true}]}"#;
const LET_GO: &str = r#"{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}"#;
const ANCHOR: &str = r#"{"url":"about:blank","background":true}"#;
/// With windows to be seen, the anchor hides in a minimized one of its own.
const ANCHOR_WINDOW: &str =
    r#"{"url":"about:blank","background":true,"newWindow":true,"windowState":"minimized"}"#;

/// What the keeper knows of its own session.
#[derive(Debug, Default)]
pub(super) struct Own {
    anchor: Anchor,
    version: Option<String>,
    started: bool,
    attaching: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Anchor {
    #[default]
    None,
    BeingMade,
    Stands,
    Lost,
}

impl Own {
    pub(super) fn anchor_is_being_made(&self) -> bool {
        self.anchor == Anchor::BeingMade
    }
}

impl Mux {
    /// What to say first to a browser.
    pub(in super::super) fn start(&mut self) -> Vec<Action> {
        self.send_own(None, "Target.setDiscoverTargets", WATCH);
        self.send(None, "Browser.getVersion", "{}", Call::Version);
        self.begin_prelude();
        if self.setup.anchor {
            self.make_anchor();
        }
        self.take_actions()
    }

    /// Asks the browser to end gently.
    pub(in super::super) fn close_browser(&mut self) -> Vec<Action> {
        self.send_own(None, "Browser.close", "{}");
        self.take_actions()
    }

    fn make_anchor(&mut self) {
        self.own.anchor = Anchor::BeingMade;
        let params = if self.setup.headed { ANCHOR_WINDOW } else { ANCHOR };
        self.send(None, "Target.createTarget", params, Call::Anchor);
    }

    pub(super) fn anchor_made(&mut self, envelope: &Envelope<'_>) {
        if let Some(target) = Params::parse(envelope.result).target {
            self.targets.set_anchor(&target);
            self.own.anchor = Anchor::Stands;
            self.report_start();
            return;
        }
        self.own.anchor = Anchor::Lost;
        let found = envelope
            .error
            .map_or_else(|| "no id".to_owned(), |raw| CallFailure::parse(raw).message);
        if self.own.started {
            tracing::warn!(found, "the page that keeps the browser's window open was not made");
        } else {
            self.out.push(Action::Failed(format!("expected a first page, found {found:?}")));
        }
    }

    pub(super) fn version_told(&mut self, envelope: &Envelope<'_>) {
        let product = Params::parse(envelope.result).product;
        self.own.version = Some(product.unwrap_or("unknown".into()).into_owned());
        self.report_start();
    }

    fn report_start(&mut self) {
        let stands = !self.setup.anchor || self.own.anchor == Anchor::Stands;
        if let Some(version) = &self.own.version
            && stands
            && !self.own.started
        {
            self.own.started = true;
            self.out.push(Action::Started(version.clone()));
        }
    }

    /// An event for the keeper itself, on the connection or on a session of the prelude.
    pub(super) fn own_event(&mut self, method: &str, session: Option<&str>, params: &Params<'_>) {
        match method {
            "Target.targetCreated" if session.is_none() => {
                if let Some(info) = &params.info {
                    self.targets.created(info);
                }
                if self.own.anchor == Anchor::Lost {
                    self.make_anchor();
                }
            }
            "Target.targetDestroyed" if session.is_none() => {
                let was_anchor = params.target_id().map(|id| self.targets.destroyed(id));
                if was_anchor == Some(true) {
                    self.make_anchor();
                }
            }
            "Target.attachedToTarget" => self.attached(session, params),
            "Target.detachedFromTarget" => self.detached(params),
            _ => {}
        }
    }

    fn attached(&mut self, parent: Option<&str>, params: &Params<'_>) {
        let (Some(child), Some(info)) = (params.session.as_deref(), &params.info) else {
            return;
        };
        if info.kind == "browser" {
            // The root session of a client that joins; the reply to its call follows.
            return;
        }
        let route = Route { client: None, parent: parent.map(str::to_owned), hidden: false };
        self.sessions.insert(child.to_owned(), route);
        if info.kind == "page" {
            for call in self.setup.prelude.clone() {
                self.prepare(Some(child), &call);
            }
        }
        if params.waiting {
            self.send_own(Some(child), "Runtime.runIfWaitingForDebugger", "{}");
        }
    }

    fn detached(&mut self, params: &Params<'_>) {
        let gone = params.session.as_deref().and_then(|session| self.forget(session));
        if let Some(client) = gone.and_then(|route| route.client) {
            self.drop_client(client);
            let reason = "the browser ended its session".to_owned();
            self.out.push(Action::Disconnect(client, reason));
        }
    }

    fn begin_prelude(&mut self) {
        if self.setup.prelude.is_empty() || self.own.attaching {
            return;
        }
        self.own.attaching = true;
        for call in self.setup.prelude.clone() {
            self.prepare(None, &call);
        }
        self.send_own(None, "Target.setAutoAttach", ATTACH);
    }

    /// Makes one call of the prelude where it belongs: `Browser` on the connection, others on pages.
    fn prepare(&mut self, session: Option<&str>, call: &PreludeCall) {
        if call.method.starts_with("Browser.") == session.is_none() {
            let params = call.params.to_string();
            self.send_own(session, &call.method, &params);
        }
    }

    /// Replaces the prelude. What is new is set at once, also in pages that exist; what is left out
    /// ends with its page, or at once when nothing is left.
    pub(super) fn set_prelude(&mut self, prelude: Vec<PreludeCall>) {
        self.setup.prelude = prelude;
        if self.setup.prelude.is_empty() {
            if std::mem::take(&mut self.own.attaching) {
                self.send_own(None, "Target.setAutoAttach", LET_GO);
            }
        } else if self.own.attaching {
            let own = self.sessions.iter().filter(|(_, route)| route.client.is_none());
            let pages: Vec<String> = own.map(|(id, _)| id.clone()).collect();
            for call in self.setup.prelude.clone() {
                self.prepare(None, &call);
                for page in &pages {
                    self.prepare(Some(page), &call);
                }
            }
        } else {
            self.begin_prelude();
        }
    }

    /// What the way out was asked for, and what the session asked of it, for `Baton.egress`.
    pub(super) fn egress(&self) -> String {
        let hosts = self.setup.ledger.as_ref().map(Ledger::tallies);
        serde_json::json!({ "hosts": hosts, "asked": self.setup.asked }).to_string()
    }

    /// A short text of the state, for `Baton.status`.
    pub(super) fn status(&self) -> String {
        serde_json::json!({
            "clients": self.clients.len(),
            "cdp_sessions": self.sessions.len(),
            "waiting_calls": self.calls.len(),
            "not_understood": self.not_understood,
            "browser_pid": self.setup.browser_pid,
            "browser_version": self.own.version,
        })
        .to_string()
    }
}

/// How many ended targets are remembered.
const GONE: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Targets {
    anchor: Option<String>,
    hidden: HashMap<String, ClientId>,
    twins: HashMap<String, String>,
    last_tab: Option<String>,
    pages: HashSet<String>,
    gone: VecDeque<String>,
}

impl Targets {
    /// A target was announced to the keeper itself.
    pub(super) fn created(&mut self, info: &TargetInfo<'_>) {
        let id = info.id.as_ref().to_owned();
        match info.kind.as_ref() {
            "tab" => self.last_tab = Some(id),
            kind => {
                if kind == "page" {
                    self.pages.insert(id.clone());
                }
                if let Some(tab) = self.last_tab.take() {
                    self.twins.insert(tab.clone(), id.clone());
                    self.twins.insert(id, tab);
                }
            }
        }
    }

    /// A target ended; answers whether it was the anchor.
    fn destroyed(&mut self, id: &str) -> bool {
        self.pages.remove(id);
        self.gone.push_back(id.to_owned());
        if self.gone.len() > GONE
            && let Some(oldest) = self.gone.pop_front()
        {
            self.hidden.remove(&oldest);
            self.twins.remove(&oldest);
        }
        let was_anchor = self.anchor.as_deref() == Some(id);
        if was_anchor && let Some(anchor) = self.anchor.take() {
            // No client has this number, and a keeper's page is hidden from the node as well.
            self.hidden.insert(anchor, ClientId::MAX);
        }
        was_anchor
    }

    /// `id` is the anchor from now on.
    fn set_anchor(&mut self, id: &str) {
        self.anchor = Some(id.to_owned());
    }

    /// `id` is hidden from everyone but `client`'s role.
    pub(super) fn hide(&mut self, id: &str, client: ClientId) {
        self.hidden.insert(id.to_owned(), client);
    }

    /// The hidden targets that `client` made and that live.
    pub(super) fn hidden_by(&self, client: ClientId) -> Vec<String> {
        let made = self.hidden.iter().filter(|(_, by)| **by == client).map(|(id, _)| id);
        made.filter(|id| !self.gone.contains(id)).cloned().collect()
    }

    /// Whether a client of this role may know of the target.
    pub(super) fn visible(&self, role: Role, id: &str) -> bool {
        let twin = self.twins.get(id).map(String::as_str);
        [Some(id), twin].into_iter().flatten().all(|id| self.shows(role, id))
    }

    fn shows(&self, role: Role, id: &str) -> bool {
        if self.anchor.as_deref() == Some(id) {
            return false;
        }
        match self.hidden.get(id) {
            None => true,
            Some(by) => role == Role::Node && *by != ClientId::MAX,
        }
    }

    /// Whether a page exists that people and agents see.
    pub(super) fn any_visible_page(&self) -> bool {
        self.pages.iter().any(|id| self.visible(Role::Client, id))
    }
}
