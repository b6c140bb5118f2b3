//! What changes at a node, for whoever follows it.

use super::error::ClientError;
use super::events::Events;
use super::{ANSWER_LIMIT, Client, STREAM_LIMIT};
use crate::sync::SyncStanding;
use reqwest::{Method, RequestBuilder};

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
