//! The multiplexer: many clients on one connection to a browser, as a pure state machine.
//!
//! The one idea: to the browser each client is a flat *root* session of its own
//! (`Target.attachToBrowserTarget`); to each client its root looks like a whole connection. So only
//! ids and `sessionId` are rewritten, payloads pass as they came, and what belongs to a client ends
//! with it. No I/O here: frames go in, [`Action`]s come out.
//!
//! Frames for clients are spliced from the browser's own text, and few parameters are read.
//!
//! Everything is read tolerantly: a field that is missing or of another type is simply not there.

mod commands;
mod documents;
mod first_request;
mod guard;
mod inside;
mod own;
mod own_pages;
mod page_storage;
mod passing;
mod prepare;
pub(in crate::keeper) mod waiting;
mod worker_pages;

pub(super) use guard::BrowserFolders;

use super::prelude::PreludeCall;
use super::protocol::{BootInstant, Role};
use crate::cdp::quoted;
use baton_egress::Ledger;
use baton_session::egress::Egress;
use inside::Inside;
use own::{Own, Targets};
use page_storage::PageStorage;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use waiting::WaitingCalls;

/// How many calls may wait for the browser at once, over all clients.
const CALLS: usize = 65_536;
/// How many frames, and how many bytes of them, are held back while a hidden page is being made.
const HELD: usize = 8192;
const HELD_BYTES: usize = 64 * 1024 * 1024;

/// A client, by the number of its connection.
pub(super) type ClientId = u64;

/// What the caller must do, in this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Send a frame to the browser.
    ToBrowser(Vec<u8>),
    /// Send a frame to a client.
    ToClient(ClientId, Vec<u8>),
    /// This client has its root session: welcome it and start to read its frames.
    Ready(ClientId),
    /// Close the connection of a client; the text is for the log.
    Disconnect(ClientId, String),
    /// The browser speaks, and its anchor is there; the text is its version.
    Started(String),
    /// The browser cannot be used.
    Failed(String),
    /// End the browser gently.
    Close,
    /// End the browser at once.
    Kill,
    /// End the browser then, unless the node says so again.
    Hold(BootInstant),
}

/// What does not change during a keeper's life.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// The browser's process; none when it was attached.
    pub(super) browser_pid: Option<u32>,
    /// Whether to keep a page open so that the last window never closes.
    pub(super) anchor: bool,
    /// Whether the browser shows windows.
    pub(super) headed: bool,
    /// Which files clients may name; none when the browser is not confined.
    pub(super) files: Option<BrowserFolders>,
    /// Whether clients may do whatever the browser does, and end it: those who started it themselves.
    pub(super) is_theirs: bool,
    /// See [`PreludeCall`].
    pub(super) prelude: Vec<PreludeCall>,
    /// What its way out was asked for; none when it has none.
    pub(super) ledger: Option<Ledger>,
    /// What the session asked of its way out; none when it asked for nothing.
    pub(super) asked: Option<Egress>,
}

/// The state machine.
#[derive(Debug)]
pub(super) struct Mux {
    setup: Setup,
    clients: HashMap<ClientId, MuxClient>,
    sessions: HashMap<String, Route>,
    calls: HashMap<u64, Call>,
    next_id: u64,
    targets: Targets,
    own: Own,
    held: VecDeque<Vec<u8>>,
    held_bytes: usize,
    releasing: bool,
    /// How many hidden pages are being made.
    hiding: usize,
    not_understood: u64,
    inside: Inside,
    storage: PageStorage,
    /// Calls of clients that come too early.
    waiting: WaitingCalls,
    out: Vec<Action>,
}

#[derive(Debug)]
struct MuxClient {
    role: Role,
    /// Its root session; none until the browser has given it.
    root: Option<String>,
}

/// Whose a flat session is.
#[derive(Debug)]
struct Route {
    /// None: the keeper's own.
    client: Option<ClientId>,
    /// The session on which it was announced; none on the connection itself.
    parent: Option<String>,
    /// Whether its target is hidden from its client: nothing of it may pass.
    hidden: bool,
    /// Its target; none of a root session.
    target: Option<String>,
    /// Whether its target waits for the client to let it go.
    waits: bool,
    /// Whether the keeper attached its client to it, which hears of it on `parent`.
    is_relayed: bool,
}

impl Route {
    fn root(client: ClientId) -> Self {
        Self {
            client: Some(client),
            parent: None,
            hidden: false,
            target: None,
            waits: false,
            is_relayed: false,
        }
    }

    /// The route of a session that was announced to a client on another one.
    fn announced(client: ClientId, parent: &str, hidden: bool, params: &Params<'_>) -> Self {
        Self {
            client: Some(client),
            parent: Some(parent.to_owned()),
            hidden,
            target: params.target_id().map(str::to_owned),
            waits: params.waiting && !hidden,
            is_relayed: false,
        }
    }
}

