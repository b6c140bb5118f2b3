//! `session_diff`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{CompareSnapshots, Scope};
use baton_runtime::sessions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many changes are told one by one.
const TOLD: usize = 50;

/// Tells which cookies, storage, databases and tabs changed between two snapshots; never values.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionDiff {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// The snapshot before
    from: String,
    /// The snapshot after
    to: String,
}

impl Verb for SessionDiff {
    const NAME: &'static str = "session_diff";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Read).await?;
        let session = call.session(self.session_id).await?;
        let query = CompareSnapshots { a: self.from, b: self.to };
        let found = sessions::diff(&call.context, &call.caller.owner, &session, query).await?;
        let diff = found.diff;
        let told =
            format!("{} added, {} removed, {} changed.", diff.added, diff.removed, diff.changed);
        let mut told = vec![told];
        let mut items = Vec::new();
        for item in diff.items.iter().take(TOLD) {
            let place = text::cut(&item.place, 200);
            let entry = item.entry.as_deref().map(|entry| text::cut(entry, 100));
            let shown = entry.as_deref().unwrap_or_default();
            told.push(format!("{} {} {place} {shown}", item.change, item.kind));
            items.push(json!({
                "change": item.change, "kind": item.kind, "where": place, "entry": entry,
            }));
        }
        if diff.items.len() > TOLD {
            told.push(format!("and {} more", diff.items.len() - TOLD));
        }
        for part in &found.unreadable {
            told.push(format!("not readable: {part}"));
        }
        let data = json!({
            "added": diff.added, "removed": diff.removed, "changed": diff.changed, "items": items,
            "unreadable": found.unreadable,
        });
        Ok(Answer::new(&told, data))
    }
}
