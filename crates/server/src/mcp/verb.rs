//! What a tool is: its arguments, what a model reads of it, which session it means, what it does, and what
//! it says to its client while it works.
//!
//! A person is asked before something that cannot be taken back, or that lets a login leave. Older protocols send
//! the client a request of ours in the middle of the call; 2026-07-28 answers the call with what is to be asked,
//! and the client calls again with the person's answer.

use super::answer::{Failure, ToolAnswer};
use crate::cluster::Origin;
use crate::context::Context;
use crate::error::NodeError;
use crate::page::LinkPlace;
use baton_api::{ListSessions, Scope, ToolEvent};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, sessions};
use baton_session::Lifecycle;
use baton_session::printable::Printable;
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputResponses, JsonObject, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// A tool: the implementing type holds its arguments. Its doc comment is what a model reads.
pub(super) trait Verb: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it may do to what there is.
    const EFFECT: Effect;

    /// Which node of a cluster does it.
    fn place(&self) -> ToolPlace {
        ToolPlace::Here
    }

    /// Does it.
    fn call(self, call: Call) -> impl Future<Output = Result<ToolAnswer, Failure>> + Send;
}

/// Which node of a cluster does what a tool is called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolPlace {
    /// The one that was asked: the database says it, or it is that node's own.
    Here,
    /// The session's: by default that of the caller's only active one.
    Session(Option<String>),
    /// The session's, which has its profile, while it is there and has room; else one with room.
    SessionOrRoom(String),
    /// One with room for a browser more.
    Room,
    /// The one that made the sandbox.
    Sandbox(String),
    /// The one that has what the tab did which this token names.
    Tab(String),
    /// The session's that is handed in; else one with room.
    NewSandbox(Option<String>),
}

/// What a tool may do to what there is; clients ask their users accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only looks.
    Reads,
    /// It adds or moves on, and takes nothing away.
    Changes,
    /// What it takes away does not come back.
    Destroys,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Reads => hints.read_only(true),
            Self::Changes => hints.destructive(false),
            Self::Destroys => hints.destructive(true),
        }
    }
}

/// What a call is given besides its arguments.
#[derive(Clone)]
pub(super) struct Call {
    /// The operations' surroundings.
    pub(super) context: Context,
    /// Who asks.
    pub(super) caller: Caller,
    /// How a person is asked.
    pub(super) confirm: Confirm,
    /// How the client hears that work goes on.
    pub(super) progress: ToolProgress,
    /// Where links to the node's page lead.
    pub(super) place: Option<LinkPlace>,
    /// Where the client asked; none where another node asks for it, which is asked no more.
    pub(super) origin: Option<Origin>,
}

impl Call {
    /// Checks that the caller's key allows `needed`; that it does not is noted.
    pub(super) async fn require(&self, needed: Scope) -> Result<(), Failure> {
        Ok(require(&self.context, &self.caller, needed).await?)
    }
}

/// How many active sessions are named when it is not clear which one is meant.
const NAMED: u32 = 10;

impl Call {
    /// What finds the session: what was named, or the name of the caller's only active session.
    pub(super) async fn session(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(named) = named {
            return Ok(named);
        }
        let query = ListSessions {
            state: Some(Lifecycle::Active),
            limit: Some(NAMED),
            ..ListSessions::default()
        };
        let found = sessions::list(&self.context, &self.caller.owner, query).await?;
        let active: Vec<&str> = found.items.iter().map(|session| session.name.as_str()).collect();
        match active.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => Err(Failure::Which { found: "no active session".to_owned() }),
            several => {
                let more = if found.next.is_some() { " and more" } else { "" };
                Err(Failure::Which { found: format!("{}{more}", several.join(", ")) })
            }
        }
    }
}

/// Checks that the key of `caller` allows `needed`; that it does not is noted.
pub(super) async fn require(
    context: &Context,
    caller: &Caller,
    needed: Scope,
) -> Result<(), NodeError> {
    let Err(refused) = caller.require(needed) else { return Ok(()) };
    let note = Note::new(&caller.actor, &caller.owner, Action::Request, "MCP");
    Err(note.failed(&context.store, refused).await.into())
}

/// A tool in the table of its set.
pub(super) struct Entry {
    /// What a model reads of it.
    pub(super) tool: Tool,
    run: fn(JsonObject, Call) -> BoxFuture<'static, Result<ToolAnswer, Failure>>,
    place: fn(JsonObject) -> Result<ToolPlace, Failure>,
}

