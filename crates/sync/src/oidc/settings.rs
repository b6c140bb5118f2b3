//! Which tokens open this node to others.

use super::issuer::Issuer;
use baton_session::Owner;
use std::time::Duration;

/// Which tokens open this node to others, and in whose name their nodes ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcSettings {
    /// Who gives them out.
    pub issuer: Issuer,
    /// The tenant of Entra ID to which they belong; none looks at no tenant.
    pub tenant: Option<String>,
    /// For whom they are: one of these.
    pub audiences: Vec<String>,
    /// To whom they were given: one of these clients.
    pub allowed_clients: Vec<String>,
    /// What they allow: all of these, each a role or a scope.
    pub roles: Vec<String>,
    /// Whose sessions their nodes exchange.
    pub owner: Owner,
    /// How far the provider's clock may be from ours.
    pub leeway: Duration,
}
