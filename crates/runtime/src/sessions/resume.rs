//! Brings a session back.

use super::show;
use crate::error::RuntimeError;
use crate::life::{Resume, Wish};
use baton_api::ResumeResult;

/// Starts a browser for a session that has none and restores its last good snapshot into it. The
/// receipt says item by item what came back. One that several nodes have is taken from its holder first.
pub async fn resume(wish: &Wish<'_>) -> Result<ResumeResult, RuntimeError> {
    wish.hear().await?;
    let held = wish.preflight(Resume).await?.hold().await?;
    let started = held.acquire().await?.start().await?;
    tracing::info!(session = %started.session.id, snapshot = %started.resumed.snapshot, "resumed a session");
    show::started(wish.context, started).await
}
