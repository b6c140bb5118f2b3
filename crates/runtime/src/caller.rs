//! Who asks, and what they may.

use super::actor::Actor;
use super::error::RuntimeError;
use baton_api::Scope;
use baton_session::{AgentName, Owner};
use std::collections::BTreeSet;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose sessions are seen.
    pub owner: Owner,
    /// The id of the key, or of the client that a provider vouches for.
    pub key: String,
    /// What the audit log calls the caller.
    pub actor: Actor,
    /// What the key allows.
    pub scopes: BTreeSet<Scope>,
    /// Which agent it says it is.
    pub agent: Option<AgentName>,
}

impl Caller {
    /// The node itself, in the name of an owner: what it does without anybody asking for it.
    pub fn node(owner: Owner) -> Self {
        let scopes = [Scope::Read, Scope::Sync].into();
        Self { owner, key: "node".to_owned(), actor: Actor::node(), scopes, agent: None }
    }

    /// Checks that the key allows `needed`.
    pub fn require(&self, needed: Scope) -> Result<(), RuntimeError> {
        if self.scopes.contains(&needed) {
            return Ok(());
        }
        let found: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        Err(RuntimeError::Forbidden { needed, found: found.join(", ") })
    }
}
