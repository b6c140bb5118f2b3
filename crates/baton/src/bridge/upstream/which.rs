//! Asking the node for the session that is meant: by a name or an id, or the only one that is active.

use super::failure::Failure;
use crate::bridge::nodes::Nodes;
use baton_api::{Client as NodeClient, ClientError, ErrorCode, ListSessions, SessionSummary};
use baton_session::Lifecycle;

/// How many active sessions are named when it is not clear which one is meant.
const NAMED: u32 = 10;

const NONE: &str = "session_open opens one; session_resume brings one back";
const SEVERAL: &str =
    "session_resume the one that you mean; that it is active already does no harm";

/// The session of this name or id, if there is one.
pub(super) async fn fetch(
    nodes: &Nodes,
    reference: &str,
) -> Result<Option<SessionSummary>, Failure> {
    let fetch = |node: NodeClient| async move { node.fetch_session(reference).await };
    match nodes.ask_again(fetch).await {
        Ok(view) => Ok(Some(view.session)),
        Err(error) => match error.downcast_ref::<ClientError>().and_then(ClientError::code) {
            Some(ErrorCode::SessionNotFound) => Ok(None),
            _ => Err(unreachable(&error)),
        },
    }
}

/// The caller's only active session.
pub(super) async fn only(nodes: &Nodes) -> Result<SessionSummary, Failure> {
    let state = Some(Lifecycle::Active);
    let query = ListSessions { state, limit: Some(NAMED), ..ListSessions::default() };
    let query = &query;
    let list = |node: NodeClient| async move { node.list_sessions(query).await };
    let mut found = nodes.ask_again(list).await.map_err(|error| unreachable(&error))?;
    let names: Vec<&str> = found.items.iter().map(|session| session.name.as_str()).collect();
    let which = |found: &str, next| {
        let detail = format!("expected one active session, found {found}");
        Failure::new("invalid_request", detail, next)
    };
    match names.as_slice() {
        [] => Err(which("none", NONE)),
        [_] => Ok(found.items.remove(0)),
        several => {
            let more = if found.next.is_some() { " and more" } else { "" };
            Err(which(&format!("{}{more}", several.join(", ")), SEVERAL))
        }
    }
}

/// There is no session of the name that was given.
pub(super) fn no_session(named: &str) -> Failure {
    let detail = format!("expected a session named {named}, found none");
    Failure::new("session_not_found", detail, NONE)
}

fn unreachable(error: &anyhow::Error) -> Failure {
    let next = "list_sessions tells whether the node answers again";
    Failure::new("node_unreachable", format!("{error:#}"), next)
}
