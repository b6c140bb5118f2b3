//! What this node shows a peer to be let in, and what is done when that is refused.
//!
//! The one idea: a tunnel's token gets a request through the tunnel and proves nothing behind it, so it is
//! shown beside an API key or a client of a provider, and never in their place.
//!
//! A token may end at any moment, so one that was kept and is refused is thrown away, and another one is got,
//! once. What is refused then stays refused, and the caller hears by whom.

use crate::error::SyncError;
use crate::letting_in::{command, preparation};
use crate::oidc::{Issuer, OidcClient, ProviderError, Token, Tokens};
use baton_api::Invalid;
use baton_api::sync::{ClientCredential, RegisterPeer};
use baton_net::WayError;
use baton_net::outbound::{Reach, bearer, is_loopback};
use baton_runtime::error::word;
use baton_session::json;
use baton_session::peer::AuthMethod;
use http::HeaderName;
use http::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

/// What gets a request through a dev tunnel. It is never read here.
pub const TUNNEL: HeaderName = HeaderName::from_static("x-tunnel-authorization");

/// The longest id, scope or resource of a client, in bytes.
const TEXT_MAX: usize = 1024;

/// What this node shows a peer.
#[derive(Debug, Clone)]
pub(super) struct Credential {
    /// The token of the tunnel that leads there.
    tunnel: Option<SecretString>,
    /// What says who may talk.
    pub(super) pass: Pass,
}

/// What says who may talk.
#[derive(Debug, Clone)]
pub(super) enum Pass {
    /// An API key that the peer gave out.
    Key(SecretString),
    /// A client of the provider whose tokens the peer takes.
    Client(OidcClient),
}

/// A credential as it is sealed, for every method but an API key alone, which is its text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stored {
    #[serde(skip_serializing_if = "Option::is_none")]
    tunnel_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oidc: Option<ClientCredential>,
}

