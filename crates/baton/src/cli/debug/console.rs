//! `baton debug console`

use super::super::Context;
use super::{follow, since};
use crate::output;
use baton_api::Exit;
use baton_api::debug::{ConsoleData, ConsoleFilters, ConsoleLevel, EpochMs, TabToken, Wait};
use clap::Args;

/// Show the console of a tab, the newest line last
#[derive(Debug, Args)]
#[command(after_help = "\
With --json lines have the place that wrote them, and their stack. With --follow there is a document
a line.

Examples:
  baton debug console TOKEN --level warn,error
  baton debug console TOKEN --message-pattern 'timed? out' --follow
  baton debug console TOKEN --id 7                one of them, with its stack")]
pub(in crate::cli) struct Console {
    /// The token of a tab, as baton debug list-tabs shows it
    #[arg(value_name = "TOKEN")]
    token: TabToken,
    /// Only these: log, debug, info, warn, error
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = level)]
    level: Vec<ConsoleLevel>,
    /// Only where this regular expression matches the message
    #[arg(long, value_name = "REGEX")]
    message_pattern: Option<String>,
    /// Only what was written since: 5m ago, an instant, or milliseconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = since::parse)]
    since: Option<EpochMs>,
    /// At most so many, the newest
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// One line by its number, with its stack
    #[arg(long, value_name = "NUMBER", conflicts_with = "follow")]
    id: Option<u64>,
    /// Show secrets, of a tab whose secrets are kept
    #[arg(long)]
    reveal: bool,
    /// Go on with what comes, until the tab is closed
    #[arg(long, short)]
    follow: bool,
}

fn level(word: &str) -> Result<ConsoleLevel, String> {
    serde_json::from_value(word.into())
        .map_err(|_| "expected log, debug, info, warn or error".to_owned())
}

impl Console {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut filters = ConsoleFilters {
            level: self.level,
            message_pattern: self.message_pattern,
            since: self.since,
            limit: self.limit,
            id: self.id,
            ..ConsoleFilters::default()
        };
        let (token, reveal) = (&self.token, self.reveal);
        let mut found = client.get_console(token, &filters, Wait { wait: None, reveal }).await?;
        if !self.follow {
            context.output.answer(&found, || match (filters.id, found.entries.last()) {
                (Some(_), Some(entry)) => output::debug_entry(entry),
                _ => output::debug_console(&found),
            });
            return Ok(Exit::Done);
        }
        while show(&found, context) {
            filters.after = Some(found.cursor);
            filters.limit = None;
            let next =
                follow::next(context, || client.get_console(token, &filters, follow::wait(reveal)));
            match next.await? {
                Some(next) => found = next,
                None => break,
            }
        }
        Ok(Exit::Done)
    }
}

/// False when nobody reads any more.
fn show(found: &ConsoleData, context: &Context) -> bool {
    let output = context.output;
    found.gaps.iter().all(|gap| output.goes_on(gap, || output::debug_gap(gap)))
        && found.entries.iter().all(|entry| output.goes_on(entry, || output::debug_line(entry)))
}
