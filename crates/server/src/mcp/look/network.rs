//! `browser_debug_get_network`

use super::{number, token};
use crate::looking;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::debug::{EpochMs, NetworkFilters};
use baton_debug::relay::Sight;
use baton_debug::words;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Gets a tab's requests, newest first, a line each. With id: one with headers and bodies. Secrets are hidden.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowserDebugGetNetwork {
    /// Of browser_debug_list_tabs
    token: String,
    /// Regex on the URL
    url_pattern: Option<String>,
    /// Such as GET, POST
    #[serde(default)]
    method: Vec<String>,
    /// Inclusive
    status_min: Option<u16>,
    /// Inclusive
    status_max: Option<u16>,
    /// Only after this time (ms since 1970)
    #[schemars(with = "Option<u64>")]
    since: Option<EpochMs>,
    /// At most so many, the newest
    limit: Option<u32>,
    /// Number of one request
    #[serde(default, deserialize_with = "number::optional")]
    #[schemars(with = "Option<String>")]
    id: Option<String>,
    /// Only new or changed since this cursor
    after: Option<u64>,
    /// Only older than this number
    before: Option<u64>,
}

impl Verb for BrowserDebugGetNetwork {
    const NAME: &'static str = "browser_debug_get_network";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Debug).await?;
        let token = token::parse(&self.token)?;
        let filters = NetworkFilters {
            url_pattern: self.url_pattern,
            method: self.method,
            status_min: self.status_min,
            status_max: self.status_max,
            since: self.since,
            limit: self.limit,
            after: self.after,
            before: self.before,
            id: self.id,
            bodies: false,
        };
        let (context, caller) = (&call.context, &call.caller);
        let found =
            looking::network(context, caller, &token, Sight::Hidden, &filters, Duration::ZERO)
                .await?;
        let told = match found.items.last() {
            Some(newest) if filters.id.is_some() => words::request(newest, words::FULL_BUDGET),
            _ => words::network(&found, words::LIST_BUDGET),
        };
        let data = json!({
            "count": found.items.len(), "cursor": found.cursor, "older": found.older,
        });
        Ok(Answer::new(&[told], data))
    }
}
