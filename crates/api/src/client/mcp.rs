//! Messages of the Model Context Protocol to a node: Streamable HTTP of 2026-07-28, where each
//! request stands for itself.

use super::events::Events;
use super::{BROWSER_LIMIT, Client, ClientError, STREAM_LIMIT};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Serialize;
use serde_json::Value;

/// The version that these messages are of.
const VERSION: &str = "2026-07-28";
/// The request whose answer goes on for as long as the client likes.
const LISTEN: &str = "subscriptions/listen";

/// What is wished of the node's tools.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Wishes {
    /// Toolsets, with commas between them; all when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolsets: Option<String>,
    /// Nobody is asked before a session leaves or is abandoned.
    pub unattended: bool,
}

impl Client {
    /// Sends a request; `method` and `name` are those of the message, and say so to proxies.
    pub async fn send_mcp(
        &self,
        wishes: &Wishes,
        method: &str,
        name: Option<&str>,
        message: &Value,
    ) -> Result<Messages, ClientError> {
        let mut request = self
            .request(Method::POST, &["mcp"])?
            .query(wishes)
            .timeout(if method == LISTEN { STREAM_LIMIT } else { BROWSER_LIMIT })
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", of_a_header(name));
        }
        let begun = tokio::time::timeout(BROWSER_LIMIT, request.json(message).send()).await;
        let begun = begun.map_err(|_| ClientError::TimedOut { url: self.base.clone() })?;
        let response = begun.map_err(|source| self.unreachable(source))?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        // The protocol's own errors are messages, whatever their status.
        let is_message = is_stream || kind.is_some_and(|kind| kind.starts_with("application/json"));
        if !is_message {
            return Err(self.refused(response).await);
        }
        Ok(Messages { events: Events::new(self.clone(), response), is_stream })
    }
}

/// The messages of an answer, the last of which is the answer itself.
#[derive(Debug)]
pub struct Messages {
    events: Events,
    is_stream: bool,
}

impl Messages {
    /// The next message; none when the answer has ended.
    pub async fn next(&mut self) -> Result<Option<Value>, ClientError> {
        let data = if self.is_stream {
            self.events.next().await?.map(|event| event.data)
        } else {
            Some(self.events.whole().await?).filter(|whole| !whole.is_empty())
        };
        data.map(|data| self.events.understood(&data)).transpose()
    }
}

/// The text as the protocol writes it into a header: what is no plain ASCII, in base64.
fn of_a_header(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    if is_plain && !text.starts_with("=?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}
