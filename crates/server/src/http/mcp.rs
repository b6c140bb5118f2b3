//! The MCP door over HTTP ("Streamable HTTP"), for the tools in [`mcp`](crate::mcp).
//!
//! Keys, Host and Origin are checked as at every other door. A client of an older protocol has a session of
//! the protocol, which answers no other key.

use super::request::{Here, Query};
use crate::auth::Known;
use crate::cluster::Origin;
use crate::ingress::{OwnBody, Refusal};
use crate::mcp::{Connections, Wishes};
use crate::page::PagePlace;
use axum::Extension;
use axum::extract::Request;
use axum::response::Response;
use baton_api::{ErrorCode, Problem};
use baton_runtime::Caller;

/// What each of the three methods does.
macro_rules! method {
    ($(#[$doc:meta])* $name:ident, $method:ident, $($answer:tt)*) => {
        $(#[$doc])*
        #[utoipa::path(
            $method, path = "/mcp", tag = "mcp", security(("api_key" = [])), params(Wishes),
            responses($($answer)*, (status = "4XX", body = Problem))
        )]
        pub(super) async fn $name(
            Known(caller): Known,
            query: Query<Wishes>,
            connections: Extension<Connections>,
            Extension(place): Extension<PagePlace>,
            here: Here,
            origin: Origin,
            mut request: Request,
        ) -> Result<Response, Refusal> {
            if let Some(place) = place.link(&here.http()) {
                request.extensions_mut().insert(place);
            }
            request.extensions_mut().insert(origin);
            answer(caller, query, connections, request).await
        }
    };
}

method! {
    /// A message of the Model Context Protocol; the answer may be a stream of events.
    post, post, (status = 200, description = "Answers, as JSON or as events")
}
method! {
    /// What the node has to tell a client of an older protocol besides its answers.
    listen, get, (status = 200, description = "Events")
}
method! {
    /// Ends a client's session of an older protocol.
    end, delete, (status = 204)
}

async fn answer(
    caller: Caller,
    Query(wishes): Query<Wishes>,
    Extension(connections): Extension<Connections>,
    mut request: Request,
) -> Result<Response, Refusal> {
    if let Err(error) = wishes.toolsets() {
        return Err(Refusal::new(ErrorCode::InvalidRequest, error.to_string()));
    }
    request.extensions_mut().insert(wishes);
    let mut response = connections.answer(caller, request).await?;
    // The protocol has errors of its own.
    response.extensions_mut().insert(OwnBody);
    Ok(response)
}
