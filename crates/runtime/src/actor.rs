//! Who does something.

use baton_store::{ApiKey, AuditEntry};
use std::fmt;

/// Who does something: an API key, a client of a provider, or the node by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor(String);

impl Actor {
    /// The node, at its start or on its own account.
    pub fn node() -> Self {
        Self(AuditEntry::NODE.to_owned())
    }

    /// A key. Its id stands behind its name, so that no name can pass for another's, or the node's.
    pub fn key(key: &ApiKey) -> Self {
        Self(format!("{} ({})", key.name, key.id))
    }

    /// Another node, by a token that the provider `issuer` gave to `client`.
    pub fn client(client: &str, issuer: &str) -> Self {
        Self(format!("client {client} of {issuer}"))
    }

    /// Somebody with a token that opens nothing.
    pub fn stranger() -> Self {
        Self("a token".to_owned())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
