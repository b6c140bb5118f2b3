//! The board that agents share: how long a look takes, in a program and as a command.

use crate::report::{Comparison, Figure, Ratio, Section, median, percentile};
use anyhow::{Context as _, Result, ensure};
use baton_federation::{Federation, Operation, Priority};
use jiff::Timestamp;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many tasks the board has.
const TASKS: usize = 500;
const READS: usize = 2_000;
const RUNS: usize = 300;

/// Looks at a board of 500 tasks.
pub fn measure(baton: &Path) -> Result<Section> {
    let folder = tempfile::tempdir()?;
    let board = Federation::at(folder.path(), Timestamp::now, rand::random);
    fill(&board)?;
    let mut reads = Vec::with_capacity(READS);
    for _ in 0..READS {
        let start = Instant::now();
        let found = board.read()?.context("expected a board, found none")?;
        reads.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(found.tasks.len() == TASKS, "expected {TASKS} tasks, found {}", found.tasks.len());
    }
    let mut pairs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let status = run(baton, &["federation", "status"], folder.path())?;
        pairs.push((status, run(baton, &["--version"], folder.path())?));
    }
    let statuses: Vec<f64> = pairs.iter().map(|(status, _)| *status).collect();
    let versions = pairs.iter().map(|(_, version)| *version);
    let milliseconds = |value: f64| format!("{value:.2} ms");
    Ok(Section {
        title: "A look at the board of agents",
        method: format!(
            "A board of {TASKS} tasks, read {READS} times by one program, and shown {RUNS} times by \
             `baton federation status`, in turn with `baton --version`, which reads nothing."
        ),
        comparisons: vec![Comparison {
            what: "`federation status` against `--version`",
            ratio: Ratio::of(&pairs),
            aim: 2.0,
            aim_is_for_the_bound: false,
        }],
        figures: vec![
            figure("a read in a program, p99", percentile(&reads, 99), 1.0),
            figure("`baton federation status`, p99", percentile(&statuses, 99), 10.0),
        ],
        medians: vec![
            ("a read in a program".to_owned(), milliseconds(median(reads.iter().copied()))),
            ("`baton federation status`".to_owned(), milliseconds(median(statuses))),
            ("`baton --version`".to_owned(), milliseconds(median(versions))),
        ],
        tables: Vec::new(),
    })
}

fn fill(board: &Federation) -> Result<()> {
    for number in 0..TASKS {
        board.write(&Operation::AddTask {
            description: format!("Task {number}: something that is told in half a line or so"),
            priority: Priority::Normal,
            agent: Some("kimi".parse()?),
            assigned_to: None,
            blocked_by: Vec::new(),
        })?;
    }
    Ok(())
}

/// How long a command takes from its start to its end, in milliseconds.
fn run(baton: &Path, args: &[&str], folder: &Path) -> Result<f64> {
    let mut command = Command::new(baton);
    command.args(args).env("FEDERATION_DIR", folder).stdout(Stdio::null());
    let start = Instant::now();
    let ended = command.status()?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    ensure!(ended.success(), "expected {args:?} to succeed, found {ended}");
    Ok(took)
}

fn figure(what: &str, found: f64, aim: f64) -> Figure {
    Figure { what: what.to_owned(), found, aim, unit: "ms" }
}
