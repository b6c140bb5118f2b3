//! `baton debug`: look into tabs.
//!
//! A tab is followed by asking for what is behind the cursor; the node waits until there is something.

use super::Context;
use crate::output;
use baton_api::debug::{
    ConsoleData, ConsoleFilters, ConsoleLevel, EpochMs, NetworkData, NetworkFilters, TabToken, Wait,
};
use baton_api::{Client, ClientError, ErrorCode, Exit, SwitchDebug};
use baton_store::data::write_private;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// What stands below the help of `baton debug on`.
const REVEAL: &str = "\
Secrets are hidden before anything is kept. With --reveal they are kept beside it, in the node's
memory only, from now on: until the browser or the node ends, or baton debug on ID is said without
it. They are shown to a key with the scope reveal that asks with --reveal. The audit log has both.";

/// Look in: network and console of tabs, with their secrets hidden
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A session tells of its tabs when it was opened with --debug, or after baton debug on ID. What is
kept is in the node's memory only, and is gone with the tab.

Examples:
  baton open https://example.org --name shop --debug   record from the start
  baton debug list-tabs                                tabs and their tokens
  baton debug network TOKEN --status-min 400           requests that went wrong
  baton debug console TOKEN --level error --follow     errors, as they come
  baton debug har TOKEN -o shop.har                    all, for other tools")]
pub(super) enum Debug {
    ListTabs(ListTabs),
    Network(Network),
    Console(Console),
    Har(Har),
    Pair(Pair),
    /// Record what the tabs of a session do, from now on and after every resume
    #[command(after_help = REVEAL)]
    On(On),
    /// Record no longer, and forget what was recorded
    Off(Off),
}

impl Debug {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::ListTabs(command) => command.run(context).await,
            Self::Network(command) => command.run(context).await,
            Self::Console(command) => command.run(context).await,
            Self::Har(command) => command.run(context).await,
            Self::Pair(command) => command.run(context).await,
            Self::On(command) => command.run(context).await,
            Self::Off(command) => command.run(context).await,
        }
    }
}

/// List the tabs that can be looked into, with their tokens
#[derive(Debug, Args)]
pub(super) struct ListTabs {}

impl ListTabs {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let tabs = context.client().await?.list_tabs().await?;
        context.output.answer(&tabs, || output::debug_tabs(&tabs.items));
        Ok(Exit::Done)
    }
}

/// How many requests without an end are remembered as shown.
const REMEMBERED: usize = 10_000;

/// Show the requests of a tab, the newest last
#[derive(Debug, Args)]
#[command(after_help = "\
With --json there are headers too, and with --bodies what was sent and what came. With --follow there
is a document a line, one for each change of a request.

Examples:
  baton debug network TOKEN --method POST,PUT --since 5m
  baton debug network TOKEN --url-pattern '/api/.*' --status-min 400
  baton debug network TOKEN --id 12               one, with headers and bodies")]
pub(super) struct Network {
    /// The token of a tab, as baton debug list-tabs shows it
    #[arg(value_name = "TOKEN")]
    token: TabToken,
    /// Only where this regular expression matches the address
    #[arg(long, value_name = "REGEX")]
    url_pattern: Option<String>,
    /// Only these methods
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    method: Vec<String>,
    /// Only answers with this status or above
    #[arg(long, value_name = "STATUS")]
    status_min: Option<u16>,
    /// Only answers with this status or below
    #[arg(long, value_name = "STATUS")]
    status_max: Option<u16>,
    /// Only what was sent since: 5m ago, an instant, or milliseconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<EpochMs>,
    /// At most so many, the newest
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// One request by its number, with headers and bodies
    #[arg(long, value_name = "NUMBER", conflicts_with = "follow")]
    id: Option<String>,
    /// With what was sent and what came, for --json
    #[arg(long)]
    bodies: bool,
    /// Show secrets, of a tab whose secrets are kept
    #[arg(long)]
    reveal: bool,
    /// Go on with what comes, until the tab is closed
    #[arg(long, short)]
    follow: bool,
}

