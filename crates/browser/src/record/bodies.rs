//! Bodies of answers: asked for at once, since the browser forgets them at the next navigation.

use super::format::cut;
use crate::cdp::CdpSession;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::time::Duration;

/// How long the browser may take to give a body.
const LIMIT: Duration = Duration::from_secs(5);

/// The text of a body and whether it was cut; none when it is no text, or the browser has it no more.
pub(super) async fn fetch(session: &CdpSession, id: &str, most: usize) -> Option<(String, bool)> {
    let params = json!({ "requestId": id });
    let mut answer = session.call_within(LIMIT, "Network.getResponseBody", params).await.ok()?;
    let serde_json::Value::String(body) = answer["body"].take() else { return None };
    if answer["base64Encoded"] != true {
        return Some(cut(body, most));
    }
    let text = String::from_utf8(STANDARD.decode(body).ok()?).ok()?;
    Some(cut(text, most))
}
