//! The way of another tool to a session's browser.

use crate::{Context, NodeError};
use baton_browser::cdp::Transport;
use baton_session::{Lifecycle, Owner, Session};

/// An active session of this node.
pub async fn active(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<Session, NodeError> {
    let session = context.find(owner, reference).await?;
    if session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name, session.lifecycle);
        return Err(NodeError::WrongState { name, expected: "active", found });
    }
    if session.node != context.node {
        return Err(NodeError::OtherNode { name: session.name, node: session.node });
    }
    Ok(session)
}

/// Connects to the browser of an active session, as one more client beside the others.
pub async fn connect(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<Transport, NodeError> {
    let session = active(context, owner, reference).await?;
    Ok(context.hub.knock(session.id).await?)
}
