//! Cookies between the model and the protocol: `Network.Cookie` and `Network.CookieParam`.

use crate::cdp::{CdpError, CdpSession};
use crate::targets::ContextId;
use baton_session::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use baton_session::{Cookie, Unread};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a browser says of its cookies.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// Those that it gives as they are, longer paths first, and then those first that were set first: the
    /// order in which it sends them.
    pub(crate) cookies: Vec<Cookie>,
    /// Those that it does not, and why.
    pub(crate) lost: Vec<Unread>,
}

/// Reads every cookie of a context, the default one if none is named; what cannot be understood is logged
/// and left out.
pub(crate) async fn fetch(
    browser: &CdpSession,
    context: Option<&ContextId>,
) -> Result<Fetched, CdpError> {
    let params = context.map_or_else(|| json!({}), |id| json!({ "browserContextId": id }));
    let answer = browser.call("Storage.getCookies", params).await?;
    let mut fetched = Fetched::default();
    for wire in answer["cookies"].as_array().into_iter().flatten() {
        match decode(wire) {
            Some((cookie, true)) => fetched.cookies.push(cookie),
            Some((cookie, false)) => fetched.lost.push(Unread::lost_cookie(&cookie, INEXACT)),
            None => {}
        }
    }
    Ok(fetched)
}

/// Why a cookie is not kept. It is not known what its server would get: the protocol drops some of it.
const INEXACT: &str = "its name or value has bytes that are not UTF-8, which no browser tells or takes over its protocol";

/// `Network.Cookie`, as far as it says something about the cookie itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has them")]
struct Wire {
    name: String,
    value: String,
    domain: String,
    path: String,
    #[serde(default)]
    expires: f64,
    #[serde(default)]
    session: bool,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    secure: bool,
    same_site: Option<SameSite>,
    #[serde(default)]
    priority: Priority,
    #[serde(default)]
    source_scheme: SourceScheme,
    source_port: Option<i32>,
    partition_key: Option<PartitionKey>,
    #[serde(default)]
    partition_key_opaque: bool,
    size: Option<usize>,
}

/// A cookie, and whether it is exact byte by byte.
fn decode(wire: &Value) -> Option<(Cookie, bool)> {
    let name = wire["name"].as_str().unwrap_or_default();
    let wire = match Wire::deserialize(wire) {
        Ok(wire) => wire,
        Err(error) => {
            tracing::warn!(name, %error, "a cookie of the browser was not understood");
            return None;
        }
    };
    // The browser counts the bytes that it holds, and not those that it gives us.
    let told = wire.name.len() + wire.value.len();
    let is_exact = wire.size.is_none_or(|size| size == told);
    // A cookie of an opaque partition belongs to a document that no later one can be.
    (!wire.partition_key_opaque).then(|| (wire.into(), is_exact))
}

impl From<Wire> for Cookie {
    fn from(wire: Wire) -> Self {
        let expires = if wire.session { None } else { Expiry::from_seconds(wire.expires) };
        Self {
            name: wire.name,
            value: wire.value,
            domain: wire.domain,
            path: wire.path,
            expires,
            http_only: wire.http_only,
            secure: wire.secure,
            same_site: wire.same_site,
            priority: wire.priority,
            source_scheme: wire.source_scheme,
            source_port: wire.source_port.and_then(|port| u16::try_from(port).ok()),
            partition_key: wire.partition_key,
        }
    }
}

/// `Network.CookieParam`. A field that is left out means "unspecified" to the browser.
pub(crate) fn encode(cookie: &Cookie) -> Value {
    let mut wire = Map::new();
    let mut put = |key: &str, value: Value| wire.insert(key.to_owned(), value);
    put("name", json!(cookie.name));
    put("value", json!(cookie.value));
    put("domain", json!(cookie.domain));
    put("path", json!(cookie.path));
    put("secure", json!(cookie.secure));
    put("httpOnly", json!(cookie.http_only));
    put("priority", json!(cookie.priority));
    put("sourceScheme", json!(source_scheme(cookie)));
    if let Some(expires) = cookie.expires {
        put("expires", json!(expires.as_seconds()));
    }
    if let Some(same_site) = cookie.same_site {
        put("sameSite", json!(same_site));
    }
    if let Some(port) = cookie.source_port {
        put("sourcePort", json!(port));
    }
    if let Some(partition) = &cookie.partition_key {
        put("partitionKey", json!(partition));
    }
    Value::Object(wire)
}

/// A `Secure` cookie that a script set on `http://localhost` says `NonSecure`, and Chromium refuses it
/// in this form; `Secure` is what it accepts for every such cookie.
fn source_scheme(cookie: &Cookie) -> SourceScheme {
    let contradicts = cookie.secure && cookie.source_scheme == SourceScheme::NonSecure;
    let secure = contradicts || cookie.partition_key.is_some();
    if secure { SourceScheme::Secure } else { cookie.source_scheme }
}

/// Sets `cookies`, and returns those that the browser refused with its reason. One invalid cookie fails a
/// whole batch, so a failing batch is halved until the culprit is alone.
pub(crate) async fn set<'a>(
    browser: &CdpSession,
    cookies: &'a [Cookie],
) -> Result<Vec<(&'a Cookie, String)>, CdpError> {
    let mut refused = Vec::new();
    let mut batches = vec![cookies];
    while let Some(batch) = batches.pop() {
        if batch.is_empty() {
            continue;
        }
        let params = json!({ "cookies": batch.iter().map(encode).collect::<Vec<_>>() });
        match browser.call_within(SET_LIMIT, "Storage.setCookies", params).await {
            Ok(_) => {}
            Err(CdpError::Protocol { message, .. }) if batch.len() == 1 => {
                refused.push((&batch[0], message));
            }
            Err(CdpError::Protocol { .. }) => {
                let (left, right) = batch.split_at(batch.len() / 2);
                // The last one is taken next: what was set first stays first.
                batches.extend([right, left]);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(refused)
}

/// 2000 cookies take about a quarter of a second.
const SET_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);
