//! The protocol: what a client of any version is offered, which toolsets there are, how its calls reach
//! the tools, and which clients are connected.

use super::answer::{Failure, ToolAnswer};
use super::resources::Subscribed;
use super::verb::{Call, Confirm, Entry, ToolProgress};
use super::{carry, elsewhere, keep, look, resources, sandbox, turns};
use crate::cluster::Origin;
use crate::context::Context;
use crate::error::NodeError;
use crate::page::LinkPlace;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use baton_api::{CallTool, ToolEnd, ToolEvent};
use baton_runtime::Caller;
use baton_session::{NodeId, json};
use baton_store::blocking::finished;
use futures_util::{Stream, StreamExt as _, stream};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use utoipa::IntoParams;

/// What a model hears of Baton as a whole.
const INSTRUCTIONS: &str = "\
Baton keeps browser logins alive. Before you log in anywhere, call list_sessions: if a session for the \
site exists, session_resume it when it is not active, and you are logged in. Else session_open one, log \
in, then session_capture. After a crash: list_sessions, session_resume, read the receipt.";

/// Tools that belong together; a client may be offered some sets only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Toolset {
    /// Sessions are opened, kept, brought back, and carried as files.
    Keep,
    /// Sessions are saved, and move between nodes.
    Carry,
    /// Network and console of tabs are asked for.
    Look,
    /// Agents share a board, and pass sessions to each other.
    Turns,
    /// Isolated workspaces start logged in, and commands run in them.
    Sandbox,
}

impl Toolset {
    /// Every one, in the order in which lists show them.
    pub const ALL: [Self; 5] = [Self::Keep, Self::Carry, Self::Look, Self::Turns, Self::Sandbox];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Carry => "carry",
            Self::Look => "look",
            Self::Turns => "turns",
            Self::Sandbox => "sandbox",
        }
    }

    /// The tools of the set.
    pub(super) fn entries(self) -> &'static [Entry] {
        match self {
            Self::Keep => keep::entries(),
            Self::Carry => carry::entries(),
            Self::Look => look::entries(),
            Self::Turns => turns::entries(),
            Self::Sandbox => sandbox::entries(),
        }
    }
}

/// A word that names no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected toolsets among keep, carry, look, turns and sandbox, found {0:?}")]
pub struct UnknownToolset(String);

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(word: &str) -> Result<Self, UnknownToolset> {
        let named = Self::ALL.into_iter().find(|one| one.as_str() == word);
        named.ok_or_else(|| UnknownToolset(word.to_owned()))
    }
}

/// What a client is offered, which it says in the query of the address.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wishes {
    /// Toolsets, with commas between them; all when left out.
    toolsets: Option<String>,
    /// No person is asked: the one who set the client up agreed to exports and abandons beforehand.
    unattended: bool,
}

/// What a client is offered without a node that runs: who answers, and the tools.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Name, capabilities and instructions, as `initialize` answers them, without a protocol version.
    pub server: Value,
    /// The tools, as `tools/list` lists them.
    pub tools: Vec<Value>,
}

/// The offer of these toolsets.
pub fn offer(toolsets: &BTreeSet<Toolset>) -> Offer {
    let entries = toolsets.iter().flat_map(|set| set.entries());
    let as_json = |entry: &Entry| json::value(&entry.tool);
    let mut server = json::value(&config());
    if let Some(fields) = server.as_object_mut() {
        fields.remove("protocolVersion");
    }
    Offer { server, tools: entries.map(as_json).collect() }
}

fn config() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_resources_subscribe()
        .build();
    let version = env!("CARGO_PKG_VERSION");
    let baton = Implementation::new("baton", version).with_title("Baton");
    InitializeResult::new(capabilities).with_server_info(baton).with_instructions(INSTRUCTIONS)
}

/// Answers clients. One is made for each connection, or for each request of those that have none.
pub(crate) struct Server {
    context: Context,
    /// What a client of an older protocol wants to hear of.
    subscribed: Subscribed,
}

impl Server {
    pub(crate) fn new(context: Context) -> Self {
        Self { context, subscribed: Subscribed::default() }
    }
}

/// Where links to the node's page lead for the one who asks.
fn link_place(context: &RequestContext<RoleServer>) -> Option<LinkPlace> {
    context.extensions.get::<Parts>()?.extensions.get::<LinkPlace>().cloned()
}

/// Where the client asked.
fn origin(context: &RequestContext<RoleServer>) -> Option<Origin> {
    context.extensions.get::<Parts>()?.extensions.get::<Origin>().cloned()
}

/// Who asks, and for what. The HTTP door has put it there.
fn asked(context: &RequestContext<RoleServer>) -> Result<(Caller, Wishes), ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let found = parts.and_then(|parts| {
        Some((parts.extensions.get::<Caller>()?.clone(), parts.extensions.get::<Wishes>()?.clone()))
    });
    found.ok_or_else(|| ErrorData::internal_error("a request came in by no door", None))
}