impl Entry {
    /// The entry of a verb.
    pub(super) fn of<V: Verb>() -> Self {
        let (description, schema) = schema::<V>();
        let tool = Tool::new(V::NAME, description, schema).annotate(V::EFFECT.annotations());
        Self { tool, run: run::<V>, place: place::<V> }
    }

    /// Which node of a cluster does it with these arguments.
    pub(super) fn place(&self, arguments: JsonObject) -> Result<ToolPlace, Failure> {
        (self.place)(arguments)
    }

    /// Calls it at this node.
    pub(super) fn call(
        &self,
        arguments: JsonObject,
        call: Call,
    ) -> BoxFuture<'static, Result<ToolAnswer, Failure>> {
        (self.run)(arguments, call)
    }
}

fn run<V: Verb>(given: JsonObject, call: Call) -> BoxFuture<'static, Result<ToolAnswer, Failure>> {
    Box::pin(async move { read_arguments::<V>(given)?.call(call).await })
}

fn place<V: Verb>(given: JsonObject) -> Result<ToolPlace, Failure> {
    Ok(read_arguments::<V>(given)?.place())
}

/// What is in a schema and tells a model nothing.
const IDLE: [&str; 4] = ["$schema", "title", "format", "default"];

/// The description of a tool and the schema of its arguments, as short as they can be said.
fn schema<T: JsonSchema>() -> (String, JsonObject) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
    let description = match object.remove("description") {
        Some(Value::String(text)) => one_line(&text),
        _ => String::new(),
    };
    object.iter_mut().for_each(|(_, value)| shorten(value));
    object.retain(|key, _| !IDLE.contains(&key.as_str()));
    // Every schema of arguments is an object, also one without any: only there does a model have to be told that it
    // may say nothing. Whoever says something else is told the names that there are.
    match object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new())) {
        Value::Object(properties) if properties.is_empty() => {}
        _ => drop(object.remove("additionalProperties")),
    }
    (description, object)
}

/// An argument that may be left out is left out, and not null.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // The names of properties are no keywords.
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.values_mut().for_each(shorten);
            }
            for (key, value) in object.iter_mut().filter(|(key, _)| *key != "properties") {
                match (key.as_str(), value) {
                    ("type", Value::Array(types)) => types.retain(|kind| kind != "null"),
                    ("enum", Value::Array(values)) => values.retain(|value| !value.is_null()),
                    ("description", Value::String(text)) => *text = one_line(text),
                    (_, value) => shorten(value),
                }
            }
            if let Some(Value::Array(types)) = object.get("type")
                && let [only] = types.as_slice()
            {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
            if object.get("type").is_some_and(Value::is_string) || object.contains_key("items") {
                object.retain(|key, _| !IDLE.contains(&key.as_str()) && key != "minimum");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads what was sent; a refusal says where it is wrong, never what else was sent.
fn read_arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Failure::Arguments(error.to_string()))
}

/// The name of our question among those of an answer.
const QUESTION: &str = "confirm";
/// How long a person may think.
const LIMIT: Duration = Duration::from_secs(90);

/// How a person is asked.
#[derive(Clone)]
pub(super) enum Confirm {
    /// Not at all: the person who set this client up agreed beforehand.
    Agreed,
    /// No person can be asked.
    Nobody,
    /// By a request to the client, in the middle of the call.
    Request(Peer<RoleServer>),
    /// By an answer that makes the client ask and call again.
    Round(Option<ElicitedAnswer>),
    /// By the node that asks for its client.
    Node {
        /// Whether its client can ask anybody.
        can_ask: bool,
        /// What a person agreed to.
        agreed: Option<String>,
    },
}

/// What a person answered, as the client says when it calls again.
#[derive(Clone)]
pub(super) struct ElicitedAnswer {
    /// What they were asked about.
    about: Option<String>,
    answers: InputResponses,
}

impl Confirm {
    /// How a person is asked in this call.
    pub(super) fn of(
        is_unattended: bool,
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Self {
        if is_unattended {
            return Self::Agreed;
        }
        let capabilities = context.client_capabilities().unwrap_or_default();
        // A client that names no mode means forms.
        let asks =
            capabilities.elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none());
        let rounds = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        match (asks, rounds) {
            (false, _) => Self::Nobody,
            (true, true) => Self::Round(params.input_responses.take().map(|answers| {
                let about = params.request_state.take();
                ElicitedAnswer { about, answers }
            })),
            (true, false) => Self::Request(context.peer.clone()),
        }
    }

