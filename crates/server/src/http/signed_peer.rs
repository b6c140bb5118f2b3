//! Messages between nodes: opened on the way in, sealed and signed on the way out.
//!
//! The one idea: an API key or a token says who may talk, the signature who talks, and the seal keeps what is
//! in between from reading along. A handler is given what was said once all three are checked.

use crate::auth::MayTalk;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::Response;
use baton_api::{ErrorCode, NodeCard};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::{NodeSignature, SessionId};
use baton_store::blocking::blocking;
use baton_store::{Peer, clock};
use baton_sync::identity::SealKey;
use baton_sync::messages::{sign_response, verify_request};
use baton_sync::sealing::SealContext;
use baton_sync::{SEALED, SyncError, Topic, is_seen, peers, sealing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A request of a node that is known, or that shows its key for the first time.
pub(super) struct SignedPeer {
    /// In whose name it asks.
    pub(super) caller: Caller,
    /// The node.
    pub(super) peer: Peer,
    /// Whether it may have had something of the session before that it asks about.
    pub(super) may_have: bool,
    signature: NodeSignature,
    body: Bytes,
}

impl FromRequest<Context> for SignedPeer {
    type Rejection = Refusal;

    async fn from_request(request: Request, context: &Context) -> Result<Self, Refusal> {
        let (mut parts, body) = request.into_parts();
        let MayTalk(caller) = MayTalk::from_request_parts(&mut parts, context).await?;
        let request = Request::from_parts(parts.clone(), body);
        let body = Bytes::from_request(request, context)
            .await
            .map_err(|rejection| Refusal::new(ErrorCode::BodyTooLarge, rejection.body_text()))?;
        let (asked, signed) = (parts.clone(), body.clone());
        let nonces = Arc::clone(&context.own.nonces);
        // A body may be megabytes, all of which the signature covers.
        let verify = move || verify_request(&asked, &signed, clock::now(), &nonces);
        let verified = match blocking(verify).await.map_err(NodeError::from)? {
            Ok(verified) => verified,
            Err(error) => {
                let why = error.to_string();
                return Err(refused(context, &caller, SyncError::Untrusted { why }).await.into());
            }
        };
        let NodeCard { node_id, .. } = &verified.card;
        tracing::debug!(node = %node_id, path = parts.uri.path(), "a node asks");
        let peer = peers::admit(context, &caller, &verified.card).await?;
        peers::heard(context, &peer);
        let mut may_have = false;
        if let Some(session) = session_of(&mut parts).await {
            may_have = peers::may_have(context, &peer, session).await?;
            // A session that it is not given is not shown, however often it asks.
            let view = &peer.limits.give;
            if may_have || is_seen(context, &peer.owner, session, view).await? {
                peers::may_hold(context, &peer, session).await?;
            }
        }
        Ok(Self { caller, peer, may_have, signature: verified.signature, body })
    }
}

/// The session in the address of a request, if there is one.
async fn session_of(parts: &mut Parts) -> Option<SessionId> {
    let path = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    path.iter().find(|(name, _)| *name == "id")?.1.parse().ok()
}

/// A message that cannot be trusted is noted.
async fn refused(context: &Context, caller: &Caller, error: SyncError) -> NodeError {
    let note = Note::new(&caller.actor, &caller.owner, Action::Request, "a message between nodes");
    note.failed(&context.store, error.into()).await
}

impl SignedPeer {
    /// What was said, of at most `limit` bytes.
    pub(super) async fn open(
        &self,
        context: &Context,
        topic: Topic,
        limit: usize,
    ) -> Result<Vec<u8>, NodeError> {
        let seal = SealContext {
            purpose: topic.asked,
            session: topic.session,
            revision: None,
            recipient: context.node,
            sender: self.peer.node,
        };
        // A copy of the handle, not of the bytes.
        let (identity, body) = (context.own.identity.now(), self.body.clone());
        match blocking(move || sealing::open(&identity, &seal, &body, limit)).await? {
            Ok(opened) => Ok(opened),
            Err(error) => {
                let why = error.to_string();
                Err(refused(context, &self.caller, SyncError::Untrusted { why }).await)
            }
        }
    }

    /// The same as JSON.
    pub(super) async fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        context: &Context,
        topic: Topic,
        limit: usize,
    ) -> Result<T, NodeError> {
        let plain = self.open(context, topic, limit).await?;
        let read = blocking(move || serde_json::from_slice(&plain)).await?;
        read.map_err(|error: serde_json::Error| {
            SyncError::Untrusted { why: format!("expected {}, found {error}", topic.asked) }.into()
        })
    }

    /// Answers in JSON.
    pub(super) async fn tell(
        &self,
        context: &Context,
        topic: Topic,
        answer: impl Serialize + Send + 'static,
    ) -> Result<Response, NodeError> {
        self.write(context, topic, move || serde_json::to_vec(&answer), true).await
    }

    /// Answers what `write` writes; `compress` when that pays.
    pub(super) async fn answer(
        &self,
        context: &Context,
        topic: Topic,
        write: impl FnOnce() -> Vec<u8> + Send + 'static,
        compress: bool,
    ) -> Result<Response, NodeError> {
        self.write(context, topic, move || Ok(write()), compress).await
    }

    /// An answer may be megabytes, so it is written, sealed and signed off the async threads. One that
    /// cannot be written is an error: an empty one would say something else.
    async fn write(
        &self,
        context: &Context,
        topic: Topic,
        write: impl FnOnce() -> serde_json::Result<Vec<u8>> + Send + 'static,
        compress: bool,
    ) -> Result<Response, NodeError> {
        let untrusted = |why: String| SyncError::Untrusted { why };
        let identity = context.own.identity.now();
        let recipient: SealKey =
            self.peer.seal_key.parse().map_err(|_| untrusted("its seal key is none".to_owned()))?;
        let seal = SealContext {
            purpose: topic.answered,
            session: topic.session,
            revision: None,
            recipient: self.peer.node,
            sender: identity.node(),
        };
        let asked = self.signature;
        let work = move || {
            let plain =
                write().map_err(|source| SyncError::NotWritten { what: seal.purpose, source })?;
            let sealed = sealing::seal(&recipient, &seal, &plain, compress)
                .map_err(|error| untrusted(error.to_string()))?;
            let mut response = Response::new(());
            response.headers_mut().insert(CONTENT_TYPE, SEALED);
            let (mut parts, ()) = response.into_parts();
            sign_response(&identity, &mut parts, &sealed, &asked, clock::now())
                .map_err(|error| untrusted(error.to_string()))?;
            Ok::<_, SyncError>(Response::from_parts(parts, sealed.into()))
        };
        Ok(blocking(work).await??)
    }
}
