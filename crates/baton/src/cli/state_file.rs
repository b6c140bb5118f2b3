//! A session as a file: read and opened where it lies, and put where one goes that leaves.
//!
//! One that leaves is a login: it never goes to a screen, and is sealed if asked.

use super::{Context, prompt};
use anyhow::Context as _;
use baton_api::FileText;
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::import::{self, ImportError};
use baton_store::data::write_private;
use baton_sync::bundle::{self, BundleKey, Recipient};
use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is not there.
    #[error("expected a file at {}, found none", .0.display())]
    NotThere(PathBuf),
    /// It is too large.
    #[error("expected {} to have at most {limit} bytes, found more", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How many it may have.
        limit: usize,
    },
    /// It is sealed.
    #[error(
        "expected an identity that opens {}, which is sealed, found none\nname its file with \
         --identity", .0.display()
    )]
    Sealed(PathBuf),
    /// It is of no known kind.
    #[error("{}: {source}", path.display())]
    OtherKind {
        /// Which file.
        path: PathBuf,
        /// What it is.
        source: ImportError,
    },
}

/// The document in the file at `path`; `identity` is the file with what opens a sealed one, unless a
/// passphrase does.
pub(super) fn read(
    path: &Path,
    identity: Option<&Path>,
    passphrase: Option<SecretString>,
) -> anyhow::Result<FileText> {
    // Sealing adds little, and what is in a bundle has its own bound.
    let mut bytes = read_bounded(path, FILE_LIMIT + FILE_LIMIT / 64)?;
    if bundle::is_sealed(&bytes) {
        if bundle::is_by_passphrase(&bytes) {
            let passphrase = prompt::to_open_bundle(passphrase)?;
            bytes = bundle::open_by_passphrase(&bytes, passphrase, FILE_LIMIT)?;
            return text_of(&bytes, path);
        }
        let Some(identity) = identity else {
            return Err(Unreadable::Sealed(path.to_owned()).into());
        };
        let text = SecretString::from(String::from_utf8(read_bounded(identity, 1 << 20)?)?);
        let identities = BundleKey::parse_all(text.expose_secret())?;
        bytes = bundle::open(&bytes, &identities, FILE_LIMIT)?;
    }
    text_of(&bytes, path)
}

/// The document in a file that is not sealed.
pub(super) fn plain(path: &Path) -> anyhow::Result<FileText> {
    text_of(&read_bounded(path, FILE_LIMIT)?, path)
}

/// Whether it is a sync file, which only the node opens for which it was sealed.
pub(super) fn is_for_a_node(file: &FileText) -> bool {
    #[derive(serde::Deserialize)]
    struct Sealed {
        #[serde(rename = "sealed")]
        _sealed: serde::de::IgnoredAny,
        #[serde(rename = "signature")]
        _signature: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Sealed>(file.as_str()).is_ok()
}

fn text_of(bytes: &[u8], path: &Path) -> anyhow::Result<FileText> {
    let text = import::text(bytes);
    let text = text.map_err(|source| Unreadable::OtherKind { path: path.to_owned(), source })?;
    Ok(FileText::of(text.into_owned()))
}

/// The bytes of a file that has at most `limit` of them.
pub(super) fn read_bounded(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Unreadable::NotThere(path.to_owned()).into());
        }
        file => file.with_context(|| format!("could not read {}", path.display()))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() > limit {
        return Err(Unreadable::TooLarge { path: path.to_owned(), limit }.into());
    }
    Ok(bytes)
}

/// Where to, and for whom.
#[derive(Debug, Args)]
pub(super) struct DestinationArgs {
    /// Where to; an older file there is replaced once the new one is whole [default: standard
    /// output, unless that is a terminal]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Seal the file for this age recipient, age1…; may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    to: Vec<String>,
    /// Seal the file with a passphrase, which is asked for, or is in `BATON_BUNDLE_PASSPHRASE`
    #[arg(long, conflicts_with = "to")]
    passphrase: bool,
    #[arg(long, env = "BATON_BUNDLE_PASSPHRASE", hide = true, hide_env_values = true)]
    set_passphrase: Option<SecretString>,
}

/// A login that was to be shown on a screen, or among other things.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPlace {
    /// Standard output is a terminal.
    #[error("expected a file for the session, found a terminal\nname one with -o PATH")]
    Terminal,
    /// Standard output carries the answer.
    #[error(
        "expected a file for the session together with --json, found none\nname one with -o PATH"
    )]
    Json,
}

/// A place that was found fit before anything was read.
#[derive(Debug)]
pub(super) struct Destination {
    /// None for standard output.
    pub(super) path: Option<PathBuf>,
    /// As they were typed.
    pub(super) sealed_for: Vec<String>,
    recipients: Vec<Recipient>,
    passphrase: Option<SecretString>,
}

impl DestinationArgs {
    /// Looks whether something can be written there.
    pub(super) fn find(self, context: &Context) -> anyhow::Result<Destination> {
        let path = match self.output {
            Some(path) => Some(std::path::absolute(path)?),
            None if context.output.is_json() => return Err(NoPlace::Json.into()),
            None if std::io::stdout().is_terminal() => return Err(NoPlace::Terminal.into()),
            None => None,
        };
        let recipients = self.to.iter().map(|to| Recipient::parse(to));
        let recipients = recipients.collect::<Result<_, _>>()?;
        let passphrase = self.passphrase.then(|| prompt::to_seal_bundle(self.set_passphrase));
        let passphrase = passphrase.transpose()?;
        Ok(Destination { path, sealed_for: self.to, recipients, passphrase })
    }

    /// The peer for which the file is sealed, when it is one that is named: no recipient of age.
    pub(super) fn peer(&self) -> Option<&str> {
        match self.to.as_slice() {
            [to] if !to.trim().starts_with("age1") => Some(to.trim()),
            _ => None,
        }
    }

    /// The same place for a file that is sealed already.
    pub(super) fn find_for_sealed(mut self, context: &Context) -> anyhow::Result<Destination> {
        let sealed_for = std::mem::take(&mut self.to);
        Ok(Destination { sealed_for, ..self.find(context)? })
    }
}

impl Destination {
    /// Writes the file, sealed if it is for somebody. How many bytes it has.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<usize> {
        let sealed;
        let bytes = if let Some(passphrase) = &self.passphrase {
            sealed = bundle::seal_by_passphrase(text.as_bytes(), passphrase.clone())?;
            sealed.as_slice()
        } else if self.recipients.is_empty() {
            text.as_bytes()
        } else {
            sealed = bundle::seal(text.as_bytes(), &self.recipients)?;
            sealed.as_slice()
        };
        match &self.path {
            Some(path) => write_private(path, bytes)?,
            None => std::io::stdout().write_all(bytes).context("could not write the session")?,
        }
        Ok(bytes.len())
    }

    /// Says who can read what was written.
    pub(super) fn warn(&self, context: &Context) {
        context.output.note(if self.passphrase.is_some() {
            "the file is sealed: whoever has it and knows the passphrase is logged in"
        } else if self.sealed_for.is_empty() {
            "whoever has this file is logged in: keep it as you keep a password"
        } else if self.recipients.is_empty() {
            "the file is sealed: only the node of that peer can open it"
        } else {
            "the file is sealed: only who has the identity of a recipient can open it"
        });
    }
}
