//! What a tool is: its arguments, what a model reads of it, which session it means, and what it does.

use super::answer::{Failure, ToolAnswer};
use super::dialogue::{Confirm, Progress};
use crate::context::Context;
use crate::error::NodeError;
use baton_api::{ListSessions, Scope};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, sessions};
use baton_session::Lifecycle;
use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A tool: the implementing type holds its arguments. Its doc comment is what a model reads.
pub(super) trait Verb: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it may do to what there is.
    const EFFECT: Effect;

    /// Does it.
    fn call(self, call: Call) -> impl Future<Output = Result<ToolAnswer, Failure>> + Send;
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
pub(super) struct Call {
    /// The operations' surroundings.
    pub(super) context: Context,
    /// Who asks.
    pub(super) caller: Caller,
    /// How a person is asked.
    pub(super) confirm: Confirm,
    /// How the client hears that work goes on.
    pub(super) progress: Progress,
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
}

impl Entry {
    /// The entry of a verb.
    pub(super) fn of<V: Verb>() -> Self {
        let (description, schema) = schema::<V>();
        let tool = Tool::new(V::NAME, description, schema).annotate(V::EFFECT.annotations());
        Self { tool, run: run::<V> }
    }

    /// Calls it.
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
    // Every schema of arguments is an object, also one without any.
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
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
