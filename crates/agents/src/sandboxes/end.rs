//! Ends sandboxes, on request, in time or when they have ended by themselves: what they held of a session is
//! written back first.
//!
//! The one idea: what an agent left there may be anything, and costs its own session only; but a session is
//! never given up because this node had no room, no time or a fault. What it holds is stored once, and the
//! session is free only when nothing is left that can fail.

use super::take_back::{NotRead, ReadSession, read_session};
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use crate::registry::{CheckInOutcome, Kept, LeftSites, SandboxSession};
use baton_api::sandbox::{EndedSandbox, WrittenBack};
use baton_browser::profile::Fault;
use baton_runtime::audit::{Action, Note};
use baton_runtime::live::LiveError;
use baton_runtime::{Actor, Caller, RuntimeError};
use baton_session::write_back::{fitted, written_back};
use baton_session::{Holdings, PartRef, Receipt, SandboxId, State};
use baton_store::StoreError;
use baton_store::blocking::blocking;
use futures_util::future::join_all;
use std::mem::take;
use std::sync::Arc;
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
async fn expire(context: &Agents, kept: &Kept) -> Result<(), AgentsError> {
    noted(context, &Actor::node(), kept).await.map(drop)
}

/// Ends all sandboxes, because the node ends: they would end with it. Those that are being made are ended
/// once they are there, those that another task ends are waited for, and what failed is tried again. So none
/// is left when this returns; how long that may take is for the caller to say.
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
        // Another task was faster, and tells when it is gone.
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

/// Ends a sandbox, and notes it, with what was left of sites that were not checked out.
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
    match &kept.checked_out {
        Some(checked_out) => note.with("session", checked_out.checkout.session.id.to_string()),
        None => note,
    }
}

