//! What a person is asked: yes or no before a file is changed or logins are taken, and passphrases.
//!
//! A passphrase seals or opens a backup or a bundle, and comes from the environment when it is set there.

use crate::output::Output;
use anyhow::Context as _;
use baton_session::printable::Printable;
use clap::Args;
use console::Term;
use secrecy::{ExposeSecret, SecretString};
use std::io::IsTerminal;

/// Whether somebody agreed already.
#[derive(Debug, Args)]
pub(super) struct Consent {
    /// Go on without asking
    #[arg(long, short)]
    yes: bool,
}

/// There is no terminal on which to ask the user.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected somebody to ask before {0}, found no terminal\ngive --yes to go on without asking"
)]
pub(super) struct NobodyToAsk(String);

impl Consent {
    /// Shows what is to happen to the file `path`, and asks, unless the user agreed already.
    pub(super) fn given(&self, output: Output, path: &str, shown: &str) -> anyhow::Result<bool> {
        self.asked(output, &format!("{path} is changed"), shown, "write this?")
    }

    /// Shows what is to happen, and asks before `what`, unless the user agreed already.
    pub(super) fn asked(
        &self,
        output: Output,
        what: &str,
        shown: &str,
        question: &str,
    ) -> anyhow::Result<bool> {
        if self.yes {
            output.note(shown);
            return Ok(true);
        }
        let terminal = Term::stderr();
        if !std::io::stdin().is_terminal() || !terminal.is_term() {
            return Err(NobodyToAsk(what.to_owned()).into());
        }
        terminal.write_line(Printable::for_terminal(shown).as_str())?;
        terminal.write_str(&format!("{question} [y/N] "))?;
        let answer = terminal.read_line()?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}

fn can_ask() -> bool {
    std::io::stdin().is_terminal() && Term::stderr().is_term()
}

fn ask(question: &str) -> anyhow::Result<SecretString> {
    let terminal = Term::stderr();
    terminal.write_str(question)?;
    let answer = terminal.read_secure_line().context("could not read the passphrase")?;
    Ok(answer.into())
}

/// The shortest passphrase that seals something, in characters: an attacker who has the file can try as
/// many as he likes.
const SHORTEST: usize = 12;

/// A passphrase that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassphraseError {
    /// It is too easy to find.
    #[error(
        "expected a passphrase of at least {SHORTEST} characters, found {0}\na few words that \
         nobody would put together do well"
    )]
    Short(usize),
    /// The second time another one was typed.
    #[error("expected the same passphrase twice, found two")]
    Differ,
    /// There is no terminal on which to ask the user.
    #[error(
        "expected the passphrase of the {what}, found none\nset {variable}, or run this on a terminal"
    )]
    Missing {
        /// Of what.
        what: &'static str,
        /// Which variable of the environment may hold it.
        variable: &'static str,
    },
}

/// The passphrase to seal with. None when it is not set and no terminal is there to ask the user, or when
/// the user typed an empty one.
pub(super) fn to_seal(set: Option<SecretString>) -> anyhow::Result<Option<SecretString>> {
    let given = match set {
        Some(set) => set,
        None if !can_ask() => return Ok(None),
        None => {
            let first = ask("passphrase (empty: leave the master key out): ")?;
            if first.expose_secret().is_empty() {
                return Ok(None);
            }
            again(first)?
        }
    };
    long_enough(given).map(Some)
}

/// The passphrase to seal a bundle with.
pub(super) fn to_seal_bundle(set: Option<SecretString>) -> anyhow::Result<SecretString> {
    match set {
        Some(set) => long_enough(set),
        None if can_ask() => long_enough(again(ask("passphrase: ")?)?),
        None => Err(OF_BUNDLE.into()),
    }
}

/// The passphrase that opens a bundle.
pub(super) fn to_open_bundle(set: Option<SecretString>) -> anyhow::Result<SecretString> {
    match set {
        Some(set) => Ok(set),
        None if can_ask() => ask("passphrase: "),
        None => Err(OF_BUNDLE.into()),
    }
}

const OF_BUNDLE: PassphraseError =
    PassphraseError::Missing { what: "bundle", variable: "BATON_BUNDLE_PASSPHRASE" };

/// Asks for the same once more.
fn again(first: SecretString) -> anyhow::Result<SecretString> {
    if ask("the same again: ")?.expose_secret() != first.expose_secret() {
        return Err(PassphraseError::Differ.into());
    }
    Ok(first)
}

fn long_enough(given: SecretString) -> anyhow::Result<SecretString> {
    match given.expose_secret().chars().count() {
        short @ 0..SHORTEST => Err(PassphraseError::Short(short).into()),
        _ => Ok(given),
    }
}

/// The passphrase to open with.
pub(super) fn to_open(set: Option<SecretString>) -> anyhow::Result<SecretString> {
    match set {
        Some(set) => Ok(set),
        None if can_ask() => ask("passphrase: "),
        None => {
            let (what, variable) = ("backup", "BATON_BACKUP_PASSPHRASE");
            Err(PassphraseError::Missing { what, variable }.into())
        }
    }
}