impl Wishes {
    /// The toolsets that are offered.
    pub(crate) fn toolsets(&self) -> Result<BTreeSet<Toolset>, UnknownToolset> {
        match &self.toolsets {
            None => Ok(BTreeSet::from(Toolset::ALL)),
            Some(named) => named.split(',').map(|word| word.trim().parse()).collect(),
        }
    }

    fn entries(&self) -> Result<Vec<&'static Entry>, ErrorData> {
        let toolsets = self.toolsets();
        let toolsets =
            toolsets.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(toolsets.into_iter().flat_map(Toolset::entries).collect())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        config()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (_, wishes) = asked(&context)?;
        let tools = wishes.entries()?.into_iter().map(|entry| entry.tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, wishes) = asked(&context)?;
        let entries = wishes.entries()?;
        let Some(entry) = entries.iter().find(|entry| entry.tool.name == params.name) else {
            let names: Vec<&str> = entries.iter().map(|entry| &*entry.tool.name).collect();
            let found: String = params.name.chars().take(100).collect();
            let text = format!("expected a tool among {}; found {found:?}", names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let confirm = Confirm::of(wishes.unattended, &mut params, &context);
        let progress = ToolProgress::of(&context);
        let place = link_place(&context);
        let origin = origin(&context);
        let call = Call { context: self.context.clone(), caller, confirm, progress, place, origin };
        let work = elsewhere::call(entry, params.arguments.unwrap_or_default(), call);
        // What was begun is finished, also when the client leaves.
        match self.context.tasks.spawn(work).await {
            Ok(Ok(answer)) => Ok(answer.into()),
            Ok(Err(failure)) => Ok(failure.into()),
            Err(error) => {
                tracing::error!(%error, "a tool panicked: this is a fault of Baton");
                Err(ErrorData::internal_error("a fault inside the node; its log says more", None))
            }
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (caller, _) = asked(&context)?;
        resources::list(&self.context, &caller, page.and_then(|page| page.cursor)).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (caller, _) = asked(&context)?;
        Ok(resources::read(&self.context, &caller, &params.uri).await?.into())
    }

    fn accepted_subscription_filter(
        &self,
        _asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(resources::offered())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let (caller, _) = asked(subscription.request_context())?;
        resources::listen(&self.context, &caller, subscription).await
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (caller, _) = asked(&context)?;
        self.subscribed.follow(&self.context, &caller, &params.uri, context.peer).await
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.end(&params.uri)
    }
}

/// How many events wait for the node that reads them.
const WAITING: usize = 8;

/// Does what another node asks for its client; the events end with how it ended. None where there is no such tool.
pub(crate) fn serve(
    context: &Context,
    caller: Caller,
    tool: &str,
    request: CallTool,
    place: Option<LinkPlace>,
) -> Option<impl Stream<Item = ToolEvent> + use<>> {
    let mut entries = Toolset::ALL.into_iter().flat_map(Toolset::entries);
    let entry = entries.find(|entry| entry.tool.name == tool)?;
    let CallTool { arguments, agreed, can_ask, is_heard } = request;
    let (events, heard) = mpsc::channel(WAITING);
    let progress =
        if is_heard { ToolProgress::Node(events.clone()) } else { ToolProgress::Nowhere };
    let confirm = Confirm::Node { can_ask, agreed };
    let context_of_call = context.clone();
    let call = Call { context: context_of_call, caller, confirm, progress, place, origin: None };
    let work = entry.call(arguments, call);
    // What was begun is finished, also when the node that asked leaves.
    context.tasks.spawn(async move {
        let end = match work.await {
            Ok(ToolAnswer { text, data }) => ToolEnd::Done { text, data },
            Err(Failure::AskThere { about, what, command }) => {
                ToolEnd::Ask { about, what, command }
            }
            Err(failure) => {
                let (code, detail, next) = failure.into_texts();
                ToolEnd::Failed { code, detail, next }
            }
        };
        // Who has left hears nothing.
        let _ = events.send(ToolEvent::Ended(end)).await;
    });
    Some(stream::unfold(heard, async |mut heard| Some((heard.recv().await?, heard))))
}

/// What names a session of an older protocol.
const SESSION: &str = "mcp-session-id";
/// What stands between the node that began one and its id there.
const OF_NODE: char = '.';
/// How many of those sessions there are at most; rmcp ends one that rests for five minutes.
const MOST: usize = 1000;
/// And of one key, so that no key shuts out the others.
const MOST_OF_A_KEY: usize = 100;

/// How often it is looked whether the key of a stream of events was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// Passes requests to the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connections {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    context: Context,
    /// The key behind each session.
    keys: Arc<Mutex<HashMap<String, String>>>,
}

impl Connections {
    /// Those of a node; messages are at most `body_bytes` long.
    pub(crate) fn new(context: &Context, body_bytes: usize) -> Self {
        let sessions = Arc::new(LocalSessionManager::default());
        // Our own guard has looked at Host and Origin, and knows by which names this node is called.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(body_bytes)
            .with_cancellation_token(context.ending.clone());
        let context = context.clone();
        let of_each = context.clone();
        let server = move || Ok(Server::new(of_each.clone()));
        let service = StreamableHttpService::new(server, Arc::clone(&sessions), config);
        Self { service, sessions, context, keys: Arc::default() }
    }

