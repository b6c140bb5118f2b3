//! The life of a session: the one way in.
//!
//! The one idea: every verb goes the same way, and the types hold the order. A [`Wish`] says what is wanted
//! of which session, and by whom; its entry in the audit log ends with it. What can be checked ahead is
//! checked ahead and changes nothing, here or elsewhere ([`Wish::preflight`], which makes it `Ready`). Then
//! the session is `Held`: no other operation changes it, and all that may have changed during the wait is
//! checked again. Only what starts something goes on: the session is `Acquired` from the database and from
//! peers, both of which get it back unless it starts.
//!
//! Rooms: `wish` is the way, and holds a session; `want` says what each verb asks of one, and what those
//! that start it bring back; `acquire` is what they have to have, and gives it back in the end; which
//! agent drives one is said here.
//!
//! Agents of one owner differ by the name that they say, and a session that one of them drives
//! is refused to the others, and to callers without a name, until it is passed on. A session that no agent
//! drives goes to the first one that asks. Looking at a session and capturing it is free.
//!
//! What was lost with a node is resumed by itself. No client asked for it, so none is disturbed. It goes the same way as a resume that a client
//! asked for, but where a peer has the session by now, or may have it and does not answer, it stays as it is.
//! One after the other: each takes all of the machine.

mod acquire;
mod want;
mod wish;

pub use acquire::{CheckedOut, end};
pub(crate) use acquire::{Started, finish, release_peer_lease};
pub(crate) use want::{Abandon, Capture, Change, Close, Debug, Delete, Move, Resume, RollBack};
pub use want::{CheckOut, Want, stored};
pub(crate) use wish::HOLD_LIMIT;
pub use wish::{Wish, settled};

use crate::audit::Action;
use crate::error::{RuntimeError, Stand};
use crate::here::Runtime;
use crate::luggage;
use crate::request::Caller;
use crate::table::Moving;
use baton_api::FileAhead;
use baton_session::{AgentName, Lifecycle, Session};
use baton_store::blocking::finished;
use baton_store::{Driver, StoreError, clock};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;
use want::Rehydrate;

/// How often it is looked again, when another agent was faster.
const ATTEMPTS: usize = 8;

/// Checks that the caller may drive a session, and changes nothing.
pub async fn expect_driver(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
) -> Result<(), RuntimeError> {
    match driver(context, session).await? {
        Some(agent) if caller.agent.as_ref() != Some(&agent) => Err(other(session, agent, caller)),
        _ => Ok(()),
    }
}

/// Checks that the caller may drive a session. An agent that does so gets one that has no driver.
pub(crate) async fn drive(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
) -> Result<(), RuntimeError> {
    for _ in 0..ATTEMPTS {
        let found = driver(context, session).await?;
        match (found, &caller.agent) {
            (None, None) => return Ok(()),
            (Some(agent), asking) if asking.as_ref() == Some(&agent) => return Ok(()),
            (Some(agent), _) => return Err(other(session, agent, caller)),
            (None, agent) => match pass_on(context, session, None, agent.as_ref(), "").await {
                Err(RuntimeError::Store(StoreError::DriverChanged { .. })) => {}
                put => return put,
            },
        }
    }
    Err(StoreError::DriverChanged { found: None }.into())
}

/// Whose turn it is at a session's browser, for a client that is connected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drives {
    /// The client's own.
    Client,
    /// That of a person who has taken the session over, and gives it back.
    Person(AgentName),
    /// That of another agent, or of one that is not to wait for.
    Other,
}

/// Whose turn it is, for this caller; none where the database does not answer, and it is whose it was. That a person
/// drives stands in the row: a turn goes on there whose page, or whose node, has ended.
pub async fn drives(context: &Runtime, caller: &Caller, session: &Session) -> Option<Drives> {
    let found = context.store.fetch_driver(session.id).await.ok()?;
    Some(match found {
        Some(Driver { agent: Some(agent), turn, .. }) if caller.agent.as_ref() != Some(&agent) => {
            if turn.is_some() {
                Drives::Person(agent)
            } else {
                Drives::Other
            }
        }
        _ => Drives::Client,
    })
}

/// Lets go of a session that has ended.
pub(crate) async fn let_go(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    match driver(context, session).await? {
        Some(agent) => pass_on(context, session, Some(&agent), None, "").await,
        None => Ok(()),
    }
}

/// The agent that drives a session; none when no agent does.
pub(crate) async fn driver(
    context: &Runtime,
    session: &Session,
) -> Result<Option<AgentName>, RuntimeError> {
    let driver = context.store.fetch_driver(session.id).await?;
    Ok(driver.and_then(|driver| driver.agent))
}

/// Gives a session from one agent to another one, and wakes those who drive its browser.
pub(crate) async fn pass_on(
    context: &Runtime,
    session: &Session,
    from: Option<&AgentName>,
    to: Option<&AgentName>,
    reason: &str,
) -> Result<(), RuntimeError> {
    context.store.pass_session(session.id, from, to, reason, clock::now()).await?;
    context.supervisor.table().has_passed();
    Ok(())
}

/// The refusal of a caller that another agent shuts out.
pub(crate) fn other(session: &Session, agent: AgentName, caller: &Caller) -> RuntimeError {
    RuntimeError::OtherAgent { name: session.name.clone(), agent, found: caller.agent.clone() }
}

/// When peers that did not answer are asked again.
const AGAIN: Duration = Duration::from_secs(30);
/// How often a session is tried whose peers do not answer.
const MOST_ATTEMPTS: u32 = 10;

/// What became of one attempt.
enum Tried {
    /// It runs, or another node has it, or it failed.
    Over,
    /// A peer that may have it does not answer.
    Unanswered,
}

