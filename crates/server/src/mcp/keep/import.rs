//! `session_import`

use crate::error::NodeError;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::exchange::Exchange;
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{FileText, ImportSession, Scope};
use baton_runtime::RuntimeError;
use baton_runtime::sessions;
use baton_session::import;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;

/// Makes a session of a file in Baton's exchange folder: session file, storageState, list of cookies.
/// session_resume starts it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionImport {
    /// Name of a file in that folder
    file: String,
    /// Default: the file's own
    name: Option<String>,
}

impl Verb for SessionImport {
    const NAME: &'static str = "session_import";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let exchange = Exchange::of(call.context.hub.data(), &call.caller.owner);
        let name = self.name.map(|name| name.parse()).transpose();
        let name = name.map_err(|error| Failure::Arguments(format!("name: {error}")))?;
        let doing = format!("importing {}", text::cut(&self.file, 100));
        let importing = async {
            let file = text_of(&exchange.read_bytes(&self.file).await?)?;
            let request = ImportSession { name, description: None, file };
            Ok::<_, Failure>(sessions::import(&call.context, &call.caller, request).await?)
        };
        let view = Box::pin(call.progress.during(&doing, importing)).await?;
        let (mut told, mut data) = text::session(&view.session, clock::now());
        let (left_out, receipt) = text::receipt(&view.left_out);
        data["leftOut"] = receipt;
        told.push("Not taken from the file:".to_owned());
        told.extend(left_out);
        told.push(text::next(view.session.session.state).to_owned());
        Ok(Answer::new(&told, data))
    }
}

fn text_of(bytes: &[u8]) -> Result<FileText, NodeError> {
    let text = import::text(bytes);
    let text = text
        .map_err(|error| NodeError::Runtime(RuntimeError::BadFile { reason: error.to_string() }))?;
    Ok(FileText::of(text.into_owned()))
}
