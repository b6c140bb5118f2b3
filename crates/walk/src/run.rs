//! Many walks, some at once; the one that fails is made short and reported so that it can be walked again.

use crate::oracle::{Finding, Kind};
use crate::stage::Stage;
use crate::step::{Rarities, Step, draw};
use crate::walk::Walk;
use anyhow::{Context, Result};
use baton_api::OpenSession;
use baton_session::{Lifecycle, SessionId};
use baton_testing::{Dice, seed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many walks two nodes see.
const WALKS_OF_A_PAIR: u64 = 200;
/// How long a walk that failed is made shorter.
const SHRINK_LIMIT: Duration = Duration::from_mins(1);

/// Which walks are walked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By which name a walk is walked again.
    pub name: String,
    /// How many.
    pub walks: u64,
    /// How many at once.
    pub at_once: usize,
    /// The seed of the first one; the others follow.
    pub seed: u64,
    /// Only the steps with these numbers.
    pub only: Option<Vec<usize>>,
    /// What does not count.
    pub passed_over: BTreeSet<Kind>,
    /// After how many findings it is enough.
    pub enough: usize,
    /// How often what costs seconds is drawn.
    pub rarities: Rarities,
}

impl Plan {
    /// `usual` walks from the [seed](seed()) of this run on; or `a_round` for each round of a soak, which are
    /// longer and break more.
    /// `BATON_WALK=name:seed` walks one again, `BATON_WALK=name:seed:0,2` only those of its steps;
    /// `BATON_WALK_PASS_OVER` names what does not count, and with `BATON_WALK_ENOUGH` it goes on after the
    /// first finding. None when another walk is to be walked again.
    pub fn of_environment(name: &str, usual: u64, a_round: u64, at_once: usize) -> Option<Self> {
        let said = |name: &str| std::env::var(name).ok();
        let number = |name: &str| said(name).and_then(|text| text.parse::<u64>().ok());
        let asked = number("BATON_SOAK_ROUNDS");
        let long = format!("{name}-long");
        let again = said("BATON_WALK");
        let mut again = again.as_deref().map(|again| again.split(':'));
        let is_long = match again.as_mut().map(Iterator::next) {
            None => asked.is_some(),
            Some(word) if word == Some(name) => false,
            Some(word) if word == Some(long.as_str()) => true,
            Some(_) => return None,
        };
        let pass_over = said("BATON_WALK_PASS_OVER").unwrap_or_default();
        let is_passed = |kind: &Kind| pass_over.split(',').any(|word| word == kind.as_str());
        let mut plan = Self {
            name: if is_long { long } else { name.to_owned() },
            walks: asked.map_or(usual, |rounds| rounds * a_round),
            at_once,
            seed: seed(),
            only: None,
            passed_over: Kind::ALL.into_iter().filter(is_passed).collect(),
            enough: number("BATON_WALK_ENOUGH").and_then(|n| n.try_into().ok()).unwrap_or(1),
            rarities: if is_long { Rarities::long() } else { Rarities::short() },
        };
        if let Some(mut words) = again {
            plan.seed = words.next()?.parse().ok()?;
            plan.walks = 1;
            let numbers =
                |list: &str| list.split(',').filter_map(|text| text.parse().ok()).collect();
            plan.only = words.next().map(numbers);
        }
        Some(plan)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} walks from BATON_WALK={}:{} on", self.walks, self.name, self.seed)
    }
}

/// What came of the walks.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were walked.
    pub walked: u64,
    /// How many steps they had.
    pub steps: usize,
    /// What was found, in words.
    pub found: Vec<String>,
    /// How often each kind was found.
    pub kinds: BTreeMap<Kind, usize>,
}

struct RunProgress {
    next: AtomicU64,
    steps: AtomicUsize,
    tally: Mutex<Tally>,
}

impl RunProgress {
    fn is_enough(&self, plan: &Plan) -> bool {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.kinds.values().sum::<usize>() >= plan.enough
    }
}

