//! Invitations over HTTP: what people do at both nodes, and the one request by which a node joins.

use super::answer::{Answer, JsonBody, answer};
use super::exchange::SignedPeer;
use super::peer_listener;
use super::request::{Json, Path, Query};
use crate::auth::{Admin, attempt};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{Peer, Refusal};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use baton_api::sync::{
    CancelInvitation, CreateInvitation, CreatedInvitation, InvitationList, JoinPeer, PeerView,
    RedeemInvitation,
};
use baton_api::{ErrorCode, Problem};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_store::blocking::blocking;
use baton_store::clock;
use baton_sync::messages::{NonceCache, verify_request};
use baton_sync::sealing::SealContext;
use baton_sync::{SyncError, Topic, peers, sealing};
use std::net::SocketAddr;
use url::Url;

/// The longest request of a node that joins, before it is sealed.
const REDEEM_MAX: usize = 1 << 10;

/// Invites another node: the text in the answer lets one node join, once, within ten minutes. With `listen`
/// this node listens for peers there from now on, in TLS with a certificate of its own. Needs the scope `admin`.
#[utoipa::path(
    post, path = "/sync/invitations", tag = "sync", security(("api_key" = [])),
    responses((status = 201, body = CreatedInvitation), (status = "4XX", body = Problem))
)]
pub(super) async fn invite(
    State(context): State<Context>,
    Admin(caller): Admin,
    Json(CreateInvitation { listen, addresses }): Json<CreateInvitation>,
) -> Result<impl IntoResponse, Refusal> {
    let mut opened_for = context.peer_place.inviting().await;
    let before = context.peer_place.address().await;
    // What is refused opens no listener.
    let wanted = peer_listener::reachable(&context, listen.or(before), addresses.clone())?;
    peers::expect_invitable(&context, &caller, &wanted).await?;
    let made = listen_and_invite(&context, &caller, listen, addresses).await;
    let may_be_open = listen.is_some() && before.is_none();
    // Where it was opened for this, nobody was invited who would come there.
    if made.is_err()
        && may_be_open
        && context.peer_place.address().await.is_some()
        && let Err(error) = listen_no_more(&context, &caller).await
    {
        tracing::error!(%error, "what was opened for an invitation was not noted as closed");
    }
    let created = made?;
    *opened_for = may_be_open.then(|| created.id.clone());
    Ok((StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], answer(created).await?))
}

async fn listen_no_more(context: &Context, caller: &Caller) -> Result<(), NodeError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::ListenForPeers, "no more");
    note.end(&context.store, peer_listener::close(context).await).await
}

async fn listen_and_invite(
    context: &Context,
    caller: &Caller,
    listen: Option<SocketAddr>,
    addresses: Vec<Url>,
) -> Result<CreatedInvitation, NodeError> {
    if let Some(address) = listen {
        let note =
            Note::new(&caller.actor, &caller.owner, Action::ListenForPeers, address.to_string());
        note.end(&context.store, peer_listener::open(context, address).await).await?;
    }
    let listens = context.peer_place.address().await;
    let reachable = peer_listener::reachable(context, listens, addresses)?;
    Ok(peers::invite(context, caller, reachable).await?)
}

/// The open invitations, without their texts, and where this node listens for peers alone. Needs the scope
/// `admin`.
#[utoipa::path(
    get, path = "/sync/invitations", operation_id = "invitations", tag = "sync",
    security(("api_key" = [])),
    responses((status = 200, body = InvitationList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Admin(caller): Admin,
) -> Answer<InvitationList> {
    let items = peers::invitations(&context, &caller).await?;
    let listens = context.peer_place.address().await;
    answer(InvitationList { listens, items }).await
}

/// Takes an open invitation back. Needs the scope `admin`.
#[utoipa::path(
    delete, path = "/sync/invitations/{id}", operation_id = "cancel_invitation", tag = "sync",
    security(("api_key" = [])), params(("id" = String, Path), CancelInvitation),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn cancel(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<String>,
    Query(CancelInvitation { listener }): Query<CancelInvitation>,
) -> Result<StatusCode, Refusal> {
    let mut opened_for = context.peer_place.inviting().await;
    peers::cancel_invitation(&context, &caller, &id).await?;
    if listener && opened_for.as_ref() == Some(&id) {
        *opened_for = None;
        listen_no_more(&context, &caller).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Takes an invitation of another node: both nodes are confirmed peers of each other then. Needs the scope
/// `admin`.
#[utoipa::path(
    post, path = "/sync/join", tag = "sync", security(("api_key" = [])),
    responses((status = 201, body = PeerView), (status = "4XX", body = Problem))
)]
pub(super) async fn join(
    State(context): State<Context>,
    Admin(caller): Admin,
    Json(request): Json<JoinPeer>,
) -> Result<(StatusCode, JsonBody<PeerView>), Refusal> {
    let view = peers::join(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, answer(view).await?))
}

/// Closes the listener for peers alone; it is not opened at the next start. Needs the scope `admin`.
#[utoipa::path(
    delete, path = "/sync/listener", tag = "sync", security(("api_key" = [])),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn close_listener(
    State(context): State<Context>,
    Admin(caller): Admin,
) -> Result<StatusCode, Refusal> {
    let mut opened_for = context.peer_place.inviting().await;
    *opened_for = None;
    listen_no_more(&context, &caller).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets a node join that proves that it has the secret of an invitation; what it is given is sealed for it.
/// Needs no key: the proof is one, and the node has signed the request.
#[utoipa::path(
    post, path = "/sync/invitations/redeem", tag = "between nodes",
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn redeem(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    // Every try is counted before it is looked at: a guesser cannot try many secrets.
    attempt(&parts, &context)?;
    let body = Bytes::from_request(Request::from_parts(parts.clone(), body), &context)
        .await
        .map_err(|rejection| Refusal::new(ErrorCode::BodyTooLarge, rejection.body_text()))?;
    let (asked, signed) = (parts.clone(), body.clone());
    let identity = context.own.identity.now();
    let read = move || {
        // Whatever comes twice finds the invitation used up, so strangers fill no memory of nonces.
        let verified = verify_request(&asked, &signed, clock::now(), &NonceCache::default());
        let verified = verified.map_err(|error| error.to_string())?;
        let seal = SealContext {
            purpose: Topic::INVITATION.asked,
            session: None,
            revision: None,
            recipient: identity.node(),
            sender: verified.card.node_id,
        };
        let plain = sealing::open(&identity, &seal, &signed, REDEEM_MAX);
        let plain = plain.map_err(|error| error.to_string())?;
        let request: RedeemInvitation =
            serde_json::from_slice(&plain).map_err(|error| error.to_string())?;
        Ok((verified, request))
    };
    let read: Result<_, String> = blocking(read).await.map_err(NodeError::from)?;
    let (verified, request) = read.map_err(|why| NodeError::from(SyncError::Untrusted { why }))?;
    let (caller, peer, joined) = peers::redeem(&context, &verified.card, &request).await?;
    if let Some(Peer(address)) = parts.extensions.get() {
        context.rates.refund(*address);
    }
    let from = SignedPeer::joined(caller, peer, verified.signature);
    Ok(from.tell(&context, Topic::INVITATION, joined).await?)
}
