//! Another MCP server on the session's browser (`--with`): its tools stand behind ours, and its calls
//! are passed through.
//!
//! The one idea: the bridge adds nothing to a call but the certainty that there is a browser. What the
//! client says goes to the server as it was said, and back; the server is started when it is needed and
//! not too often, and again when it has ended. Rooms: `process` is the other program, with what it is
//! given and what it writes to standard error; `server` is what is said to it and heard from it, and its
//! list of tools; `calls` holds what waits for an answer on either side, and what the model reads when
//! none can come; `endpoint` is its way to the browser; `session` says to which browser, and keeps what
//! it did.

mod calls;
mod endpoint;
mod process;
mod server;
mod session;

pub(super) use process::Patience;
pub(super) use server::Introduction;

use super::client::ClientWriter;
use super::message::{Incoming, Outcome, error};
use super::node::{Nodes, SESSION};
use calls::CallFailure;
use endpoint::Endpoint;
use process::{Scratch, say};
use serde_json::{Value, json};
use server::{Server, Tools};
use session::{Captures, Session};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How the address of the browser is written in the command.
pub(crate) const PLACE: &str = "{cdp_url}";
/// How long the list of tools waits for a server that is starting.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// How long calls may still take when the client has closed its side.
const CUT_AFTER: Duration = Duration::from_secs(5);

/// How much a server may log, as the protocol has it.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What the caller that starts the bridge wants of the other server.
#[derive(Debug, Clone)]
pub(crate) struct With {
    /// The program and its arguments, in which [`PLACE`] means the address of the browser.
    pub(crate) command: Vec<String>,
    /// The variables from which its environment is taken.
    pub(crate) environment: BTreeMap<String, String>,
    /// Where the node keeps the files of sessions.
    pub(crate) files: PathBuf,
    /// How long a call may be silent.
    pub(crate) limit: Duration,
}

/// The other server, whether it runs or not.
pub(super) struct Upstream {
    with: With,
    name: String,
    ours: BTreeSet<String>,
    client: ClientWriter,
    session: Arc<Session>,
    captures: Captures,
    endpoint: Endpoint,
    scratch: Scratch,
    starts: tokio::sync::Mutex<Starts>,
    state: Mutex<ServerState>,
}

/// What is known of the server.
#[derive(Default)]
struct ServerState {
    introduction: Option<Introduction>,
    running: Option<Arc<Server>>,
    tools: Arc<Tools>,
    /// The tools that the client heard of last.
    told: Option<Arc<Tools>>,
    /// How much the client wants to hear of its log.
    level: Option<&'static str>,
    is_over: bool,
}

impl Upstream {
    /// Opens the way to the browser; the server is started when it is needed.
    pub(super) async fn open(
        mut with: With,
        ours: BTreeSet<String>,
        client: ClientWriter,
        nodes: Arc<Nodes>,
        session: Option<String>,
    ) -> std::io::Result<Arc<Self>> {
        let session = Session::new(Arc::clone(&nodes), session);
        let endpoint = Endpoint::open(Arc::clone(&session)).await?;
        let scratch = Scratch::make(&with.files)?;
        with.environment = process::passed(with.environment);
        let folder = scratch.path().to_string_lossy().into_owned();
        with.environment.insert("TMPDIR".to_owned(), folder);
        let program = with.command.first().map(Path::new).and_then(Path::file_name);
        let name = program.unwrap_or_default().to_string_lossy().into_owned();
        let (starts, state) = (tokio::sync::Mutex::default(), Mutex::default());
        let captures = Captures::watch(nodes);
        let upstream =
            Self { with, name, ours, client, session, captures, endpoint, scratch, starts, state };
        Ok(Arc::new(upstream))
    }

    /// Its tools, for a client that asks; none of a server that is not there, which are sent later.
    pub(super) async fn list(self: &Arc<Self>, introduction: Introduction) -> Arc<Tools> {
        self.state().introduction.get_or_insert(introduction);
        // One that is slow goes on starting.
        let _ = timeout(LIST_LIMIT, self.server()).await;
        let mut state = self.state();
        let tools = Arc::clone(&state.tools);
        state.told = Some(Arc::clone(&tools));
        tools
    }

    /// Passes on a call; it is answered when this returns.
    pub(super) async fn call(self: &Arc<Self>, request: &Incoming, introduction: Introduction) {
        self.state().introduction.get_or_insert(introduction);
        if let Err(failure) = self.pass(request).await {
            self.client.send(request.asker().response(Ok(failure.result()))).await;
        }
    }

