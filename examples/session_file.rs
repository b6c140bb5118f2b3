//! A file with a login: says what it is, where it is logged in and what of it cannot be used, and writes it as
//! Playwright's `storageState`, to standard output or to a new file.
//!
//! ```console
//! $ cargo run -p baton-examples --bin session_file -- shop.json > state.json
//! $ cargo run -p baton-examples --bin session_file -- cookies.txt state.json
//! ```
//!
//! It needs `baton-session` alone: no node and no browser. What a file is shows itself.

#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use anyhow::{Context as _, Result};
use baton_session::login::{Known, Likelihood, logins};
use baton_session::printable::Printable;
use baton_session::{Receipt, State, import, playwright};
use jiff::Timestamp;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (from, to) = match arguments.as_slice() {
        [from] => (from, None),
        [from, to] => (from, Some(to.as_path())),
        _ => {
            eprintln!("usage: session_file FILE [STORAGE_STATE]");
            return ExitCode::from(2);
        }
    };
    match run(from, to) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(from: &Path, to: Option<&Path>) -> Result<()> {
    let file = std::fs::read(from).with_context(|| format!("could not read {}", from.display()))?;
    let found = import::read(&file)?;
    say(&format!("{} is {}", from.display(), found.form));
    // Only a session file says of its session what it is called.
    if !found.head.name.is_empty() {
        say(&format!("  its session is called {}", found.head.name));
    }
    say_logins(&found.state);
    say_losses("cannot be used", &found.left_out);
    let (mut text, lost) = playwright::write(&found.state);
    text.push('\n');
    say_losses("lost or changed in a storageState", &lost.into_iter().map(Into::into).collect());
    match to {
        Some(to) => write(to, &text).with_context(|| format!("could not write {}", to.display())),
        None => Ok(std::io::stdout().write_all(text.as_bytes())?),
    }
}

/// Where the state logs somebody in. Whether it does only the site knows: this is as far as cookies and
/// storage tell.
fn say_logins(state: &State) {
    for login in logins(Known::of(state), Timestamp::now()) {
        let likely = match login.likelihood {
            Likelihood::Likely => "logged in",
            Likelihood::Possible => "perhaps logged in",
            Likelihood::Over => "no longer logged in",
        };
        say(&format!("  {likely} at {}", login.address));
    }
}

/// What did not come along, item by item; nothing is dropped silently.
fn say_losses(what: &str, receipt: &Receipt) {
    for item in receipt.losses() {
        let reason = item.reason.as_deref().unwrap_or("for no reason that is known");
        let kind = item.kind.as_str().replace('_', " ");
        say(&format!("  {what}: {kind}, {}: {reason}", item.place));
    }
}

/// A login is for its owner's eyes, and no file that is there already is written over.
fn write(to: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    file.write_all(text.as_bytes())
}

/// Says a line beside the answer, which is the file. Its names are a site's, which may have put there what
/// moves the cursor of a terminal.
fn say(line: &str) {
    eprintln!("{}", Printable::for_terminal(line));
}
