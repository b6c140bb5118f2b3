//! `baton doctor`

mod browser;
mod checks;
mod database;
mod files;
mod keepers;

use super::{Context, serve};
use crate::output;
use baton_api::Exit;
use clap::Args;
use serde::Serialize;

/// Look for what is missing or wrong on this machine, and say what to do
#[derive(Debug, Args)]
#[command(after_help = "The exit code is 1 when something is broken. Nothing is changed.")]
pub(super) struct Doctor {
    #[command(flatten)]
    node: serve::NodeArgs,
}

/// Everything that was looked at.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether nothing is broken.
    ok: bool,
    /// One line a look.
    checks: Vec<Check>,
}

/// One look.
#[derive(Debug, Serialize)]
struct Check {
    /// What was looked at.
    name: &'static str,
    /// How it is.
    status: Status,
    /// What was found.
    found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// As it should be.
    Ok,
    /// It works, but should be known.
    Warning,
    /// It does not work.
    Broken,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), fix: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, fix: &str) -> Self {
        let (found, fix) = (found.into(), Some(fix.to_owned()));
        Self { name, status: Status::Warning, found, fix }
    }

    /// The first line of an error is what was found, the others are what to do.
    fn broken(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        let (found, fix) = match text.split_once('\n') {
            Some((found, fix)) => (found.to_owned(), Some(fix.to_owned())),
            None => (text, None),
        };
        Self { name, status: Status::Broken, found, fix }
    }
}

/// At most so many lines of one kind.
const LINES: usize = 10;

/// The first lines, and one that says how many more there are.
fn bounded(name: &'static str, mut checks: Vec<Check>) -> Vec<Check> {
    let more = checks.len().saturating_sub(LINES);
    if more > 0 {
        checks.truncate(LINES);
        checks.push(Check::warning(name, format!("and {more} more"), "begin with those above"));
    }
    checks
}

impl Doctor {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let checks = checks::all(self.node, context).await;
        let ok = checks.iter().all(|check| check.status != Status::Broken);
        let report = Report { ok, checks };
        context.output.answer(&report, || text(&report));
        Ok(if ok { Exit::Done } else { Exit::Failed })
    }
}

fn text(report: &Report) -> String {
    let lines = report.checks.iter().flat_map(|check| {
        let mark = match check.status {
            Status::Ok => output::good("ok     "),
            Status::Warning => output::doubtful("warning"),
            Status::Broken => output::bad("broken "),
        };
        let line = format!("{mark}  {:<12} {}", check.name, output::plain(&check.found));
        let fixes = check.fix.iter().flat_map(|fix| fix.lines());
        let fixes: Vec<String> = fixes.map(|fix| format!("{:22} → {fix}", "")).collect();
        std::iter::once(line).chain(fixes)
    });
    lines.collect::<Vec<_>>().join("\n")
}
