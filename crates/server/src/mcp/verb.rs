//! What a tool is: its arguments, what a model reads of it, and what it does.

use super::answer::{Answer, Failure};
use super::arguments;
use super::confirm::Confirm;
use super::progress::Progress;
use crate::context::Context;
use crate::error::NodeError;
use baton_api::Scope;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A tool: the implementing type holds its arguments. Its doc comment is what a model reads.
pub(super) trait Verb: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it may do to what there is.
    const EFFECT: Effect;

    /// Does it.
    fn call(self, call: Call) -> impl Future<Output = Result<Answer, Failure>> + Send;
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
    run: fn(JsonObject, Call) -> BoxFuture<'static, Result<Answer, Failure>>,
}

impl Entry {
    /// The entry of a verb.
    pub(super) fn of<V: Verb>() -> Self {
        let (description, schema) = arguments::schema::<V>();
        let tool = Tool::new(V::NAME, description, schema).annotate(V::EFFECT.annotations());
        Self { tool, run: run::<V> }
    }

    /// Calls it.
    pub(super) fn call(
        &self,
        arguments: JsonObject,
        call: Call,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        (self.run)(arguments, call)
    }
}

fn run<V: Verb>(given: JsonObject, call: Call) -> BoxFuture<'static, Result<Answer, Failure>> {
    Box::pin(async move { arguments::read::<V>(given)?.call(call).await })
}
