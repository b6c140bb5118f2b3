//! Lets in peers that show a good token: which clients may, of which tenant and with which roles.
//!
//! The one idea: what the provider signed says which client asks; the settings say whether that one is let in, and
//! in whose name.

use super::refusal::{Strangers, TokenRefusal};
use super::signed::{SignedTokens, Texts};
use super::{Issuer, shown};
use baton_net::outbound::Outbound;
use baton_session::Owner;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// The longest name of a client, in bytes.
const CLIENT_MAX: usize = 200;

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

/// The verifier of a node. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TokenVerifier(Arc<VerifierState>);

#[derive(Debug)]
struct VerifierState {
    settings: OidcSettings,
    tokens: SignedTokens,
    strangers: Strangers,
}

/// Who showed a good token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The client, as the provider names it.
    pub client: String,
    /// The provider.
    pub issuer: String,
    /// In whose name it asks.
    pub owner: Owner,
}

impl TokenVerifier {
    /// The verifier that these settings make; the provider is asked where `outbound` allows it.
    pub fn new(settings: OidcSettings, outbound: Outbound) -> Self {
        let (issuer, audiences) = (settings.issuer.clone(), settings.audiences.clone());
        let tokens = SignedTokens::new(issuer, audiences, settings.leeway, outbound);
        Self(Arc::new(VerifierState { settings, tokens, strangers: Strangers::default() }))
    }

    /// In whose name nodes ask that show a token.
    pub fn owner(&self) -> &Owner {
        &self.0.settings.owner
    }

    /// Whether the settings let a client in.
    pub(crate) fn allows(&self, client: &str) -> bool {
        self.0.settings.allowed_clients.iter().any(|allowed| allowed == client)
    }

    /// Counts refusals of tokens from unknown senders; see `Strangers::note`.
    pub fn stranger(&self) -> Option<u64> {
        self.0.strangers.note()
    }

    /// Who shows this token.
    pub async fn check(&self, token: &str) -> Result<Visitor, TokenRefusal> {
        let claims: Claims = self.0.tokens.read(token).await?;
        let client = self.admitted(&claims)?;
        let settings = &self.0.settings;
        let (issuer, owner) = (settings.issuer.to_string(), settings.owner.clone());
        Ok(Visitor { client, issuer, owner })
    }

    /// The client of a token, if it is let in.
    fn admitted(&self, claims: &Claims) -> Result<String, TokenRefusal> {
        let settings = &self.0.settings;
        let of = |text: Option<&str>| text.map_or_else(|| "none".to_owned(), shown);
        if let Some(expected) = &settings.tenant
            && claims.tid.as_ref() != Some(expected)
        {
            let found = of(claims.tid.as_deref());
            return Err(TokenRefusal::Tenant { expected: expected.clone(), found });
        }
        let client = claims.client().filter(|client| client.len() <= CLIENT_MAX);
        let Some(client) = client.filter(|client| self.allows(client)) else {
            return Err(TokenRefusal::Client { found: of(client) });
        };
        match settings.roles.iter().find(|role| !claims.allows(role)) {
            None => Ok(client.to_owned()),
            Some(missing) => {
                let found = claims.allowed().collect::<Vec<_>>().join(", ");
                let found = if found.is_empty() { "none".to_owned() } else { shown(&found) };
                Err(TokenRefusal::Role { expected: missing.clone(), found })
            }
        }
    }
}

/// What is looked at in a token.
#[derive(Debug, Default, Deserialize)]
struct Claims {
    /// The tenant, as Entra ID names it.
    #[serde(default)]
    tid: Option<String>,
    /// The client: in tokens of Entra ID's second version, of its first, and of others (RFC 9068).
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    appid: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    roles: Texts,
    /// Scopes, as Entra ID names them and as others do.
    #[serde(default)]
    scp: Texts,
    #[serde(default)]
    scope: Texts,
}

impl Claims {
    /// To whom the token was given; none when no client is named, or more than one.
    fn client(&self) -> Option<&str> {
        let mut named = [&self.azp, &self.appid, &self.client_id].into_iter().flatten();
        let first = named.next()?;
        named.all(|other| other == first).then_some(first)
    }

    /// Whether it has this role or scope.
    fn allows(&self, needed: &str) -> bool {
        self.allowed().any(|one| one == needed)
    }

    /// Its roles and scopes.
    fn allowed(&self) -> impl Iterator<Item = &str> {
        let scopes = self.scp.list().iter().chain(self.scope.list());
        let scopes = scopes.flat_map(|scopes| scopes.split_ascii_whitespace());
        self.roles.list().iter().map(String::as_str).chain(scopes)
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;
    use serde_json::json;

    #[test]
    fn clients_are_found_by_whatever_name_they_have() {
        for (claims, client) in [
            (json!({"azp": "a"}), Some("a")),
            (json!({"appid": "a", "azp": "a"}), Some("a")),
            (json!({"client_id": "a"}), Some("a")),
            (json!({"client_id": "a", "azp": "b"}), None),
            (json!({}), None),
        ] {
            let read: Claims = serde_json::from_value(claims.clone()).unwrap();
            assert_eq!(read.client(), client, "{claims}");
        }
    }

    #[test]
    fn roles_and_scopes_allow_alike() {
        let read = |claims| serde_json::from_value::<Claims>(claims).unwrap();
        assert!(read(json!({"roles": ["Sync", "Other"]})).allows("Sync"));
        assert!(read(json!({"scp": "other Sync"})).allows("Sync"));
        assert!(read(json!({"scope": "Sync"})).allows("Sync"));
        assert!(!read(json!({"scope": "Synchronous", "roles": ["Sync it"]})).allows("Sync"));
        assert!(!read(json!({})).allows("Sync"));
    }
}
