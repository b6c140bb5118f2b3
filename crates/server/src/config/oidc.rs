//! Whom a provider of `OpenID` Connect vouches for (`[auth.oidc]`): nodes that show a token, and people who sign in to
//! the page (`[auth.oidc.people]`).

use super::{ConfigError, invalid, number};
use baton_session::{Owner, Scope};
use baton_sync::oidc::{ClientSecret, Issuer, OidcSettings, Rule, SignInSettings};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How far the clocks may be apart, in seconds, unless the settings say otherwise.
const USUAL_LEEWAY: u64 = 30;
/// The most texts of a list.
const MOST_TEXTS: usize = 100;
/// How long a page stays signed in, in seconds: the most, and what it is unless the settings say otherwise.
const LONGEST_PAGE: u16 = 12 * 60 * 60;
/// The longest text of a person's settings, in characters.
const TEXT_MAX: usize = 200;

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
    /// `[auth.oidc.people]`
    pub people: Option<SignInTexts>,
}

/// `[auth.oidc.people]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct SignInTexts {
    /// As which client this node sends people to the provider.
    pub client_id: Option<String>,
    /// The secret of the client.
    pub client_secret: Option<String>,
    /// The file that holds it.
    pub client_secret_file: Option<PathBuf>,
    /// What people call the provider; left out, its host.
    pub name: Option<String>,
    /// What is asked for beside `openid`.
    pub scopes: Option<Vec<String>>,
    /// Seconds that a page stays signed in at most.
    pub lasts: Option<i64>,
    /// Who comes in, in this order.
    pub rules: Option<Vec<RuleTexts>>,
}

/// A rule of `[auth.oidc.people]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RuleTexts {
    /// What of a person is looked at.
    pub claim: String,
    /// What it is, or has among others.
    pub value: String,
    /// In whose name they ask; left out, who runs the node.
    pub owner: Option<String>,
    /// What they may do.
    pub scopes: Vec<String>,
}

/// What `[auth.oidc]` lets in.
#[derive(Debug, Clone)]
pub struct OidcChoices {
    /// Nodes that show a token.
    pub nodes: Option<OidcSettings>,
    /// People who sign in to the page.
    pub people: Option<SignInSettings>,
}

/// Who vouches, for nodes and people alike.
struct Voucher {
    issuer: Issuer,
    tenant: Option<String>,
    leeway: Duration,
}

/// Checks what one source says.
pub(super) fn check(origin: &str, texts: OidcTexts) -> Result<OidcChoices, ConfigError> {
    let OidcTexts { issuer, tenant, audience, allowed_clients, roles, owner, leeway, people } =
        texts;
    let voucher = Voucher {
        issuer: self::issuer(origin, issuer.as_deref(), tenant.as_deref())?,
        tenant,
        leeway: Duration::from_secs(
            number(origin, "auth.oidc.leeway", leeway, 0..=300)?.unwrap_or(USUAL_LEEWAY),
        ),
    };
    // Where people alone come, nodes show keys.
    let names_nodes = audience.is_some() || allowed_clients.is_some() || people.is_none();
    let nodes = if names_nodes {
        Some(OidcSettings {
            issuer: voucher.issuer.clone(),
            tenant: voucher.tenant.clone(),
            audiences: some(origin, "auth.oidc.audience", audience)?,
            // Else every client of the provider would be let in.
            allowed_clients: some(origin, "auth.oidc.allowed_clients", allowed_clients)?,
            roles: list(origin, "auth.oidc.roles", roles.unwrap_or_default())?,
            owner: self::owner(origin, "auth.oidc.owner", owner)?,
            leeway: voucher.leeway,
        })
    } else {
        None
    };
    let people = people.map(|texts| check_people(origin, texts, voucher)).transpose()?;
    Ok(OidcChoices { nodes, people })
}

