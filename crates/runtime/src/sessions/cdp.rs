//! The way of another tool to a session's browser.

use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{Wish, drive};
use baton_browser::cdp::Transport;
use baton_session::{Lifecycle, Owner, Session};
use secrecy::SecretString;

/// An active session of this node.
pub async fn active(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Session, RuntimeError> {
    let session = context.find(owner, reference).await?;
    expect_active(context, &session)?;
    Ok(session)
}

fn expect_active(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    if session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name.clone(), session.lifecycle);
        return Err(RuntimeError::WrongState { name, expected: "active", found });
    }
    if session.node != context.node {
        return Err(RuntimeError::OtherNode { name: session.name.clone(), node: session.node });
    }
    Ok(())
}

/// Checks that the caller may drive the browser of an active session. One that is not kept from the
/// files of the machine is for the owner for whom the node runs alone: whoever drives it has them.
pub async fn enter(
    context: &Runtime,
    caller: &Caller,
    session: &Session,
) -> Result<(), RuntimeError> {
    let confinement = context.hub.confinement(session.id);
    if caller.owner != Owner::local() && confinement.is_some_and(|rules| !rules.holds()) {
        return Err(RuntimeError::NotConfined { name: session.name.clone() });
    }
    drive(context, caller, session).await
}

/// Connects to the browser of an active session, as one more client beside the others. A ticket is
/// used by that, unless the browser does not answer.
pub async fn connect(
    wish: &Wish<'_>,
    ticket: Option<&SecretString>,
) -> Result<Transport, RuntimeError> {
    let (context, session) = (wish.context, &wish.session);
    expect_active(context, session)?;
    enter(context, wish.by, session).await?;
    if let Some(ticket) = ticket {
        context.tickets.punch(ticket)?;
    }
    let knocked = context.hub.knock(session.id).await;
    if let Some(ticket) = ticket.filter(|_| knocked.is_err()) {
        context.tickets.give_back(ticket);
    }
    Ok(knocked?)
}