    async fn pass(self: &Arc<Self>, request: &Incoming) -> Result<(), CallFailure> {
        let session = self.session.active().await?;
        self.scratch.lead_to(session);
        let server = self.server().await?;
        if self.session.has_lost_one().await {
            server.settle().await;
        }
        let name = request.params.get("name").and_then(Value::as_str);
        let only_reads = self.state().tools.only_reads(name.unwrap_or_default());
        // Also what was cancelled, or failed, may have changed something.
        let _capture = (!only_reads).then(|| CaptureAfter { upstream: Arc::clone(self), session });
        server.call(request).await
    }

    /// The client says how much it wants to hear of the server's log, also of one that starts later.
    pub(super) async fn log(&self, request: &Incoming) -> Outcome {
        let named = request.params.get("level").and_then(Value::as_str);
        let Some(level) = LEVELS.into_iter().find(|level| named == Some(level)) else {
            let levels = LEVELS.join(", ");
            return Err(error(-32602, &format!("expected a level among {levels}")));
        };
        self.state().level = Some(level);
        if let Some(server) = self.running().filter(|server| server.lives()) {
            server.log(level).await;
        }
        Ok(json!({}))
    }

    /// The client has sent a notification that the server may want to have.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        if let Some(server) = self.running() {
            server.tell(method, params);
        }
    }

    /// The client has closed its side: calls have a little time left.
    pub(super) async fn cut(&self) {
        tokio::time::sleep(CUT_AFTER).await;
        if let Some(server) = self.running() {
            server.cut("the client has left");
        }
    }

    /// Ends the server, and captures what it did last.
    pub(super) async fn end(&self, patience: Patience) {
        let running = {
            let mut state = self.state();
            state.is_over = true;
            state.running.take()
        };
        let ending = async {
            if let Some(server) = running {
                server.end("the bridge ends", patience).await;
            }
        };
        tokio::join!(ending, self.captures.end());
    }

    fn running(&self) -> Option<Arc<Server>> {
        self.state().running.clone()
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wishes for a snapshot when a call is over, however it ended.
struct CaptureAfter {
    upstream: Arc<Upstream>,
    session: baton_session::SessionId,
}

impl Drop for CaptureAfter {
    fn drop(&mut self) {
        self.upstream.captures.wish(self.session);
    }
}

/// How long a start may take; a launcher may have to fetch its package first.
const START_LIMIT: Duration = Duration::from_secs(90);
/// How long the list of tools may take, when it has changed.
const FETCH_LIMIT: Duration = Duration::from_secs(30);
/// How often the server is started within [`WINDOW`].
const STARTS: usize = 5;
const WINDOW: Duration = Duration::from_mins(1);

const LATER: &str = "tell the user; the tools of Baton itself work";

/// When the server was started last. The task that starts it holds this.
#[derive(Default)]
struct Starts(VecDeque<Instant>);

impl Starts {
    /// Counts a start, unless there were too many.
    fn count(&mut self) -> bool {
        self.0.retain(|start| start.elapsed() < WINDOW);
        let may = self.0.len() < STARTS;
        if may {
            self.0.push_back(Instant::now());
        }
        may
    }
}

impl Upstream {
    /// The running server; started when it does not run. A start goes on when its asker has given up.
    async fn server(self: &Arc<Self>) -> Result<Arc<Server>, CallFailure> {
        if let Some(server) = self.running().filter(|server| server.lives()) {
            return Ok(server);
        }
        let upstream = Arc::clone(self);
        let started = tokio::spawn(async move { upstream.start().await }).await;
        let started = started.unwrap_or_else(|_| Err("a fault inside the bridge".to_owned()));
        started.map_err(|why| CallFailure::new("server_not_started", why, LATER))
    }

    async fn start(self: Arc<Self>) -> Result<Arc<Server>, String> {
        let mut starts = self.starts.lock().await;
        if let Some(server) = self.running().filter(|server| server.lives()) {
            return Ok(server);
        }
        if !starts.count() {
            let name = &self.name;
            return Err(format!("{name} was started {STARTS} times within a minute, and ended"));
        }
        let begun = self.begin_server().await;
        if let Err(why) = &begun {
            say(format!("baton: {why}"));
        }
        begun
    }

    async fn begin_server(self: &Arc<Self>) -> Result<Arc<Server>, String> {
        let Some(introduction) = self.state().introduction.clone() else {
            return Err("nobody has asked for the server yet".to_owned());
        };
        let url = self.endpoint.url();
        let command: Vec<_> =
            self.with.command.iter().map(|word| word.replace(PLACE, url)).collect();
        let server = Server::start(
            &self.name,
            &command,
            &self.with.environment,
            self.endpoint.secret(),
            self.client.clone(),
            self.with.limit,
            introduction.can_ask,
        )?;
        // What ends the bridge finds it here.
        if !self.keep(&server) {
            server.end("the bridge ends", Patience::Short).await;
            return Err("the bridge ends".to_owned());
        }
        let begun = timeout(START_LIMIT, async {
            server.introduce(&introduction).await?;
            Tools::fetch(&server, &self.ours).await
        });
        let begun = begun.await.unwrap_or_else(|_| {
            Err(format!(
                "expected {} to begin within {START_LIMIT:?}, found that it did not",
                self.name
            ))
        });
        match begun {
            Ok(tools) => {
                self.show(tools);
                server.be_ready();
                let level = self.state().level;
                if let Some(level) = level {
                    server.log(level).await;
                }
            }
            Err(why) => {
                server.end(&why, Patience::Short).await;
                return Err(why);
            }
        }
        tokio::spawn(follow(Arc::downgrade(self), Arc::clone(&server)));
        Ok(server)
    }

    /// Whether the bridge goes on, and has a server now.
    fn keep(&self, server: &Arc<Server>) -> bool {
        let mut state = self.state();
        if !state.is_over {
            state.running = Some(Arc::clone(server));
        }
        !state.is_over
    }

    /// These are its tools; a client that knows others hears of it.
    fn show(&self, tools: Tools) {
        let tools = Arc::new(tools);
        let mut state = self.state();
        let is_new = state.told.as_ref().is_some_and(|told| !told.equals(&tools));
        let hears = state.introduction.as_ref().is_some_and(|introduction| introduction.can_ask);
        state.tools = tools;
        drop(state);
        if is_new && hears {
            self.client.mention("notifications/tools/list_changed", &json!({}));
        }
    }
}

/// Fetches the list of tools again whenever it has changed, as long as the server lives.
async fn follow(upstream: Weak<Upstream>, server: Arc<Server>) {
    loop {
        server.changed.notified().await;
        let Some(upstream) = upstream.upgrade().filter(|_| server.lives()) else { return };
        match timeout(FETCH_LIMIT, Tools::fetch(&server, &upstream.ours)).await {
            Ok(Ok(tools)) => upstream.show(tools),
            Ok(Err(why)) => say(format!("baton: {why}")),
            Err(_) => say(format!("baton: {} does not list its tools", server.name())),
        }
    }
}

/// The tools after which a session is the one that is meant.
const CHOOSING: [&str; 3] = ["session_open", "session_resume", "session_rollback"];
/// The tools after which one may be gone.
const ENDING: [&str; 2] = ["session_close", "session_abandon"];

impl Upstream {
    /// A tool of ours was called, with this outcome.
    pub(in crate::bridge) fn watch(self: &Arc<Self>, request: &Incoming, outcome: &Outcome) {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let chooses = CHOOSING.contains(&name);
        if !chooses && !ENDING.contains(&name) {
            return;
        }
        // Also one that failed may have done something.
        self.session.doubt();
        let Ok(result) = outcome else { return };
        let content = &result["structuredContent"];
        let id = content["sessionId"].as_str().filter(|_| result["isError"] != true);
        if let Some(id) = id {
            self.session.ended(id);
            if chooses {
                self.session.choose(id);
                self.start_soon();
            }
        } else if chooses
            && content["code"] == "wrong_state"
            && let Some(reference) = named(request)
        {
            // One that is active already is meant all the same.
            self.session.choose(reference);
        }
    }

    /// There is a browser now: a server that did not want to run without one may want to.
    fn start_soon(self: &Arc<Self>) {
        let was_asked_for = self.state().introduction.is_some();
        if was_asked_for && !self.running().is_some_and(|server| server.lives()) {
            let upstream = Arc::clone(self);
            tokio::spawn(async move {
                // Why it did not start was said already.
                let _ = upstream.server().await;
            });
        }
    }
}

/// The session that a call names.
fn named(request: &Incoming) -> Option<&str> {
    let arguments = request.params.get("arguments")?;
    SESSION.iter().find_map(|key| arguments.get(key)?.as_str())
}
