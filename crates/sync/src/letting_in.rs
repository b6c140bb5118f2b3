//! What people do so that a peer lets this node in.

use crate::identity::Identity;
use baton_runtime::error::word;
use baton_session::peer::AuthMethod;

/// How much of a node's id a command names.
const PREFIX: usize = 8;

/// The command that gives this node what opens a peer. What is not known is in capitals.
pub fn command(url: &str, name: &str, method: AuthMethod) -> String {
    let plain = format!("baton peers add {} --name {}", word(url), word(name));
    match method {
        AuthMethod::ApiKey => plain,
        AuthMethod::Msal => {
            format!("{plain} --auth msal --tenant TENANT --client-id ID --scope SCOPE")
        }
        AuthMethod::Tunnel => format!("{plain} --auth tunnel"),
    }
}

/// What a peer is to be shown by this method.
pub fn wanted(method: AuthMethod) -> &'static str {
    match method {
        AuthMethod::ApiKey => "an API key",
        AuthMethod::Msal => "the token of a client that its provider knows",
        AuthMethod::Tunnel => "the token of a tunnel, with an API key",
    }
}

/// What is done so that there is something to give with that command.
pub fn preparation(method: AuthMethod) -> &'static str {
    match method {
        AuthMethod::ApiKey => "there, run: baton keys create --name NAME --scope sync",
        AuthMethod::Msal => {
            "at the provider, make a client with a secret, and name it there in \
             auth.oidc.allowed_clients"
        }
        AuthMethod::Tunnel => {
            "there, run: baton keys create --name NAME --scope sync; and devtunnel token TUNNEL \
             --scopes connect"
        }
    }
}

/// What a person types where this node is pending: with its fingerprint, so that it is compared there with
/// what is registered.
pub(crate) fn confirms_there(identity: &Identity) -> String {
    let (node, fingerprint) = (identity.node().to_string(), identity.key().fingerprint());
    let prefix = node.get(..PREFIX).unwrap_or(&node);
    format!("baton peers confirm {prefix} --fingerprint {}", word(&fingerprint.to_string()))
}

/// What opens a peer that is asked this way.
pub(crate) fn key_of(way: AuthMethod) -> &'static str {
    match way {
        AuthMethod::ApiKey => "an API key of",
        AuthMethod::Msal => "a client of the provider for",
        AuthMethod::Tunnel => "the token of a tunnel, and an API key, for",
    }
}
