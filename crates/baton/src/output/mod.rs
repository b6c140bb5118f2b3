//! What is written: results to standard output, everything else to standard error.
//!
//! With `--json` standard output carries exactly one document, also when the command fails: then it
//! is `{"error": {code, message, hint?, request_id?}}`. Without it a person reads, so text is
//! coloured and cut to the width of the terminal, if there is one. What others wrote is in much of it, so
//! everything becomes printable here; only what a command in a sandbox says is passed on as it is.

mod board;
mod carry;
mod cocoons;
mod conflicts;
mod debug;
mod exchange;
mod history;
mod holder;
mod log;
mod peers;
mod progress;
mod receipt;
mod rev;
mod revisions;
mod sandboxes;
mod standing;
mod style;
mod table;
mod views;

pub(crate) use board::{archived, board, driven, task, tasks};
pub(crate) use carry::{compiled, imported, in_use, left_out, taken, written};
pub(crate) use cocoons::cocoons;
pub(crate) use conflicts::{Conflicts, conflicts};
pub(crate) use debug::{
    debug_console, debug_entry, debug_gap, debug_line, debug_request, debug_request_line,
    debug_requests, debug_tabs, never_ends,
};
pub(crate) use exchange::{Exchange, Failed, Moved, Way, exchange};
pub(crate) use history::{diff, history};
pub(crate) use log::log_to_stderr;
pub(crate) use peers::{Names, fingerprint, limits, next_for_peer, peer, peers, pinged};
pub(crate) use progress::Progress;
pub(crate) use receipt::{receipt, resumed};
pub(crate) use revisions::{resolved, saved};
pub(crate) use sandboxes::{ended_sandbox, sandbox, sandboxes};
pub(crate) use standing::{Standing, Told, standing};
pub(crate) use style::{bad, counted, doubtful, good, plain, size};
pub(crate) use views::{audit, contexts, files, keys, session, sessions, with_unread};

use baton_session::json;
use baton_session::printable::{self, Printable};
use serde::Serialize;
use std::io::Write;

/// How a command answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    /// As the global options say.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Whether a program reads.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// The result of a command: the document for a program, the text for a person.
    pub(crate) fn answer(self, document: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json {
            write_document(document);
        } else {
            self.line(&text());
        }
    }

    /// A line of the result, for a person.
    #[expect(clippy::unused_self, reason = "only who has an output may write")]
    pub(crate) fn line(self, text: &str) {
        // A reader that has seen enough closes the pipe: that is no failure.
        let _ = writeln!(std::io::stdout(), "{}", Printable::for_terminal(text));
    }

    /// A line of a result that goes on; false when nobody reads any more.
    pub(crate) fn goes_on(self, document: &impl Serialize, text: impl FnOnce() -> String) -> bool {
        let line = if self.json {
            printable::json(&json::text(document))
        } else {
            Printable::for_terminal(&text()).into()
        };
        writeln!(std::io::stdout(), "{line}").is_ok()
    }

    /// What somebody else wrote, as it is, for a person.
    #[expect(clippy::unused_self, reason = "only who has an output may write")]
    pub(crate) fn pass_on(self, text: &str) {
        let _ = std::io::stdout().write_all(text.as_bytes());
        let _ = std::io::stdout().flush();
    }

    /// What somebody else complained about, as it is.
    #[expect(clippy::unused_self, reason = "only who has an output may write")]
    pub(crate) fn pass_on_errors(self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Something worth knowing beside the result.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{}", Printable::for_terminal(text));
        }
    }

    /// Why the command failed.
    pub(crate) fn error(self, message: &str, hint: Option<&str>, document: &impl Serialize) {
        if self.json {
            return write_document(document);
        }
        let mut text = format!("{} {message}", style::bad_on_stderr("error:"));
        for line in hint.into_iter().flat_map(str::lines) {
            text.push_str("\n  ");
            text.push_str(line);
        }
        let _ = writeln!(std::io::stderr(), "{}", Printable::for_terminal(&text));
    }

    /// Shows that something takes its time, on a terminal.
    pub(crate) fn progress(self, what: &'static str) -> Progress {
        Progress::begin(what, self.quiet)
    }
}

fn write_document(document: &impl Serialize) {
    let _ = writeln!(std::io::stdout(), "{}", printable::json(&json::lines(document)));
}
