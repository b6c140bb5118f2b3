//! The log of processes that run for long: a node, a keeper.
//!
//! What we write there we have looked at: no secret is in it, whatever `BATON_LOG` says. Libraries tell at
//! `debug` and `trace` what passes through them, such as the messages of MCP with their commands and answers,
//! headers with keys, values of queries. So of them only what went wrong is written.

use std::io::IsTerminal;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How much may be written of what is not ours, by how the target begins; of all others, warnings.
const OTHERS: [(&str, Level); 2] = [
    // Method, path and status of a request: the span is ours.
    ("tower_http::trace", Level::DEBUG),
    // It quotes messages in warnings.
    ("rmcp", Level::ERROR),
];

/// Logs to standard error: `BATON_LOG` says what, `default` when it says nothing.
pub(crate) fn log_to_stderr(default: &str, json: bool) {
    let filter = EnvFilter::try_from_env("BATON_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter).with(filter_fn(is_written));
    // A second subscriber is refused: then the first one stands.
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