impl Network {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let reveal = self.reveal;
        let filters = NetworkFilters {
            url_pattern: self.url_pattern,
            method: self.method,
            status_min: self.status_min,
            status_max: self.status_max,
            since: self.since,
            limit: self.limit,
            id: self.id,
            bodies: self.bodies,
            ..NetworkFilters::default()
        };
        let found = client.get_network(&self.token, &filters, Wait { wait: None, reveal }).await?;
        if self.follow {
            return follow_tab(&client, &self.token, filters, reveal, found, context).await;
        }
        context.output.answer(&found, || match (&filters.id, found.requests.last()) {
            (Some(_), Some(request)) => output::debug_request(request),
            _ => output::debug_requests(&found),
        });
        Ok(Exit::Done)
    }
}

/// Shows what was found, and then what comes.
async fn follow_tab(
    client: &Client,
    token: &TabToken,
    mut filters: NetworkFilters,
    reveal: bool,
    mut found: NetworkData,
    context: &Context,
) -> anyhow::Result<Exit> {
    let mut shown = BTreeSet::new();
    loop {
        if !show_requests(&found, &mut shown, context) {
            return Ok(Exit::Done);
        }
        filters.after = Some(found.cursor);
        filters.limit = None;
        let next = next(context, || client.get_network(token, &filters, wait(reveal)));
        match next.await? {
            Some(next) => found = next,
            None => return Ok(Exit::Done),
        }
    }
}

/// Shows a request once it is over, and one that goes on once it was answered; for a program every
/// change. False when there is no reader any more.
fn show_requests(found: &NetworkData, shown: &mut BTreeSet<u64>, context: &Context) -> bool {
    let told = found.gaps.iter().all(|gap| context.output.goes_on(gap, || output::debug_gap(gap)));
    told && found.requests.iter().all(|request| {
        let goes_on = request.resource_type.is_some_and(output::never_ends);
        let is_due = request.ended || goes_on && request.status.is_some();
        if !context.output.is_json() && (!is_due || !shown.insert(request.number)) {
            return true;
        }
        if shown.len() > REMEMBERED {
            shown.pop_first();
        }
        context.output.goes_on(request, || output::debug_request_line(request))
    })
}

/// Show the console of a tab, the newest line last
#[derive(Debug, Args)]
#[command(after_help = "\
With --json lines have the place that wrote them, and their stack. With --follow there is a document
a line.

Examples:
  baton debug console TOKEN --level warn,error
  baton debug console TOKEN --message-pattern 'timed? out' --follow
  baton debug console TOKEN --id 7                one of them, with its stack")]
pub(super) struct Console {
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
    #[arg(long, value_name = "WHEN", value_parser = since)]
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

impl Console {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
        while show_console(&found, context) {
            filters.after = Some(found.cursor);
            filters.limit = None;
            let next = next(context, || client.get_console(token, &filters, wait(reveal)));
            match next.await? {
                Some(next) => found = next,
                None => break,
            }
        }
        Ok(Exit::Done)
    }
}

fn level(word: &str) -> Result<ConsoleLevel, String> {
    serde_json::from_value(word.into())
        .map_err(|_| "expected log, debug, info, warn or error".to_owned())
}

/// Reads `2026-01-31T12:00:00Z`, `1769860800000` or `5m`.
fn since(text: &str) -> Result<EpochMs, String> {
    if let Ok(millis) = text.parse() {
        return Ok(EpochMs::new(millis));
    }
    let ago = text.parse::<SignedDuration>().ok().filter(SignedDuration::is_positive);
    let instant = match ago {
        Some(ago) => Timestamp::now().checked_sub(ago).ok(),
        None => text.parse().ok(),
    };
    let millis =
        instant.and_then(|instant: Timestamp| u64::try_from(instant.as_millisecond()).ok());
    millis.map(EpochMs::new).ok_or_else(|| {
        "expected how long ago (5m), an instant (2026-01-31T12:00:00Z), or milliseconds since 1970"
            .to_owned()
    })
}

/// False when there is no reader any more.
fn show_console(found: &ConsoleData, context: &Context) -> bool {
    let output = context.output;
    found.gaps.iter().all(|gap| output.goes_on(gap, || output::debug_gap(gap)))
        && found.entries.iter().all(|entry| output.goes_on(entry, || output::debug_line(entry)))
}