/// A call that went to the browser, by the id that it got from us.
#[derive(Debug)]
enum Call {
    /// A client's.
    Of { client: ClientId, id: u64, session: Option<String>, kind: Kind },
    /// `Target.attachToBrowserTarget` for a client.
    Join(ClientId),
    /// A hidden page that is being made for a client that left: close it.
    Orphan,
    /// The anchor.
    Anchor,
    /// `Browser.getVersion`.
    Version,
    /// The last of what a target is told that is prepared, on this session of the keeper's own.
    Prepared(String),
    /// A client's session `under` is to hear of this target; the number is that of the answer that waits.
    Relay { under: String, target: String, answer: Option<u64> },
    /// The script that hands sessionStorage over to a frame, on this session of the keeper's own.
    StorageSet { frame: String, session: String },
    /// The script at which a page stops, on this session of the keeper's own.
    StopSet(String),
    /// Whether a page that stands still has what is its own, on this session of the keeper's own.
    StopFilled(String),
    /// Which storage that frame has.
    StorageKey(String),
    /// That the script goes.
    StorageLeft { frame: String, session: String },
    /// Another call of the keeper itself, which may fail.
    Other(String),
}

/// What is special about the reply to a client's call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Plain,
    /// A page that goes to this address as soon as it is prepared.
    Bound(String),
    /// A list of targets, to be filtered.
    Targets,
    /// A page that is hidden from other clients.
    Hidden,
    /// A context of the client's own.
    Context,
}

impl Mux {
    /// A multiplexer; [`Mux::start`] says what to send first.
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            clients: HashMap::new(),
            sessions: HashMap::new(),
            calls: HashMap::new(),
            next_id: 0,
            targets: Targets::default(),
            own: Own::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            releasing: false,
            hiding: 0,
            not_understood: 0,
            inside: Inside::default(),
            storage: PageStorage::default(),
            waiting: WaitingCalls::default(),
            out: Vec::new(),
        }
    }

    /// A client connected. An older node gives way to a newer one.
    pub(super) fn join(&mut self, client: ClientId, role: Role) -> Vec<Action> {
        if role == Role::Node {
            let older: Vec<ClientId> = self.of_role(Role::Node).collect();
            for older in older {
                self.drop_client(older);
                self.out.push(Action::Disconnect(older, "a newer node connected".to_owned()));
            }
        }
        self.clients.insert(client, MuxClient { role, root: None });
        self.send(None, "Target.attachToBrowserTarget", "{}", Call::Join(client));
        self.take_actions()
    }

    /// A client is gone: its root session is detached, which ends all that hangs on it.
    pub(super) fn leave(&mut self, client: ClientId) -> Vec<Action> {
        self.drop_client(client);
        self.take_actions()
    }

    fn drop_client(&mut self, client: ClientId) {
        let Some(gone) = self.clients.remove(&client) else {
            return;
        };
        let ended = self.sessions.extract_if(|_, route| route.client == Some(client));
        let ended: Vec<String> = ended.map(|(session, _)| session).collect();
        for session in ended {
            self.forget_inside(&session);
        }
        self.forget_client_inside(client, gone.root.as_deref());
        self.waiting.forget(client);
        for call in self.calls.values_mut() {
            if matches!(call, Call::Of { client: of, kind: Kind::Hidden, .. } if *of == client) {
                *call = Call::Orphan;
            }
        }
        self.calls.retain(|_, call| !matches!(call, Call::Of { client: of, .. } if *of == client));
        if let Some(root) = gone.root {
            self.detach(None, &root);
        }
        for target in self.targets.hidden_by(client) {
            self.close_target(&target);
        }
    }

    fn of_role(&self, role: Role) -> impl Iterator<Item = ClientId> + '_ {
        self.clients.iter().filter(move |(_, client)| client.role == role).map(|(id, _)| *id)
    }

    fn detach(&mut self, parent: Option<&str>, session: &str) {
        let params = object("sessionId", session);
        self.send_own(parent, "Target.detachFromTarget", &params);
    }

    fn close_target(&mut self, target: &str) {
        let params = object("targetId", target);
        self.send_own(None, "Target.closeTarget", &params);
    }

    /// Sends a call of the keeper itself, whose failure is only logged.
    fn send_own(&mut self, session: Option<&str>, method: &str, params: &str) {
        self.send(session, method, params, Call::Other(method.to_owned()));
    }

    fn send(&mut self, session: Option<&str>, method: &str, params: &str, call: Call) {
        self.next_id += 1;
        self.calls.insert(self.next_id, call);
        let frame = crate::cdp::write_call(self.next_id, session, method, params);
        self.out.push(Action::ToBrowser(frame));
    }

    fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.out)
    }
}

