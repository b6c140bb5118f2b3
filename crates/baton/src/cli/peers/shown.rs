//! What the other node is to be shown: an API key, a client of a provider, and what gets through a tunnel.
//!
//! What is secret of it comes from a file, from the environment, or from the user on a terminal. It never
//! stands on a command line, which every user of the machine can read.

use anyhow::Context as _;
use baton_api::sync::{ClientCredential, RegisterPeer};
use baton_session::peer::AuthMethod;
use baton_sync::oidc::Issuer;
use clap::Args;
use console::Term;
use secrecy::{ExposeSecret, SecretString};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// What is shown, and where that is which is secret.
#[derive(Debug, Args)]
pub(super) struct Shown {
    /// File with the API key that the other node gave out [default: `BATON_PEER_KEY`, else it
    /// is asked for]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The key
    #[arg(long, env = "BATON_PEER_KEY", hide = true, hide_env_values = true)]
    peer_key: Option<SecretString>,
    /// With a client of Entra ID: the tenant to which it belongs
    #[arg(long, value_name = "TENANT", conflicts_with = "issuer")]
    tenant: Option<String>,
    /// With a client of another provider: what that calls itself, an address
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// As which client this node asks the provider for tokens
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// What it asks for, such as `api://baton/.default`
    #[arg(long)]
    scope: Option<String>,
    /// For whom the token is to be, where the provider wants that instead of a scope
    #[arg(long)]
    resource: Option<String>,
    /// File with the secret of the client [default: `BATON_PEER_CLIENT_SECRET`, else it is asked for]
    #[arg(long, value_name = "FILE")]
    client_secret_file: Option<PathBuf>,
    /// The secret
    #[arg(long, env = "BATON_PEER_CLIENT_SECRET", hide = true, hide_env_values = true)]
    peer_client_secret: Option<SecretString>,
    /// File with the token of the tunnel [default: `BATON_PEER_TUNNEL_TOKEN`, else it is asked for]
    #[arg(long, value_name = "FILE")]
    tunnel_token_file: Option<PathBuf>,
    /// The token
    #[arg(long, env = "BATON_PEER_TUNNEL_TOKEN", hide = true, hide_env_values = true)]
    peer_tunnel_token: Option<SecretString>,
}

/// What was typed does not fit the method.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum NotShown {
    /// Something is missing.
    #[error("expected {missing} with --auth {method}, found none")]
    Missing {
        /// Which flag.
        missing: &'static str,
        /// The method.
        method: AuthMethod,
    },
    /// Something is for another method.
    #[error("expected no {found} with --auth {method}; it is for another method")]
    Foreign {
        /// Which flag.
        found: &'static str,
        /// The method.
        method: AuthMethod,
    },
    /// The tenant is none.
    #[error("expected the id of a tenant, found {0:?}")]
    Tenant(String),
}

impl Shown {
    /// Puts what the method needs into the request.
    pub(super) fn fill(self, request: &mut RegisterPeer) -> anyhow::Result<()> {
        let method = request.auth_method;
        self.check(method)?;
        let by_client = method == AuthMethod::Msal || self.client_id.is_some();
        if method == AuthMethod::Tunnel {
            let file = self.tunnel_token_file.as_deref();
            let token = TUNNEL_TOKEN.find(file, self.peer_tunnel_token.clone())?;
            request.tunnel_token = Some(token.expose_secret().to_owned());
        }
        if by_client {
            request.oidc = Some(self.client(method)?);
        } else {
            let key = KEY.find(self.key_file.as_deref(), self.peer_key)?;
            request.api_key = Some(key.expose_secret().to_owned());
        }
        Ok(())
    }

