//! Whose address a request comes from.
//!
//! Behind a proxy every connection is the proxy's; it names the caller at the end of the header
//! `X-Forwarded-For`. What stands before that, a caller could have written.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use baton_net::connections::Connection;
use std::net::{IpAddr, SocketAddr};

/// The address of the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The layer: finds out who the caller is.
pub(super) async fn find(
    State(behind_proxy): State<bool>,
    Extension(Connection(address)): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let named = behind_proxy.then(|| forwarded_for(request.headers())).flatten();
    request.extensions_mut().insert(Peer(named.unwrap_or(address.ip())));
    next.run(request).await
}

/// The address that the proxy itself has written, some with a port: the last one.
pub(crate) fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let text = last.rsplit(',').next()?.trim();
    text.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}
