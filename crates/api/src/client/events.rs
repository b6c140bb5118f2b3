//! Streams of a node: what changes, for whoever follows it, and the server-sent events that bring it (WHATWG
//! HTML, "Server-sent events").

use super::{ANSWER_LIMIT, Client, ClientError, STREAM_LIMIT};
use crate::problem::Problem;
use crate::sync::SyncStanding;
use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
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
}

impl Client {
    /// Follows what changes: the sessions, and the tabs that can be looked into.
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
