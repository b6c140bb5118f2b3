//! Whom a proxy in front of a listener names as the caller.

use axum::http::HeaderMap;
use std::net::{IpAddr, SocketAddr};

/// The address that the proxy itself has written, some with a port: the last one.
pub fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let text = last.rsplit(',').next()?.trim();
    text.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}
