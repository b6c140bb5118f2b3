//! Yes or no, before a file of somebody else is changed, or somebody's logins are taken.

use crate::output::Output;
use baton_session::printable::Printable;
use clap::Args;
use console::Term;
use std::io::IsTerminal;

/// Whether somebody agreed already.
#[derive(Debug, Args)]
pub(super) struct Consent {
    /// Go on without asking
    #[arg(long, short)]
    yes: bool,
}

/// Nobody can be asked.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected somebody to ask before {0}, found no terminal\ngive --yes to go on without asking"
)]
pub(super) struct NobodyToAsk(String);

impl Consent {
    /// Shows what is to happen to the file `path`, and asks, unless somebody agreed already.
    pub(super) fn given(&self, output: Output, path: &str, shown: &str) -> anyhow::Result<bool> {
        self.asked(output, &format!("{path} is changed"), shown, "write this?")
    }

    /// Shows what is to happen, and asks before `what`, unless somebody agreed already.
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
