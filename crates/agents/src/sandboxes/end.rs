//! Ends sandboxes: what they held of a session is written back first.

use super::error::SandboxRefusal;
use super::registry::Kept;
use super::take_back::take_back;
use super::taken::{LeftSites, Taken};
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::EndedSandbox;
use baton_runtime::Actor;
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use baton_session::SandboxId;
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::sleep;

/// How many sites of which something was left out are in the audit log by name.
const MOST_NOTED: usize = 20;
/// How long until a node that ends tries again what failed.
const SOON: Duration = Duration::from_secs(2);

/// Ends one of the caller's sandboxes. What runs in it is asked to end; what it held of a session is on
/// disk, and nothing of it is left, when this returns.
pub async fn delete(
    context: &Agents,
    caller: &Caller,
    reference: &str,
) -> Result<EndedSandbox, AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    noted(context, &caller.actor, &kept).await
}

/// Ends a sandbox because its time has come, or it ended by itself.
pub(super) async fn expire(context: &Agents, kept: &Kept) -> Result<(), AgentsError> {
    noted(context, &Actor::node(), kept).await.map(drop)
}

/// Ends all sandboxes, because the node ends: they would end with it. Those that are being made are ended
/// once they are there, those that somebody else ends are waited for, and what failed is tried again. So
/// none is left when this returns; how long that may take is for the caller to say.
pub async fn end_all(context: &Agents) {
    let mut changes = context.sandboxes.changes();
    loop {
        changes.mark_unchanged();
        let all = context.sandboxes.all();
        let ended = join_all(all.iter().map(|kept| end_one(context, kept))).await;
        if context.sandboxes.is_empty() {
            return;
        }
        if ended.contains(&false) {
            sleep(SOON).await;
        } else if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Ends one of all. False when it has to be tried again.
async fn end_one(context: &Agents, kept: &Kept) -> bool {
    match expire(context, kept).await {
        // Somebody else was faster, and tells when it is gone.
        Ok(()) | Err(AgentsError::Sandbox(SandboxRefusal::NotFound { .. })) => true,
        // What is not in the audit log has ended all the same.
        Err(error @ AgentsError::Runtime(RuntimeError::NotNoted { .. })) => {
            tracing::error!(sandbox = %kept.view.id, %error, "the end of a sandbox is not in the audit log");
            true
        }
        Err(error) => {
            tracing::error!(sandbox = %kept.view.id, %error, "a sandbox was not written back yet");
            false
        }
    }
}

/// Ends a sandbox whose maker never heard of it.
pub(super) async fn drop_unnoted(context: &Agents, id: SandboxId) {
    match end(context, id).await {
        Ok(_) | Err(AgentsError::Sandbox(SandboxRefusal::NotFound { .. })) => {}
        Err(error) => tracing::error!(sandbox = %id, %error, "a sandbox was not ended"),
    }
}

/// Ends a sandbox, and notes it, with what was left of sites that nobody had lent.
async fn noted(context: &Agents, actor: &Actor, kept: &Kept) -> Result<EndedSandbox, AgentsError> {
    let ended = end(context, kept.view.id).await;
    let mut note = note(actor, kept);
    if let Ok((_, left)) = &ended
        && !left.is_empty()
    {
        let names = left.keys().take(MOST_NOTED).map(ToString::to_string).collect::<Vec<_>>();
        note = note.with("left_out_sites", names).with("left_out_count", left.len());
    }
    note.end(&context.store, ended.map(|(ended, _)| ended)).await
}

fn note(actor: &Actor, kept: &Kept) -> Note {
    let note = Note::new(actor, &kept.view.owner, Action::DeleteSandbox, kept.view.id.to_string());
    match &kept.lent {
        Some(lent) => note.with("session", lent.loan.session.id.to_string()),
        None => note,
    }
}

async fn end(context: &Agents, id: SandboxId) -> Result<(EndedSandbox, LeftSites), AgentsError> {
    let gone = || SandboxRefusal::NotFound { reference: id.to_string() };
    let (kept, slot) = context.sandboxes.take(id).ok_or_else(gone)?;
    let (browser_session, left) = match save(context, &kept).await {
        Ok(Some(Taken { told, left_sites })) => (Some(told), left_sites),
        Ok(None) => (None, LeftSites::new()),
        Err(error) => {
            // Nothing is lost while the database does not answer, or this node cannot read what is there:
            // the sandbox stays, and is ended later.
            slot.keep(kept);
            return Err(error);
        }
    };
    kept.ended.cancel();
    if let Err(error) = kept.sandbox.remove().await {
        tracing::error!(sandbox = %id, %error, "a sandbox was not removed whole");
    }
    drop(slot);
    tracing::info!(sandbox = %id, "ended a sandbox");
    Ok((EndedSandbox { id, browser_session }, left))
}

/// Writes back what a sandbox holds of a session.
async fn save(context: &Agents, kept: &Kept) -> Result<Option<Taken>, AgentsError> {
    match &kept.lent {
        Some(lent) => Box::pin(take_back(context, kept, lent)).await.map(Some),
        None => Ok(None),
    }
}
