//! `browser_debug_get_console`

use super::{number, token};
use crate::looking;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Invalid;
use baton_api::Scope;
use baton_api::debug::{ConsoleFilters, ConsoleLevel, EpochMs};
use baton_debug::relay::Sight;
use baton_debug::words;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Gets a tab's console, newest first, a line each. With id: one in full, with its stack. Secrets are hidden.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowserDebugGetConsole {
    /// Of browser_debug_list_tabs
    token: String,
    #[serde(default)]
    #[schemars(schema_with = "number::levels")]
    level: Vec<ConsoleLevel>,
    /// Regex on the message
    message_pattern: Option<String>,
    /// Only after this time (ms since 1970)
    #[schemars(with = "Option<u64>")]
    since: Option<EpochMs>,
    /// At most so many, the newest
    limit: Option<u32>,
    /// Number of one line
    #[serde(default, deserialize_with = "number::optional")]
    #[schemars(with = "Option<String>")]
    id: Option<String>,
    /// Only new since this cursor
    after: Option<u64>,
    /// Only older than this number
    before: Option<u64>,
}

impl Verb for BrowserDebugGetConsole {
    const NAME: &'static str = "browser_debug_get_console";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Debug).await?;
        let token = token::parse(&self.token)?;
        let filters = ConsoleFilters {
            level: self.level,
            message_pattern: self.message_pattern,
            since: self.since,
            limit: self.limit,
            after: self.after,
            before: self.before,
            id: self.id.as_deref().map(line).transpose()?,
        };
        let (context, caller) = (&call.context, &call.caller);
        let found =
            looking::console(context, caller, &token, Sight::Hidden, &filters, Duration::ZERO)
                .await?;
        let told = match found.items.last() {
            Some(newest) if filters.id.is_some() => words::entry(newest, words::FULL_BUDGET),
            _ => words::console(&found, words::LIST_BUDGET),
        };
        let data = json!({
            "count": found.items.len(), "cursor": found.cursor, "older": found.older,
        });
        Ok(Answer::new(&[told], data))
    }
}

/// The number of a line.
fn line(id: &str) -> Result<u64, Failure> {
    id.parse().map_err(|_| {
        Failure::from(Invalid {
            field: "id",
            expected: "the number of a line, as browser_debug_get_console shows it",
            found: id.to_owned(),
        })
    })
}
