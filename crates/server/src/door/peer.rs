//! Whose address a request comes from.
//!
//! Behind a proxy every connection is the proxy's; it names the caller at the end of the header
//! `X-Forwarded-For`. What stands before that, a caller could have written.

use axum::Extension;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use baton_net::connections::Connection;
use baton_net::forwarded::forwarded_for;
use std::net::IpAddr;

/// The address of the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The layer: finds out who the caller is.
pub(crate) async fn find(
    State(behind_proxy): State<bool>,
    Extension(Connection(address)): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let named = behind_proxy.then(|| forwarded_for(request.headers())).flatten();
    request.extensions_mut().insert(Peer(named.unwrap_or(address.ip())));
    next.run(request).await
}
