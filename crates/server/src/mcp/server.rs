//! The protocol: what a client of any version is offered, which toolsets there are, and how its calls reach the
//! tools.

use super::dialogue::{Confirm, Progress};
use super::resources::Subscribed;
use super::verb::{Call, Entry};
use super::{carry, keep, look, resources, sandbox, turns};
use crate::context::Context;
use axum::http::request::Parts;
use baton_runtime::Caller;
use baton_session::json;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::str::FromStr;
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
        let progress = Progress::of(&context);
        let call = Call { context: self.context.clone(), caller, confirm, progress };
        let work = entry.call(params.arguments.unwrap_or_default(), call);
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
