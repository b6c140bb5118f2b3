//! A thousand sessions against a hundred, of which as many are active.
//!
//! The one idea: a node's work may grow with the sessions that are active, not with those that lie in
//! its database. Both houses have the same number of active ones, so both should cost the same.

mod fill;

use crate::ratio::{Ratio, median};
use crate::report::{Comparison, Figure, Section};
use anyhow::{Context as _, Result, ensure};
use baton_api::ListSessions;
use baton_playground::House;
use baton_session::Lifecycle;
use fill::{ACTIVE, SNAPSHOTS};
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

const MANY: u32 = 1000;
const FEW: u32 = 100;
/// Pairs of lists of each kind.
const LISTS: usize = 200;
/// Pairs of starts.
const STARTS: usize = 30;
/// How much more a thousand may cost than a hundred: nothing, but for chance.
const GROWTH: f64 = 1.1;

/// Measures starts and lists in both houses, in turn.
pub async fn measure(baton: &Path) -> Result<Section> {
    let many = fill::fill(House::build(baton)?, MANY).await?;
    let few = fill::fill(House::build(baton)?, FEW).await?;
    let mut houses = [many, few];
    let starts = measure_starts(&mut houses).await?;
    for house in &mut houses {
        house.start_node().await?;
    }
    let newest = measure_lists(&houses, [&page(50), &page(50)]).await?;
    let oldest = [last_page(&houses[0]).await?, last_page(&houses[1]).await?];
    let oldest = measure_lists(&houses, [&oldest[0], &oldest[1]]).await?;
    let in_state = ListSessions { state: Some(Lifecycle::Recoverable), ..page(50) };
    let in_state = measure_lists(&houses, [&in_state, &in_state]).await?;
    let longest = measure_lists(&houses, [&page(200), &page(200)]).await?;
    for house in houses {
        house.clear().await?;
    }
    Ok(section(&[
        Measured { what: "list of the newest 50", aim: 20.0, pairs: newest, is_growth: true },
        Measured { what: "list of the oldest 50", aim: 20.0, pairs: oldest, is_growth: true },
        Measured { what: "list of the 10 in a state", aim: 20.0, pairs: in_state, is_growth: true },
        // The other house has no 200.
        Measured { what: "list of 200", aim: 20.0, pairs: longest, is_growth: false },
        Measured { what: "scan at start-up", aim: 300.0, pairs: starts.scans, is_growth: true },
        Measured { what: "start until ready", aim: 300.0, pairs: starts.ready, is_growth: true },
    ]))
}

/// Pairs of milliseconds: with many sessions, and with few.
type Pairs = Vec<(f64, f64)>;

struct Measured {
    what: &'static str,
    /// In milliseconds.
    aim: f64,
    pairs: Pairs,
    /// Whether both sides did the same.
    is_growth: bool,
}

struct Starts {
    /// Of the look at the active sessions.
    scans: Pairs,
    /// From the start of the process until `node.json` says that it is ready.
    ready: Pairs,
}

/// Starts nodes in both houses, each pair in the other order than the one before.
async fn measure_starts(houses: &mut [House; 2]) -> Result<Starts> {
    let mut starts = Starts { scans: Vec::new(), ready: Vec::new() };
    for pair in 0..STARTS {
        let mut found = [(0.0, 0.0); 2];
        for side in order(pair) {
            found[side] = start(&mut houses[side]).await?;
        }
        let [many, few] = found;
        println!("pair {:>2} of {STARTS}: scan {:.1} and {:.1} ms", pair + 1, many.0, few.0);
        starts.scans.push((many.0, few.0));
        starts.ready.push((many.1, few.1));
    }
    Ok(starts)
}

/// One start: the milliseconds of the scan, and those until the node is ready.
async fn start(house: &mut House) -> Result<(f64, f64)> {
    fill::wake(house).await?;
    let begun = SystemTime::now();
    house.start_node().await?;
    let ready = fs::metadata(house.data().node_file())?.modified()?.duration_since(begun)?;
    let log = house.log_tail();
    let line = log.lines().rfind(|line| line.contains("looked at the sessions"));
    let line = line.with_context(|| format!("expected a scan in the log, found:\n{log}"))?;
    let recoverable = format!("recoverable={ACTIVE} ");
    ensure!(line.contains(&recoverable), "expected {recoverable}in the log, found {line}");
    let took = line.rsplit_once("took_ms=").and_then(|(_, took)| took.trim().parse().ok());
    house.stop_node().await?;
    let scan = took.with_context(|| format!("expected took_ms in the log, found {line}"))?;
    Ok((scan, ready.as_secs_f64() * 1e3))
}

async fn measure_lists(houses: &[House; 2], queries: [&ListSessions; 2]) -> Result<Pairs> {
    let mut pairs = Vec::with_capacity(LISTS);
    for pair in 0..LISTS {
        let mut found = [0.0; 2];
        for side in order(pair) {
            let client = houses[side].client()?;
            let start = Instant::now();
            let list = client.list_sessions(queries[side]).await?;
            found[side] = start.elapsed().as_secs_f64() * 1e3;
            ensure!(!list.items.is_empty(), "expected sessions in a list, found none");
        }
        pairs.push((found[0], found[1]));
    }
    Ok(pairs)
}

/// Who comes first in a pair.
fn order(pair: usize) -> [usize; 2] {
    if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

fn page(limit: u32) -> ListSessions {
    ListSessions { limit: Some(limit), ..ListSessions::default() }
}

/// What asks for the oldest 50.
async fn last_page(house: &House) -> Result<ListSessions> {
    let (mut end, mut next) = (page(50), page(50));
    loop {
        let list = house.client()?.list_sessions(&next).await?;
        let Some(after) = list.next else { return Ok(end) };
        next.after = Some(after);
        end = ListSessions { after: next.after, ..page(50) };
    }
}

fn section(measured: &[Measured]) -> Section {
    let growth = measured.iter().filter(|measured| measured.is_growth);
    Section {
        title: "A thousand sessions",
        method: format!(
            "A database of {MANY} sessions with {SNAPSHOTS} snapshots each, and beside it one of {FEW}. \
             Lists are asked for over loopback, {LISTS} times each in turn; the time is that of the \
             client. For a start {ACTIVE} sessions of each database are active and their browsers are \
             gone, as after a crash of the machine: the node finds that out and writes it down. The \
             ratio is that of {MANY} to {FEW}, with as many active ones; what is absolute is the median \
             with {MANY}."
        ),
        comparisons: growth
            .map(|measured| Comparison {
                what: measured.what,
                ratio: Ratio::of(&measured.pairs),
                aim: GROWTH,
                aim_is_for_the_bound: false,
            })
            .collect(),
        figures: measured
            .iter()
            .map(|measured| Figure {
                what: measured.what.to_owned(),
                found: median(measured.pairs.iter().map(|pair| pair.0)),
                aim: measured.aim,
                unit: "ms",
            })
            .collect(),
        medians: Vec::new(),
    }
}
