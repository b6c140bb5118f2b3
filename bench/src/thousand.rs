//! A thousand sessions against a hundred, of which as many are active.
//!
//! The one idea: a node's work may grow with the sessions that are active, not with those that lie in
//! its database. Both test nodes have the same number of active ones, so both should cost the same. They are full
//! of sessions that nobody ever opened: written into the database directly.

use crate::report::{Comparison, Figure, Ratio, Section, median};
use anyhow::{Context as _, Result, ensure};
use baton_api::ListSessions;
use baton_playground::TestNode;
use baton_session::{
    Lifecycle, NodeId, Owner, Part, PartKind, Session, SessionId, SnapshotId, SnapshotReason,
};
use baton_store::{Config, DatabaseUrl, Limits, MasterKey, NewSnapshot, Store};
use jiff::Timestamp;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

const MANY: u32 = 1000;
const FEW: u32 = 100;
/// Pairs of starts. What a process has by chance (where its memory lies, on which processor it runs)
/// it keeps, so that lists of many starts say more than many lists of one.
const STARTS: usize = 60;
/// How often each list is asked for after a start, for a median.
const LISTS: usize = 15;
/// How much more a thousand may cost than a hundred: nothing, but for chance.
const GROWTH: f64 = 1.1;

/// What is measured after each start.
const WHAT: [Measured; 6] = [
    Measured { what: "scan at start-up", aim: 300.0, is_growth: true },
    Measured { what: "start until ready", aim: 300.0, is_growth: true },
    Measured { what: "list of the newest 50", aim: 20.0, is_growth: true },
    Measured { what: "list of the oldest 50", aim: 20.0, is_growth: true },
    Measured { what: "list of the 10 in a state", aim: 20.0, is_growth: true },
    // The other test node has no 200.
    Measured { what: "list of 200", aim: 20.0, is_growth: false },
];

struct Measured {
    what: &'static str,
    /// In milliseconds.
    aim: f64,
    /// Whether both test nodes do the same.
    is_growth: bool,
}

/// Milliseconds of each that is measured, after one start.
type Times = [f64; WHAT.len()];

/// Measures starts and lists in both test nodes, in turn.
pub async fn measure(baton: &Path) -> Result<Section> {
    let many = fill(TestNode::build(baton)?, MANY).await?;
    let few = fill(TestNode::build(baton)?, FEW).await?;
    let mut test_nodes = [many, few];
    let mut pairs = Vec::with_capacity(STARTS);
    for pair in 0..STARTS {
        let [many, few] = measure_pair(&mut test_nodes, pair).await?;
        println!(
            "pair {:>2} of {STARTS}: scan {:.1} and {:.1} ms, list {:.2} and {:.2} ms",
            pair + 1,
            many[0],
            few[0],
            many[2],
            few[2]
        );
        pairs.push((many, few));
    }
    for test_node in test_nodes {
        test_node.clear().await?;
    }
    Ok(section(&pairs))
}

/// One start of each node, and lists of both in turn.
async fn measure_pair(test_nodes: &mut [TestNode; 2], pair: usize) -> Result<[Times; 2]> {
    let mut starts = [(0.0, 0.0); 2];
    for side in order(pair) {
        starts[side] = start(&mut test_nodes[side]).await?;
    }
    let newest = measure_lists(test_nodes, [&page(50), &page(50)]).await?;
    let oldest = [last_page(&test_nodes[0]).await?, last_page(&test_nodes[1]).await?];
    let oldest = measure_lists(test_nodes, [&oldest[0], &oldest[1]]).await?;
    let in_state = ListSessions { state: Some(Lifecycle::Recoverable), ..page(50) };
    let in_state = measure_lists(test_nodes, [&in_state, &in_state]).await?;
    let longest = measure_lists(test_nodes, [&page(200), &page(200)]).await?;
    for test_node in test_nodes {
        test_node.stop_node().await?;
    }
    Ok([0, 1].map(|side| {
        let (scan, ready) = starts[side];
        [scan, ready, newest[side], oldest[side], in_state[side], longest[side]]
    }))
}

/// One start: the milliseconds of the scan, and those until `node.json` says that the node is ready.
async fn start(test_node: &mut TestNode) -> Result<(f64, f64)> {
    wake(test_node).await?;
    let begun = SystemTime::now();
    test_node.start_node().await?;
    let ready = fs::metadata(test_node.data().node_file())?.modified()?.duration_since(begun)?;
    let log = test_node.log_tail();
    let line = log.lines().rfind(|line| line.contains("looked at the sessions"));
    let line = line.with_context(|| format!("expected a scan in the log, found:\n{log}"))?;
    let recoverable = format!("recoverable={ACTIVE} ");
    ensure!(line.contains(&recoverable), "expected {recoverable}in the log, found {line}");
    let took = line.rsplit_once("took_ms=").and_then(|(_, took)| took.trim().parse().ok());
    let scan = took.with_context(|| format!("expected took_ms in the log, found {line}"))?;
    Ok((scan, ready.as_secs_f64() * 1e3))
}

/// The median time of a list in each test node.
async fn measure_lists(
    test_nodes: &[TestNode; 2],
    queries: [&ListSessions; 2],
) -> Result<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for pair in 0..LISTS {
        for side in order(pair) {
            let client = test_nodes[side].client()?;
            let start = Instant::now();
            let list = client.list_sessions(queries[side]).await?;
            times[side].push(start.elapsed().as_secs_f64() * 1e3);
            ensure!(!list.items.is_empty(), "expected sessions in a list, found none");
        }
    }
    Ok(times.map(median))
}

