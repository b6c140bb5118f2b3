//! Many schedules, some at once, on clusters that each see many.

use super::ground::Cluster;
use super::machines::Machines;
use super::schedule::{Event, draw};
use super::walk::ClusterWalk;
use crate::oracle::{Finding, Kind};
use crate::run::{Followed, Plan, Tally};
use anyhow::{Context as _, Result};
use baton_testing::Dice;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many events a schedule has at least; how many more, its plan says.
const LEAST: u64 = 5;

/// Follows the schedules of a plan, on clusters whose bus is this program of NATS.
pub async fn run_schedules<M: Machines>(plan: &Plan, nats: &Path, of: &M::Of) -> Result<Tally> {
    let next = AtomicU64::new(0);
    let tally = Mutex::<Tally>::default();
    let lanes = (0..plan.at_once).map(|_| lane::<M>(plan, nats, of, &next, &tally));
    for done in futures_util::future::join_all(lanes).await {
        done?;
    }
    Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
}

async fn lane<M: Machines>(
    plan: &Plan,
    nats: &Path,
    of: &M::Of,
    next: &AtomicU64,
    tally: &Mutex<Tally>,
) -> Result<()> {
    let lock = || tally.lock().unwrap_or_else(PoisonError::into_inner);
    let mut cluster = None;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= plan.walks || lock().found.len() >= plan.enough {
            return Ok(());
        }
        let mut at = match cluster.take() {
            Some(cluster) => cluster,
            None => Cluster::<M>::start(nats.to_owned(), of).await.context("a cluster")?,
        };
        let seed = plan.seed + number;
        let mut dice = Dice::of(seed);
        let length = LEAST + dice.roll(plan.rarities.more + 1);
        let wanted = |(number, _): &(usize, Event)| {
            plan.only.as_ref().is_none_or(|only| only.contains(number))
        };
        let events: Vec<Event> = draw(&mut dice, length)
            .into_iter()
            .enumerate()
            .filter(wanted)
            .map(|(_, event)| event)
            .collect();
        let Followed { told, finding } = follow_schedule(&mut at, seed, &events).await;
        let mut tally = lock();
        tally.walked += 1;
        tally.steps += events.len();
        match finding.filter(|found| !plan.passed_over.contains(&found.kind)) {
            None => cluster = Some(at),
            Some(Finding { kind, what }) => {
                let told = told.join("\n  ");
                let again = format!("BATON_WALK={}:{seed}", plan.name);
                tally.found.push(format!("{kind}: {what}\n  again: {again}\n  {told}"));
                *tally.kinds.entry(kind).or_default() += 1;
            }
        }
    }
}

/// Lets these things happen to a cluster, from the opening of its sessions to their removal.
pub async fn follow_schedule<M: Machines>(
    cluster: &mut Cluster<M>,
    seed: u64,
    events: &[Event],
) -> Followed {
    let mut told = Vec::new();
    let finding = match try_follow(cluster, seed, events, &mut told).await {
        Ok(finding) => finding,
        Err(error) => Some(Finding::new(Kind::Harness, format!("{error:#}"))),
    };
    Followed { told, finding }
}

async fn try_follow<M: Machines>(
    cluster: &mut Cluster<M>,
    seed: u64,
    events: &[Event],
    told: &mut Vec<String>,
) -> Result<Option<Finding>> {
    let mut walk = ClusterWalk::open(cluster, seed).await.context("the opening")?;
    let mut ended = Ok(None);
    for event in events {
        ended = walk.step(*event).await.with_context(|| format!("{event:?}"));
        if !matches!(ended, Ok(None)) {
            break;
        }
    }
    if matches!(ended, Ok(None)) {
        ended = walk.settle().await.context("the end");
    }
    told.append(&mut walk.told);
    ended
}