fn check_people(
    origin: &str,
    texts: SignInTexts,
    voucher: Voucher,
) -> Result<SignInSettings, ConfigError> {
    let SignInTexts { client_id, client_secret, client_secret_file, name, scopes, lasts, rules } =
        texts;
    let Voucher { issuer, tenant, leeway } = voucher;
    let client_id = client_id.unwrap_or_default();
    let host =
        || issuer.as_str().parse().ok().and_then(|url: Url| Some(url.host_str()?.to_owned()));
    let name = name.or_else(host).unwrap_or_default();
    let lasts = number(origin, "auth.oidc.people.lasts", lasts, 60..=i64::from(LONGEST_PAGE))?;
    let rules = rules.unwrap_or_default();
    if !(1..=MOST_TEXTS).contains(&rules.len()) {
        let expected = format!("a list of 1 to {MOST_TEXTS}");
        return Err(invalid(origin, "auth.oidc.people.rules", expected, rules.len()));
    }
    let usual = || ["profile", "email"].map(str::to_owned).into();
    Ok(SignInSettings {
        client_id: text(origin, "auth.oidc.people.client_id", client_id)?,
        client_secret: secret(origin, client_secret, client_secret_file)?,
        name: text(origin, "auth.oidc.people.name", name)?,
        scopes: list(origin, "auth.oidc.people.scopes", scopes.unwrap_or_else(usual))?,
        lasts: Duration::from_secs(lasts.unwrap_or(u64::from(LONGEST_PAGE))),
        rules: rules.into_iter().map(|texts| rule(origin, texts)).collect::<Result<_, _>>()?,
        issuer,
        tenant,
        leeway,
    })
}

fn rule(origin: &str, texts: RuleTexts) -> Result<Rule, ConfigError> {
    let RuleTexts { claim, value, owner, scopes } = texts;
    let key = "auth.oidc.people.rules.scopes";
    let read = |word: &String| {
        let all = Scope::ALL.map(Scope::as_str).join(", ");
        word.parse().map_err(|_| invalid(origin, key, format!("of {all}"), format!("{word:?}")))
    };
    let scopes: BTreeSet<Scope> =
        some(origin, key, Some(scopes))?.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Rule {
        claim: text(origin, "auth.oidc.people.rules.claim", claim)?,
        value: text(origin, "auth.oidc.people.rules.value", value)?,
        owner: self::owner(origin, "auth.oidc.people.rules.owner", owner)?,
        scopes,
    })
}

/// Where the secret is; what was found in its place is not repeated.
fn secret(
    origin: &str,
    text: Option<String>,
    file: Option<PathBuf>,
) -> Result<Option<ClientSecret>, ConfigError> {
    match (text, file) {
        (Some(_), Some(_)) => {
            let expected = "left out beside auth.oidc.people.client_secret_file";
            Err(invalid(origin, "auth.oidc.people.client_secret", expected, "both"))
        }
        (text, file) => {
            Ok(text.map(|text| ClientSecret::Given(text.into())).or(file.map(ClientSecret::File)))
        }
    }
}

fn owner(origin: &str, key: &'static str, text: Option<String>) -> Result<Owner, ConfigError> {
    let Some(text) = text else { return Ok(Owner::local()) };
    text.parse().map_err(|_| invalid(origin, key, "the name of an owner", format!("{text:?}")))
}

/// A text that is neither empty nor an essay.
fn text(origin: &str, key: &'static str, text: String) -> Result<String, ConfigError> {
    let length = text.chars().count();
    if (1..=TEXT_MAX).contains(&length) && !text.chars().any(char::is_control) {
        return Ok(text);
    }
    let expected = format!("a text of 1 to {TEXT_MAX} characters on one line");
    let found = if length == 0 { "nothing".to_owned() } else { format!("{length} characters") };
    Err(invalid(origin, key, expected, found))
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
    if texts.len() > MOST_TEXTS {
        return Err(invalid(origin, key, format!("at most {MOST_TEXTS} texts"), texts.len()));
    }
    if texts.iter().any(String::is_empty) {
        return Err(invalid(origin, key, "a list of texts", "an empty one"));
    }
    Ok(texts)
}
