//! The handshake of a `WebSocket`.

use crate::door::Refusal;
use axum::body::Body;
use axum::http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use baton_api::ErrorCode;
use baton_browser::keeper;
use hyper::upgrade::OnUpgrade;

/// The promise of a WebSocket, and the answer that keeps it (RFC 6455, section 4.2).
pub(super) fn shake_hands(parts: &mut Parts) -> Result<(OnUpgrade, Response<Body>), Refusal> {
    let expected = |what: &str| {
        let detail = format!("expected a WebSocket handshake, found none: {what}");
        let hint = "what connects here speaks WebSocket";
        Refusal::new(ErrorCode::InvalidRequest, detail).hint(hint)
    };
    let headers = &parts.headers;
    if !names(headers, &CONNECTION, "upgrade") || !names(headers, &UPGRADE, "websocket") {
        return Err(expected("no Upgrade: websocket"));
    }
    if !names(headers, &SEC_WEBSOCKET_VERSION, "13") {
        return Err(expected("no Sec-WebSocket-Version: 13"));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| expected("no Sec-WebSocket-Key"))?;
    let accept = HeaderValue::try_from(keeper::accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| expected("a Sec-WebSocket-Key that is no text"))?;
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or_else(|| expected("a connection that cannot be upgraded"))?;
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok((upgrade, answer))
}

/// Whether a header lists a word.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}
