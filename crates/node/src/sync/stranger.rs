//! Asks a node that nobody has registered yet who it is.
//!
//! The one idea: whoever answers says it of itself, and proves only that its key signed it. That it is
//! the node which is meant, a person finds out.

use super::SyncError;
use super::remote::{SMALL_MAX, address, bearer, bounded, client, said};
use crate::identity::{verify_card, verify_identity};
use crate::outbound::Reach;
use crate::{Context, NodeError};
use axum::http::header::AUTHORIZATION;
use baton_api::sync::{NodeCard, NodeIdentity};
use baton_api::{Health, Problem};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// How long it may take to say so.
const LIMIT: Duration = Duration::from_secs(15);

/// Who answers at an address to whoever asks.
pub(super) async fn identity(
    context: &Context,
    url: &Url,
    reach: Reach,
) -> Result<NodeIdentity, NodeError> {
    let http = client(context, url, reach).await?;
    let request = http.get(address(url, &["health"])?).timeout(LIMIT);
    let (_, body) = answer(url, request).await?;
    // What else may listen there is nobody's to read.
    let why = || "GET /health does not tell who it is".to_owned();
    let health: Health = serde_json::from_slice(&body)
        .map_err(|_| SyncError::NotANode { url: url.clone(), why: why() })?;
    verify_identity(&health.identity)
        .map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
    Ok(health.identity)
}

/// The card of the node at an address, for whoever has an API key of it.
pub(super) async fn card(
    context: &Context,
    url: &Url,
    key: &SecretString,
    reach: Reach,
) -> Result<NodeCard, NodeError> {
    let http = client(context, url, reach).await?;
    let request = http.get(address(url, &["sync", "card"])?).header(AUTHORIZATION, bearer(key)?);
    let (status, body) = answer(url, request).await?;
    let not_a_node = |why: String| SyncError::NotANode { url: url.clone(), why };
    if !status.is_success() {
        let problem = serde_json::from_slice::<Problem>(&body);
        let problem = problem.map_err(|_| not_a_node(format!("HTTP status {status}")))?;
        let name = url.host_str().unwrap_or_default().to_owned();
        return Err(SyncError::Denied { name, why: problem.detail }.into());
    }
    let card = serde_json::from_slice(&body).map_err(|error| not_a_node(error.to_string()))?;
    verify_card(&card).map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
    Ok(card)
}

async fn answer(url: &Url, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), NodeError> {
    let response = request.send().await.map_err(|error| {
        let name = url.host_str().unwrap_or_default().to_owned();
        SyncError::Unreachable { name, why: said(error) }
    })?;
    let status = response.status();
    let body = bounded(response, SMALL_MAX).await;
    Ok((status, body.map_err(|why| SyncError::NotANode { url: url.clone(), why })?))
}
