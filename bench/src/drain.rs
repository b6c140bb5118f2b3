//! How long sessions are away that are brought to another node: each with a database of 10 MB, a page that writes every
//! ten milliseconds, and a token that counts once.
//!
//! The one idea: what is lost on the way makes a pause worth nothing. So what was written is counted before and after,
//! and a token that was spent and comes back is counted by the site.

use crate::members::{self, DrivenPage};
use crate::report::{Figure, Section, Table, median, percentile};
use anyhow::{Context as _, Result, bail, ensure};
use axum::Router;
use axum::extract::Query;
use axum::response::Html;
use axum::routing::{get, post};
use baton_api::{Client, DrainNode, MovedSession, NodeDrain, OpenCdp};
use baton_playground::{Site, TestNode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many records a page keeps beside what it writes on.
const RECORDS: u64 = 1000;
/// How many lines a page keeps of what it writes: the last ones.
const LINES: u64 = 1000;
/// How far the site of a token is away.
const FAR: Duration = Duration::from_millis(60);
/// How long anything that is waited for may take, and each of the sessions that move.
const LIMIT: Duration = Duration::from_mins(5);
/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(100);
/// How many of the last lines of each node's log that tell of moving are shown where a drain does not end.
const LAST_LINES: usize = 20;
/// For how long a session may be away, in milliseconds.
const AIM: f64 = 1500.0;

/// Into which of its databases a page writes.
const PLACES: [(&str, &str); 2] =
    [("small", "it writes beside the 10 MB"), ("large", "it writes into the database of 10 MB")];

/// Drains a node of so many sessions, once for each place into which pages write.
pub async fn measure(baton: &Path, sessions: usize) -> Result<Section> {
    let mut figures = Vec::new();
    let mut rows = Vec::new();
    for (place, what) in PLACES {
        let Drained { pauses, steps, spent } = drain(baton, place, sessions).await?;
        println!("{what}: {pauses:.0?} ms, {spent} tokens spent twice; {steps:?}");
        ensure!(spent == 0, "expected no token to come back that was spent, found {spent}");
        figures.push(Figure {
            what: format!("a session is away, p95: {what}"),
            found: percentile(&pauses, 95),
            aim: AIM,
            unit: "ms",
        });
        let most = pauses.iter().copied().fold(0.0, f64::max);
        let mut cells =
            vec![format!("{:.0} ms", median(pauses.iter().copied())), format!("{most:.0} ms")];
        cells.push(steps.join(", "));
        rows.push((what.to_owned(), cells));
    }
    let heading = ["p50", "most", "steps: medians"].map(str::to_owned).to_vec();
    Ok(Section {
        title: "Sessions that move to another node",
        method: format!(
            "Two nodes on one PostgreSQL (which does not wait for its disk) on this machine. {sessions} sessions at one of \
             them, each with {RECORDS} records of 10 kB in a database, a page that writes a line every 10 ms and keeps the \
             last {LINES}, and a token that counts once, every 400 ms, {FAR:?} away. The node is drained, and says of each \
             session for how long it could not be driven. No line may be missing afterwards, and no token come back that was spent."
        ),
        comparisons: Vec::new(),
        figures,
        medians: Vec::new(),
        tables: vec![Table { heading, rows }],
    })
}

/// What a drain was like.
struct Drained {
    /// For how long each session was away, in milliseconds.
    pauses: Vec<f64>,
    /// What its steps took, as the nodes logged them.
    steps: Vec<String>,
    /// How many tokens came that had been spent.
    spent: usize,
}

async fn drain(baton: &Path, place: &str, sessions: usize) -> Result<Drained> {
    let database = tokio::task::spawn_blocking(baton_postgres::create_database).await??;
    let own = members::start(baton, "own", &database, &[]).await?;
    let other = members::start(baton, "other", &database, &[]).await?;
    let spent = Arc::new(AtomicUsize::new(0));
    let site = site(Arc::clone(&spent)).await?;
    let client = own.client()?;
    let names: Vec<String> = (0..sessions).map(|at| format!("session-{at}")).collect();
    for name in &names {
        own.open(name, [site.url(&format!("/?into={place}&session={name}"))?]).await?;
        wait(client, name, "window.records", |records| records == RECORDS).await?;
        wait(client, name, "window.written ?? 0", |written| written > 50).await?;
        client.capture_session(name).await?;
    }
    let mut written = Vec::new();
    for name in &names {
        written.push(RestlessPage::connect(client, name).await?.number("window.written").await?);
    }
    let moved = move_all([&own, &other], &names).await?;
    for (name, written) in names.iter().zip(written) {
        wait(client, name, "window.records ?? 0", |records| records == RECORDS).await?;
        let tool = RestlessPage::connect(client, name).await?;
        let found = tool.number("window.found.length").await?;
        let last = tool.number("window.found.at(-1)").await?;
        let in_order = "Number(window.found.every((key, at, all) => key === all[0] + at))";
        let in_order = tool.number(in_order).await?;
        ensure!(
            last >= written && found == LINES.min(last + 1) && in_order == 1,
            "expected {name} with its last {LINES} lines up to {written} or later, in order, found {found} up to {last}"
        );
    }
    let steps = steps(&[own.log(), other.log()]);
    own.clear().await?;
    other.clear().await?;
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    let pauses = moved.iter().map(|moved| moved.pause_ms as f64).collect();
    Ok(Drained { pauses, steps, spent: spent.load(Ordering::Relaxed) })
}

/// Drains the first of these nodes, and waits until all of it is at the second.
async fn move_all(nodes: [&TestNode; 2], names: &[String]) -> Result<Vec<MovedSession>> {
    let (client, sessions) = (nodes[0].client()?, names.len());
    client.drain_node("own", DrainNode::default()).await?;
    // Of ten sessions each waits for those before it.
    let (mut end, mut seen) = (Instant::now() + LIMIT, 0);
    loop {
        let node = client.fetch_node("own").await?;
        let drain = node.drain.context("expected the drain of the node that was asked")?;
        let told = drain.moved.len() + drain.stayed.len();
        if told > seen {
            (seen, end) = (told, Instant::now() + LIMIT);
        }
        if drain.is_done {
            ensure!(drain.stayed.is_empty(), "expected all to move, found {:?}", drain.stayed);
            ensure!(drain.moved.len() == sessions, "expected {sessions}, found {:?}", drain.moved);
            return Ok(drain.moved);
        }
        if Instant::now() >= end {
            let [own, other] = nodes.map(last_lines);
            bail!(
                "expected each session to move within {LIMIT:?}, found {}\n\
                 its node logged last of moving:\n{own}\nthe other one:\n{other}",
                how_far(&drain, names)
            );
        }
        sleep(PAUSE).await;
    }
}

/// How far a drain has come: what has moved, what is left, and what stays.
fn how_far(drain: &NodeDrain, names: &[String]) -> String {
    let moved: Vec<String> = drain.moved.iter().map(|one| one.name.to_string()).collect();
    let stayed: Vec<String> = drain.stayed.iter().map(|one| one.name.to_string()).collect();
    let is_left = |name: &&String| !moved.contains(name) && !stayed.contains(name);
    let left: Vec<&String> = names.iter().filter(is_left).collect();
    let stayed = &drain.stayed;
    format!("moved: {moved:?}, left: {left:?} (it says {}), stayed: {stayed:?}", drain.left)
}

/// The last lines of a node's log that tell of moving, and of browsers that end and begin for it.
fn last_lines(node: &TestNode) -> String {
    let log = node.log();
    let words = ["moving", "move", "drain", "brought back", "stopped", "ready", "WARN", "ERROR"];
    let tells = |line: &&str| words.iter().any(|word| line.contains(word));
    let lines: Vec<&str> = log.lines().filter(tells).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

/// The medians of all steps that these nodes logged.
fn steps(logs: &[String]) -> Vec<String> {
    let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    let lines = logs.iter().flat_map(|log| log.lines());
    for line in lines.filter(|line| line.contains("steps=") || line.contains("steps\":")) {
        for step in line.split(['{', '}', ',']) {
            let Some((name, time)) = step.split_once(": ") else { continue };
            let name = name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
            let Ok(time) = time.trim().parse() else { continue };
            if !order.contains(&name) {
                order.push(name);
            }
            times.entry(name).or_default().push(time);
        }
    }
    let told = |name: &&str| format!("{name} {:.0}", median(times[name].iter().copied()));
    order.iter().map(told).collect()
}

/// Waits until a page says a number of which this holds.
async fn wait(client: &Client, name: &str, what: &str, is: impl Fn(u64) -> bool) -> Result<()> {
    let end = Instant::now() + LIMIT;
    loop {
        if let Ok(tool) = RestlessPage::connect(client, name).await
            && tool.number(what).await.is_ok_and(&is)
        {
            return Ok(());
        }
        ensure!(Instant::now() < end, "expected {what} of {name} within {LIMIT:?}");
        sleep(PAUSE).await;
    }
}

/// The page of a session, to be asked.
struct RestlessPage(DrivenPage);

impl RestlessPage {
    async fn connect(client: &Client, name: &str) -> Result<Self> {
        let access = client.open_cdp(name, &OpenCdp { reusable: false }).await?;
        Ok(Self(DrivenPage::connect(&access.cdp_url).await?))
    }

    async fn number(&self, expression: &str) -> Result<u64> {
        let params = json!({ "expression": expression, "returnByValue": true });
        let answer: Value = self.0.page.call("Runtime.evaluate", params).await?;
        let found = &answer["result"]["value"];
        found.as_u64().with_context(|| format!("expected a number, found {found}"))
    }
}

/// Of which session a token is.
#[derive(Deserialize)]
struct TokenOf {
    session: String,
}

/// The site with the page, which counts the tokens that come a second time.
async fn site(spent: Arc<AtomicUsize>) -> Result<Site> {
    let tokens: Arc<Mutex<HashMap<String, String>>> = Arc::default();
    let turns = Arc::new(AtomicUsize::new(0));
    let rotate = move |Query(TokenOf { session }): Query<TokenOf>, shown: String| {
        let next = format!("token-{}", turns.fetch_add(1, Ordering::Relaxed));
        let mut all = tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if all.insert(session, next.clone()).unwrap_or_default() != shown {
            spent.fetch_add(1, Ordering::Relaxed);
        }
        async move {
            sleep(FAR).await;
            next
        }
    };
    let page = async || Html(include_str!("pages/restless.html"));
    Site::start(Router::new().route("/", get(page)).route("/token", post(rotate))).await
}
