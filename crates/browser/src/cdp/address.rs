//! From the address that a user typed to a connection: `ws://…` as it is, `http://…` resolved.
//!
//! A `DevTools` endpoint names its WebSocket under `/json/version`. Only the path of that answer is
//! used: host and port stay those of the address, which its giver has checked.

use super::transport::{FRAME_LIMIT, Transport};
use std::time::Duration;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::Url;

/// How long each of the two steps may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The largest answer of `/json/version` that is read, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024;

/// Why an address leads to no browser.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The text is no address that Baton can attach to.
    #[error("expected a CDP address such as http://127.0.0.1:9222 or ws://…, found {found:?}")]
    Invalid {
        /// The text.
        found: String,
    },
    /// Nothing that speaks CDP answers there.
    #[error("unreachable: expected a DevTools endpoint at {address}, found {found}")]
    Unreachable {
        /// The address that was tried.
        address: String,
        /// What was there instead.
        found: String,
    },
}

/// Connects to the `DevTools` endpoint at `address`.
pub async fn connect(address: &str) -> Result<Transport, AddressError> {
    let invalid = || AddressError::Invalid { found: address.to_owned() };
    let url = Url::parse(address).map_err(|_| invalid())?;
    let url = match url.scheme() {
        "ws" => url,
        "http" => resolve(&url).await?,
        _ => return Err(invalid()),
    };
    open(&url).await
}

/// Asks `/json/version` for the path of the browser's WebSocket.
async fn resolve(base: &Url) -> Result<Url, AddressError> {
    let mut version = base.clone();
    version.set_path("/json/version");
    let found = |found: String| unreachable_at(&version, found);
    let body = fetch(&version).await.map_err(found)?;
    let answer: serde_json::Value = serde_json::from_slice(&body).map_err(|error| {
        unreachable_at(&version, format!("an answer that is no JSON ({error})"))
    })?;
    let path = answer["webSocketDebuggerUrl"].as_str().and_then(|text| Url::parse(text).ok());
    let path = path
        .ok_or_else(|| unreachable_at(&version, "no webSocketDebuggerUrl in the answer".into()))?;
    let mut url = version.clone();
    url.set_path(path.path());
    url.set_scheme("ws").map_err(|()| AddressError::Invalid { found: base.to_string() })?;
    Ok(url)
}

async fn fetch(url: &Url) -> Result<Vec<u8>, String> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(LIMIT)
        .build()
        .map_err(|error| chain(&error))?;
    let mut response = client.get(url.clone()).send().await.map_err(|error| chain(&error))?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_LIMIT {
            return Err(format!("an answer of more than {ANSWER_LIMIT} bytes"));
        }
    }
    Ok(body)
}

async fn open(url: &Url) -> Result<Transport, AddressError> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_LIMIT))
        .max_frame_size(Some(FRAME_LIMIT));
    let connecting = tokio_tungstenite::connect_async_with_config(url.as_str(), Some(config), true);
    match tokio::time::timeout(LIMIT, connecting).await {
        Ok(Ok((socket, _))) => Ok(Transport::websocket(socket)),
        Ok(Err(error)) => Err(unreachable_at(url, chain(&error))),
        Err(_) => Err(unreachable_at(url, format!("no answer within {LIMIT:?}"))),
    }
}

fn unreachable_at(url: &Url, found: String) -> AddressError {
    AddressError::Unreachable { address: url.to_string(), found }
}

/// The innermost cause, which names what happened; the outer ones only say that it did.
fn chain(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