/// Walks, on stages that `make` makes.
pub async fn run<S: Stage, F: Future<Output = Result<S>>>(
    plan: &Plan,
    make: impl Fn() -> F + Sync,
) -> Result<Tally> {
    let shared = RunProgress {
        next: AtomicU64::new(0),
        steps: AtomicUsize::new(0),
        tally: Mutex::default(),
    };
    let lanes = (0..plan.at_once).map(|_| lane(plan, &make, &shared));
    for walked in futures_util::future::join_all(lanes).await {
        walked?;
    }
    let mut tally = shared.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.steps = shared.steps.load(Ordering::Relaxed);
    Ok(tally)
}

async fn lane<S: Stage, F: Future<Output = Result<S>>>(
    plan: &Plan,
    make: &(impl Fn() -> F + Sync),
    shared: &RunProgress,
) -> Result<()> {
    let mut pair = None;
    let mut walks = 0;
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= plan.walks || shared.is_enough(plan) {
            return Ok(());
        }
        if walks >= WALKS_OF_A_PAIR {
            (pair, walks) = (None, 0);
        }
        let mut at = match pair.take() {
            Some(pair) => pair,
            None => Ground::new(make().await?),
        };
        walks += 1;
        let seed = plan.seed + number;
        let steps = steps(plan, seed, &at.stage);
        let walked = walk(plan, &mut at, seed, &steps).await;
        shared.steps.fetch_add(steps.len(), Ordering::Relaxed);
        let mut tally = None;
        match walked {
            Walked::Held(_) => pair = Some(at),
            Walked::Fell(fall) => {
                drop(at);
                tally = Some(if plan.enough == 1 {
                    let (fall, steps) = shrink(plan, make, seed, steps, fall).await;
                    tell(plan, seed, &fall, &steps)
                } else {
                    tell(plan, seed, &fall, &steps)
                });
                let mut all = shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
                *all.kinds.entry(fall_kind(tally.as_ref())).or_default() += 1;
            }
        }
        let mut all = shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
        all.walked += 1;
        all.found.extend(tally.map(|(_, text)| text));
    }
}

fn fall_kind(told: Option<&(Kind, String)>) -> Kind {
    told.map_or(Kind::Harness, |(kind, _)| *kind)
}

/// What came of one walk: what happened, and what does not hold.
#[derive(Debug)]
pub struct Followed {
    /// A line each.
    pub told: Vec<String>,
    /// None when all holds.
    pub finding: Option<Finding>,
}

/// Lets these things happen on a stage, from the opening of a session on.
pub async fn follow<S: Stage>(stage: S, steps: &[Step]) -> Followed {
    let plan = Plan {
        name: String::new(),
        walks: 1,
        at_once: 1,
        seed: 0,
        only: None,
        passed_over: BTreeSet::new(),
        enough: 1,
        rarities: Rarities::short(),
    };
    let steps: Vec<_> = steps.iter().copied().enumerate().collect();
    match walk(&plan, &mut Ground::new(stage), 0, &steps).await {
        Walked::Held(told) => Followed { told, finding: None },
        Walked::Fell(Fall { finding, told, .. }) => Followed { told, finding: Some(finding) },
    }
}

/// The steps of a walk, with their numbers.
fn steps(plan: &Plan, seed: u64, stage: &impl Stage) -> Vec<(usize, Step)> {
    let mut dice = Dice::of(seed);
    let drawn = draw(&mut dice, plan.rarities, stage.is_shared(), stage.has_sandboxes());
    let wanted =
        |(number, _): &(usize, Step)| plan.only.as_ref().is_none_or(|only| only.contains(number));
    drawn.into_iter().enumerate().filter(wanted).collect()
}

/// Two nodes, and the sessions that run beside the one that is walked.
struct Ground<S> {
    stage: S,
    bystanders: [Option<(SessionId, u64)>; 2],
}

impl<S: Stage> Ground<S> {
    fn new(stage: S) -> Self {
        Self { stage, bystanders: [None, None] }
    }

