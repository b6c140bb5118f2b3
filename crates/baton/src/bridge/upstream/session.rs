//! Which session the other server works on, whether its browser runs, and snapshots of what was changed.
//!
//! The one idea: the node is asked only when something may have changed. As long as a connection to
//! the browser is open, it runs. And connections are cut off only when it is certain that another
//! browser is meant: a doubt costs a question to the node. Which one is meant is a name or an id, or
//! the only session that is active.

use super::calls::CallFailure;
use super::process::say;
use crate::bridge::node::Nodes;
use baton_api::{Client as NodeClient, ClientError, ErrorCode, ListSessions, SessionSummary};
use baton_session::{Lifecycle, SessionId};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long it is believed without a connection that a browser runs.
const BELIEVED: Duration = Duration::from_secs(2);
/// How long the server may take to close a connection that has lost its browser.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// How often the node is asked again when something happens while it answers.
const TRIES: usize = 3;

/// The session of the other server.
pub(super) struct Session {
    nodes: Arc<Nodes>,
    /// The one that the caller that started the bridge has named.
    named: Option<String>,
    current: watch::Sender<Current>,
    state: Mutex<SessionState>,
    /// A connection has closed.
    closed: Notify,
}

/// Which browser is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Current {
    id: Option<SessionId>,
    /// Grows when another browser is meant than before: who is connected to that one is cut off.
    browser: u64,
}

impl Current {
    /// Whether it is the browser of this session.
    pub(super) fn is_of(&self, id: SessionId) -> bool {
        self.id == Some(id)
    }
}

#[derive(Default)]
struct SessionState {
    /// The one that was opened or brought back last: a name or an id.
    last: Option<String>,
    /// When the current one was seen to be active, if nothing has happened since.
    seen: Option<Instant>,
    /// How often something has happened.
    doubts: u64,
    /// The browsers to which connections are open, one entry each.
    connected: Vec<Current>,
    /// How many connections have lost the browser, and are still open on the server's side.
    closing: usize,
    /// Whether one has closed that the server may not have noticed.
    lost: bool,
}

/// A connection to a browser that is open.
pub(super) struct Connected {
    session: Arc<Session>,
    browser: Current,
}

/// A connection that has lost the browser, and is closing.
pub(super) struct Closing(Arc<Session>);

impl Connected {
    /// The browser is lost to it.
    pub(super) fn close(self) -> Closing {
        self.session.state().closing += 1;
        Closing(Arc::clone(&self.session))
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut state = self.session.state();
        if let Some(at) = state.connected.iter().position(|browser| *browser == self.browser) {
            state.connected.swap_remove(at);
        }
        // The browser may be what has ended.
        state.doubt();
    }
}

impl SessionState {
    fn doubt(&mut self) {
        self.seen = None;
        self.doubts += 1;
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.closing -= 1;
        state.lost = true;
        drop(state);
        self.0.closed.notify_waiters();
    }
}

impl Session {
    pub(super) fn new(nodes: Arc<Nodes>, named: Option<String>) -> Arc<Self> {
        let (current, state, closed) = (watch::Sender::default(), Mutex::default(), Notify::new());
        Arc::new(Self { nodes, named, current, state, closed })
    }

    /// The session, whose browser runs.
    pub(super) async fn active(&self) -> Result<SessionId, CallFailure> {
        if let Some(id) = self.believed() {
            return Ok(id);
        }
        let mut tries = 1;
        let found = loop {
            let doubts = self.state().doubts;
            let found = self.find().await?;
            if self.mean(&found, doubts) || tries == TRIES {
                break found;
            }
            tries += 1;
        };
        if found.state != Lifecycle::Active {
            let detail =
                format!("expected an active session, found that {} is {}", found.name, found.state);
            let next = "session_resume brings it back; session_open opens another one";
            return Err(CallFailure::new("wrong_state", detail, next));
        }
        Ok(found.id)
    }

    /// This one was opened or brought back, or is meant from now on.
    pub(super) fn choose(&self, reference: &str) {
        let mut state = self.state();
        state.last = Some(reference.to_owned());
        state.doubt();
    }

    /// The browser that this one had has ended.
    pub(super) fn ended(&self, id: &str) {
        self.doubt();
        self.current.send_if_modified(|current| {
            let is_it = current.id.is_some_and(|current| current.to_string() == id);
            current.browser += u64::from(is_it);
            is_it
        });
    }

    /// It is not known any more which session is meant, or whether its browser runs.
    pub(super) fn doubt(&self) {
        self.state().doubt();
    }

    /// A connection to the browser is open as long as what is returned.
    pub(super) fn connected(self: &Arc<Self>, browser: Current) -> Connected {
        self.state().connected.push(browser);
        Connected { session: Arc::clone(self), browser }
    }

    /// A receiver that learns when another browser is meant.
    pub(super) fn watch(&self) -> watch::Receiver<Current> {
        self.current.subscribe()
    }

    /// Whether the server may not have noticed yet that it has lost a browser. Returns when it had
    /// the time to.
    pub(super) async fn has_lost_one(&self) -> bool {
        let closed = async {
            loop {
                let mut closed = pin!(self.closed.notified());
                closed.as_mut().enable();
                if self.have_closed() {
                    return;
                }
                closed.await;
            }
        };
        // One that does not close its side does not notice anything.
        let _ = timeout(CLOSE_LIMIT, closed).await;
        std::mem::take(&mut self.state().lost)
    }

    /// Where the browser is reached.
    pub(super) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Whether no tool is connected to another browser than the one that is meant.
    fn have_closed(&self) -> bool {
        let current = *self.current.borrow();
        let state = self.state();
        state.closing == 0 && state.connected.iter().all(|browser| *browser == current)
    }