    /// Answers a request of `caller`.
    pub(crate) async fn answer(
        &self,
        caller: Caller,
        mut request: Request,
    ) -> Result<Response<Body>, NodeError> {
        let mut response = if let Some(shown) = text(request.headers(), SESSION) {
            let id = self.own(shown).ok_or(NodeError::NoMcpSession)?;
            // A session answers the key that began it.
            let is_theirs = self.keys().get(id).is_some_and(|owner| *owner == caller.key);
            let id = HeaderValue::from_str(id).ok().filter(|_| is_theirs);
            request.headers_mut().insert(SESSION, id.ok_or(NodeError::NoMcpSession)?);
            self.pass(caller, request).await
        } else {
            // It may begin a session, which is counted also when the client leaves in the middle.
            let connections = self.clone();
            finished(tokio::spawn(async move { connections.open(caller, request).await }).await)??
        };
        if let Some(id) = text(response.headers(), SESSION)
            && let Ok(shown) = HeaderValue::from_str(&self.shown(id))
        {
            response.headers_mut().insert(SESSION, shown);
        }
        Ok(response)
    }

    /// A session of the protocol as clients name it: in a cluster with the node that began it.
    fn shown(&self, id: &str) -> String {
        match &self.context.cluster {
            Some(cluster) => format!("{}{OF_NODE}{id}", cluster.node()),
            None => id.to_owned(),
        }
    }

    /// The same back again; none for one of another node.
    fn own<'a>(&self, shown: &'a str) -> Option<&'a str> {
        match &self.context.cluster {
            Some(cluster) => shown.strip_prefix(&cluster.node().to_string())?.strip_prefix(OF_NODE),
            None => Some(shown),
        }
    }

    /// Answers a request that names no session. Only rmcp knows which ones begin one.
    async fn open(&self, caller: Caller, request: Request) -> Result<Response<Body>, NodeError> {
        let key = caller.key.clone();
        let response = self.pass(caller, request).await;
        let Some(id) = text(response.headers(), SESSION).map(SessionId::from) else {
            return Ok(response);
        };
        let Err(limit) = self.count(&id, key).await else { return Ok(response) };
        if let Err(error) = self.sessions.close_session(&id).await {
            tracing::warn!(%error, "a session of the protocol was one too many and did not close");
        }
        Err(NodeError::TooManyMcpSessions { limit })
    }

    async fn pass(&self, caller: Caller, mut request: Request) -> Response<Body> {
        let id = text(request.headers(), SESSION).map(SessionId::from);
        request.extensions_mut().insert(caller.clone());
        let ends = request.method() == Method::DELETE;
        let mut response = self.service.handle(request).await.map(Body::new);
        // rmcp says that it will be done; clients warn of anything but that it is.
        if ends && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if text(response.headers(), CONTENT_TYPE.as_str()) == Some("text/event-stream") {
            let gone = self.clone().shut_out(caller, id);
            return response.map(|events| {
                Body::from_stream(events.into_data_stream().take_until(Box::pin(gone)))
            });
        }
        response
    }

    /// Ends once the caller's key is good no longer; then its session of the protocol ends as well. A
    /// database that does not answer changes nothing.
    async fn shut_out(self, caller: Caller, id: Option<SessionId>) {
        let mut revoked = self.context.revoked.subscribe();
        loop {
            let _ = timeout(LOOK_PAUSE, revoked.changed()).await;
            if self.context.is_shut_out(&caller).await.unwrap_or(false) {
                break;
            }
        }
        if let Some(id) = id
            && let Err(error) = self.sessions.close_session(&id).await
        {
            tracing::debug!(%error, "a session of the protocol whose key was revoked did not close");
        }
    }

    /// Counts a session that has begun, unless there are too many: then the limit is returned.
    async fn count(&self, id: &SessionId, key: String) -> Result<(), usize> {
        let sessions = self.sessions.sessions.read().await;
        let mut keys = self.keys();
        keys.retain(|id, _| sessions.contains_key(id.as_str()));
        let theirs = keys.values().filter(|owner| **owner == key).count();
        for (found, limit) in [(theirs, MOST_OF_A_KEY), (keys.len(), MOST)] {
            if found >= limit {
                return Err(limit);
            }
        }
        keys.insert(id.to_string(), key);
        Ok(())
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The node of a cluster that began the session of the protocol which a request names.
pub(crate) fn begun_at(headers: &HeaderMap) -> Option<NodeId> {
    text(headers, SESSION)?.split_once(OF_NODE)?.0.parse().ok()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
