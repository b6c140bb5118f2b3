//! Takes a session back to one of its snapshots.

use super::show;
use crate::error::RuntimeError;
use crate::life::{RollBack, Wish};
use baton_api::{ResumeResult, RollBack as Request};

/// Captures the session if it is active, ends its browser, and brings it back from any of its
/// snapshots, also one that a resume would pass over. What it held until now stays in its history.
pub async fn rollback(wish: &Wish<'_>, request: &Request) -> Result<ResumeResult, RuntimeError> {
    wish.hear().await?;
    let held = wish.preflight(RollBack { to: &request.to }).await?.hold().await?;
    let started = held.stop().await?.acquire().await?.start().await?;
    tracing::info!(session = %started.session.id, to = request.to, "rolled a session back");
    show::started(wish.context, started).await
}
