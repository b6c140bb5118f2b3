//! What is written: results to standard output, everything else to standard error.
//!
//! With `--json` standard output carries exactly one document, also when the command fails: then it
//! is `{"error": {code, message, hint?, request_id?}}`. Without it a person reads, so text is
//! coloured and cut to the width of the terminal, if there is one. What others wrote is in much of it, so
//! everything becomes printable here; only what a command in a sandbox says is passed on as it is.

mod asks;
mod board;
mod browsers;
mod debug;
mod exchange;
mod history;
mod invitations;
mod logins;
mod nodes;
mod peers;
mod qr;
mod receipt;
mod standing;
mod table;
mod usage;
mod views;

pub(crate) use asks::{ask_end, ask_link, ask_open, ask_reach};
pub(crate) use board::{archived, board, driven, ended_sandbox, sandbox, sandboxes, task, tasks};
pub(crate) use browsers::{InstalledView, ListedBrowser, browsers, installed_browser};
pub(crate) use debug::{
    debug_console, debug_entry, debug_gap, debug_line, debug_request, debug_request_line,
    debug_requests, debug_tabs, never_ends,
};
pub(crate) use exchange::{
    ConflictedSessions, Exchange, Failed, MoveDirection, Moved, conflicts, exchange, resolved,
    saved,
};
pub(crate) use history::{diff, history};
pub(crate) use invitations::{invitation, invitation_card, invitation_counts, invitations, joined};
pub(crate) use logins::logins;
pub(crate) use nodes::{bus_away, clustered, drained, node, nodes};
pub(crate) use peers::{Names, fingerprint, limits, next_for_peer, peer, peers, pinged};
pub(crate) use receipt::{compiled, imported, in_use, left_out, receipt, resumed, taken, written};
pub(crate) use standing::{NodeReport, Standing, standing};
pub(crate) use table::{bad, counted, doubtful, good, plain, size};
pub(crate) use usage::usage;
pub(crate) use views::{audit, contexts, files, keys, session, sessions, upstreams, with_unread};

use baton_session::json;
use baton_session::printable::{self, Printable};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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

    /// A line of a result that goes on; false when there is no reader any more.
    pub(crate) fn goes_on(self, document: &impl Serialize, text: impl FnOnce() -> String) -> bool {
        let line = if self.json {
            printable::json(&json::text(document))
        } else {
            Printable::for_terminal(&text()).into()
        };
        writeln!(std::io::stdout(), "{line}").is_ok()
    }

    /// What another program wrote, as it is, for a person.
    #[expect(clippy::unused_self, reason = "only who has an output may write")]
    pub(crate) fn pass_on(self, text: &str) {
        let _ = std::io::stdout().write_all(text.as_bytes());
        let _ = std::io::stdout().flush();
    }

    /// What another program complained about, as it is.
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
        let mut text = format!("{} {message}", table::bad_on_stderr("error:"));
        for line in hint.into_iter().flat_map(str::lines) {
            text.push_str("\n  ");
            text.push_str(line);
        }
        let _ = writeln!(std::io::stderr(), "{}", Printable::for_terminal(&text));
    }

    /// Shows that something takes its time, on a terminal.
    pub(crate) fn progress(self, what: &'static str) -> Progress {
        Progress::start(what, self.quiet)
    }
}

fn write_document(document: &impl Serialize) {
    let _ = writeln!(std::io::stdout(), "{}", printable::json(&json::lines(document)));
}

/// A line that moves until it is ended. It is drawn on standard error, and only on a terminal.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    fn start(what: &'static str, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Says what is being done now.
    pub(crate) fn say(&self, what: &str) {
        self.0.set_message(Printable::for_terminal(what).to_string());
    }

    /// Removes the line.
    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How much may be written of what is not ours, by how the target begins; of all others, warnings.
const OTHERS: [(&str, Level); 2] = [
    // Method, path and status of a request: the span is ours.
    ("tower_http::trace", Level::DEBUG),
    // It quotes messages in warnings.
    ("rmcp", Level::ERROR),
];

/// Logs to standard error: `BATON_LOG` says what, `default` when it says nothing.
///
/// What we write there we have looked at: no secret is in it, whatever `BATON_LOG` says. Libraries tell at
/// `debug` and `trace` what passes through them, such as the messages of MCP with their commands and answers,
/// headers with keys, values of queries. So of them only what went wrong is written.
pub(crate) fn log_to_stderr(default: &str, json: bool) {
    let filter = EnvFilter::try_from_env("BATON_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter).with(filter_fn(is_written));
    // A second subscriber is refused: then the first one counts.
    let _ =
        if json { registry.with(layer.json()).try_init() } else { registry.with(layer).try_init() };
}

fn is_written(what: &Metadata<'_>) -> bool {
    may_write(what.target(), *what.level())
}

fn may_write(target: &str, level: Level) -> bool {
    let is_of = |name: &str| {
        target.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let is_ours = target
        .strip_prefix("baton")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::") || rest.starts_with('_'));
    if is_ours {
        return true;
    }
    let most = OTHERS.iter().find(|(name, _)| is_of(name)).map_or(Level::WARN, |(_, most)| *most);
    level <= most
}

#[cfg(test)]
mod tests {
    use super::may_write;
    use tracing::Level;

    #[test]
    fn of_libraries_only_what_went_wrong_is_written() {
        for ours in ["baton", "baton::cli", "baton_server::http::layers"] {
            assert!(may_write(ours, Level::TRACE), "{ours}");
        }
        assert!(may_write("tower_http::trace::on_response", Level::DEBUG));
        let others = ["rmcp::service", "hyper::proto", "sqlx::query", "log", "tungstenite", "h2"];
        for other in others.into_iter().chain(["reqwest::connect", "rustls::msgs", "batonist"]) {
            assert!(!may_write(other, Level::INFO) && may_write(other, Level::ERROR), "{other}");
        }
        assert!(!may_write("rmcp", Level::WARN) && may_write("sqlx::query", Level::WARN));
    }
}
