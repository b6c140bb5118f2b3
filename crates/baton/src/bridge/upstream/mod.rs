//! Another MCP server on the session's browser (`--with`): its tools stand behind ours, and its calls
//! are passed through.
//!
//! The one idea: the bridge adds nothing to a call but the certainty that there is a browser. What the
//! client says goes to the server as it was said, and back; the server is started when it is needed,
//! and again when it has ended. Rooms: `process` is the other program, `words` its standard error,
//! `server` what is said to it and heard from it; `calls` and `questions` hold what waits for an answer
//! on either side; `tools` is its list; `endpoint`, `head` and `relay` are its way to the browser, and
//! `secret` what nobody else is told of it; `session` says to which browser, and `which` asks the node
//! for it; `captures` keeps what it did; `failure` is what the model reads when it cannot.

mod calls;
mod captures;
mod endpoint;
mod environment;
mod failure;
mod head;
mod process;
mod questions;
mod relay;
mod scratch;
mod secret;
mod server;
mod session;
mod start;
mod tools;
mod watch;
mod which;
mod words;

pub(super) use process::Patience;
pub(super) use server::Introduction;

use super::client::Client;
use super::message::{Incoming, Outcome, error};
use super::nodes::Nodes;
use captures::Captures;
use endpoint::Endpoint;
use failure::Failure;
use scratch::Scratch;
use serde_json::{Value, json};
use server::Server;
use session::Session;
use start::Starts;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use tools::Tools;

/// How the address of the browser is written in the command.
pub(crate) const PLACE: &str = "{cdp_url}";
/// How long the list of tools waits for a server that is starting.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// How long calls may still take when the client has closed its side.
const CUT_AFTER: Duration = Duration::from_secs(5);

/// How much a server may log, as the protocol has it.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What whoever starts the bridge wants of the other server.
#[derive(Debug, Clone)]
pub(crate) struct With {
    /// The program and its arguments, in which [`PLACE`] stands for the address of the browser.
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
    client: Client,
    session: Arc<Session>,
    captures: Captures,
    endpoint: Endpoint,
    scratch: Scratch,
    starts: tokio::sync::Mutex<Starts>,
    state: Mutex<State>,
}

/// What is known of the server.
#[derive(Default)]
struct State {
    introduction: Option<Introduction>,
    running: Option<Arc<Server>>,
    tools: Arc<Tools>,
    /// The tools that the client was told last.
    told: Option<Arc<Tools>>,
    /// How much the client wants to hear of its log.
    level: Option<&'static str>,
    is_over: bool,
}

impl Upstream {
    /// Opens the way to the browser; the server is started when it is needed.
    pub(super) async fn begin(
        mut with: With,
        ours: BTreeSet<String>,
        client: Client,
        nodes: Arc<Nodes>,
        session: Option<String>,
    ) -> std::io::Result<Arc<Self>> {
        let session = Session::new(Arc::clone(&nodes), session);
        let endpoint = Endpoint::open(Arc::clone(&session)).await?;
        let scratch = Scratch::make(&with.files)?;
        with.environment = environment::passed(with.environment);
        let folder = scratch.path().to_string_lossy().into_owned();
        with.environment.insert("TMPDIR".to_owned(), folder);
        let program = with.command.first().map(Path::new).and_then(Path::file_name);
        let name = program.unwrap_or_default().to_string_lossy().into_owned();
        let (starts, state) = (tokio::sync::Mutex::default(), Mutex::default());
        let captures = Captures::begin(nodes);
        let upstream =
            Self { with, name, ours, client, session, captures, endpoint, scratch, starts, state };
        Ok(Arc::new(upstream))
    }

    /// Its tools, for a client that asks; none of a server that is not there, which is told later.
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

    async fn pass(self: &Arc<Self>, request: &Incoming) -> Result<(), Failure> {
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

    /// The client has told something that the server may want to know.
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

    fn state(&self) -> MutexGuard<'_, State> {
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
