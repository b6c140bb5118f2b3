//! What keeping a session costs, as ratios within one run.
//!
//! The one idea: this machine may be slow and noisy, so nothing is compared with a number of another
//! run. Each measurement stands beside its baseline, in turn, and only their ratio is told.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod capture;
mod machine;
mod ratio;
mod report;
mod resume;
mod site;

use anyhow::Result;
use clap::Parser;
use report::Report;
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
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut report = Report::new(&args.baton)?;
    report.add(&capture::measure(&args.baton, args.capture_pairs).await?);
    report.add(&resume::measure(&args.baton, args.resume_pairs).await?);
    report.write(&args.out)
}
