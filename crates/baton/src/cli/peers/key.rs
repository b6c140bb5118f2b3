//! The API key that another node gave out: from a file, from the environment, or asked for.

use anyhow::Context as _;
use clap::Args;
use console::Term;
use secrecy::{ExposeSecret, SecretString};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// Where the key is.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// File with the API key that the other node gave out [default: `BATON_PEER_KEY`, else it
    /// is asked for]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The key
    #[arg(long, env = "BATON_PEER_KEY", hide = true, hide_env_values = true)]
    peer_key: Option<SecretString>,
}

/// A key that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum PeerKeyError {
    /// The file is not there.
    #[error("expected a file with the API key of the other node at {}, found none", .0.display())]
    NotThere(PathBuf),
    /// There is nothing in it.
    #[error(
        "expected the API key of the other node, found nothing but blanks\nbaton keys create \
         --name NAME --scope sync makes one there"
    )]
    Empty,
    /// Nobody can be asked.
    #[error(
        "expected the API key of the other node, found none\ngive --key-file, set BATON_PEER_KEY, \
         or run this on a terminal; baton keys create --name NAME --scope sync makes a key there"
    )]
    Missing,
}

impl KeyArgs {
    /// The key: what a file says goes before what is set, and that before asking.
    pub(super) fn find(self) -> anyhow::Result<SecretString> {
        let found = match (self.key_file, self.peer_key) {
            (Some(path), _) => read(&path)?,
            (None, Some(set)) => set,
            (None, None) => ask()?,
        };
        let bare = found.expose_secret().trim();
        if bare.is_empty() {
            return Err(PeerKeyError::Empty.into());
        }
        Ok(bare.into())
    }
}

fn read(path: &Path) -> anyhow::Result<SecretString> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(PeerKeyError::NotThere(path.to_owned()).into())
        }
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

fn ask() -> anyhow::Result<SecretString> {
    let terminal = Term::stderr();
    if !std::io::stdin().is_terminal() || !terminal.is_term() {
        return Err(PeerKeyError::Missing.into());
    }
    terminal.write_str("API key of the other node (it is not shown): ")?;
    Ok(terminal.read_secure_line().context("could not read the key")?.into())
}
