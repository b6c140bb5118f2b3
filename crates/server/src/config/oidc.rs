//! `[auth.oidc]`: which tokens open this node to others.

use super::values::{ConfigError, invalid, number};
use baton_session::Owner;
use baton_sync::oidc::{Issuer, OidcSettings};
use serde::Deserialize;
use std::time::Duration;

/// How far the clocks may be apart, in seconds, unless the settings say otherwise.
const USUAL_LEEWAY: u64 = 30;
/// The most texts of a list.
const MOST: usize = 100;

/// `[auth]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct AuthTexts {
    /// `[auth.oidc]`
    pub oidc: Option<OidcTexts>,
}

/// `[auth.oidc]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct OidcTexts {
    /// Who gives the tokens out; left out, Entra ID for `tenant`.
    pub issuer: Option<String>,
    /// The tenant of Entra ID to which they belong.
    pub tenant: Option<String>,
    /// For whom they are: one of these.
    pub audience: Option<Vec<String>>,
    /// To whom they were given: one of these clients.
    pub allowed_clients: Option<Vec<String>>,
    /// Roles or scopes that a token must have, each of them.
    pub roles: Option<Vec<String>>,
    /// Whose sessions their nodes exchange.
    pub owner: Option<String>,
    /// Seconds that the provider's clock may be from ours.
    pub leeway: Option<i64>,
}

/// Checks what one source says.
pub(super) fn check(origin: &str, texts: OidcTexts) -> Result<OidcSettings, ConfigError> {
    let OidcTexts { issuer, tenant, audience, allowed_clients, roles, owner, leeway } = texts;
    Ok(OidcSettings {
        issuer: self::issuer(origin, issuer.as_deref(), tenant.as_deref())?,
        tenant,
        audiences: some(origin, "auth.oidc.audience", audience)?,
        // Else every client of the provider would be let in.
        allowed_clients: some(origin, "auth.oidc.allowed_clients", allowed_clients)?,
        roles: list(origin, "auth.oidc.roles", roles.unwrap_or_default())?,
        owner: match owner {
            None => Owner::local(),
            Some(text) => text.parse().map_err(|_| {
                invalid(origin, "auth.oidc.owner", "the name of an owner", format!("{text:?}"))
            })?,
        },
        leeway: Duration::from_secs(
            number(origin, "auth.oidc.leeway", leeway, 0..=300)?.unwrap_or(USUAL_LEEWAY),
        ),
    })
}

fn issuer(origin: &str, issuer: Option<&str>, tenant: Option<&str>) -> Result<Issuer, ConfigError> {
    match (issuer, tenant) {
        (Some(text), _) => text.parse().map_err(|_| {
            let expected = "an http or https address without a user";
            invalid(origin, "auth.oidc.issuer", expected, "another text")
        }),
        (None, Some(tenant)) => Issuer::entra(tenant).map_err(|_| {
            invalid(origin, "auth.oidc.tenant", "the id of a tenant", format!("{tenant:?}"))
        }),
        (None, None) => {
            let expected = "an address, or auth.oidc.tenant to be set";
            Err(invalid(origin, "auth.oidc.issuer", expected, "nothing"))
        }
    }
}

/// A list that may not be empty.
fn some(
    origin: &str,
    key: &'static str,
    texts: Option<Vec<String>>,
) -> Result<Vec<String>, ConfigError> {
    let texts = texts.unwrap_or_default();
    if texts.is_empty() {
        return Err(invalid(origin, key, "a list of one or more", "none"));
    }
    list(origin, key, texts)
}

fn list(origin: &str, key: &'static str, texts: Vec<String>) -> Result<Vec<String>, ConfigError> {
    if texts.len() > MOST {
        return Err(invalid(origin, key, format!("at most {MOST} texts"), texts.len()));
    }
    if texts.iter().any(String::is_empty) {
        return Err(invalid(origin, key, "a list of texts", "an empty one"));
    }
    Ok(texts)
}