    /// Whether a person can be asked: who agreed beforehand has seen nothing of what is asked now.
    pub(super) fn can_ask(&self) -> bool {
        matches!(self, Self::Request(_) | Self::Round(_) | Self::Node { can_ask: true, .. })
    }

    /// Returns when a person agrees to `what`, a sentence about `subject`, such as the id of a session;
    /// `command` does the same at a terminal.
    pub(super) async fn ask(
        self,
        subject: impl Display,
        what: String,
        command: String,
    ) -> Result<(), Failure> {
        let about = subject.to_string();
        let answer = match self {
            Self::Agreed => return Ok(()),
            Self::Nobody => return Err(Failure::NobodyToAsk { what, command }),
            Self::Node { agreed, .. } => {
                let is_agreed = agreed.as_ref() == Some(&about);
                let asks = Failure::AskThere { about, what, command };
                return if is_agreed { Ok(()) } else { Err(asks) };
            }
            Self::Request(peer) => {
                let asked =
                    peer.create_elicitation_with_timeout(question(&what), Some(LIMIT)).await;
                match asked {
                    Ok(answer) => answer,
                    Err(error) => {
                        tracing::info!(%error, "nobody answered whether to go on");
                        return Err(Failure::NobodyToAsk { what, command });
                    }
                }
            }
            Self::Round(heard) => {
                // Who agreed to something about another one has not been asked about this one.
                let heard = heard.filter(|heard| heard.about.as_ref() == Some(&about));
                let Some(mut heard) = heard else {
                    let request = InputRequest::Elicitation(ElicitRequest::new(question(&what)));
                    let requests = BTreeMap::from([(QUESTION.to_owned(), request)]);
                    return Err(Failure::Ask { requests, about });
                };
                let answer = heard.answers.remove(QUESTION).unwrap_or_default();
                serde_json::from_value(answer)
                    .unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
            }
        };
        match answer.action {
            ElicitationAction::Accept => Ok(()),
            _ => Err(Failure::Declined { what }),
        }
    }
}

/// A question without fields: agreeing is the answer.
fn question(what: &str) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: Printable::for_model(what).into(),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

/// How often a client hears of it.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the client hears that long work goes on, so that it does not give up.
#[derive(Clone)]
pub(super) enum ToolProgress {
    /// Nowhere: it did not ask.
    Nowhere,
    /// By notifications that name the call, until the client cancels it or is gone.
    Client(Peer<RoleServer>, ProgressToken, CancellationToken),
    /// By the node that asks for it.
    Node(mpsc::Sender<ToolEvent>),
}

impl ToolProgress {
    /// Whether the client hears anything while a call is under way.
    pub(super) fn is_heard(&self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    /// That of a call.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        match context.meta.get_progress_token() {
            Some(token) => Self::Client(context.peer.clone(), token, context.ct.child_token()),
            None => Self::Nowhere,
        }
    }

    /// Says once that work goes on, which has taken so long. A client that has left hears nothing; the work is
    /// finished all the same.
    pub(super) async fn tell(&self, worked: Duration, text: String) {
        match self {
            Self::Nowhere => {}
            Self::Client(peer, token, gone) => {
                let seconds = worked.as_secs_f64().round();
                let told =
                    ProgressNotificationParam::new(token.clone(), seconds).with_message(text);
                if peer.notify_progress(told).await.is_err() {
                    gone.cancel();
                }
            }
            // A node that reads slowly misses one of many.
            Self::Node(events) => drop(events.try_send(ToolEvent::Doing { text })),
        }
    }

    /// Waits until the client wants the answer no more, or hears nothing; one that asked for no progress never says so.
    pub(super) async fn cancelled(&self) {
        match self {
            Self::Nowhere => std::future::pending().await,
            Self::Client(_, _, gone) => gone.cancelled().await,
            Self::Node(events) => events.closed().await,
        }
    }

    /// Does `work`, and says at its begin and every second that it goes on.
    pub(super) async fn during<T>(&self, doing: &str, work: impl Future<Output = T>) -> T {
        if !self.is_heard() {
            return work.await;
        }
        let begun = Instant::now();
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let worked = begun.elapsed();
                    let seconds = worked.as_secs_f64().round();
                    self.tell(worked, format!("{doing}, {seconds} s")).await;
                }
            }
        }
    }
}
