//! The log of processes that run for long: a node, a keeper.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Logs to standard error: `BATON_LOG` says what, `default` when it says nothing.
pub(crate) fn log_to_stderr(default: &str, json: bool) {
    let filter = EnvFilter::try_from_env("BATON_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A second subscriber is refused: then the first one stands.
    let _ = if json { builder.json().try_init() } else { builder.try_init() };
}
