//! `baton debug network`

use super::super::Context;
use super::{follow, since};
use crate::output;
use baton_api::debug::{EpochMs, NetworkData, NetworkFilters, TabToken, Wait};
use baton_api::{Client, Exit};
use clap::Args;
use std::collections::BTreeSet;

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
pub(in crate::cli) struct Network {
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
    #[arg(long, value_name = "WHEN", value_parser = since::parse)]
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
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
        if !show(&found, &mut shown, context) {
            return Ok(Exit::Done);
        }
        filters.after = Some(found.cursor);
        filters.limit = None;
        let next =
            follow::next(context, || client.get_network(token, &filters, follow::wait(reveal)));
        match next.await? {
            Some(next) => found = next,
            None => return Ok(Exit::Done),
        }
    }
}

/// Shows a request once it is over, and one that goes on once it was answered; for a program every
/// change. False when nobody reads any more.
fn show(found: &NetworkData, shown: &mut BTreeSet<u64>, context: &Context) -> bool {
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
