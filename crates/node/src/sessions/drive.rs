//! One agent at a time drives a session.
//!
//! The one idea: agents of one owner are told apart by the name that they say, and a session that one
//! of them drives is refused to the others, and to whoever says no name, until it is passed on. The
//! first one that asks gets a session that nobody drives. Looking at a session and capturing it is free.

use super::show;
use crate::auth::Caller;
use crate::{Context, NodeError, clock};
use baton_api::{DriverView, PassSession, SessionView};
use baton_session::{AgentName, Session};
use baton_store::{Driver, StoreError};
use std::sync::Arc;
use tokio::sync::watch;

/// How long a reason may be, in characters.
const REASON_MAX: usize = 1000;
/// How often it is looked again, when another agent was faster.
const ATTEMPTS: usize = 8;

/// Wakes those who drive a browser whenever a session passes from one agent to another.
#[derive(Clone, Default)]
pub(crate) struct Drivers(Arc<watch::Sender<()>>);

impl Drivers {
    /// Whoever waits for it hears of every change from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }

    fn changed(&self) {
        self.0.send_replace(());
    }
}

/// Checks that the caller may drive a session. An agent that does so gets one that nobody drives.
pub(crate) async fn drive(
    context: &Context,
    caller: &Caller,
    session: &Session,
) -> Result<(), NodeError> {
    for _ in 0..ATTEMPTS {
        let found = driver(context, session).await?;
        match (found, &caller.agent) {
            (None, None) => return Ok(()),
            (Some(agent), asking) if asking.as_ref() == Some(&agent) => return Ok(()),
            (Some(agent), _) => return Err(other(session, agent, caller)),
            (None, agent) => match put(context, session, None, agent.as_ref(), "").await {
                Err(NodeError::Store(StoreError::DriverChanged { .. })) => {}
                put => return put,
            },
        }
    }
    Err(StoreError::DriverChanged { found: None }.into())
}

/// Whether the caller may still drive a session. A database that does not answer changes nothing.
pub(crate) async fn is_driver(context: &Context, caller: &Caller, session: &Session) -> bool {
    match driver(context, session).await {
        Ok(Some(agent)) => caller.agent == Some(agent),
        Ok(None) | Err(_) => true,
    }
}

/// Passes a session to another agent, or to nobody. Whoever does not drive it says why.
pub(super) async fn pass(
    context: &Context,
    caller: &Caller,
    reference: &str,
    request: &PassSession,
) -> Result<SessionView, NodeError> {
    let reason = reason(request)?;
    let (session, _turn) = context.take_turn(&caller.owner, reference).await?;
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

/// Lets go of a session that has ended.
pub(super) async fn let_go(context: &Context, session: &Session) -> Result<(), NodeError> {
    match driver(context, session).await? {
        Some(agent) => put(context, session, Some(&agent), None, "").await,
        None => Ok(()),
    }
}

/// Who drives a session, as others see it.
pub(super) fn view(driver: Driver) -> Option<DriverView> {
    let Driver { agent, fence, since, reason } = driver;
    agent.map(|agent| DriverView { agent, since, fence, reason })
}

async fn driver(context: &Context, session: &Session) -> Result<Option<AgentName>, NodeError> {
    let driver = context.store.fetch_driver(session.id).await?;
    Ok(driver.and_then(|driver| driver.agent))
}

async fn put(
    context: &Context,
    session: &Session,
    from: Option<&AgentName>,
    to: Option<&AgentName>,
    reason: &str,
) -> Result<(), NodeError> {
    context.store.pass_session(session.id, from, to, reason, clock::now()).await?;
    context.drivers.changed();
    Ok(())
}

fn reason(request: &PassSession) -> Result<&str, NodeError> {
    let reason = request.reason.as_deref().unwrap_or_default().trim();
    let is_given = request.reason.is_some();
    let length = reason.chars().count();
    if length > REASON_MAX || is_given && length == 0 {
        let found = format!("{length} characters");
        return Err(NodeError::Invalid {
            field: "reason",
            expected: "1 to 1000 characters",
            found,
        });
    }
    Ok(reason)
}

fn other(session: &Session, agent: AgentName, caller: &Caller) -> NodeError {
    NodeError::OtherAgent { name: session.name.clone(), agent, found: caller.agent.clone() }
}
