//! A request about a session, asked at its own node and at another one.

use super::nodes::{Nodes, SESSION};
use super::{Pairs, Side};
use crate::report::{Figure, Section, median, percentile};
use anyhow::{Result, ensure};
use std::time::Instant;

/// How often both are asked, and how often before that, which is not counted.
const PAIRS: usize = 500;
const WARM_UP: usize = 50;

/// Asks both for the session with its tabs, which only its browser knows.
pub async fn measure(nodes: &Nodes) -> Result<Section> {
    let mut pairs = Pairs::default();
    for pair in 0..WARM_UP + PAIRS {
        let (mut own, mut other) = (0.0, 0.0);
        for side in Side::order(pair) {
            let took = ask(nodes, side).await?;
            match side {
                Side::Own => own = took,
                Side::Other => other = took,
            }
        }
        if pair >= WARM_UP {
            pairs.0.push((other, own));
        }
    }
    let more: Vec<f64> = pairs.0.iter().map(|(other, own)| other - own).collect();
    println!("the wrong node: {:.2} ms more", median(more.iter().copied()));
    Ok(section(&pairs, &more))
}

/// The milliseconds that an answer takes.
async fn ask(nodes: &Nodes, side: Side) -> Result<f64> {
    let client = nodes.at(side)?;
    let begun = Instant::now();
    let session = client.fetch_session(SESSION).await?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(session.tabs.len() == 1, "expected a tab, found {:?}", session.tabs);
    Ok(took)
}

fn section(pairs: &Pairs, more: &[f64]) -> Section {
    let spread = |values: &[f64]| {
        format!("{:.2} ms, p95 {:.2} ms", median(values.iter().copied()), percentile(values, 95))
    };
    let (lower, upper) = bounds(more);
    Section {
        title: "The wrong node of a cluster",
        method: format!(
            "Three nodes on one PostgreSQL (which does not wait for its disk) and one NATS, all on this machine. A \
             session runs at one of them; {PAIRS} times it is asked for with its tabs, which its browser knows, there \
             and at another node, which has to ask the first. All connections are there already; the time is that of \
             the client."
        ),
        comparisons: Vec::new(),
        figures: vec![Figure {
            what: "an answer of another node takes longer by, p50".to_owned(),
            found: median(more.iter().copied()),
            aim: 3.0,
            unit: "ms",
        }],
        medians: vec![
            ("of its own node".to_owned(), spread(&pairs.owns())),
            ("of another node".to_owned(), spread(&pairs.others())),
            (
                "by how much longer".to_owned(),
                format!("{}, 95 % bounds of the median {lower:.2} to {upper:.2} ms", spread(more)),
            ),
        ],
        tables: Vec::new(),
    }
}

/// Between which values the true median lies, with 95 %: those that are about √n places from the middle.
fn bounds(values: &[f64]) -> (f64, f64) {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let (middle, away) = (values.len() / 2, values.len().isqrt());
    (values[middle.saturating_sub(away)], values[(middle + away).min(values.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn the_bounds_of_a_median_stand_around_it() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(bounds(&values), (40.0, 60.0));
    }
}
