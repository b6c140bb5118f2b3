//! The browser of a session at a real node, of which a walk is one client more.

use crate::ask::Marks;
use baton_browser::keeper::{self, Role};
use baton_playground::TestNode;
use baton_session::SessionId;
use serde_json::{Value, json};

/// A cookie that lasts, as the site of a host sets it.
pub(crate) fn cookie(name: &str, host: &str) -> Value {
    json!({ "name": name, "value": "1", "domain": host, "path": "/",
            "secure": true, "httpOnly": true, "expires": 4_000_000_000_u32 })
}

/// Sets a cookie; false when none runs.
pub(crate) async fn mark(node: &TestNode, session: SessionId, name: &str, host: &str) -> bool {
    let params = json!({ "cookies": [cookie(name, host)] });
    call(node, session, "Storage.setCookies", params).await.is_some()
}

/// The names of its cookies; none when none runs.
pub(crate) async fn marks(node: &TestNode, session: SessionId) -> Option<Marks> {
    let answer = call(node, session, "Storage.getCookies", json!({})).await?;
    let cookies = answer["cookies"].as_array()?.iter();
    Some(cookies.filter_map(|cookie| Some(cookie["name"].as_str()?.to_owned())).collect())
}

async fn call(
    node: &TestNode,
    session: SessionId,
    method: &'static str,
    params: Value,
) -> Option<Value> {
    let link = keeper::connect(&node.keeper_socket(session), Role::Client).await.ok()?;
    link.connection.browser().call(method, params).await.ok()
}