/// Who comes first in a pair.
fn order(pair: usize) -> [usize; 2] {
    if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

fn page(limit: u32) -> ListSessions {
    ListSessions { limit: Some(limit), ..ListSessions::default() }
}

/// What asks for the oldest 50.
async fn last_page(test_node: &TestNode) -> Result<ListSessions> {
    let (mut end, mut next) = (page(50), page(50));
    loop {
        let list = test_node.client()?.list_sessions(&next).await?;
        let Some(after) = list.next else { return Ok(end) };
        next.after = Some(after);
        end = ListSessions { after: next.after, ..page(50) };
    }
}

fn section(pairs: &[(Times, Times)]) -> Section {
    let measured = || WHAT.iter().enumerate();
    Section {
        title: "A thousand sessions",
        method: format!(
            "A database of {MANY} sessions with {SNAPSHOTS} snapshots each, and beside it one of {FEW}. \
             For each start {ACTIVE} sessions of each database are active and their browsers are gone, \
             as after a crash of the machine: the node finds that out and writes it down. Then lists \
             are asked for over loopback, {LISTS} of each kind in turn, for a median; the time is that \
             of the client. The ratio is that of {MANY} to {FEW}, with as many active ones; what is \
             absolute is the median with {MANY}."
        ),
        comparisons: measured()
            .filter(|(_, measured)| measured.is_growth)
            .map(|(index, measured)| Comparison {
                what: measured.what,
                ratio: Ratio::of(
                    &pairs.iter().map(|(m, f)| (m[index], f[index])).collect::<Vec<_>>(),
                ),
                aim: GROWTH,
                aim_is_for_the_bound: false,
            })
            .collect(),
        figures: measured()
            .map(|(index, measured)| Figure {
                what: measured.what.to_owned(),
                found: median(pairs.iter().map(|(many, _)| many[index])),
                aim: measured.aim,
                unit: "ms",
            })
            .collect(),
        medians: Vec::new(),
        tables: Vec::new(),
    }
}

/// How many sessions are active, however many there are.
const ACTIVE: u32 = 10;
/// How many snapshots each has.
const SNAPSHOTS: u32 = 10;

/// Fills the database of an empty test node. `ACTIVE` sessions, evenly spread, can be woken; of the
/// others half are stale and half are closed.
pub(crate) async fn fill(test_node: TestNode, sessions: u32) -> Result<TestNode> {
    println!("storing {sessions} sessions with {SNAPSHOTS} snapshots each");
    test_node.data().create()?;
    let node = node(&test_node)?;
    let store = open(&test_node).await?;
    for number in 0..sessions {
        let lifecycle = match number {
            number if number % (sessions / ACTIVE) == 0 => Lifecycle::Recoverable,
            number if number % 2 == 0 => Lifecycle::Stale,
            _ => Lifecycle::Closed,
        };
        let session = session(number, node, lifecycle)?;
        store.create_session(&session).await?;
        for snapshot in 0..SNAPSHOTS {
            store.create_snapshot(new_snapshot(&session, snapshot)).await?;
        }
    }
    store.close().await;
    Ok(test_node)
}

/// Makes those sessions active that can be woken, as if their node had died with their browsers.
async fn wake(test_node: &TestNode) -> Result<()> {
    let node = node(test_node)?;
    let store = open(test_node).await?;
    let asleep =
        store.list_sessions(&Owner::local(), Some(Lifecycle::Recoverable), None, ACTIVE).await?;
    for session in asleep {
        let (from, to) = (Lifecycle::Recoverable, Lifecycle::Active);
        store.update_lifecycle(session.id, node, from, to, Timestamp::now()).await?;
    }
    store.close().await;
    Ok(())
}

/// The node of a test node; one that never started gets an id, which its key remembers later.
fn node(test_node: &TestNode) -> Result<NodeId> {
    if let Some(node) = test_node.data().node_id()? {
        return Ok(node);
    }
    let node = NodeId::new(Timestamp::now(), [7; 10]);
    test_node.data().write_node_id(node)?;
    Ok(node)
}

async fn open(test_node: &TestNode) -> Result<Store> {
    let (database, limits) = (DatabaseUrl::Sqlite(test_node.data().database()), Limits::default());
    let key = MasterKey::load_or_create(&test_node.data().key())?;
    Ok(Store::open(Config { database, key, limits }).await?)
}

fn session(number: u32, node: NodeId, lifecycle: Lifecycle) -> Result<Session> {
    let at = Timestamp::now();
    Ok(Session {
        id: SessionId::new(at, random(number, 0)),
        name: format!("session-{number}").parse()?,
        description: "one of many".to_owned(),
        owner: Owner::local(),
        node,
        headed: false,
        debug: false,
        lifecycle,
        created_at: at,
        updated_at: at,
    })
}

/// What a small session holds: between two snapshots only its tab changes.
fn new_snapshot(session: &Session, number: u32) -> NewSnapshot {
    let part = |kind, name: &str, text: String| Part {
        kind,
        name: name.to_owned(),
        bytes: text.repeat(10).into_bytes(),
    };
    let taken_at = Timestamp::now();
    let random = random(number, 1);
    NewSnapshot {
        id: SnapshotId::new(taken_at, random),
        session: session.id,
        owner: session.owner.clone(),
        taken_at,
        reason: SnapshotReason::Interval,
        term: None,
        shrunk: false,
        sibling: false,
        saved: false,
        parts: vec![
            part(PartKind::Cookies, "example.org", session.name.to_string()),
            part(PartKind::Tab, "0000", format!("{} at {number}", session.name)),
        ],
        carried: Vec::new(),
        keep: None,
    }
}

/// Not random at all: no two ids are made for the same number.
fn random(number: u32, kind: u8) -> [u8; 10] {
    let [a, b, c, d] = number.to_be_bytes();
    [kind, 0, 0, 0, 0, 0, a, b, c, d]
}
