//! Sandboxes of all nodes: a request about one goes to the node that made it, and a new one to a node with room.
//!
//! The one idea: a sandbox is there as long as its node is, so nobody else notes that it is. Its id bears a mark of
//! that node; only for the start of an id are all nodes asked.

use super::{Forwarding, carried, placed, read_in, read_whole, routes, sending, there};
use crate::auth::{ask, show_caller};
use crate::cluster::{Cluster, Kind, Origin, Wanted};
use crate::context::Context;
use crate::everywhere;
use crate::ingress::Refusal;
use crate::moving::find_arrived;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Request};
use axum::http::Method;
use baton_runtime::sessions::FILE_LIMIT;
use serde::Deserialize;

/// Where a sandbox is made that nobody asks for an agent.
const MADE_AT: &str = "/api/sandboxes";

/// What a request for a new sandbox, or for an agent in one, says of the session in it.
#[derive(Deserialize)]
struct SandboxPlacement {
    #[serde(default, rename = "browserSession")]
    handed: Option<Handed>,
    #[serde(default)]
    browser_session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Handed {
    #[serde(default)]
    session_id: Option<String>,
    /// Another service that keeps the session.
    #[serde(default)]
    session_service_url: Option<String>,
}

impl SandboxPlacement {
    /// The session of a node that is meant.
    fn session(self) -> Option<String> {
        match self.handed {
            Some(handed) if handed.session_service_url.is_none() => handed.session_id,
            Some(_) => None,
            None => self.browser_session_id,
        }
    }
}

/// Has a node make a sandbox: that of the session which is handed in, or one with room.
pub(super) async fn make(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (mut parts, body) = request.into_parts();
    let asked = ask(&mut parts, context).await?;
    let here = |parts, body| Ok(Forwarding::Here(Request::from_parts(parts, body)));
    if asked.limited_peer.is_some() {
        // The operation refuses it.
        return here(parts, body);
    }
    let (parts, kept) = if parts.uri.path() == MADE_AT {
        // It may bring a whole session.
        let mut request = Request::from_parts(parts, body);
        DefaultBodyLimit::max(FILE_LIMIT).apply(&mut request);
        let (parts, body) = request.into_parts();
        read_whole(parts, body).await?
    } else {
        read_whole(parts, body).await?
    };
    // What makes no sense is refused by the operation.
    let Some(wanted) = read_in::<SandboxPlacement>(&kept).await else {
        return here(parts, Body::from(kept));
    };
    show_caller(&parts, &asked.caller)?;
    let Some(named) = wanted.session() else {
        let wanted = Wanted { what: Kind::Sandbox, ..Wanted::default() };
        return placed::place(context, cluster, parts, asked.caller, &kept, &wanted).await;
    };
    let home = match find_arrived(context, &asked.caller.owner, &named).await? {
        Some(session) if session.node != context.node => cluster.living(session.node).await,
        _ => None,
    };
    // It is this node's, or that of none: the operation says which.
    let Some(row) = home else { return here(parts, Body::from(kept)) };
    let sending = sending(context, cluster, parts, Some(asked.caller)).await?;
    there(&sending, &row, kept).await
}

/// Passes a request on to the node that made the sandbox which it names, if that is another one that is there.
pub(super) async fn pass_on(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (mut parts, body) = request.into_parts();
    let ticket = routes::ticket(parts.uri.query()).filter(|_| parts.method == Method::GET);
    let caller = if ticket.is_some() {
        None
    } else {
        let asked = ask(&mut parts, context).await?;
        if asked.limited_peer.is_some() {
            // The operation refuses it.
            return Ok(Forwarding::Here(Request::from_parts(parts, body)));
        }
        Some(asked.caller)
    };
    let named = routes::sandbox(parts.uri.path()).unwrap_or_default();
    let maker = match &caller {
        Some(caller) => {
            let origin = Origin::from_request_parts(&mut parts, context).await?;
            everywhere::maker(context, cluster, caller, &origin, &named).await?
        }
        // A ticket is for a whole id.
        None => named.parse().ok().and_then(|id| everywhere::maker_of(context, cluster, id)),
    };
    let row = match maker.filter(|node| *node != context.node) {
        Some(node) => cluster.living(node).await,
        None => None,
    };
    let Some(row) = row else { return Ok(Forwarding::Here(Request::from_parts(parts, body))) };
    if let Some(caller) = &caller {
        show_caller(&parts, caller)?;
    }
    let sending = sending(context, cluster, parts, caller).await?;
    there(&sending, &row, carried(body).await?).await
}