/// The text of `raw`, or an empty object.
fn text(raw: Option<&RawValue>) -> &str {
    raw.map_or("{}", RawValue::get)
}

/// The parameters of a call, as they came.
fn given(raw: Option<&RawValue>) -> Cow<'_, str> {
    Cow::Borrowed(raw.map_or("null", RawValue::get))
}

/// A reply: `part` is `result` or `error`, `body` its JSON.
fn reply(id: u64, session: Option<&str>, part: &str, body: &str) -> Vec<u8> {
    let session = of_session(session);
    format!("{{\"id\":{id},\"{part}\":{body}{session}}}").into_bytes()
}

/// A reply that the browser would have given itself.
fn refusal(id: u64, session: Option<&str>, code: i64, message: &str) -> Vec<u8> {
    let body = format!("{{\"code\":{code},\"message\":{}}}", quoted(message));
    reply(id, session, "error", &body)
}

/// An event.
fn event(method: &str, session: Option<&str>, params: &str) -> Vec<u8> {
    let (method, session) = (quoted(method), of_session(session));
    format!("{{\"method\":{method},\"params\":{params}{session}}}").into_bytes()
}

fn of_session(session: Option<&str>) -> String {
    session.map(|id| format!(",\"sessionId\":{}", quoted(id))).unwrap_or_default()
}

/// An object with one text field.
fn object(field: &str, value: &str) -> String {
    format!("{{{}:{}}}", quoted(field), quoted(value))
}

/// What is read of the parameters of calls, results and events about targets.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params<'a> {
    /// The target of a call, a result or an event.
    #[serde(borrow, rename = "targetId")]
    target: Option<Cow<'a, str>>,
    /// The target of an event that describes it.
    #[serde(borrow, rename = "targetInfo")]
    info: Option<TargetDescription<'a>>,
    /// The session that an event or a result is about.
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    /// Whether a target that was attached waits for its debugger.
    #[serde(rename = "waitingForDebugger")]
    waiting: bool,
    /// A page that Chromium itself hides.
    hidden: bool,
    /// A page that only Baton hides.
    #[serde(rename = "batonHidden")]
    baton_hidden: bool,
    /// The context of a call or a result.
    #[serde(borrow, rename = "browserContextId")]
    context: Option<Cow<'a, str>>,
    /// The browser's name and version.
    #[serde(borrow)]
    product: Option<Cow<'a, str>>,
}

/// What is read of a target's description.
#[derive(Debug, Deserialize)]
struct TargetDescription<'a> {
    /// Which.
    #[serde(borrow, rename = "targetId")]
    id: Cow<'a, str>,
    /// What: `page`, `iframe`, `tab`, `service_worker` and others.
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    /// At which address it is.
    #[serde(borrow, default)]
    url: Cow<'a, str>,
    /// Its context.
    #[serde(borrow, default, rename = "browserContextId")]
    context: Option<Cow<'a, str>>,
}

impl<'a> Params<'a> {
    /// Reads what is there; none when a field is of another type or is there twice.
    fn read(raw: Option<&'a RawValue>) -> Option<Self> {
        match raw {
            Some(raw) => serde_json::from_str(raw.get()).ok(),
            None => Some(Self::default()),
        }
    }

    /// Reads what is there; nothing when it cannot be read.
    fn parse(raw: Option<&'a RawValue>) -> Self {
        Self::read(raw).unwrap_or_default()
    }

    /// The target, wherever it is named.
    fn target_id(&self) -> Option<&str> {
        self.target.as_deref().or(self.info.as_ref().map(|info| info.id.as_ref()))
    }
}

/// Filters the `targetInfos` of a result; what cannot be read stays as it is.
fn filter_targets(result: &str, keep: impl Fn(&str) -> bool) -> String {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow, rename = "targetInfos")]
        infos: Vec<&'a RawValue>,
    }
    let Ok(list) = serde_json::from_str::<List<'_>>(result) else {
        return result.to_owned();
    };
    let visible = |raw: &&RawValue| {
        serde_json::from_str::<TargetDescription<'_>>(raw.get()).map_or(true, |info| keep(&info.id))
    };
    let kept: Vec<&str> = list.infos.into_iter().filter(visible).map(RawValue::get).collect();
    format!("{{\"targetInfos\":[{}]}}", kept.join(","))
}

/// The parameters without Baton's own fields, and with `newWindow` where it is wanted.
fn page_params(params: &str, new_window: bool) -> String {
    let Ok(mut fields) = serde_json::from_str::<serde_json::Map<_, _>>(params) else {
        return params.to_owned();
    };
    fields.remove("batonHidden");
    if new_window {
        fields.insert("newWindow".to_owned(), true.into());
    }
    serde_json::Value::from(fields).to_string()
}

#[cfg(test)]
mod tests;
