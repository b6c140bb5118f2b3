//! Any node of a cluster takes any request: what needs the node of a session goes there, and its answer back.
//!
//! The one idea: a client is let in where it came, and what it wants is done where the session is. So the first node
//! finds out who asks, counts it, and passes on who that is, signed; the second believes a living node of its own
//! cluster, and does it only for sessions of its own: nothing is passed on twice. `routes` says what goes on, `placed`
//! finds a node with room, `sandboxes` the node of a sandbox, `guests` that of an ask, `pages` that of a code of the page, `tabs` that of a tab, `browsers` that of a code or ticket of a person's browser, `send` is the way out, `take` the way in, where `whole` holds a body to what was signed of it, and `tunnel` joins connections that are upgraded.

mod browsers;
mod guests;
mod pages;
mod placed;
mod routes;
mod sandboxes;
mod send;
mod tabs;
mod take;
mod tunnel;
mod whole;

pub use routes::{Place, ROUTES};
pub(super) use take::{sign, take};

use super::request::Here;
use crate::auth::{ask, show_caller};
use crate::cluster::{Carried, Cluster, Kind, Passed, Passing, Wanted};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{OwnBody, Peer, Refusal};
use crate::mcp;
use crate::moving::MOVE_LIMIT;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_runtime::Caller;
use baton_session::{Lifecycle, Session};
use baton_store::ClusterRow;
use baton_store::blocking::blocking;
use send::{NodeAnswer, Sending};
use serde::de::DeserializeOwned;

/// The largest body that is kept until it is sure that the session has not moved, in bytes.
const KEPT_BODY: u64 = 64 << 10;

/// The layer around the routes: passes on what another node has to do.
pub(super) async fn pass(State(context): State<Context>, request: Request, next: Next) -> Response {
    let Some(cluster) = context.cluster.clone() else { return next.run(request).await };
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let place = route.as_deref().and_then(|route| routes::place(request.method(), route));
    let is_passed = request.extensions().get::<Passed>().is_some();
    let passed = match place {
        Some(Place::SessionsNode) if is_passed => expect_own(&context, request).await,
        Some(Place::SessionsNode) => pass_on(&context, &cluster, request).await,
        Some(Place::SessionsNodeOrRoom) if is_passed => expect_free(&context, request).await,
        Some(Place::SessionsNodeOrRoom) => resume(&context, &cluster, request).await,
        Some(Place::Room) if is_passed => expect_taking(&cluster, Kind::Browser, request),
        Some(Place::SandboxRoom) if is_passed => expect_taking(&cluster, Kind::Sandbox, request),
        Some(Place::Room) => {
            let placed = placed::open(&context, &cluster, request).await;
            unless_drained(&cluster, Kind::Browser, placed)
        }
        Some(Place::NamedNode) if is_passed => expect_named(&context, request),
        Some(Place::NamedNode) => to_named(&context, &cluster, request).await,
        Some(Place::SandboxRoom) => {
            let placed = sandboxes::make(&context, &cluster, request).await;
            unless_drained(&cluster, Kind::Sandbox, placed)
        }
        // What is not there is said by the operation.
        Some(
            Place::SandboxesNode
            | Place::AsksNode
            | Place::TabsNode
            | Place::CodesNode
            | Place::BrowsersNode,
        ) if is_passed => Ok(Forwarding::Here(request)),
        Some(Place::SandboxesNode) => sandboxes::pass_on(&context, &cluster, request).await,
        Some(Place::TabsNode) => tabs::pass_on(&context, &cluster, request).await,
        Some(Place::BrowsersNode) => browsers::pass_on(&context, &cluster, request).await,
        Some(Place::CodesNode) => pages::pass_on(&context, &cluster, request).await,
        Some(Place::AsksNode) => guests::pass_on(&context, &cluster, request).await,
        Some(Place::Everywhere) => Ok(Forwarding::Here(request)),
        Some(Place::McpSessionsNode) if is_passed => expect_begun(&context, request),
        Some(Place::McpSessionsNode) => to_begun(&context, &cluster, request).await,
        _ if is_passed => Err(NodeError::Misdirected { found: "one that any node answers" }.into()),
        _ => Ok(Forwarding::Here(request)),
    };
    match passed {
        Ok(Forwarding::Here(request)) => next.run(request).await,
        Ok(Forwarding::HereFirst(request, others)) => {
            others.unless_full(next.run(request).await).await
        }
        Ok(Forwarding::There(answer)) => answer,
        Err(refusal) => refusal.into_response(),
    }
}