    fn believed(&self) -> Option<SessionId> {
        let current = *self.current.borrow();
        let state = self.state();
        let is_fresh = state.seen?.elapsed() < BELIEVED;
        if is_fresh || state.connected.contains(&current) { current.id } else { None }
    }

    async fn find(&self) -> Result<SessionSummary, CallFailure> {
        let reference = self.named.clone().or_else(|| self.state().last.clone());
        if let Some(reference) = &reference
            && let Some(found) = fetch(&self.nodes, reference).await?
            && (self.named.is_some() || found.state != Lifecycle::Closed)
        {
            return Ok(found);
        }
        if let Some(named) = &self.named {
            return Err(no_session(named));
        }
        {
            let mut state = self.state();
            // Another one may have been opened meanwhile.
            if state.last == reference {
                state.last = None;
            }
        }
        only(&self.nodes).await
    }

    /// This session is meant, as was found; unless something has happened since the node was asked.
    fn mean(&self, found: &SessionSummary, doubts: u64) -> bool {
        let mut state = self.state();
        if state.doubts != doubts {
            return false;
        }
        state.seen = (found.state == Lifecycle::Active).then(Instant::now);
        self.current.send_if_modified(|current| {
            let is_other = current.id.is_some_and(|id| id != found.id);
            let browser = current.browser + u64::from(is_other);
            *current = Current { id: Some(found.id), browser };
            is_other
        });
        true
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many active sessions are named when it is not clear which one is meant.
const NAMED: u32 = 10;

const NONE: &str = "session_open opens one; session_resume brings one back";
const SEVERAL: &str =
    "session_resume the one that you mean; that it is active already does no harm";

/// The session of this name or id, if there is one.
async fn fetch(nodes: &Nodes, reference: &str) -> Result<Option<SessionSummary>, CallFailure> {
    let fetch = |node: NodeClient| async move { node.fetch_session(reference).await };
    match nodes.ask_again(fetch).await {
        Ok(view) => Ok(Some(view.session)),
        Err(error) => match error.downcast_ref::<ClientError>().and_then(ClientError::code) {
            Some(ErrorCode::SessionNotFound) => Ok(None),
            _ => Err(unreachable(&error)),
        },
    }
}

/// The caller's only active session.
async fn only(nodes: &Nodes) -> Result<SessionSummary, CallFailure> {
    let state = Some(Lifecycle::Active);
    let query = ListSessions { state, limit: Some(NAMED), ..ListSessions::default() };
    let query = &query;
    let list = |node: NodeClient| async move { node.list_sessions(query).await };
    let mut found = nodes.ask_again(list).await.map_err(|error| unreachable(&error))?;
    let names: Vec<&str> = found.items.iter().map(|session| session.name.as_str()).collect();
    let which = |found: &str, next| {
        let detail = format!("expected one active session, found {found}");
        CallFailure::new("invalid_request", detail, next)
    };
    match names.as_slice() {
        [] => Err(which("none", NONE)),
        [_] => Ok(found.items.remove(0)),
        several => {
            let more = if found.next.is_some() { " and more" } else { "" };
            Err(which(&format!("{}{more}", several.join(", ")), SEVERAL))
        }
    }
}

/// There is no session of the name that was given.
fn no_session(named: &str) -> CallFailure {
    let detail = format!("expected a session named {named}, found none");
    CallFailure::new("session_not_found", detail, NONE)
}

fn unreachable(error: &anyhow::Error) -> CallFailure {
    let next = "list_sessions tells whether the node answers again";
    CallFailure::new("node_unreachable", format!("{error:#}"), next)
}

/// How long captures may take when the client has left.
const END_LIMIT: Duration = Duration::from_secs(15);

/// Captures what is wished: one session at a time, and at most one wish of a session waits.
pub(super) struct Captures {
    wishes: Arc<Wishes>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Wishes {
    state: Mutex<Wished>,
    news: Notify,
}

#[derive(Default)]
struct Wished {
    waiting: BTreeSet<SessionId>,
    is_over: bool,
}

impl Captures {
    pub(super) fn watch(nodes: Arc<Nodes>) -> Self {
        let wishes = Arc::new(Wishes::default());
        let task = tokio::spawn(capture(Arc::clone(&wishes), nodes));
        Self { wishes, task: Mutex::new(Some(task)) }
    }

    /// The session has changed.
    pub(super) fn wish(&self, session: SessionId) {
        self.wishes.state().waiting.insert(session);
        self.wishes.news.notify_one();
    }

    /// Waits until what was wished is captured.
    pub(super) async fn end(&self) {
        self.wishes.state().is_over = true;
        self.wishes.news.notify_one();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // What takes longer the node captures by itself, a little later.
            let _ = timeout(END_LIMIT, task).await;
        }
    }
}

impl Wishes {
    fn state(&self) -> MutexGuard<'_, Wished> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn capture(wishes: Arc<Wishes>, nodes: Arc<Nodes>) {
    loop {
        let (next, is_over) = {
            let mut state = wishes.state();
            (state.waiting.pop_first(), state.is_over)
        };
        match next {
            Some(session) => capture_one(session, &nodes).await,
            None if is_over => return,
            None => wishes.news.notified().await,
        }
    }
}

async fn capture_one(session: SessionId, nodes: &Nodes) {
    let reference = &session.to_string();
    let capture = |node: NodeClient| async move { node.capture_session(reference).await };
    if let Err(error) = nodes.ask(capture).await {
        let code = error.downcast_ref::<ClientError>().and_then(ClientError::code);
        // One that was closed meanwhile was captured then.
        let is_gone = matches!(code, Some(ErrorCode::WrongState | ErrorCode::SessionNotFound));
        if !is_gone {
            say(format!("baton: could not capture {session}: {error:#}"));
        }
    }
}
