//! Where a login goes that leaves as a file: never to a screen, and sealed if asked.

use super::{Context, passphrase};
use anyhow::Context as _;
use baton_store::data::write_private;
use baton_sync::bundle;
use baton_sync::bundle::Recipient;
use clap::Args;
use secrecy::SecretString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

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
        let passphrase = self.passphrase.then(|| passphrase::to_seal_bundle(self.set_passphrase));
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
