//! The keeper's own session: it watches targets, which are hidden from whom, and keeps the anchor.
//!
//! The *anchor* is a page that stays open, because Chromium deletes every session cookie when the last
//! window of the default context closes.
//!
//! A page of Chromium is two targets: a `tab`, announced first, and its page, announced next. Both must
//! be hidden, so the pairs are kept. A hidden target stays hidden for a while after its end, because
//! the news of its end reaches the keeper before it reaches the clients.

use super::prepare::Preparing;
use super::{Action, Call, ClientId, Mux, Params, TargetDescription};
use crate::cdp::{CallFailure, Envelope};
use crate::keeper::protocol::Role;
use baton_egress::Ledger;
use std::collections::{HashMap, HashSet, VecDeque};

const WATCH: &str = r#"{"discover":true,"filter":[{}]}"#;
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
    pub(super) preparing: Preparing,
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
                    self.went(info);
                }
                if self.own.anchor == Anchor::Lost {
                    self.make_anchor();
                }
            }
            "Target.targetInfoChanged" if session.is_none() => {
                if let Some(info) = &params.info {
                    self.went(info);
                }
            }
            "Target.targetDestroyed" if session.is_none() => {
                let was_anchor = params.target_id().map(|id| self.targets.destroyed(id));
                if let Some(id) = params.target_id() {
                    self.own.preparing.destroyed(id);
                }
                if was_anchor == Some(true) {
                    self.make_anchor();
                }
            }
            "Target.attachedToTarget" => self.attached(session, params),
            "Target.detachedFromTarget" => self.detached(params),
            _ => {}
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
    /// Those that show a page of the browser's own, which clients are not shown.
    of_browser: HashSet<String>,
    gone: VecDeque<String>,
}

impl Targets {
    /// A target was announced to the keeper itself.
    pub(super) fn created(&mut self, info: &TargetDescription<'_>) {
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
            self.of_browser.remove(&oldest);
            self.twins.remove(&oldest);
        }
        let was_anchor = self.anchor.as_deref() == Some(id);
        if was_anchor && let Some(anchor) = self.anchor.take() {
            // No client has this number, and a keeper's page is hidden from the node as well.
            self.hidden.insert(anchor, ClientId::MAX);
        }
        was_anchor
    }

    /// `id` shows a page of the browser's own from now on, or none; answers whether it became one.
    pub(super) fn went(&mut self, id: &str, is_of_browser: bool) -> bool {
        if !is_of_browser {
            self.of_browser.remove(id);
        }
        is_of_browser && self.of_browser.insert(id.to_owned())
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
        let is_shown = |id: &str| role == Role::Node || !self.of_browser.contains(id);
        self.exists(role, id) && self.with_twin(id).all(is_shown)
    }

    /// The same, whatever it shows.
    pub(super) fn exists(&self, role: Role, id: &str) -> bool {
        self.with_twin(id).all(|id| self.shows(role, id))
    }

    /// The target, and the one that it is a pair with.
    fn with_twin<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        let twin = self.twins.get(id).map(String::as_str);
        [Some(id), twin].into_iter().flatten()
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

    /// Whether a page exists that people see.
    pub(super) fn any_visible_page(&self) -> bool {
        self.pages.iter().any(|id| self.exists(Role::Client, id))
    }
}