impl Credential {
    /// What a registration brings; none when it brings nothing.
    pub(super) fn from_registration(
        request: &mut RegisterPeer,
        reach: Reach,
    ) -> Result<Option<Self>, SyncError> {
        let method = request.auth_method;
        let (key, client) = (request.api_key.take(), request.oidc.take());
        let tunnel = request.tunnel_token.take();
        let brings = (tunnel.is_some(), key.is_some(), client.is_some());
        let expected = match (method, brings) {
            (_, (false, false, false)) => return Ok(None),
            (AuthMethod::ApiKey, (false, true, false))
            | (AuthMethod::Msal, (false, false, true))
            | (AuthMethod::Tunnel, (true, true, false) | (true, false, true)) => None,
            (AuthMethod::ApiKey, _) => Some("apiKey alone, as the method is apikey"),
            (AuthMethod::Msal, _) => Some("oidc alone, as the method is msal"),
            (AuthMethod::Tunnel, _) => {
                Some("tunnelToken with either apiKey or oidc, as the method is tunnel")
            }
        };
        if let Some(expected) = expected {
            let named = [(brings.0, "tunnelToken"), (brings.1, "apiKey"), (brings.2, "oidc")];
            let named: Vec<_> = named.iter().filter(|one| one.0).map(|one| one.1).collect();
            let found = named.join(", ");
            return Err(Invalid { field: "what the peer is shown", expected, found }.into());
        }
        let pass = match (key, client) {
            (Some(key), _) => Pass::Key(key.into()),
            (None, Some(client)) => Pass::Client(read(client, reach)?),
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { tunnel: tunnel.map(SecretString::from), pass }))
    }

    /// As it is sealed.
    pub(super) fn write(&self) -> SecretString {
        let exposed = |secret: &SecretString| secret.expose_secret().to_owned();
        let tunnel_token = self.tunnel.as_ref().map(exposed);
        let stored = match &self.pass {
            Pass::Key(key) if tunnel_token.is_none() => return key.clone(),
            Pass::Key(key) => Stored { tunnel_token, api_key: Some(exposed(key)), oidc: None },
            Pass::Client(client) => Stored {
                tunnel_token,
                api_key: None,
                oidc: Some(ClientCredential {
                    issuer: client.issuer.to_string(),
                    client_id: client.id.clone(),
                    client_secret: exposed(&client.secret),
                    scope: client.scope.clone(),
                    resource: client.resource.clone(),
                }),
            },
        };
        json::text(&stored).into()
    }

    /// What was sealed; none when it cannot be read any more.
    pub(super) fn open(method: AuthMethod, sealed: &SecretString) -> Option<Self> {
        if method == AuthMethod::ApiKey {
            return Some(Self { tunnel: None, pass: Pass::Key(sealed.clone()) });
        }
        let stored: Stored = serde_json::from_str(sealed.expose_secret()).ok()?;
        let pass = match (stored.api_key, stored.oidc) {
            (Some(key), _) => Pass::Key(key.into()),
            // What was registered was allowed then.
            (None, Some(client)) => Pass::Client(read(client, Reach { loopback: true }).ok()?),
            (None, None) => return None,
        };
        Some(Self { tunnel: stored.tunnel_token.map(SecretString::from), pass })
    }

    /// What gets a request through the tunnel, if one leads there.
    pub(super) fn tunnel(&self) -> Result<Option<HeaderValue>, SyncError> {
        let Some(token) = &self.tunnel else { return Ok(None) };
        let value = HeaderValue::from_str(&format!("tunnel {}", token.expose_secret()));
        let mut value = value.map_err(|_| WayError::NotAKey)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// A client as it is typed becomes what it means.
fn read(client: ClientCredential, reach: Reach) -> Result<OidcClient, SyncError> {
    let ClientCredential { issuer, client_id, client_secret, scope, resource } = client;
    let invalid = |field, expected, found: String| Invalid { field, expected, found };
    let issuer: Issuer = issuer.parse().map_err(|_| {
        let expected = "the address of a provider, without a user";
        invalid("oidc.issuer", expected, "another text".to_owned())
    })?;
    let is_here = Url::parse(issuer.as_str()).is_ok_and(|url| is_loopback(&url));
    if is_here && !reach.loopback {
        let found = format!("{issuer}, which is on this machine");
        return Err(WayError::AddressNotAllowed { found }.into());
    }
    let is_text = |text: &String| (1..=TEXT_MAX).contains(&text.len());
    let are_texts = [&scope, &resource].into_iter().flatten().all(is_text);
    if !is_text(&client_id) || client_secret.is_empty() || !are_texts {
        let expected = "a clientId, a clientSecret, and what else is given not to be empty";
        return Err(
            invalid("oidc", expected, "an empty text, or one that is too long".to_owned()).into()
        );
    }
    Ok(OidcClient { issuer, id: client_id, secret: client_secret.into(), scope, resource })
}

/// How a peer is asked.
#[derive(Clone)]
pub(crate) struct PeerAccess {
    pub(crate) name: String,
    pub(crate) url: Url,
    pub(crate) method: AuthMethod,
    /// What it is shown; none when this node was given none.
    pub(crate) credential: Option<Credential>,
    pub(crate) tokens: Tokens,
}

/// What is shown with one request.
pub(crate) struct Shown {
    /// None in a request that brings an invitation.
    pub(crate) authorization: Option<HeaderValue>,
    /// The token in it, if it is one.
    token: Option<Token>,
    /// Whether another one may help.
    is_kept: bool,
}

impl Shown {
    /// Nothing: what says who asks is in the request.
    pub(crate) fn nothing() -> Self {
        Self { authorization: None, token: None, is_kept: false }
    }
}

impl PeerAccess {
    /// What gets a request to the peer at all.
    pub(crate) fn tunnel(&self) -> Result<Option<HeaderValue>, SyncError> {
        self.credential.as_ref().map_or(Ok(None), Credential::tunnel)
    }

    /// What says who asks.
    pub(crate) async fn show(&self) -> Result<Shown, SyncError> {
        let Some(credential) = &self.credential else {
            let (name, url) = (self.name.clone(), self.url.clone());
            return Err(SyncError::NoKey { name, url, way: self.method });
        };
        match &credential.pass {
            Pass::Key(key) => {
                Ok(Shown { authorization: Some(bearer(key)?), token: None, is_kept: false })
            }
            Pass::Client(client) => {
                let found = self.tokens.of(client).await;
                let found = found.map_err(|why| self.no_token(client, why))?;
                let authorization = Some(bearer(&found.token.text)?);
                Ok(Shown { authorization, token: Some(found.token), is_kept: found.is_kept })
            }
        }
    }

    /// Throws away what was refused. Says whether another one may help.
    pub(crate) async fn discard(&self, shown: &Shown) -> bool {
        if let Some(Credential { pass: Pass::Client(client), .. }) = &self.credential
            && let Some(token) = &shown.token
        {
            self.tokens.discard(client, token).await;
        }
        shown.is_kept
    }

    /// The peer does not let this node in, and said why and perhaps what to do.
    pub(crate) fn not_let_in(&self, why: String, hint: Option<String>) -> SyncError {
        let again = self.again();
        let next = match hint {
            Some(hint) => format!("{hint}\nhere: {again}"),
            None => format!("{}\nwith that, run here: {again}", preparation(self.means())),
        };
        SyncError::NotLetIn { name: self.name.clone(), way: self.method, why, next }
    }

    /// What answers in the place of the peer is the tunnel.
    pub(crate) fn not_through(&self, why: String) -> SyncError {
        SyncError::Tunnel { name: self.name.clone(), why, next: self.again() }
    }

    fn no_token(&self, client: &OidcClient, why: ProviderError) -> SyncError {
        let again = self.again();
        let next = match &why {
            ProviderError::Silent { .. } => {
                "nothing is to be typed: this node asks again the next time".to_owned()
            }
            ProviderError::NotAsked { .. } => {
                "outbound.allow in the settings names what may be asked besides".to_owned()
            }
            ProviderError::NotAProvider { .. } => format!("with the right issuer, run: {again}"),
            ProviderError::Refused { .. } => format!(
                "make sure that the provider knows the client {}, its secret and what it asks for; \
                 then run: {again}",
                word(&client.id)
            ),
        };
        SyncError::NoToken { name: self.name.clone(), why: Box::new(why), next }
    }

    /// By what this node says who it acts for.
    fn means(&self) -> AuthMethod {
        match &self.credential {
            Some(Credential { pass: Pass::Client(_), .. }) => AuthMethod::Msal,
            _ => AuthMethod::ApiKey,
        }
    }

    /// The command that gives this node something else to show, with what is known.
    fn again(&self) -> String {
        let command = command(self.url.as_str(), &self.name, self.method);
        let Some(Credential { pass: Pass::Client(client), .. }) = &self.credential else {
            return command;
        };
        let plain = command.split(" --auth ").next().unwrap_or_default();
        let (issuer, id) = (word(client.issuer.as_str()), word(&client.id));
        let wish = |flag: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| format!(" --{flag} {}", word(value)))
        };
        let wishes = [wish("scope", &client.scope), wish("resource", &client.resource)].concat();
        format!("{plain} --auth {} --issuer {issuer} --client-id {id}{wishes}", self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::{Credential, Pass};
    use baton_api::sync::{ClientCredential, RegisterPeer};
    use baton_net::outbound::Reach;
    use baton_session::peer::AuthMethod;
    use secrecy::ExposeSecret;

    fn request(auth_method: AuthMethod, brings: &str) -> RegisterPeer {
        let client = ClientCredential {
            issuer: "https://id.test".to_owned(),
            client_id: "laptop".to_owned(),
            client_secret: "hidden".to_owned(),
            scope: None,
            resource: Some("urn:baton".to_owned()),
        };
        let has = |what: &str| brings.contains(what);
        RegisterPeer {
            url: "https://baton.test".parse().unwrap(),
            name: "cloud".to_owned(),
            auth_method,
            api_key: has("key").then(|| "hidden".to_owned()),
            oidc: has("oidc").then_some(client),
            tunnel_token: has("tunnel").then(|| "hidden".to_owned()),
            fingerprint: None,
            limits: None,
        }
    }

    #[test]
    fn each_method_wants_what_it_needs_and_nothing_else() {
        let (key, msal, tunnel) = (AuthMethod::ApiKey, AuthMethod::Msal, AuthMethod::Tunnel);
        for method in [key, msal, tunnel] {
            let fits = |brings| {
                let mut request = request(method, brings);
                Credential::from_registration(&mut request, Reach::default())
                    .map(|found| found.is_some())
            };
            assert!(!fits("").unwrap(), "an agent brings nothing");
            for (brings, wanted) in [
                ("key", method == key),
                ("oidc", method == msal),
                ("tunnel", false),
                ("key oidc", false),
                ("tunnel key", method == tunnel),
                ("tunnel oidc", method == tunnel),
                ("tunnel key oidc", false),
            ] {
                assert_eq!(fits(brings).is_ok(), wanted, "{method} with {brings}");
            }
        }
    }

    #[test]
    fn what_is_sealed_is_what_is_opened_and_shown_to_nobody() {
        for (method, brings) in [
            (AuthMethod::ApiKey, "key"),
            (AuthMethod::Msal, "oidc"),
            (AuthMethod::Tunnel, "tunnel key"),
            (AuthMethod::Tunnel, "tunnel oidc"),
        ] {
            let mut request = request(method, brings);
            let reach = Reach::default();
            let credential = Credential::from_registration(&mut request, reach).unwrap().unwrap();
            assert!(!format!("{request:?} {credential:?}").contains("hidden"));
            let opened = Credential::open(method, &credential.write()).unwrap();
            assert_eq!(opened.write().expose_secret(), credential.write().expose_secret());
            let tunnel = opened.tunnel().unwrap();
            assert_eq!(tunnel.is_some(), brings.contains("tunnel"));
            assert!(tunnel.is_none_or(|value| value.is_sensitive() && value == "tunnel hidden"));
            assert_eq!(matches!(opened.pass, Pass::Client(_)), brings.contains("oidc"));
        }
    }

    #[test]
    fn a_provider_of_this_machine_is_for_its_administrator() {
        let mut asked = request(AuthMethod::Msal, "oidc");
        asked.oidc.as_mut().unwrap().issuer = "http://127.0.0.1:9".to_owned();
        assert!(Credential::from_registration(&mut asked.clone(), Reach::default()).is_err());
        assert!(Credential::from_registration(&mut asked, Reach { loopback: true }).is_ok());
    }
}