/// Where a request is answered.
enum Forwarding {
    Here(Request),
    /// Here, and where there is no room at others.
    HereFirst(Request, Box<placed::Others>),
    There(Response),
}

/// What another node passed on is about a session of this one, or of none.
async fn expect_own(context: &Context, request: Request) -> Result<Forwarding, Refusal> {
    let caller = request.extensions().get::<Passed>().and_then(|passed| passed.caller.clone());
    let found = arrived(context, caller.as_ref(), request.uri().path(), request.method()).await?;
    match found {
        Some(session) if session.node != context.node => {
            Err(NodeError::Misdirected { found: "one of another node" }.into())
        }
        _ => Ok(Forwarding::Here(request)),
    }
}

/// The same for a resume, which this node may do of another's session as well, unless that one runs it.
async fn expect_free(context: &Context, request: Request) -> Result<Forwarding, Refusal> {
    let caller = request.extensions().get::<Passed>().and_then(|passed| passed.caller.clone());
    match find(context, caller.as_ref(), request.uri().path()).await? {
        Some(session) if session.node != context.node && session.lifecycle == Lifecycle::Active => {
            Err(NodeError::Misdirected { found: "one that runs at another node" }.into())
        }
        _ => Ok(Forwarding::Here(request)),
    }
}

/// A new session or sandbox that another node sends here, which goes on unless this node takes none.
fn expect_taking(cluster: &Cluster, what: Kind, request: Request) -> Result<Forwarding, Refusal> {
    if cluster.is_draining() {
        let found = format!("{} is being drained", cluster.name());
        return Err(NodeError::NoNodeHasRoom { what, found }.into());
    }
    Ok(Forwarding::Here(request))
}

/// The same for one that stays at this node, which was asked.
fn unless_drained(
    cluster: &Cluster,
    what: Kind,
    placed: Result<Forwarding, Refusal>,
) -> Result<Forwarding, Refusal> {
    match placed? {
        Forwarding::Here(request) => expect_taking(cluster, what, request),
        elsewhere => Ok(elsewhere),
    }
}

/// What another node passed on names this one.
fn expect_named(context: &Context, request: Request) -> Result<Forwarding, Refusal> {
    let is_this = routes::node(request.uri().path()) == Some(context.node.to_string());
    if is_this {
        return Ok(Forwarding::Here(request));
    }
    Err(NodeError::Misdirected { found: "one for another node" }.into())
}

/// What another node passed on names a session of the protocol that this one began.
fn expect_begun(context: &Context, request: Request) -> Result<Forwarding, Refusal> {
    if mcp::begun_at(request.headers()) == Some(context.node) {
        return Ok(Forwarding::Here(request));
    }
    Err(NodeError::Misdirected { found: "one of no session of the protocol here" }.into())
}

/// The session that a request names: one of the caller, or any where a ticket says who asks. None where there is no
/// such session, which the operation itself says.
async fn find(
    context: &Context,
    caller: Option<&Caller>,
    path: &str,
) -> Result<Option<Session>, NodeError> {
    let Some(named) = routes::session(path) else { return Ok(None) };
    Ok(match caller {
        Some(caller) => context.find_if_there(&caller.owner, &named).await?,
        None => match named.parse() {
            Ok(id) => context.store.fetch_any_session(id).await?,
            Err(_) => None,
        },
    })
}

