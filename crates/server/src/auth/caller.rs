//! The caller of a request, and the scopes that handlers ask for.

use crate::context::Context;
use crate::door::{Peer, Refusal};
use crate::error::NodeError;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use baton_api::{AGENT_HEADER, Scope};
use baton_api::{Answers, Invalid};
use baton_net::connections::Visit;
use baton_net::rates::Shown;
use baton_runtime::Actor;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note, is_asked_by};
use baton_runtime::keys::{key_of, token};
use baton_session::{AgentName, Owner};
use baton_store::FoundKey;
use baton_sync::oidc::TokenRefusal;

/// Whoever has a key, whatever it allows: the type of a handler's argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known(pub Caller);

impl FromRequestParts<Context> for Known {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        Ok(Self(caller(parts, context).await?))
    }
}

/// Who asks; the key of a peer with limits is good for nothing here.
async fn caller(parts: &mut Parts, context: &Context) -> Result<Caller, Refusal> {
    let (caller, limited_peer) = known(parts, context).await?;
    match limited_peer {
        None => {
            show(parts, &caller.key, Some(&caller.owner))?;
            Ok(caller)
        }
        Some(peer) => {
            let refused = NodeError::KeyOfLimitedPeer { peer };
            Err(denied(&caller, parts, context, refused).await.into())
        }
    }
}

/// Whose key a request shows, and the limited peer whose key that is: then it is good for messages that the
/// peer has signed, and for nothing else.
pub(super) async fn known(
    parts: &mut Parts,
    context: &Context,
) -> Result<(Caller, Option<String>), Refusal> {
    let FoundKey { key, limited_peer } = match find_key(parts, context).await {
        Err(error @ (NodeError::Unauthenticated { .. } | NodeError::Token(_))) => {
            return Err(refuse(parts, context, error).into());
        }
        key => key?,
    };
    let actor = Actor::key(&key);
    count(context, &key.id)?;
    let agent = agent(&parts.headers)?;
    let caller = Caller { owner: key.owner, key: key.id, actor, scopes: key.scopes, agent };
    is_asked_by(&caller);
    Ok((caller, limited_peer))
}

/// Which agent a request says it comes from.
fn agent(headers: &HeaderMap) -> Result<Option<AgentName>, NodeError> {
    let Some(value) = headers.get(AGENT_HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let agent = text.parse().map_err(|_| Invalid {
        field: "the header Baton-Agent",
        expected: "an agent's name, 1 to 64 letters, digits, '.', '_' or '-'",
        found: format!("{:?}", text.chars().take(80).collect::<String>()),
    })?;
    Ok(Some(agent))
}

async fn find_key(parts: &Parts, context: &Context) -> Result<FoundKey, NodeError> {
    if token(&parts.headers).is_some() {
        return Err(TokenRefusal::NotHere.into());
    }
    let shown = (Shown::Key, key_of(&parts.headers)?.hash());
    let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
    let is_good = |key: &Result<Option<_>, _>| key.as_ref().ok().map(Option::is_some);
    let key =
        context.rates.look_up(address, shown, context.store.find_key(shown.1), is_good).await?;
    key.ok_or(NodeError::Unauthenticated { found: "an unknown or revoked key" })
}

/// Counts a request in the name of the key of this id, and fails when there were too many.
pub(crate) fn count(context: &Context, key: &str) -> Result<(), NodeError> {
    let what = "requests with one key";
    let limit = context.rates.limits().requests_per_minute;
    let asked = context.rates.asked(key);
    asked.map_err(|wait| NodeError::TooManyRequests { what, limit, wait })
}

/// Tells the connection in whose name it is held from now on; it ends with that key when `owner` says whose
/// it is. Fails when there are too many connections in this name.
pub(crate) fn show(parts: &Parts, key: &str, owner: Option<&Owner>) -> Result<(), NodeError> {
    let Some(visit) = parts.extensions.get::<Visit>() else { return Ok(()) };
    visit.show(key, owner).map_err(|limit| NodeError::TooManyConnections { limit })
}

/// The answer to a request without a good key or ticket: `error`. Addresses that send many hear so; a
/// good key from the same address is never shut out, or else any user of a machine could shut out
/// the others.
pub(crate) fn refuse(parts: &Parts, context: &Context, error: NodeError) -> NodeError {
    attempt(parts, context).err().unwrap_or(error)
}

/// Counts that somebody without a good key tries something, before it is looked at; fails when their address
/// tried too often. [`Rates::give_back`](baton_net::rates::Rates::give_back) forgets one that was good.
pub(crate) fn attempt(parts: &Parts, context: &Context) -> Result<(), NodeError> {
    let noted = match parts.extensions.get::<Peer>() {
        Some(Peer(address)) => context.rates.refused(*address),
        None => Ok(()),
    };
    let limit = context.rates.limits().refused_keys_per_minute;
    noted.map_err(|wait| NodeError::TooManyRequests {
        what: "requests without a good key",
        limit,
        wait,
    })
}

/// A caller with a scope that allows what is asked for: the type of a handler's argument.
macro_rules! scoped {
    ($($(#[$doc:meta])* $name:ident: $needed:ident $(or $instead:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Caller);

        impl FromRequestParts<Context> for $name {
            type Rejection = Refusal;

            async fn from_request_parts(
                parts: &mut Parts,
                context: &Context,
            ) -> Result<Self, Refusal> {
                let caller = caller(parts, context).await?;
                $(if caller.scopes.contains(&Scope::$instead) {
                    return Ok(Self(caller));
                })?
                if let Err(refused) = caller.require(Scope::$needed) {
                    return Err(denied(&caller, parts, context, refused).await.into());
                }
                Ok(Self(caller))
            }
        }
    )*};
}

/// A known key that does not allow it: that is noted.
pub(super) async fn denied<E: Answers>(
    caller: &Caller,
    parts: &Parts,
    context: &Context,
    refused: E,
) -> E {
    let subject = format!("{} {}", parts.method, parts.uri.path());
    let note = Note::new(&caller.actor, &caller.owner, Action::Request, subject);
    note.failed(&context.store, refused).await
}

scoped! {
    /// A caller that may see sessions.
    Read: Read;
    /// A caller that may change sessions.
    Drive: Drive;
    /// A caller that may exchange sessions with other nodes.
    Sync: Sync;
    /// A caller that may manage keys and name browsers of this machine.
    Admin: Admin;
    /// A caller that may look into tabs.
    Debug: Debug;
    /// A caller that may make sandboxes, and run commands in them.
    Sandbox: Sandbox;
    /// A browser that may tell of its tabs.
    Browser: Browser;
    /// A caller that may read the audit log, or a part of it.
    Auditor: Read or Admin;
}
