//! From clients to the browser, and, in the domain `Baton`, to the keeper itself.
//!
//! - `Baton.close`: end the browser gently (an attached one is left running), then the keeper. The
//!   reply comes at once; the connection closes when the browser has ended.
//! - `Baton.kill`: the same with SIGKILL.
//! - `Baton.hold {until}`: kill the browser then, unless this is said again before; an instant of the
//!   boot clock as `{secs, nanos}`.
//! - `Baton.status`: counts and process ids.
//! - `Baton.setPrelude {prelude: [{method, params}]}`.

use super::frame::Params;
use super::guard::Verdict;
use super::{Action, CALLS, Call, ClientId, Kind, Mux, frame, guard};
use crate::cdp::Envelope;
use crate::keeper::protocol::Role;
use crate::keeper::spec::{BootInstant, PreludeCall};
use serde::Deserialize;
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
    pub(in super::super) fn on_client_message(
        &mut self,
        client: ClientId,
        frame: &[u8],
    ) -> Vec<Action> {
        if self.clients.get(&client).is_some_and(|client| client.root.is_some()) {
            match Envelope::parse(frame) {
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

    fn call(
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
            self.answer(client, frame::refusal(id, None, NO_SESSION.0, NO_SESSION.1));
            return;
        }
        if let Some(command) = method.strip_prefix("Baton.") {
            self.command(client, id, session, command, params);
            return;
        }
        if method == "Browser.close" && role == Role::Client {
            self.close_for_client(client, id, session);
            return;
        }
        let text = if role == Role::Client {
            guard::judge(method, params, self.setup.files.as_ref())
        } else {
            Verdict::Passes(frame::given(params))
        };
        let mut text = match text {
            Verdict::Passes(text) => text.into_owned(),
            Verdict::Refused(why) => {
                // Some tools try again and never say what they heard.
                tracing::info!(client, method, why, "a call was refused");
                self.answer(client, frame::refusal(id, session, REFUSED, &why));
                return;
            }
        };
        let mut kind = Kind::Plain;
        if method.starts_with("Target.") || method.starts_with("Browser.") {
            // Read strictly here: what we misread, Chromium might read as a hidden target.
            let Some(parsed) = Params::read(params) else {
                self.answer(client, frame::refusal(id, session, NO_PARAMS.0, NO_PARAMS.1));
                return;
            };
            if parsed.target.as_deref().is_some_and(|id| !self.targets.visible(role, id)) {
                self.answer(client, frame::refusal(id, session, NO_TARGET.0, NO_TARGET.1));
                return;
            }
            kind = kind_of(role, method, &parsed);
            if method == "Target.createTarget" {
                text = self.page_params(&text, &parsed);
            }
        }
        if self.calls.len() >= CALLS {
            self.answer(client, frame::refusal(id, session, TOO_MANY.0, TOO_MANY.1));
            return;
        }
        self.hiding += usize::from(kind == Kind::Hidden);
        let call = Call::Of { client, id, session: session.map(str::to_owned), kind };
        self.send(Some(session.unwrap_or(&root)), method, &text, call);
    }

    /// The parameters for a new page. Where a person would look for it in vain, in the minimized
    /// window of the anchor, the page gets a window of its own.
    fn page_params(&self, text: &str, parsed: &Params<'_>) -> String {
        let hidden = parsed.hidden || parsed.baton_hidden;
        let new_window = self.setup.headed && !hidden && !self.targets.any_visible_page();
        if new_window || parsed.baton_hidden {
            frame::page_params(text, new_window)
        } else {
            text.to_owned()
        }
    }

    /// `Browser.close` of a client ends its connection, not the session's browser.
    fn close_for_client(&mut self, client: ClientId, id: u64, session: Option<&str>) {
        self.answer(client, frame::reply(id, session, "result", "{}"));
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
        "Target.createTarget" if role == Role::Node && (params.hidden || params.baton_hidden) => {
            Kind::Hidden
        }
        _ => Kind::Plain,
    }
}

#[derive(Deserialize)]
struct Hold {
    until: BootInstant,
}

#[derive(Deserialize)]
struct SetPrelude {
    prelude: Vec<PreludeCall>,
}

impl Mux {
    pub(super) fn command(
        &mut self,
        client: ClientId,
        id: u64,
        session: Option<&str>,
        command: &str,
        params: Option<&RawValue>,
    ) {
        let role = self.clients.get(&client).map(|client| client.role);
        let outcome = match command {
            _ if role != Some(Role::Node) => unknown(command),
            "close" => Ok(("{}".to_owned(), Some(Action::Close))),
            "kill" => Ok(("{}".to_owned(), Some(Action::Kill))),
            "hold" => hold(params),
            "status" => Ok((self.status(), None)),
            "setPrelude" => self.take_prelude(params),
            _ => unknown(command),
        };
        match outcome {
            Ok((result, then)) => {
                self.answer(client, frame::reply(id, session, "result", &result));
                self.out.extend(then);
            }
            Err((code, message)) => {
                self.answer(client, frame::refusal(id, session, code, &message));
            }
        }
    }

    fn take_prelude(&mut self, params: Option<&RawValue>) -> Outcome {
        let parsed: Result<SetPrelude, _> = serde_json::from_str(frame::text(params));
        match parsed {
            Ok(SetPrelude { prelude }) => {
                self.set_prelude(prelude);
                Ok(("{}".to_owned(), None))
            }
            Err(error) => {
                Err((-32602, format!("expected {{prelude: [{{method, params}}]}}: {error}")))
            }
        }
    }
}

type Outcome = Result<(String, Option<Action>), (i64, String)>;

fn hold(params: Option<&RawValue>) -> Outcome {
    match serde_json::from_str(frame::text(params)) {
        Ok(Hold { until }) => Ok(("{}".to_owned(), Some(Action::Hold(until)))),
        Err(error) => Err((-32602, format!("expected {{until: {{secs, nanos}}}}: {error}"))),
    }
}

/// Chromium's own words for a method that it does not know.
fn unknown(command: &str) -> Outcome {
    Err((-32601, format!("'Baton.{command}' wasn't found")))
}
