//! Something secret that a peer is shown: from a file, from the environment, or asked for. It never
//! stands on a command line, which every user of the machine can read.

use anyhow::Context as _;
use console::Term;
use secrecy::{ExposeSecret, SecretString};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// What is looked for.
#[derive(Debug)]
pub(in crate::cli) struct Secret {
    /// What people call it, with its article.
    pub(super) what: &'static str,
    /// The flag that names a file.
    pub(super) flag: &'static str,
    /// The variable of the environment.
    pub(super) variable: &'static str,
    /// How it is had.
    pub(super) made_by: &'static str,
}

/// An API key that the other node gave out.
pub(super) const KEY: Secret = Secret {
    what: "the API key of the other node",
    flag: "--key-file",
    variable: "BATON_PEER_KEY",
    made_by: "baton keys create --name NAME --scope sync makes a key there",
};
/// The secret of a client.
pub(super) const CLIENT_SECRET: Secret = Secret {
    what: "the secret of the client",
    flag: "--client-secret-file",
    variable: "BATON_PEER_CLIENT_SECRET",
    made_by: "the provider, such as Entra ID, makes one for the client",
};
/// The token of a dev tunnel.
pub(super) const TUNNEL_TOKEN: Secret = Secret {
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
    /// Nobody can be asked.
    #[error(
        "expected {}, found none\ngive {}, set {}, or run this on a terminal; {}",
        .0.what, .0.flag, .0.variable, .0.made_by
    )]
    Missing(&'static Secret),
}

impl Secret {
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
