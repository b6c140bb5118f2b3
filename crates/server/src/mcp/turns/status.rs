//! `federation_status`

use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_runtime::board;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Shows the board that all agents share: who does what, what is to be done, who drives which session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FederationStatus {}

impl Verb for FederationStatus {
    const NAME: &'static str = "federation_status";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Read).await?;
        let view = board::read(&call.context, &call.caller).await?;
        let sessions = board::driven(&call.context, &call.caller).await?.items;
        let empty = "The board is empty; federation_update or federation_add_task begins one.";
        let mut told = match &view {
            Some(view) => text::board(view, clock::now()),
            None => vec![empty.to_owned()],
        };
        told.extend(sessions.iter().map(text::driven));
        Ok(Answer::new(&told, json!({"board": view, "sessions": sessions})))
    }
}
