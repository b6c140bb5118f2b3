//! `session_files`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::exchange::Exchange;
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_runtime::sessions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;

/// Lists the files that a session's browser can upload and those that it downloaded, with the paths that
/// upload tools take. put brings a file there from Baton's exchange folder; remove takes one away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionFiles {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// A file of the exchange folder
    put: Option<String>,
    /// A file of the session
    remove: Option<String>,
}

impl Verb for SessionFiles {
    const NAME: &'static str = "session_files";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let Call { context, caller, .. } = call;
        let mut told = Vec::new();
        if let Some(name) = self.put {
            let exchange = Exchange::of(context.hub.data(), &caller.owner);
            let bytes = exchange.read_bytes(&name).await?;
            let bytes = futures_util::stream::iter([Ok::<_, Infallible>(bytes.into())]);
            let file = sessions::put_file(&context, &caller, &session, &name, bytes).await?;
            told.push(format!("Put {}.", file.path));
        }
        if let Some(name) = self.remove {
            sessions::remove_file(&context, &caller, &session, &name).await?;
            told.push(format!("Removed {name}."));
        }
        let files = sessions::files(&context, &caller, &session).await?;
        if files.items.is_empty() {
            told.push("No files.".to_owned());
        }
        let line = |file: &baton_api::SessionFile| {
            format!("{} {} B {}", text::cut(&file.name, 200), file.bytes, file.path)
        };
        told.extend(files.items.iter().map(line));
        Ok(Answer::new(&told, json!({ "items": files.items })))
    }
}
