//! Messages of the Model Context Protocol to a node: Streamable HTTP of 2026-07-28, where each
//! request stands for itself.

use super::{Client, ClientError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// The version that these messages are of.
const VERSION: &str = "2026-07-28";
/// How long a stream may be silent; a node sends a comment every 15 s.
const SILENCE: Duration = Duration::from_mins(1);
/// The longest message of an answer, in bytes.
const MESSAGE_BYTES: usize = 16 << 20;

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
            .timeout(super::BROWSER_LIMIT)
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", of_a_header(name));
        }
        let response = request.json(message).send().await;
        let response = response.map_err(|source| self.unreachable(source))?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        // The protocol's own errors are messages, whatever their status.
        let is_message = is_stream || kind.is_some_and(|kind| kind.starts_with("application/json"));
        if !is_message {
            return Err(self.refused(response).await);
        }
        Ok(Messages { client: self.clone(), response, is_stream, read: Vec::new() })
    }
}

/// The messages of an answer, the last of which is the answer itself.
#[derive(Debug)]
pub struct Messages {
    client: Client,
    response: Response,
    is_stream: bool,
    /// What was read and is no whole message yet.
    read: Vec<u8>,
}

impl Messages {
    /// The next message; none when the answer has ended.
    pub async fn next(&mut self) -> Result<Option<Value>, ClientError> {
        loop {
            if let Some(event) = self.event() {
                let Some(data) = data(&event) else { continue };
                return self.understood(&data).map(Some);
            }
            let chunk = tokio::time::timeout(SILENCE, self.response.chunk()).await;
            let url = || self.client.base.clone();
            let chunk = chunk.map_err(|_| ClientError::TimedOut { url: url() })?;
            match chunk.map_err(|source| self.client.unreachable(source))? {
                Some(bytes) if self.read.len() + bytes.len() <= MESSAGE_BYTES => {
                    self.read.extend_from_slice(&bytes);
                }
                Some(_) => return Err(ClientError::TooLarge { url: url(), limit: MESSAGE_BYTES }),
                None if self.is_stream || self.read.is_empty() => return Ok(None),
                None => {
                    let whole = std::mem::take(&mut self.read);
                    return self.understood(&whole).map(Some);
                }
            }
        }
    }

    /// Takes a whole event out of what was read (WHATWG HTML, server-sent events); our lines end in LF.
    fn event(&mut self) -> Option<Vec<u8>> {
        if !self.is_stream {
            return None;
        }
        let end = self.read.windows(2).position(|pair| pair == b"\n\n")?;
        let rest = self.read.split_off(end + 2);
        Some(std::mem::replace(&mut self.read, rest))
    }

    fn understood(&self, bytes: &[u8]) -> Result<Value, ClientError> {
        let url = self.client.base.clone();
        serde_json::from_slice(bytes).map_err(|source| ClientError::NotUnderstood { url, source })
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

/// The data of an event; none of one that only keeps the stream open.
fn data(event: &[u8]) -> Option<Vec<u8>> {
    let lines = event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    let data = lines.map(<[u8]>::trim_ascii).collect::<Vec<_>>().join(&b'\n');
    (!data.is_empty()).then_some(data)
}