/// How long the node waits for something new before it says that there is nothing.
const WAIT: Duration = Duration::from_secs(15);

/// How long until a browser that is not connected, or a node that was asked too often, is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// How one asks for what comes next.
fn wait(reveal: bool) -> Wait {
    Wait { reveal, ..WAIT.into() }
}

/// What comes next; none when the tab is closed.
async fn next<T, F: Future<Output = Result<T, ClientError>>>(
    context: &Context,
    ask: impl Fn() -> F,
) -> anyhow::Result<Option<T>> {
    let mut is_told = false;
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => error,
        };
        match code(&error) {
            Some(ErrorCode::TabGone) => {
                context.output.note("the tab was closed");
                return Ok(None);
            }
            Some(ErrorCode::BrowserOffline) => {
                if !is_told {
                    context.output.note("the tab's browser is not connected; waiting");
                }
                is_told = true;
            }
            // Other programs with this key took what it may ask for in a minute.
            Some(ErrorCode::TooManyRequests) => {}
            _ => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn code(error: &ClientError) -> Option<ErrorCode> {
    match error {
        ClientError::Problem(problem) => Some(problem.code),
        _ => None,
    }
}

/// Write what is kept of a tab as an HTTP Archive (HAR 1.2), which browsers and proxies open
#[derive(Debug, Args)]
#[command(after_help = "\
Secrets are hidden in it as far as they can be told; look through it before you give it away. With
--reveal they stand in it.

Example:
  baton debug har TOKEN -o shop.har")]
pub(super) struct Har {
    /// The token of a tab, as baton debug list-tabs shows it
    #[arg(value_name = "TOKEN")]
    token: TabToken,
    /// Where to; an older file there is replaced [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Show secrets, of a tab whose secrets are kept
    #[arg(long)]
    reveal: bool,
}

impl Har {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let archive = context.client().await?.get_har(&self.token, self.reveal).await?;
        let Some(path) = self.output else {
            // A reader that has seen enough closes the pipe: that is no failure.
            let _ = std::io::stdout().write_all(&archive);
            return Ok(Exit::Done);
        };
        let path = std::path::absolute(path)?;
        write_private(&path, &archive)?;
        let written = json!({"path": path, "bytes": archive.len()});
        context.output.answer(&written, || format!("wrote {}", path.display()));
        Ok(Exit::Done)
    }
}

/// Which session, and how.
#[derive(Debug, Args)]
pub(super) struct On {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// Keep secrets too, in memory, for those who ask with --reveal: as long as this browser runs
    #[arg(long)]
    reveal: bool,
}

impl On {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        switch(&self.id, SwitchDebug { on: true, reveal: self.reveal }, context).await
    }
}

/// Which session.
#[derive(Debug, Args)]
pub(super) struct Off {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
}

impl Off {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        switch(&self.id, SwitchDebug { on: false, reveal: false }, context).await
    }
}

async fn switch(id: &str, switch: SwitchDebug, context: &Context) -> anyhow::Result<Exit> {
    let view = context.client().await?.switch_debug(id, switch).await?;
    context.output.answer(&view, || output::session(&view));
    Ok(Exit::Done)
}

/// Show a code that pairs a browser: Baton's extension takes it, and tells of the tabs of your cocoons
#[derive(Debug, Args)]
#[command(after_help = "\
The code counts once, for five minutes. The browser gets a key of its own, with the scope browser: it
may tell of tabs, and nothing else. baton keys list shows it, baton keys revoke ends it.")]
pub(super) struct Pair {}

impl Pair {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let paired = context.client().await?.pair_browser().await?;
        context.output.answer(&paired, || {
            format!(
                "address  {}\ncode     {}\n\ntype both into the extension within five minutes",
                paired.address, paired.code
            )
        });
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::since;

    #[test]
    fn an_instant_is_read_in_three_ways() {
        let instant = since("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(instant, since("1769860800000").unwrap());
        assert!(since("5m").unwrap() > instant);
        for bad in ["", "-5m", "yesterday", "1.5"] {
            since(bad).unwrap_err();
        }
    }
}