    /// Refuses what is typed and would be of no use.
    fn check(&self, method: AuthMethod) -> Result<(), NotShown> {
        let of_tunnel = [(self.tunnel_token_file.is_some(), "--tunnel-token-file")];
        let of_client = [
            (self.client_id.is_some(), "--client-id"),
            (self.tenant.is_some(), "--tenant"),
            (self.issuer.is_some(), "--issuer"),
            (self.scope.is_some(), "--scope"),
            (self.resource.is_some(), "--resource"),
            (self.client_secret_file.is_some(), "--client-secret-file"),
        ];
        let of_key = [(self.key_file.is_some(), "--key-file")];
        let without_tunnel = method != AuthMethod::Tunnel;
        let by_client = method == AuthMethod::Msal || self.client_id.is_some();
        let without_client = method == AuthMethod::ApiKey || !by_client;
        let given = |flags: &[(bool, &'static str)]| {
            flags.iter().find(|(is_given, _)| *is_given).map(|(_, flag)| *flag)
        };
        let foreign = given(&of_tunnel)
            .filter(|_| without_tunnel)
            .or_else(|| given(&of_key).filter(|_| by_client && method != AuthMethod::ApiKey))
            .or_else(|| given(&of_client).filter(|_| without_client));
        match foreign {
            // A tunnel leads to a client too, once it has a name.
            Some(_) if method == AuthMethod::Tunnel && !by_client => {
                Err(NotShown::Missing { missing: "--client-id", method })
            }
            Some(found) => Err(NotShown::Foreign { found, method }),
            None => Ok(()),
        }
    }

    fn client(self, method: AuthMethod) -> anyhow::Result<ClientCredential> {
        let missing = |missing| NotShown::Missing { missing, method };
        let issuer = match (self.issuer, self.tenant) {
            (Some(issuer), _) => issuer,
            (None, Some(tenant)) => {
                let issuer = Issuer::entra(&tenant).map_err(|_| NotShown::Tenant(tenant))?;
                issuer.as_str().to_owned()
            }
            (None, None) => return Err(missing("--tenant, or --issuer,").into()),
        };
        let client_id = self.client_id.ok_or_else(|| missing("--client-id"))?;
        if self.scope.is_none() && self.resource.is_none() {
            return Err(missing("--scope, or --resource,").into());
        }
        let file = self.client_secret_file.as_deref();
        let secret = CLIENT_SECRET.find(file, self.peer_client_secret)?;
        Ok(ClientCredential {
            issuer,
            client_id,
            client_secret: secret.expose_secret().to_owned(),
            scope: self.scope,
            resource: self.resource,
        })
    }
}

/// What is looked for.
#[derive(Debug)]
pub(in crate::cli) struct WantedSecret {
    /// What people call it, with its article.
    pub(super) what: &'static str,
    /// The flag that names a file.
    pub(super) flag: &'static str,
    /// The variable of the environment.
    pub(super) variable: &'static str,
    /// How it is had.
    pub(super) made_by: &'static str,
}

impl WantedSecret {
    /// The secret: what a file says goes before what is set, and that before asking.
    pub(super) fn find(
        &'static self,
        file: Option<&Path>,
        set: Option<SecretString>,
    ) -> anyhow::Result<SecretString> {
        let found = match (file, set) {
            (Some(path), _) => self.read(path)?,
            (None, Some(set)) => set,
            (None, None) => self.ask()?,
        };
        let bare = found.expose_secret().trim();
        if bare.is_empty() {
            let Self { what, made_by, .. } = self;
            return Err(PeerKeyError::Empty { what, made_by }.into());
        }
        Ok(bare.into())
    }

    fn read(&self, path: &Path) -> anyhow::Result<SecretString> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(text.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (what, path) = (self.what, path.to_owned());
                Err(PeerKeyError::NotThere { what, path }.into())
            }
            Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
        }
    }

    fn ask(&'static self) -> anyhow::Result<SecretString> {
        let terminal = Term::stderr();
        if !std::io::stdin().is_terminal() || !terminal.is_term() {
            return Err(PeerKeyError::Missing(self).into());
        }
        terminal.write_str(&format!("Give {} (it is not shown): ", self.what))?;
        let line = terminal.read_secure_line();
        Ok(line.with_context(|| format!("could not read {}", self.what))?.into())
    }
}

/// An API key that the other node gave out.
const KEY: WantedSecret = WantedSecret {
    what: "the API key of the other node",
    flag: "--key-file",
    variable: "BATON_PEER_KEY",
    made_by: "baton keys create --name NAME --scope sync makes a key there",
};

/// The secret of a client.
const CLIENT_SECRET: WantedSecret = WantedSecret {
    what: "the secret of the client",
    flag: "--client-secret-file",
    variable: "BATON_PEER_CLIENT_SECRET",
    made_by: "the provider, such as Entra ID, makes one for the client",
};

/// The token of a dev tunnel.
const TUNNEL_TOKEN: WantedSecret = WantedSecret {
    what: "the token of the tunnel",
    flag: "--tunnel-token-file",
    variable: "BATON_PEER_TUNNEL_TOKEN",
    made_by: "devtunnel token TUNNEL --scopes connect makes one there",
};

/// A secret that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum PeerKeyError {
    /// The file is not there.
    #[error("expected a file with {what} at {}, found none", .path.display())]
    NotThere {
        /// What was looked for.
        what: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// There is nothing in it.
    #[error("expected {what}, found nothing but blanks\n{made_by}")]
    Empty {
        /// What was looked for.
        what: &'static str,
        /// How it is had.
        made_by: &'static str,
    },
    /// There is no terminal on which to ask the user.
    #[error(
        "expected {}, found none\ngive {}, set {}, or run this on a terminal; {}",
        .0.what, .0.flag, .0.variable, .0.made_by
    )]
    Missing(&'static WantedSecret),
}
