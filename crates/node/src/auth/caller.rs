//! The caller of a request, and the scopes that handlers ask for.

use super::KeySecret;
use crate::http::Refusal;
use crate::{Context, NodeError};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use baton_api::Scope;
use baton_session::Owner;
use std::collections::BTreeSet;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose sessions are seen.
    pub owner: Owner,
    /// What the key allows.
    pub scopes: BTreeSet<Scope>,
}

impl Caller {
    /// Checks that the key allows `needed`.
    pub fn require(&self, needed: Scope) -> Result<(), NodeError> {
        if self.scopes.contains(&needed) {
            return Ok(());
        }
        let found: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        Err(NodeError::Forbidden { needed, found: found.join(", ") })
    }
}

impl FromRequestParts<Context> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let secret = bearer(&parts.headers)?;
        let key = context.store.find_key(secret.hash()).await.map_err(NodeError::from)?;
        let key = key.ok_or(NodeError::Unauthenticated { found: "an unknown or revoked key" })?;
        let scopes = key.scopes.into_iter().map(crate::keys::scope_view).collect();
        Ok(Self { owner: key.owner, scopes })
    }
}

fn bearer(headers: &HeaderMap) -> Result<KeySecret, NodeError> {
    let none = NodeError::Unauthenticated { found: "no such header" };
    let value = headers.get(AUTHORIZATION).ok_or(none)?;
    let text = value.to_str().unwrap_or_default();
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => return Err(NodeError::Unauthenticated { found: "another kind of credentials" }),
    };
    KeySecret::parse(token).ok_or(NodeError::Unauthenticated { found: "no key of Baton" })
}

/// A caller with a certain scope: the type of a handler's argument.
macro_rules! scoped {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Caller);

        impl FromRequestParts<Context> for $name {
            type Rejection = Refusal;

            async fn from_request_parts(
                parts: &mut Parts,
                context: &Context,
            ) -> Result<Self, Refusal> {
                let caller = Caller::from_request_parts(parts, context).await?;
                caller.require(Scope::$name)?;
                Ok(Self(caller))
            }
        }
    )*};
}

scoped! {
    /// A caller that may see sessions.
    Read;
    /// A caller that may change sessions.
    Drive;
    /// A caller that may manage keys and name browsers of this machine.
    Admin;
}
