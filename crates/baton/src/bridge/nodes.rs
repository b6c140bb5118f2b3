//! The node of the data folder, found or started when it is needed, and again when it has gone.

use crate::context::Context;
use crate::local::{self, is_current};
use baton_api::{Client as NodeClient, ClientError, ErrorCode};
use tokio::sync::Mutex;

/// Finds the node.
pub(super) struct Nodes {
    context: Context,
    found: Mutex<Option<NodeClient>>,
}

impl Nodes {
    pub(super) fn new(context: Context) -> Self {
        Self { context, found: Mutex::default() }
    }

    /// A client of the node that holds the data folder now.
    pub(super) async fn client(&self) -> anyhow::Result<NodeClient> {
        let mut found = self.found.lock().await;
        if let Some(node) = found.as_ref().filter(|node| is_current(&self.context.data, node)) {
            return Ok(node.clone());
        }
        let node = self.context.client().await?;
        *found = Some(node.clone());
        Ok(node)
    }

    /// Whether a node runs. None is started.
    pub(super) async fn is_there(&self) -> bool {
        local::find(&self.context.data).await.is_ok_and(|found| found.is_some())
    }

    /// The node is not where it was: the next one to ask finds or starts it again.
    pub(super) async fn forget(&self) {
        *self.found.lock().await = None;
    }

    /// Asks the node something that may be asked twice.
    pub(super) async fn ask_again<T, A>(&self, ask: impl Fn(NodeClient) -> A) -> anyhow::Result<T>
    where
        A: Future<Output = Result<T, ClientError>>,
    {
        let asked = self.ask(&ask).await;
        let broke = |error: &anyhow::Error| {
            matches!(error.downcast_ref(), Some(ClientError::Unreachable { .. }))
        };
        if !asked.as_ref().is_err_and(broke) {
            return asked;
        }
        self.forget().await;
        self.ask(ask).await
    }

    /// Asks the node. One that has gone since the last time is found or started again; what may have
    /// reached a node is not sent twice.
    pub(super) async fn ask<T, A>(&self, ask: impl Fn(NodeClient) -> A) -> anyhow::Result<T>
    where
        A: Future<Output = Result<T, ClientError>>,
    {
        match ask(self.client().await?).await {
            Err(ClientError::Unreachable { source, .. }) if source.is_connect() => {}
            // A restored data folder has another key.
            Err(ClientError::Problem(problem)) if problem.code == ErrorCode::Unauthenticated => {}
            asked => return Ok(asked?),
        }
        self.forget().await;
        Ok(ask(self.client().await?).await?)
    }
}
