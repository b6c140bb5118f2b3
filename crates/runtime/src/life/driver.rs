//! One agent at a time drives a session.
//!
//! The one idea: agents of one owner differ by the name that they say, and a session that one of them drives
//! is refused to the others, and to callers without a name, until it is passed on. A session that no agent
//! drives goes to the first one that asks. Looking at a session and capturing it is free.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::request::Caller;
use baton_session::{AgentName, Session};
use baton_store::{StoreError, clock};

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

/// Whether the caller may still drive a session. A database that does not answer changes nothing.
pub async fn is_driver(context: &Runtime, caller: &Caller, session: &Session) -> bool {
    match driver(context, session).await {
        Ok(Some(agent)) => caller.agent == Some(agent),
        Ok(None) | Err(_) => true,
    }
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
