//! What keeping a session costs, as ratios within one run.
//!
//! The one idea: this machine may be slow and noisy, so nothing is compared with a number of another
//! run. Each measurement stands beside its baseline, in turn, and their ratio is told. What has no
//! baseline is told as it is, and said to be so.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod board;
mod capture;
mod carry;
mod change;
mod cluster;
mod confined;
mod drain;
mod fence;
mod idle;
mod live;
mod mcp;
mod members;
mod page;
mod peers;
mod process;
mod profile;
mod proxy;
mod relay;
mod report;
mod resume;
mod ruled_sessions;
mod sandbox;
mod site;
mod thousand;
mod tls_site;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use report::Report;
use resume::Memory;
use std::path::PathBuf;

/// Measures what keeping a session costs, and writes the results with the machine's description.
#[derive(Parser)]
struct Args {
    /// The `baton` program to measure.
    #[arg(long)]
    baton: PathBuf,
    /// The folder for the results.
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    /// Pairs of "capture on" and "capture off".
    #[arg(long, default_value_t = 40)]
    capture_pairs: usize,
    /// Pairs of "resume" and "open".
    #[arg(long, default_value_t = 15)]
    resume_pairs: usize,
    /// Sessions that are moved in one drain.
    #[arg(long, default_value_t = 10)]
    drain_sessions: usize,
    /// Measure this part only; may be given more than once.
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Capture on against off.
    Capture,
    /// One changed item among fifty origins.
    Change,
    /// Resume against open.
    Resume,
    /// Resume of a session of fifty origins against open.
    Fifty,
    /// Resume of such a session on a machine that never saw it, against open.
    Elsewhere,
    /// A profile compiled and read, against a browser that is given the same.
    Profile,
    /// A browser kept from the machine's files, against one that is not.
    Confined,
    /// A page through its session's way out, against one without.
    Fence,
    /// A sandbox with a session, against one without.
    Sandbox,
    /// An idle session.
    Idle,
    /// A viewer of a busy page.
    Live,
    /// A thousand sessions against a hundred.
    Thousand,
    /// The page of a node with a thousand sessions.
    Page,
    /// An agent's calls through the bridge.
    Mcp,
    /// A session moved to another node, against rsync.
    Carry,
    /// A look at the board that agents share.
    Board,
    /// Another node than the one that has the session.
    Cluster,
    /// Sessions that move to another node.
    Drain,
    /// The proxy against nginx.
    Proxy,
    /// Events from a browser to a follower.
    Relay,
    /// Other tools that keep state.
    Peers,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let baton = &args.baton;
    let mut report = Report::new(baton)?;
    for part in Part::value_variants().iter().filter(|part| args.wants(**part)) {
        let sections = match part {
            Part::Capture => vec![capture::measure(baton, args.capture_pairs).await?],
            Part::Change => vec![change::measure(baton).await?],
            Part::Resume => vec![resume::measure(baton, args.resume_pairs, Memory::Tabs).await?],
            Part::Fifty => vec![resume::measure(baton, args.resume_pairs, Memory::Origins).await?],
            Part::Elsewhere => {
                vec![resume::measure(baton, args.resume_pairs, Memory::Elsewhere).await?]
            }
            Part::Profile => vec![profile::measure(baton).await?],
            Part::Confined => {
                vec![confined::measure().await?, ruled_sessions::measure(baton).await?]
            }
            Part::Fence => vec![fence::measure(baton).await?],
            Part::Sandbox => vec![sandbox::measure(baton).await?],
            Part::Idle => vec![idle::measure(baton).await?],
            Part::Live => vec![live::measure(baton).await?],
            Part::Thousand => vec![thousand::measure(baton).await?],
            Part::Page => vec![page::measure(baton).await?],
            Part::Mcp => vec![mcp::measure(baton).await?],
            Part::Carry => carry::measure(baton).await?,
            Part::Board => vec![board::measure(baton)?],
            Part::Cluster => cluster::measure(baton).await?,
            Part::Drain => vec![drain::measure(baton, args.drain_sessions).await?],
            Part::Proxy => vec![proxy::measure(baton).await?],
            Part::Relay => vec![relay::measure(baton).await?],
            Part::Peers => peers::measure(baton).await?,
        };
        for section in &sections {
            report.add(section);
        }
    }
    report.write(&args.out, &args.only)
}

impl Args {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

#[cfg(test)]
mod tests {
    use super::Part;
    use clap::ValueEnum;

    #[test]
    fn the_readme_names_every_part_and_no_other() {
        let rows = include_str!("../README.md").lines();
        let named = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        let parts = Part::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let parts: Vec<_> = parts.map(|part| part.get_name().to_owned()).collect();
        assert_eq!(named.collect::<Vec<_>>(), parts);
    }
}
