//! A node that may talk to this one: by an API key with the scope `sync`, or by a token of the provider.
//!
//! The one idea: a token opens what nodes ask each other, and nothing else. So it is looked at here and
//! nowhere else, and no other extractor takes one. No header but `Authorization` says who may talk.

use super::caller::{count, denied, known, refuse, show};
use crate::context::Context;
use crate::door::{Peer, Refusal};
use crate::error::NodeError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use baton_api::{Answers, Scope};
use baton_net::rates::Shown;
use baton_runtime::Actor;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note, is_asked_by};
use baton_runtime::keys::token;
use baton_session::Owner;
use baton_sync::oidc::{Gate, TokenRefusal, Visitor};
use baton_sync::peers::CLIENT;
use sha2::{Digest, Sha256};

/// In whose name a node asks that may talk. Who wrote what it says is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MayTalk(pub Caller);

impl FromRequestParts<Context> for MayTalk {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let Some(token) = token(&parts.headers) else {
            // Whether a limited peer has signed it is seen when its signature is verified.
            let (caller, _) = known(parts, context).await?;
            return match caller.require(Scope::Sync) {
                // What nodes ask each other ends by itself, also where a limited peer's key is good.
                Ok(()) => {
                    show(parts, &caller.key, None)?;
                    Ok(Self(caller))
                }
                Err(refused) => Err(denied(&caller, parts, context, refused).await.into()),
            };
        };
        let checked = match &context.own.gate {
            Some(gate) => {
                let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
                let shown = (Shown::Token, Sha256::digest(token).into());
                let is_good = |found: &Result<_, _>| Some(found.is_ok());
                context.rates.look_up(address, shown, gate.check(token), is_good).await
            }
            None => Err(TokenRefusal::NotTaken),
        };
        let caller = match checked {
            Ok(visitor) => caller(visitor),
            Err(refusal) => return Err(refused(parts, context, refusal).await.into()),
        };
        count(context, &caller.key)?;
        show(parts, &caller.key, None)?;
        is_asked_by(&caller);
        Ok(Self(caller))
    }
}

fn caller(visitor: Visitor) -> Caller {
    let Visitor { client, issuer, owner } = visitor;
    Caller {
        owner,
        // No key has such an id.
        key: format!("{CLIENT}{client}@{issuer}"),
        actor: Actor::client(&client, &issuer),
        scopes: [Scope::Sync].into(),
        agent: None,
    }
}

/// The answer to a token that opens nothing; it is noted, within bounds.
async fn refused(parts: &Parts, context: &Context, refusal: TokenRefusal) -> NodeError {
    let (why, is_vouched_for) = (refusal.word(), refusal.is_vouched_for());
    let error = refuse(parts, context, refusal.into());
    if matches!(error, NodeError::TooManyRequests { .. }) {
        return error;
    }
    let unnoted = match &context.own.gate {
        _ if is_vouched_for => Some(0),
        Some(gate) => gate.stranger(),
        None => None,
    };
    let Some(unnoted) = unnoted else { return error };
    let owner =
        context.own.gate.as_ref().map_or_else(Owner::local, |gate| Gate::owner(gate).clone());
    let subject = format!("{} {}", parts.method, parts.uri.path());
    let note = Note::new(&Actor::stranger(), &owner, Action::RefuseToken, subject);
    let detail = error.problem().detail;
    let note = note.with("refused", why).with("detail", detail);
    let note = if unnoted > 0 { note.with("unnoted", unnoted) } else { note };
    note.failed(&context.store, error).await
}
