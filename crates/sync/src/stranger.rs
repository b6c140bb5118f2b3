//! Asks a node that nobody has registered yet who it is.
//!
//! The one idea: whoever answers says it of itself, and proves only that its key signed it. That it is
//! the node which is meant, a person finds out.

use super::credential::TUNNEL;
use super::error::SyncError;
use super::remote::{SMALL_MAX, Way, address, bounded, client, said};
use crate::context::Sync;
use crate::identity::{verify_card, verify_identity};
use baton_api::sync::{NodeCard, NodeIdentity};
use baton_api::{ErrorCode, Health, Problem};
use baton_net::outbound::Reach;
use baton_session::peer::AuthMethod;
use http::header::AUTHORIZATION;
use reqwest::{RequestBuilder, StatusCode};
use std::time::Duration;

/// How long it may take to say so.
const LIMIT: Duration = Duration::from_secs(15);

/// A node that nobody has registered yet.
pub(super) struct Stranger<'a> {
    context: &'a Sync,
    way: &'a Way,
    reach: Reach,
}

impl<'a> Stranger<'a> {
    /// The node that is asked this way, and within this reach.
    pub(super) fn new(context: &'a Sync, way: &'a Way, reach: Reach) -> Self {
        Self { context, way, reach }
    }

    /// Who answers to whoever asks. Nothing is shown but what gets through a tunnel.
    pub(super) async fn identity(&self) -> Result<NodeIdentity, SyncError> {
        let http = client(&self.context.own.outbound, &self.way.url, self.reach).await?;
        let request = http.get(address(&self.way.url, &["health"])?).timeout(LIMIT);
        let (status, body) = self.answer(request).await?;
        if self.way.method == AuthMethod::Tunnel && !status.is_success() {
            return Err(self.way.not_through(format!("HTTP status {status}")));
        }
        if !status.is_success() {
            return Err(self.refused(status, &body));
        }
        // What else may listen there is nobody's to read.
        let why = || "GET /health does not tell who it is".to_owned();
        let health: Health = serde_json::from_slice(&body).map_err(|_| self.not_a_node(why()))?;
        verify_identity(&health.identity)
            .map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        Ok(health.identity)
    }

    /// Its card, for whoever may talk to it.
    pub(super) async fn card(&self) -> Result<NodeCard, SyncError> {
        let shown = self.way.show().await?;
        let http = client(&self.context.own.outbound, &self.way.url, self.reach).await?;
        let request = http.get(address(&self.way.url, &["sync", "card"])?);
        let request = request.header(AUTHORIZATION, shown.authorization.clone());
        let (status, body) = self.answer(request).await?;
        if !status.is_success() {
            // What does not open it today is not tried again tomorrow.
            self.way.discard(&shown).await;
            return Err(self.refused(status, &body));
        }
        let card =
            serde_json::from_slice(&body).map_err(|error| self.not_a_node(error.to_string()))?;
        verify_card(&card).map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        Ok(card)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), SyncError> {
        let request = match self.way.tunnel()? {
            Some(tunnel) => request.header(TUNNEL, tunnel),
            None => request,
        };
        let response = request.send().await.map_err(|error| {
            let name = self.way.url.host_str().unwrap_or_default().to_owned();
            SyncError::Unreachable { name, why: said(error) }
        })?;
        let status = response.status();
        let body = bounded(response, SMALL_MAX).await;
        Ok((status, body.map_err(|why| self.not_a_node(why))?))
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> SyncError {
        match serde_json::from_slice::<Problem>(body) {
            Ok(Problem { code: ErrorCode::Unauthenticated, detail, hint, .. }) => {
                self.way.not_let_in(detail, hint)
            }
            Ok(Problem { code, detail, .. }) => {
                let name = self.way.url.host_str().unwrap_or_default().to_owned();
                // What it is called has to be said there, not here.
                let hint = match code {
                    ErrorCode::ForeignOrigin => {
                        format!("\nset node.publicUrl or server.allowed_hosts there to name {name}")
                    }
                    _ => String::new(),
                };
                SyncError::Denied { name, why: format!("{detail}{hint}") }
            }
            Err(_) => self.not_a_node(format!("HTTP status {status}")),
        }
    }

    fn not_a_node(&self, why: String) -> SyncError {
        SyncError::NotANode { url: self.way.url.clone(), why }
    }
}