async fn end(context: &Agents, id: SandboxId) -> Result<(EndedSandbox, LeftSites), AgentsError> {
    let gone = || SandboxRefusal::NotFound { reference: id.to_string() };
    let (kept, slot) = context.sandboxes.claim_for_end(id).ok_or_else(gone)?;
    let (browser_session, left) = match save(context, &kept).await {
        Ok(Some(CheckInOutcome { told, left_sites })) => (Some(told), left_sites),
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
    kept.counted.end().await;
    drop(slot);
    tracing::info!(sandbox = %id, "ended a sandbox");
    Ok((EndedSandbox { id, browser_session }, left))
}

/// Writes back what a sandbox holds of a session.
async fn save(context: &Agents, kept: &Kept) -> Result<Option<CheckInOutcome>, AgentsError> {
    match &kept.checked_out {
        Some(checked_out) => Box::pin(check_in(context, kept, checked_out)).await.map(Some),
        None => Ok(None),
    }
}

/// For how long a sandbox is kept that this node cannot read: a person may make room on the node's disk
/// meanwhile, but a session does not stay away for ever.
const PATIENCE: Duration = Duration::from_hours(1);

/// Asks what runs in a sandbox to end, reads its profile, stores what the session holds now, and gives the
/// session back. What lies there and cannot be read costs nothing: the snapshot before remains, and the
/// answer says so. After an error of ours the sandbox has the session yet, and this can be done again: then
/// what was stored is not stored a second time.
async fn check_in(
    context: &Agents,
    kept: &Kept,
    checked_out: &SandboxSession,
) -> Result<CheckInOutcome, AgentsError> {
    let session = &checked_out.checkout.session;
    let taken =
        checked_out.taken.get_or_try_init(|| settle_and_store(context, kept, checked_out)).await?;
    context.peers.release(context, &session.owner, session.id).await?;
    // Last of all: from here on another holder may have it, and run it.
    context.supervisor.check_in(&checked_out.checkout).await?;
    Ok(taken.clone())
}

async fn settle_and_store(
    context: &Agents,
    kept: &Kept,
    checked_out: &SandboxSession,
) -> Result<CheckInOutcome, AgentsError> {
    let settled = kept.sandbox.settle().await;
    let mut taken = store(context, kept, checked_out).await?;
    if let Err(error) = settled {
        tracing::warn!(sandbox = %kept.view.id, %error, "what ran in a sandbox did not end by itself");
        taken.told.reason.get_or_insert(format!(
            "what a browser had not written down yet is not in it: {error}"
        ));
    }
    Ok(taken)
}

/// Stores what the profile of a sandbox holds in which nothing runs any more.
async fn store(
    context: &Agents,
    kept: &Kept,
    checked_out: &SandboxSession,
) -> Result<CheckInOutcome, AgentsError> {
    let session = &checked_out.checkout.session;
    let mut left_sites = LeftSites::new();
    let mut told = WrittenBack {
        session_id: session.id,
        snapshot: None,
        shrunk: false,
        reason: None,
        left_out: Receipt::default(),
    };
    match read_session(context, &*kept.sandbox, checked_out, is_kept(kept)).await {
        Ok(ReadSession { before, after, left_out }) => {
            let held = Holdings::of(&before.state);
            let mut taken =
                written_back(before, after, &checked_out.receipt, checked_out.take_back);
            told.left_out = left_out;
            told.left_out.extend(take(&mut taken.left_out));
            left_sites = take(&mut taken.left_sites);
            let (state, too_much) =
                fit(context, checked_out, take(&mut taken.state), &taken.kept).await?;
            taken.state = state;
            told.left_out.extend(too_much);
            match context.supervisor.write_back(&checked_out.checkout, held, &taken).await {
                Ok(snapshot) => {
                    told.shrunk = snapshot.shrunk;
                    told.snapshot = Some(snapshot.id);
                    if snapshot.sibling {
                        told.reason = Some("another node took the session: what the sandbox left is kept beside what that one captured".to_owned());
                    }
                }
                Err(LiveError::Store(error)) if is_final(&error) => {
                    tracing::warn!(session = %session.id, sandbox = %kept.view.id, %error, "a session was not written back");
                    told.reason = Some(format!("what the sandbox left cannot be stored: {error}"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(NotRead::Store(error)) => return Err(error),
        Err(NotRead::Profile(Fault::Ours(why))) if is_kept(kept) => {
            return Err(SandboxRefusal::NotRead { why }.into());
        }
        Err(NotRead::Profile(Fault::Bytes(why) | Fault::Ours(why))) => {
            tracing::warn!(session = %session.id, sandbox = %kept.view.id, why, "a session was not written back");
            told.reason = Some(why);
        }
    }
    Ok(CheckInOutcome { told, left_sites })
}

/// What of a session there is room for in a snapshot, beside parts that are carried over; what is too much is as it was
/// before, and named.
async fn fit(
    context: &Agents,
    checked_out: &SandboxSession,
    state: State,
    carried: &[PartRef],
) -> Result<(State, Receipt), AgentsError> {
    let bounds = context.store.limits().of_a_snapshot().beside(carried);
    let (fits, state) = blocking(move || (bounds.hold(&state), state)).await?;
    if fits {
        return Ok((state, Receipt::default()));
    }
    let (before, _) = context.supervisor.read_checked_out(&checked_out.checkout).await?;
    Ok(blocking(move || fitted(&before.state, state, &bounds)).await?)
}

/// Whether the store refuses what a sandbox left however often it is asked: for what that is, or because its session is
/// gone. Then there is nothing to wait for.
fn is_final(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::PartTooLarge { .. }
            | StoreError::TooManyParts { .. }
            | StoreError::DuplicatePart { .. }
            | StoreError::SnapshotCorrupt { .. }
            | StoreError::SessionNotFound { .. }
    )
}

/// Whether a sandbox that this node could not read is kept, to be read later.
fn is_kept(kept: &Kept) -> bool {
    kept.unread_since.get_or_init(tokio::time::Instant::now).elapsed() < PATIENCE
}

/// How long until it is tried again where something of ours did not work, the database for instance: at
/// first, and at most.
const AGAIN: Duration = Duration::from_secs(10);
const AGAIN_MOST: Duration = Duration::from_mins(5);

/// Waits until this node can no longer say that it holds the sandbox's session.
async fn lost(context: &Agents, kept: &Kept) {
    match kept.checked_out {
        Some(_) => context.supervisor.lost().await,
        None => std::future::pending().await,
    }
}

/// Watches a sandbox for as long as it is there, or until the node ends, which then ends all of them. An
/// end that has begun is finished before the node ends.
pub(super) fn watch(context: &Agents, kept: Arc<Kept>, ttl: Duration) {
    let context = context.clone();
    context.tasks.clone().spawn(async move {
        tokio::select! {
            biased;
            () = kept.ended.cancelled() => return,
            () = context.ending.cancelled() => return,
            () = kept.sandbox.ended() => {
                tracing::warn!(sandbox = %kept.view.id, "a sandbox ended by itself");
            }
            () = lost(&context, &kept) => {
                tracing::warn!(sandbox = %kept.view.id, "another node may take the session of a sandbox: it ends");
            }
            () = sleep(ttl) => tracing::info!(sandbox = %kept.view.id, "a sandbox's time has come"),
        }
        let mut pause = AGAIN;
        loop {
            match expire(&context, &kept).await {
                Ok(()) => return,
                // Another task ends it right now.
                Err(AgentsError::Sandbox(SandboxRefusal::NotFound { .. })) => {}
                Err(error) => {
                    tracing::error!(sandbox = %kept.view.id, %error, "a sandbox was not ended");
                }
            }
            tokio::select! {
                () = kept.ended.cancelled() => return,
                () = context.ending.cancelled() => return,
                () = sleep(pause) => pause = (pause * 2).min(AGAIN_MOST),
            }
        }
    });
}
