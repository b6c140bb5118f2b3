//! How an ask ends: what the guest's work changed, and what the log says.

use crate::asking::Ask;
use crate::context::Context;
use crate::error::NodeError;
use baton_api::{AskOutcome, AskState, SnapshotView};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, sessions};
use baton_session::SnapshotId;
use baton_session::changed::sentence;
use baton_store::clock;
use std::time::Duration;

/// How long it is waited for that a guest's picture ends and the session is given back.
const LEAVE_LIMIT: Duration = Duration::from_secs(80);
/// How long an end may take, with the capture of what was changed.
pub(super) const ENDS_WITHIN: Duration = Duration::from_mins(5);

/// Ends an ask so, unless something else ends it already; false then. The guest's hand has let go, and the session
/// is given back, before anybody hears of it.
pub(super) async fn end_as(context: &Context, ask: &Ask, state: AskState) -> bool {
    if !ask.claim_end() {
        return false;
    }
    ask.left(LEAVE_LIMIT).await;
    let before = ask.opened_by().and_then(|by| by.before);
    let outcome = match before.filter(|_| state != AskState::Lost) {
        // Nothing is done in the name of a key that was revoked.
        Some(_) if context.is_shut_out(&ask.caller).await.unwrap_or(false) => None,
        Some(before) => Some(outcome(context, ask, before.id()).await),
        None => None,
    };
    let seconds = clock::now().duration_since(ask.created_at()).as_secs();
    let note = note(ask, Action::EndAsk).with("state", state.as_str()).with("seconds", seconds);
    if let Err(error) = note.done(&context.store).await {
        tracing::error!(%error, "the end of an ask is not in the audit log");
    }
    ask.finish(state, outcome);
    true
}

/// An entry of the log about an ask.
pub(super) fn note(ask: &Ask, action: Action) -> Note {
    let (caller, session) = (&ask.caller, &ask.session);
    let note = Note::new(&caller.actor, &caller.owner, action, session.id.to_string());
    note.with("name", session.name.to_string()).with("ask", ask.id.clone())
}

/// Takes a snapshot in the name of who asked, whoever drives the session now: the guest's turn is part of theirs.
pub(super) async fn capture(context: &Context, ask: &Ask) -> Result<SnapshotView, NodeError> {
    let driver = context.store.fetch_driver(ask.session.id).await?;
    let agent = driver.and_then(|driver| driver.agent);
    let caller = Caller { agent, ..ask.caller.clone() };
    let session = ask.session.id.to_string();
    Ok(sessions::capture(context, &caller, session.as_str()).await?)
}

async fn outcome(context: &Context, ask: &Ask, before: SnapshotId) -> AskOutcome {
    let mut outcome = AskOutcome {
        changed: String::new(),
        changes: Vec::new(),
        snapshot: None,
        ends_at: None,
        bound: Vec::new(),
    };
    let told = async {
        let snapshot = capture(context, ask).await?;
        (outcome.snapshot, outcome.bound) = (Some(snapshot.id), snapshot.unread);
        let found = sessions::changes(context, &ask.session, before, snapshot.id).await?;
        (outcome.changes, outcome.ends_at) = (found.at_sites, found.ends_at);
        outcome.bound.extend(found.unreadable);
        Ok::<_, NodeError>(sentence(&outcome.changes, outcome.ends_at, clock::now()))
    };
    let told = told.await;
    outcome.changed = told.unwrap_or_else(|error| {
        let why = error.to_string().replace('\n', "; ");
        format!("what changed is not known: {why}")
    });
    outcome
}
