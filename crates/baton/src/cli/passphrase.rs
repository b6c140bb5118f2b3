//! The passphrase of a backup: from the environment, or asked for on a terminal.

use anyhow::Context as _;
use console::Term;
use secrecy::{ExposeSecret, SecretString};
use std::io::IsTerminal;

/// The shortest passphrase that seals a backup, in characters: whoever has the file can try as many
/// as he likes.
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
    /// Nobody can be asked.
    #[error(
        "expected the passphrase of the backup, found none\nset BATON_BACKUP_PASSPHRASE, or run \
         this on a terminal"
    )]
    Missing,
}

/// The passphrase to seal with. None when it is not set and nobody can be asked, or when an empty
/// one was typed.
pub(super) fn to_seal(set: Option<SecretString>) -> anyhow::Result<Option<SecretString>> {
    let given = match set {
        Some(set) => set,
        None if !can_ask() => return Ok(None),
        None => {
            let first = ask("passphrase (empty: leave the master key out): ")?;
            if first.expose_secret().is_empty() {
                return Ok(None);
            }
            if ask("the same again: ")?.expose_secret() != first.expose_secret() {
                return Err(PassphraseError::Differ.into());
            }
            first
        }
    };
    match given.expose_secret().chars().count() {
        short @ 0..SHORTEST => Err(PassphraseError::Short(short).into()),
        _ => Ok(Some(given)),
    }
}

/// The passphrase to open with.
pub(super) fn to_open(set: Option<SecretString>) -> anyhow::Result<SecretString> {
    match set {
        Some(set) => Ok(set),
        None if can_ask() => ask("passphrase: "),
        None => Err(PassphraseError::Missing.into()),
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