    /// Sees to it that a session runs beside, at each node.
    async fn stand_by(&mut self) -> Result<()> {
        for at in 0..2 {
            if self.bystanders[at].is_some() {
                continue;
            }
            let client = self.stage.client(at)?;
            let name = format!("beside{at}");
            let found = client.fetch_session(&name).await.ok().map(|view| view.session);
            let id = match found {
                Some(session) if session.state != Lifecycle::Closed => {
                    if session.state != Lifecycle::Active
                        && let Err(error) = client.resume_session(&name).await
                        // A node that resumes by itself what it had lost may be faster.
                        && client.fetch_session(&name).await?.session.state != Lifecycle::Active
                    {
                        return Err(error.into());
                    }
                    session.id
                }
                _ => client.open_session(&OpenSession::new(name.parse()?, [])).await?.session.id,
            };
            let browser = self.stage.browser(at, id).await;
            self.bystanders[at] = browser.map(|(number, _)| (id, number));
        }
        Ok(())
    }
}

enum Walked {
    Held(Vec<String>),
    Fell(Fall),
}

/// A walk that failed.
struct Fall {
    finding: Finding,
    /// At which step; none at the end.
    at: Option<usize>,
    told: Vec<String>,
}

async fn walk<S: Stage>(
    plan: &Plan,
    ground: &mut Ground<S>,
    seed: u64,
    steps: &[(usize, Step)],
) -> Walked {
    match try_walk(plan, ground, seed, steps).await {
        Ok(walked) => walked,
        Err(error) => Walked::Fell(Fall {
            finding: Finding::new(Kind::Harness, format!("{error:#}")),
            at: None,
            told: Vec::new(),
        }),
    }
}

async fn try_walk<S: Stage>(
    plan: &Plan,
    ground: &mut Ground<S>,
    seed: u64,
    steps: &[(usize, Step)],
) -> Result<Walked> {
    ground.stand_by().await.context("before the walk")?;
    let counts =
        |found: Option<Finding>| found.filter(|found| !plan.passed_over.contains(&found.kind));
    let name = format!("walk-{seed}");
    let bystanders = ground.bystanders;
    let mut walk = Walk::open(&mut ground.stage, &name, bystanders).await.context("the opening")?;
    for (at, (_, step)) in steps.iter().enumerate() {
        let found = walk
            .step(*step)
            .await
            .with_context(|| format!("{step:?} after\n  {}", walk.told.join("\n  ")))?;
        if let Some(finding) = counts(found) {
            return Ok(Walked::Fell(Fall { finding, at: Some(at), told: walk.told }));
        }
    }
    let settled = walk.settle().await;
    let settled =
        settled.with_context(|| format!("the end after\n  {}", walk.told.join("\n  ")))?;
    if let Some(finding) = counts(settled) {
        return Ok(Walked::Fell(Fall { finding, at: None, told: walk.told }));
    }
    let (bystanders, told) = (walk.bystanders, std::mem::take(&mut walk.told));
    walk.clear().await?;
    ground.bystanders = bystanders;
    Ok(Walked::Held(told))
}

/// Leaves out whatever the failure does not need.
async fn shrink<S: Stage, F: Future<Output = Result<S>>>(
    plan: &Plan,
    make: &(impl Fn() -> F + Sync),
    seed: u64,
    mut steps: Vec<(usize, Step)>,
    mut fall: Fall,
) -> (Fall, Vec<(usize, Step)>) {
    let end = Instant::now() + SHRINK_LIMIT;
    if let Some(at) = fall.at {
        steps.truncate(at + 1);
    }
    for at in (0..steps.len()).rev() {
        if Instant::now() >= end {
            break;
        }
        let mut fewer = steps.clone();
        fewer.remove(at);
        let Ok(stage) = make().await else { break };
        let again = walk(plan, &mut Ground::new(stage), seed, &fewer).await;
        if let Walked::Fell(again) = again
            && again.finding.kind == fall.finding.kind
        {
            (steps, fall) = (fewer, again);
        }
    }
    (fall, steps)
}

fn tell(plan: &Plan, seed: u64, fall: &Fall, steps: &[(usize, Step)]) -> (Kind, String) {
    let numbers: Vec<String> = steps.iter().map(|(number, _)| number.to_string()).collect();
    let mut told = String::new();
    let Finding { kind, what } = &fall.finding;
    let _ = writeln!(told, "{kind}: {what}");
    let _ = writeln!(told, "  again: BATON_WALK={}:{seed}:{}", plan.name, numbers.join(","));
    for line in &fall.told {
        let _ = writeln!(told, "  {line}");
    }
    (*kind, told)
}
