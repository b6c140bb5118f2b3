//! `session_export`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::exchange::Exchange;
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{ExportFormat, ExportSession, Scope};
use baton_runtime::sessions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Writes a session to a file in Baton's exchange folder, for another machine or tool. The file is a
/// login: never read or show it. The user is asked first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionExport {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// session (all) or storage-state (Playwright)
    #[serde(default)]
    format: Format,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Format {
    #[default]
    Session,
    StorageState,
}

impl Verb for SessionExport {
    const NAME: &'static str = "session_export";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Reveal).await?;
        let session = call.session(self.session_id).await?;
        let Call { context, caller, confirm, progress } = call;
        let found = context.find(&caller.owner, &session).await?;
        let (id, name) = (found.id, found.name.clone());
        let format = match self.format {
            Format::Session => ExportFormat::Session,
            Format::StorageState => ExportFormat::StorageState,
        };
        let exchange = Exchange::of(context.hub.data(), &caller.owner);
        let named = format!("{name}.{format}.json");
        // Not every name of a session is one of a file.
        let file = if Exchange::takes(&named) { named } else { format!("{id}.{format}.json") };
        let replaces = if exchange.holds(&file).await? {
            format!(" It takes the place of {file}, which is there already.")
        } else {
            String::new()
        };
        let what = format!(
            "Write session {name} to a file? Whoever has the file is logged in wherever {name} is.{replaces}"
        );
        let command = format!("baton export {name} --format {format} -o FILE");
        confirm.ask(id, what, command).await?;
        let query = ExportSession { format, deep: false };
        let exporting = Box::pin(sessions::export(&context, &caller, found, query));
        let view = progress.during(&format!("exporting {name}"), exporting).await?;
        let path = exchange.write(&file, view.file.as_str().to_owned()).await?;
        let (lost, receipt) = text::receipt(&view.receipt);
        let mut told = vec![format!("Wrote {}.", path.display()), "Not in the file:".to_owned()];
        told.extend(lost);
        told.push(format!("session_import with file {file:?} makes a session of it."));
        let data = json!({"file": file, "path": path, "receipt": receipt, "holds": view.holds});
        Ok(Answer::new(&told, data))
    }
}
