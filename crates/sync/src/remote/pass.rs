//! Lets this node in at a peer: what is shown there, and what is done when that is refused.
//!
//! The one idea: a token may end at any moment, so one that was kept and is refused is thrown away, and
//! another one is got, once. What is refused then stays refused, and whoever asked is told by whom.

use super::super::credential::{Credential, Pass};
use super::super::letting_in::{command, preparation};
use crate::error::SyncError;
use crate::oidc::{OidcClient, ProviderError, Token, Tokens};
use baton_net::client::bearer;
use baton_runtime::shell::word;
use baton_session::peer::AuthMethod;
use http::header::HeaderValue;
use url::Url;

/// How a peer is asked.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) name: String,
    pub(crate) url: Url,
    pub(crate) method: AuthMethod,
    /// What it is shown; none when nobody gave it to this node.
    pub(crate) credential: Option<Credential>,
    pub(crate) tokens: Tokens,
}

/// What is shown with one request.
pub(crate) struct Shown {
    pub(crate) authorization: HeaderValue,
    /// The token in it, if it is one.
    token: Option<Token>,
    /// Whether another one may help.
    is_kept: bool,
}

impl Way {
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
                Ok(Shown { authorization: bearer(key)?, token: None, is_kept: false })
            }
            Pass::Client(client) => {
                let found = self.tokens.of(client).await;
                let found = found.map_err(|why| self.no_token(client, why))?;
                let authorization = bearer(&found.token.text)?;
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
