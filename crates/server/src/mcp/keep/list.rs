//! `list_sessions`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::sync::HolderView;
use baton_api::{Scope, SessionSummary};
use baton_runtime::sessions;
use baton_session::{Lifecycle, SessionId};
use baton_store::clock;
use baton_sync::{Elsewhere, held_elsewhere};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many sessions a page has when nothing else was asked for, and at most.
const PAGE: u32 = 100;
/// How many pages are looked through for sessions that are not closed.
const PAGES: usize = 20;
/// How many sessions that are elsewhere are told.
const TOLD: usize = 20;
/// How much of an id is told: the part that tells when the session was opened, to the millisecond.
const PREFIX: usize = 13;

/// Lists saved browser sessions (logins), newest first. Without state: all but closed ones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSessions {
    state: Option<Filter>,
    /// nextCursor of the page before
    cursor: Option<SessionCursor>,
    /// 1 to 100
    limit: Option<u32>,
}

/// Which sessions are listed.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Filter {
    Active,
    Recoverable,
    Stale,
    Failed,
    Closed,
    All,
}

/// A session's id, as text in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct SessionCursor(#[schemars(with = "String")] SessionId);

impl Filter {
    fn lifecycle(self) -> Option<Lifecycle> {
        Some(match self {
            Self::Active => Lifecycle::Active,
            Self::Recoverable => Lifecycle::Recoverable,
            Self::Stale => Lifecycle::Stale,
            Self::Failed => Lifecycle::Failed,
            Self::Closed => Lifecycle::Closed,
            Self::All => return None,
        })
    }
}

fn holder_name(holder: &HolderView) -> String {
    holder.name.as_ref().map_or_else(|| holder.node_id.to_string(), |name| text::cut(name, 100))
}

impl Verb for ListSessions {
    const NAME: &'static str = "list_sessions";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Read).await?;
        let looks = self.state.is_none() && self.cursor.is_none();
        let (found, next) = self.find(&call).await?;
        let now = clock::now();
        // Whoever looks for what they had is told where it is now.
        let elsewhere =
            if looks { held_elsewhere(&call.context, &call.caller).await? } else { Vec::new() };
        let mut told = vec![match found.len() {
            0 if !elsewhere.is_empty() => "No sessions here.".to_owned(),
            0 if next.is_some() => "Only closed ones so far; there may be others.".to_owned(),
            0 => "No sessions. session_open opens one.".to_owned(),
            _ => "sessionId state changed".to_owned(),
        }];
        let mut rows = Vec::new();
        for session in &found {
            let (id, state) = (reference(session), session.state);
            let age = text::age(session.updated_at, now);
            let (line, row) = match state {
                // Its name is free for others.
                Lifecycle::Closed => {
                    let name = &session.name;
                    (format!("{id} {state} {age} ({name})"), json!([id, state, age, name]))
                }
                _ => (format!("{id} {state} {age}"), json!([id, state, age])),
            };
            told.push(line);
            rows.push(row);
        }
        for Elsewhere { name, holder, .. } in elsewhere.iter().take(TOLD) {
            let (at, age) = (holder_name(holder), text::age(holder.since, now));
            told.push(format!(
                "{name} is held by {at} since {age} ago; session_resume brings it here"
            ));
        }
        if elsewhere.len() > TOLD {
            told.push(format!("and {} more are held by other nodes", elsewhere.len() - TOLD));
        }
        if let Some(next) = next {
            told.push(format!("More: cursor {next}"));
        }
        let columns = ["sessionId", "state", "changed", "name of a closed one"];
        let mut data = json!({"columns": columns, "rows": rows});
        if let Some(next) = next {
            data["nextCursor"] = json!(next);
        }
        Ok(Answer::new(&told, data))
    }
}

impl ListSessions {
    /// A page of those that were asked for. Closed ones are many and seldom meant.
    async fn find(self, call: &Call) -> Result<(Vec<SessionSummary>, Option<SessionId>), Failure> {
        let limit = self.limit.unwrap_or(PAGE).min(PAGE);
        let mut query = baton_api::ListSessions {
            state: self.state.and_then(Filter::lifecycle),
            after: self.cursor.map(|cursor| cursor.0),
            limit: Some(limit),
        };
        let mut found = Vec::new();
        for _ in 0..PAGES {
            let page = sessions::list(&call.context, &call.caller.owner, query).await?;
            let next = page.next;
            let wanted = |session: &SessionSummary| {
                self.state.is_some() || session.state != Lifecycle::Closed
            };
            found.extend(page.items.into_iter().filter(wanted));
            query.after = next;
            if next.is_none() || !found.is_empty() {
                break;
            }
        }
        Ok((found, query.after))
    }
}

/// What finds the session: its name, or the beginning of its id when the name is free again.
fn reference(session: &SessionSummary) -> String {
    match session.state {
        Lifecycle::Closed => session.id.to_string().chars().take(PREFIX).collect(),
        _ => session.name.to_string(),
    }
}
