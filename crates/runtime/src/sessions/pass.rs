//! Passes a session from one agent to another.

use super::show;
use crate::error::RuntimeError;
use crate::life::{Change, Wish, driver, other, put};
use baton_api::Invalid;
use baton_api::{PassSession, SessionView};

/// How long a reason may be, in characters.
const REASON_MAX: usize = 1000;

/// Passes a session to another agent, or to nobody. Whoever does not drive it says why.
pub async fn pass(wish: &Wish<'_>, request: &PassSession) -> Result<SessionView, RuntimeError> {
    let (context, caller) = (wish.context, wish.by);
    let reason = reason(request)?;
    let held = wish.preflight(Change).await?.hold().await?;
    let session = held.session.clone();
    let found = driver(context, &session).await?;
    match &found {
        Some(agent) if caller.agent.as_ref() != Some(agent) && reason.is_empty() => {
            return Err(other(&session, agent.clone(), caller));
        }
        _ => {}
    }
    put(context, &session, found.as_ref(), request.to.as_ref(), reason).await?;
    tracing::info!(session = %session.id, to = ?request.to, "passed a session on");
    show::describe(context, session).await
}

fn reason(request: &PassSession) -> Result<&str, RuntimeError> {
    let reason = request.reason.as_deref().unwrap_or_default().trim();
    let is_given = request.reason.is_some();
    let length = reason.chars().count();
    if length > REASON_MAX || is_given && length == 0 {
        let found = format!("{length} characters");
        return Err(Invalid { field: "reason", expected: "1 to 1000 characters", found }.into());
    }
    Ok(reason)
}