/// Resumes what this node lost, and what it inherits of others, until the node ends.
pub async fn rehydrate(
    context: Runtime,
    lost: Vec<Session>,
    mut inherited: mpsc::Receiver<Session>,
) {
    let ending = context.ending.clone();
    let mut left: VecDeque<(Session, u32)> = lost.into_iter().map(|session| (session, 1)).collect();
    loop {
        let Some((session, attempt)) = left.pop_front() else {
            let Some(Some(session)) = ending.run_until_cancelled(inherited.recv()).await else {
                return;
            };
            left.push_back((session, 1));
            continue;
        };
        if attempt > 1 && ending.run_until_cancelled(sleep(AGAIN)).await.is_none() {
            return;
        }
        if ending.is_cancelled() {
            return;
        }
        match resume(&context, &session).await {
            Tried::Unanswered if attempt < MOST_ATTEMPTS => left.push_back((session, attempt + 1)),
            Tried::Unanswered => {
                tracing::warn!(
                    session = %session.id,
                    "a session was not resumed by itself: a peer that may have it does not answer"
                );
            }
            Tried::Over => {}
        }
    }
}

/// Resumes one session, unless another resume was faster. What fails is tried once more, and has failed when
/// that fails too, unless it is another node's.
async fn resume(context: &Runtime, session: &Session) -> Tried {
    for is_last in [false, true] {
        let now = match context.store.fetch_any_session(session.id).await {
            Ok(Some(now)) => now,
            Ok(None) => return Tried::Over,
            Err(error) => {
                tracing::error!(session = %session.id, %error, "a session could not be looked at");
                return Tried::Over;
            }
        };
        if now.node != session.node || now.lifecycle != Lifecycle::Recoverable {
            return Tried::Over;
        }
        match start(context, now).await {
            // The session is back, and no caller waits for the answer.
            Ok(()) | Err(RuntimeError::NotNoted { .. }) => return Tried::Over,
            Err(RuntimeError::Elsewhere(error)) if error.stand() == Stand::Unanswered => {
                return Tried::Unanswered;
            }
            Err(RuntimeError::Elsewhere(error)) if error.stand() == Stand::Kept => {
                tracing::info!(session = %session.id, %error, "a session stays where it is");
                return Tried::Over;
            }
            Err(error) if is_last => {
                tracing::error!(session = %session.id, %error, "a session could not be resumed by itself");
            }
            Err(_) => {}
        }
    }
    Tried::Over
}

/// Captures what the browser of a session holds and ends it, so that another node of the database brings it back:
/// the session is on its way until what this returns is dropped. Who drives it is closed out before the capture
/// begins, so nothing is done that is not captured. It stays this node's until another one has it.
pub async fn give(context: &Runtime, session: Session) -> Result<Moving, RuntimeError> {
    let (node, id) = (Caller::node(session.owner.clone()), session.id);
    let owner = session.owner.clone();
    let wish = Wish::about(context, &node, Action::Move, session);
    let given = async {
        let ready = wish.preflight(Move).await?;
        let moving = context.supervisor.table().sets_out(id);
        ready.hold().await?.stop_to_move().await?;
        release_peer_lease(context, &owner, id).await;
        Ok(moving)
    };
    let given = given.await;
    wish.end(given).await
}

/// Brings a session back here that another node of the database gave, or left behind, with what came ahead of it. Who asks for it waits for
/// nothing else, so those who want to drive it do: it is there when clients may come, and its first capture, for which
/// nobody is away, goes on by itself.
pub async fn take(context: &Runtime, session: Session) -> Result<(), RuntimeError> {
    take_with(context, session, None).await
}

/// The same, if all files came ahead of it that were announced.
pub async fn take_with(
    context: &Runtime,
    session: Session,
    files: Option<Vec<FileAhead>>,
) -> Result<(), RuntimeError> {
    let (id, moving) = (session.id, context.supervisor.table().sets_out(session.id));
    let whole = {
        let context = context.clone();
        async move { take_whole(&context, session, files, moving).await }
    };
    let mut taking = context.tasks.spawn(whole);
    let taken = tokio::select! {
        taken = &mut taking => taken,
        // It is on its way no longer, and runs: or it failed, which the task says next.
        () = context.supervisor.table().arrival(id) => {
            if context.supervisor.holds(id) {
                return Ok(());
            }
            taking.await
        }
    };
    finished(taken)?
}

async fn take_whole(
    context: &Runtime,
    session: Session,
    files: Option<Vec<FileAhead>>,
    _moving: Moving,
) -> Result<(), RuntimeError> {
    let id = session.id;
    let files = luggage::unpack(context, id, files).await?;
    let started = start(context, session).await;
    let has_failed = !matches!(started, Ok(()) | Err(RuntimeError::NotNoted { .. }));
    // Once it has arrived, who gave it may have removed its files there: then those that came are the only ones.
    if has_failed && context.supervisor.table().is_moving(id) {
        luggage::take_back(context, id, files).await;
    }
    context.supervisor.forget_arrival(id).await;
    started
}

async fn start(context: &Runtime, session: Session) -> Result<(), RuntimeError> {
    let node = Caller::node(session.owner.clone());
    let wanted = Rehydrate { of: session.node };
    let wish = Wish::about(context, &node, Action::Resume, session);
    let started = async {
        let held = wish.preflight(wanted).await?.hold().await?;
        held.acquire().await?.start().await
    };
    let started = started.await;
    let wish = match &started {
        Ok(started) => {
            let (session, steps) = (&started.session.id, &started.resumed.timing);
            tracing::info!(%session, ?steps, "a session was brought back");
            wish.with_losses(&started.resumed.receipt)
        }
        Err(_) => wish,
    };
    wish.end(started.map(drop)).await
}
