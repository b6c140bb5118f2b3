//! Sessions of this node that are handed in: lent, or copied.

use super::found::{Found, accept, with_logins};
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::{BrowserSession, BrowserSessionType, HandedIn};
use baton_browser::profile::compile::CacheKey;
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_runtime::audit::Action;
use baton_runtime::life::{Lend, Lent, Want, Wish, expect_driver, stored};
use baton_runtime::live::{Handed, LiveError};
use baton_session::domains::Domain;
use baton_session::{Lifecycle, SandboxId, Session};
use baton_store::StoreError;
use baton_store::clock;

/// A session of this node that the caller may have now.
pub(super) async fn seek(
    context: &Agents,
    caller: &Caller,
    wanted: &BrowserSession,
    reference: &str,
) -> Result<Session, AgentsError> {
    let found = context.find(&caller.owner, reference).await?;
    if !wanted.shared {
        let want = want(caller, wanted, &[]);
        want.allows(context, &found)?;
        if want.drives() {
            expect_driver(context, caller, &found).await?;
        }
    }
    Ok(found)
}

fn want<'w>(caller: &'w Caller, wanted: &BrowserSession, domains: &'w [Domain]) -> Lend<'w> {
    Lend { domains, agent: caller.agent.as_ref(), takes: wanted.take }
}

/// A session of this node: lent to the sandbox `to`, or a copy.
pub(super) async fn kept_here(
    context: &Agents,
    caller: &Caller,
    wanted: &BrowserSession,
    session: &Session,
    domains: &[Domain],
    to: SandboxId,
) -> Result<Found, AgentsError> {
    if wanted.shared {
        copy(context, session, domains).await
    } else {
        borrow(context, caller, session, want(caller, wanted, domains), to).await
    }
}

/// A copy of a session, which stays with whoever has it.
async fn copy(
    context: &Agents,
    session: &Session,
    domains: &[Domain],
) -> Result<Found, AgentsError> {
    let runs_here = session.lifecycle == Lifecycle::Active && context.hub.holds(session.id);
    let turn = if runs_here { Some(context.hold_again(session).await?) } else { None };
    let session = turn.as_ref().map_or(session, |(session, _)| session);
    let handed = context.hub.copy_out(session).await?;
    accept(of(session, handed, false), domains)
}

/// A session that the sandbox has until it ends.
async fn borrow(
    context: &Agents,
    caller: &Caller,
    found: &Session,
    want: Lend<'_>,
    to: SandboxId,
) -> Result<Found, AgentsError> {
    let wish = Wish::about(context, caller, Action::Lend, found.clone());
    let wish = wish.with("sandbox", to.to_string());
    let lent = Box::pin(lend(&wish, want, to)).await;
    let wish = match &lent {
        Ok(found) => wish.with_losses(&found.told.receipt),
        Err(_) => wish,
    };
    wish.end(lent.map_err(|error| held_elsewhere(found, error))).await
}

async fn lend<'w>(wish: &'w Wish<'w>, want: Lend<'w>, to: SandboxId) -> Result<Found, AgentsError> {
    let held = wish.preflight(want).await?.hold().await?.stop_to_lend().await?;
    let Lent { session, ran, loan, handed } = held.acquire().await?.lend(to).await?;
    let found = with_logins(of(&session, handed, true), clock::now());
    Ok(Found { loan: Some(loan), ended: ran.then_some(session.name), ..found })
}

fn of(session: &Session, handed: Handed, writes_back: bool) -> Found {
    let key = Some(CacheKey::of(&handed.parts).of_session(session.id));
    let stored = stored(&handed);
    let told = HandedIn {
        kind: BrowserSessionType::Reference,
        session_id: Some(session.id),
        name: Some(session.name.clone()),
        snapshot: Some(handed.snapshot),
        writes_back,
        logins: Vec::new(),
        receipt: handed.receipt,
    };
    let local_storage = handed.local_storage.map(|kept| (kept, stored));
    Found {
        state: handed.state,
        local_storage,
        taken_at: handed.taken_at,
        key,
        loan: None,
        ended: None,
        told,
    }
}

fn held_elsewhere(session: &Session, error: AgentsError) -> AgentsError {
    let node = match error {
        AgentsError::Runtime(
            RuntimeError::Store(StoreError::HeldElsewhere { node })
            | RuntimeError::Live(LiveError::Store(StoreError::HeldElsewhere { node })),
        ) => node,
        error => return error,
    };
    let holder = format!("node {node} has it");
    RuntimeError::Held { name: session.name.clone(), holder }.into()
}
