//! Streams of a node: what changes, for whoever follows it, the server-sent events that bring it (WHATWG
//! HTML, section 9.2), and messages of the Model Context Protocol.

use super::{ANSWER_LIMIT, BROWSER_LIMIT, Client, ClientError, STREAM_LIMIT};
use crate::problem::Problem;
use crate::sync::SyncStanding;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// How long a stream may be silent; a node sends a comment every 15 s.
const SILENCE: Duration = Duration::from_mins(1);
/// The longest message, in bytes.
pub(super) const MESSAGE_BYTES: usize = 16 << 20;

/// The events of an answer that is one stream.
#[derive(Debug)]
pub(super) struct Events {
    client: Client,
    response: Response,
    /// What was read and is no whole event yet.
    read: Vec<u8>,
}

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Its kind; `message` when it has no name.
    pub(super) name: String,
    /// What it says.
    pub(super) data: Vec<u8>,
}

impl Events {
    pub(super) fn new(client: Client, response: Response) -> Self {
        Self { client, response, read: Vec::new() }
    }

    /// The next event; none when the stream has ended.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = self.next_event() {
                // One without data only keeps the stream open.
                let Some(event) = parse(&event) else { continue };
                return Ok(Some(event));
            }
            if !self.read_on().await? {
                return Ok(None);
            }
        }
    }

    /// What the next event of this name says, and none when the stream has ended. What the node cannot find
    /// out it tells as a `problem`, which is an error; one can wait on after it.
    pub(super) async fn next_of<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, ClientError> {
        while let Some(event) = self.next().await? {
            match event.name.as_str() {
                found if found == name => return self.understood(&event.data).map(Some),
                "problem" => {
                    let problem: Problem = self.understood(&event.data)?;
                    return Err(ClientError::Problem(Box::new(problem)));
                }
                // A newer node may have more to tell.
                _ => {}
            }
        }
        Ok(None)
    }

    /// The rest of the answer, when it is one message and no stream.
    pub(super) async fn whole(&mut self) -> Result<Vec<u8>, ClientError> {
        while self.read_on().await? {}
        Ok(std::mem::take(&mut self.read))
    }

    /// Reads a message.
    pub(super) fn understood<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, ClientError> {
        let url = self.client.base.clone();
        serde_json::from_slice(bytes).map_err(|source| ClientError::NotUnderstood { url, source })
    }

    /// Whether there was more.
    async fn read_on(&mut self) -> Result<bool, ClientError> {
        let chunk = tokio::time::timeout(SILENCE, self.response.chunk()).await;
        let url = || self.client.base.clone();
        let chunk = chunk.map_err(|_| ClientError::TimedOut { url: url() })?;
        let Some(bytes) = chunk.map_err(|source| self.client.unreachable(source))? else {
            return Ok(false);
        };
        if self.read.len() + bytes.len() > MESSAGE_BYTES {
            return Err(ClientError::TooLarge { url: url(), limit: MESSAGE_BYTES });
        }
        self.read.extend_from_slice(&bytes);
        Ok(true)
    }

    /// Takes a whole event out of what was read; our lines end in LF.
    fn next_event(&mut self) -> Option<Vec<u8>> {
        let end = self.read.windows(2).position(|pair| pair == b"\n\n")?;
        let rest = self.read.split_off(end + 2);
        Some(std::mem::replace(&mut self.read, rest))
    }
}

fn parse(event: &[u8]) -> Option<Event> {
    let field = |name: &'static [u8]| {
        let lines = event.split(|byte| *byte == b'\n');
        lines.filter_map(move |line| line.strip_prefix(name)).map(<[u8]>::trim_ascii)
    };
    let data = field(b"data:").collect::<Vec<_>>().join(&b'\n');
    let name = field(b"event:").next_back().unwrap_or(b"message");
    (!data.is_empty()).then(|| Event { name: String::from_utf8_lossy(name).into_owned(), data })
}

/// What changed at a node. What it is, the lists tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeChange {
    /// The list of sessions, or how one of them stands.
    Sessions,
    /// The tabs that can be looked into.
    Tabs,
    /// The sandboxes.
    Sandboxes,
}

impl Client {
    /// Follows what changes: the sessions, the tabs that can be looked into, and the sandboxes.
    pub async fn follow_changes(&self) -> Result<ChangeEvents, ClientError> {
        Ok(ChangeEvents(self.follow(self.request(Method::GET, &["events"])?).await?))
    }

    /// Follows how sync stands: as it is now, and again whenever it changes. Peers are asked for what they
    /// have when `peers` says so.
    pub async fn follow_sync(&self, peers: bool) -> Result<SyncEvents, ClientError> {
        let call = self.request(Method::GET, &["sync", "events"])?.query(&[("peers", peers)]);
        Ok(SyncEvents(self.follow(call).await?))
    }

    /// Opens a stream of events.
    pub(super) async fn follow(&self, call: RequestBuilder) -> Result<Events, ClientError> {
        let call = call.timeout(STREAM_LIMIT);
        let begun = tokio::time::timeout(ANSWER_LIMIT, call.send()).await;
        let begun = begun.map_err(|_| ClientError::TimedOut { url: self.base.clone() })?;
        let response = begun.map_err(|source| self.unreachable(source))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        Ok(Events::new(self.clone(), response))
    }
}

/// A node that is followed, until this is dropped.
#[derive(Debug)]
pub struct ChangeEvents(Events);

impl ChangeEvents {
    /// The next change; none when the node ends.
    pub async fn next(&mut self) -> Result<Option<NodeChange>, ClientError> {
        while let Some(event) = self.0.next().await? {
            match event.name.as_str() {
                "sessions" => return Ok(Some(NodeChange::Sessions)),
                "tabs" => return Ok(Some(NodeChange::Tabs)),
                "sandboxes" => return Ok(Some(NodeChange::Sandboxes)),
                // A newer node may have more to tell.
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Sync that is followed, until this is dropped.
#[derive(Debug)]
pub struct SyncEvents(Events);

impl SyncEvents {
    /// How it stands after the next change; none when the node ends. When that cannot be found out, it is an
    /// error, after which one can wait on.
    pub async fn next(&mut self) -> Result<Option<SyncStanding>, ClientError> {
        self.0.next_of("sync").await
    }
}

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

#[cfg(test)]
mod tests {
    use super::{Event, parse};

    #[test]
    fn an_event_has_a_name_and_data_on_any_number_of_lines() {
        let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.into() };
        let read = parse(b"event: board\ndata: {\ndata: }\n\n");
        assert_eq!(read, Some(event("board", "{\n}")));
        assert_eq!(parse(b"data:1\n\n"), Some(event("message", "1")));
        assert_eq!(parse(b": still here\n\n"), None);
    }
}
