//! `session_history`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{ListHistory, Scope};
use baton_runtime::sessions;
use baton_session::SnapshotId;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many snapshots a page has.
const PAGE: u32 = 20;

/// Lists a session's snapshots, newest first, and which one a resume takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionHistory {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// nextCursor of the page before
    #[schemars(with = "Option<String>")]
    cursor: Option<SnapshotId>,
}

impl Verb for SessionHistory {
    const NAME: &'static str = "session_history";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Read).await?;
        let session = call.session(self.session_id).await?;
        let query = ListHistory { after: self.cursor, limit: Some(PAGE), verify: false };
        let found = sessions::history(&call.context, &call.caller.owner, &session, query).await?;
        let now = clock::now();
        let mut told = vec![match found.items.len() {
            0 => "No snapshots.".to_owned(),
            1 => format!("1 snapshot of {session}; * is what a resume takes"),
            count => {
                format!("{count} snapshots of {session}, newest first; * is what a resume takes")
            }
        }];
        let mut rows = Vec::new();
        for view in &found.items {
            let is_taken = found.resumes_from == Some(view.id);
            let mark = if is_taken { "*" } else { "" };
            told.push(format!("{}{mark} {}", view.id, text::snapshot(view, now)));
            rows.push(json!({
                "snapshot": view.id, "takenAt": view.taken_at, "reason": view.reason,
                "shrunk": view.shrunk, "resumesFrom": is_taken,
            }));
        }
        for damaged in &found.damaged {
            told.push(format!("{damaged} is damaged and cannot be read"));
        }
        if let Some(next) = found.next {
            told.push(format!("More: cursor {next}"));
        }
        let data = json!({
            "snapshots": rows, "damaged": found.damaged, "nextCursor": found.next,
        });
        Ok(Answer::new(&told, data))
    }
}