/// The same, once the session has arrived where it is going: who drives or captures it meanwhile waits. Who looks at
/// it is told that it does not run.
async fn arrived(
    context: &Context,
    caller: Option<&Caller>,
    path: &str,
    method: &Method,
) -> Result<Option<Session>, NodeError> {
    let found = find(context, caller, path).await?;
    let Some(session) = found else { return Ok(None) };
    let looks = method == Method::GET && path.matches('/').count() == 2;
    if looks || !context.supervisor.table().arrived(session.id, MOVE_LIMIT).await {
        return Ok(Some(session));
    }
    find(context, caller, path).await
}

/// A resume goes to the node that has the profile, if that is there and has room; else to one with room. One that
/// runs is its node's.
async fn resume(
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
    let path = parts.uri.path().to_owned();
    let Some(session) = arrived(context, Some(&asked.caller), &path, &parts.method).await? else {
        return here(parts, body);
    };
    if session.lifecycle == Lifecycle::Active {
        return pass_on(context, cluster, Request::from_parts(parts, body)).await;
    }
    let (parts, kept) = read_whole(parts, body).await?;
    show_caller(&parts, &asked.caller)?;
    let labels = context.store.fetch_session_labels(session.id).await;
    let labels = labels.map_err(NodeError::from)?;
    let wanted = Wanted { labels, first: Some(session.node), ..Wanted::default() };
    placed::place(context, cluster, parts, asked.caller, &kept, &wanted).await
}

/// Passes a request on to the node that it names, if that is another one that is there.
async fn to_named(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (mut parts, body) = request.into_parts();
    let here = |parts, body| Ok(Forwarding::Here(Request::from_parts(parts, body)));
    let named = routes::node(parts.uri.path()).unwrap_or_default();
    let asked = ask(&mut parts, context).await?;
    let found = cluster.named(&named).await.map_err(NodeError::from)?;
    let is_elsewhere = |row: &ClusterRow| row.is_there && row.member.node != context.node;
    let Some(row) = found.filter(is_elsewhere).filter(|_| asked.limited_peer.is_none()) else {
        return here(parts, body);
    };
    show_caller(&parts, &asked.caller)?;
    // The other node knows itself by its id alone.
    parts.uri = routes::with_node(&parts.uri, row.member.node);
    let sending = sending(context, cluster, parts, Some(asked.caller)).await?;
    there(&sending, &row, carried(body).await?).await
}

/// Passes a request on to the node that began its session of the protocol, if that is another one that is there.
async fn to_begun(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let begun_at = mcp::begun_at(request.headers()).filter(|node| *node != context.node);
    let Some(begun_at) = begun_at else { return Ok(Forwarding::Here(request)) };
    let (mut parts, body) = request.into_parts();
    let asked = ask(&mut parts, context).await?;
    let row = cluster.living(begun_at).await.filter(|_| asked.limited_peer.is_none());
    // Where it has ended, the client hears that, and begins another one.
    let Some(row) = row else { return Ok(Forwarding::Here(Request::from_parts(parts, body))) };
    show_caller(&parts, &asked.caller)?;
    let sending = sending(context, cluster, parts, Some(asked.caller)).await?;
    match sending.try_send(&row, carried(body).await?).await? {
        Ok(NodeAnswer::Answer(answer) | NodeAnswer::Misdirected(answer)) => {
            Ok(Forwarding::There(answer))
        }
        Err(unreachable) if unreachable.may_have_begun => Err(NodeError::from(unreachable).into()),
        Err(_) => Err(NodeError::NoMcpSession.into()),
    }
}

