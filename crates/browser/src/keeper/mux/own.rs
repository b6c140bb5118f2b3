//! The keeper's own session: it watches targets, keeps the anchor, and prepares pages.
//!
//! The *anchor* is a page that stays open, because Chromium deletes every session cookie when the
//! last window of the default context closes. The *prelude* is what must hold for each page from
//! its first script on and must outlive the node; without one, no page is attached to at all. What it
//! sets on a page holds in all frames of it.

use super::frame::Params;
use super::{Action, Call, Mux, Route};
use crate::cdp::{Envelope, Failure};
use crate::keeper::spec::PreludeCall;

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
        self.take()
    }

    /// Asks the browser to end gently.
    pub(in super::super) fn close_browser(&mut self) -> Vec<Action> {
        self.send_own(None, "Browser.close", "{}");
        self.take()
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
        let found =
            envelope.error.map_or_else(|| "no id".to_owned(), |raw| Failure::parse(raw).message);
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