/// Passes a request on, if its session is that of another node that is there.
async fn pass_on(
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
    let path = parts.uri.path().to_owned();
    let found = arrived(context, caller.as_ref(), &path, &parts.method).await?;
    let Some(home) = found.map(|session| session.node) else {
        return Ok(Forwarding::Here(Request::from_parts(parts, body)));
    };
    if home == context.node {
        return Ok(Forwarding::Here(Request::from_parts(parts, body)));
    }
    let Some(row) = cluster.living(home).await else {
        return Ok(Forwarding::Here(Request::from_parts(parts, body)));
    };
    if let Some(caller) = &caller {
        show_caller(&parts, caller)?;
    }
    let sending = sending(context, cluster, parts, caller).await?;
    let (body, kept) = keep(body).await?;
    let sent = kept.clone().map_or(Carried::Stream(body), Carried::Whole);
    match sending.send(&row, sent).await? {
        NodeAnswer::Answer(answer) => Ok(Forwarding::There(answer)),
        NodeAnswer::Misdirected(answer) => {
            // The session may have moved since it was looked up.
            let now = find(context, sending.caller.as_ref(), &path).await?;
            let now = now.map(|session| session.node);
            let (Some(now), Some(kept)) = (now.filter(|now| *now != home), kept) else {
                return Ok(Forwarding::There(answer));
            };
            if now == context.node {
                return Ok(Forwarding::Here(Request::from_parts(sending.parts, Body::from(kept))));
            }
            let Some(row) = cluster.living(now).await else { return Ok(Forwarding::There(answer)) };
            there(&sending, &row, kept).await
        }
    }
}

/// All of a request but its body.
async fn sending(
    context: &Context,
    cluster: &Cluster,
    mut parts: Parts,
    caller: Option<Caller>,
) -> Result<Sending, Refusal> {
    let here = Here::from_request_parts(&mut parts, context).await?.into_url();
    let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
    // Of who comes with a ticket, the other node knows which page it was given to.
    let page = match caller {
        Some(_) => context.page(&parts.headers, None).await?,
        None => None,
    };
    let shown = page.as_ref().map(|page| page.cookie);
    let passing = Passing::new(context.node, caller.as_ref(), here, address, shown);
    let (context, cluster) = (context.clone(), cluster.clone());
    Ok(Sending { context, cluster, parts, passing, caller, page, cookie: None })
}

/// Asks a node that has the last word.
async fn there(
    sending: &Sending,
    row: &ClusterRow,
    body: impl Into<Carried>,
) -> Result<Forwarding, Refusal> {
    match sending.send(row, body.into()).await? {
        NodeAnswer::Answer(answer) | NodeAnswer::Misdirected(answer) => {
            Ok(Forwarding::There(answer))
        }
    }
}

/// All of a body, which may be as large as the operation has it. How much all bodies have together is counted as they
/// come, until they are answered.
async fn read_whole(parts: Parts, body: Body) -> Result<(Parts, Bytes), Refusal> {
    let request = Request::from_parts(parts.clone(), body);
    let bytes = Bytes::from_request(request, &()).await.map_err(JsonRejection::from)?;
    Ok((parts, bytes))
}

/// Reads what a body says, away from those who wait where it is large; none where it makes no sense.
async fn read_in<T: DeserializeOwned + Send + 'static>(body: &Bytes) -> Option<T> {
    if body.len() as u64 <= KEPT_BODY {
        return serde_json::from_slice(body).ok();
    }
    let body = body.clone();
    blocking(move || serde_json::from_slice(&body).ok()).await.ok().flatten()
}

/// A body, and once more if it is small.
async fn keep(body: Body) -> Result<(Body, Option<Bytes>), Refusal> {
    let is_small = body.size_hint().upper().is_some_and(|upper| upper <= KEPT_BODY);
    if !is_small {
        return Ok((body, None));
    }
    let most = usize::try_from(KEPT_BODY).unwrap_or(usize::MAX);
    let bytes = to_bytes(body, most).await.map_err(|_| {
        Refusal::new(
            baton_api::ErrorCode::InvalidRequest,
            "expected a whole body, found that it broke off",
        )
    })?;
    Ok((Body::from(bytes.clone()), Some(bytes)))
}

/// A body as it is sent to another node: whole, with its digest, if it is small.
async fn carried(body: Body) -> Result<Carried, Refusal> {
    let (body, kept) = keep(body).await?;
    Ok(kept.map_or(Carried::Stream(body), Carried::Whole))
}

/// Whether an answer says that the request was for another node.
fn is_misdirected(status: StatusCode) -> bool {
    status == StatusCode::MISDIRECTED_REQUEST
}

/// Marks an answer of another node, whose body says itself what went wrong.
fn own_body(answer: &mut Response) {
    answer.extensions_mut().insert(OwnBody);
}
