//! What an idle session takes: processor time and memory of its node and its keeper.
//!
//! Nothing stands against it, so it is told as it is. One test node at a time: processes of one program
//! share its pages, and would make each other look smaller.

use crate::report::{Figure, Section};
use crate::{process, site};
use anyhow::{Result, ensure};
use baton_api::OpenSession;
use baton_playground::{Site, TestNode};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Until then the first captures are over, that of the first interval too.
const SETTLE: Duration = Duration::from_secs(45);
/// How long is measured; two looks for cookies fall into it.
const WATCHED: Duration = Duration::from_mins(1);

/// Measures a node that has its database for itself, and one that shares it.
pub async fn measure(baton: &Path) -> Result<Section> {
    let site = site::start().await?;
    let own = watch(TestNode::build(baton)?, &site).await?;
    let test_node = TestNode::build(baton)?;
    let database = test_node.data().path().with_file_name("shared.db");
    let shared = watch(test_node.with("BATON_DATABASE_URL", database), &site).await?;
    let figures = [("own database", own), ("shared database", shared)];
    Ok(Section {
        title: "An idle session",
        method: format!(
            "One node with one active session, whose page rests, all settings as they come. From {} s \
             after it was opened, node and keeper are watched for {} s: processor time from \
             `/proc/PID/stat`, which counts in 10 ms, then memory (PSS) from `/proc/PID/smaps_rollup`. \
             Once with a database in the data folder, once with one that other nodes could share, so \
             that the node beats. The browser's own costs are not counted. Absolute, not a ratio.",
            SETTLE.as_secs(),
            WATCHED.as_secs()
        ),
        comparisons: Vec::new(),
        figures: figures.into_iter().flat_map(|(name, costs)| costs.figures(name)).collect(),
        medians: Vec::new(),
        tables: Vec::new(),
    })
}

/// What node and keeper took.
struct Costs {
    /// Of one processor, both together.
    percent: f64,
    /// In megabytes.
    node: f64,
    keeper: f64,
}

async fn watch(mut test_node: TestNode, site: &Site) -> Result<Costs> {
    test_node.start_node().await?;
    let request = OpenSession::new("idle".parse()?, [site.url("/resting")?]);
    let id = test_node.client()?.open_session(&request).await?.session.id;
    let [(_, keeper), _] = test_node.holders(id).await?;
    let node = test_node.node_pid()?;
    println!("node {node} and keeper {keeper} come to rest");
    sleep(SETTLE).await;
    let newest = newest(&test_node).await?;
    let (start, before) = (Instant::now(), both(node, keeper)?);
    sleep(WATCHED).await;
    let used = both(node, keeper)?.saturating_sub(before);
    let percent = 100.0 * used.as_secs_f64() / start.elapsed().as_secs_f64();
    let costs = Costs { percent, node: process::memory(node)?, keeper: process::memory(keeper)? };
    ensure!(
        newest == self::newest(&test_node).await?,
        "expected a session at rest, found a capture"
    );
    test_node.clear().await?;
    Ok(costs)
}

fn both(node: u32, keeper: u32) -> Result<Duration> {
    Ok(process::processor_time(node)? + process::processor_time(keeper)?)
}

async fn newest(test_node: &TestNode) -> Result<Option<String>> {
    let session = test_node.client()?.fetch_session("idle").await?;
    Ok(session.snapshot.map(|snapshot| snapshot.id.to_string()))
}

impl Costs {
    fn figures(&self, database: &str) -> [Figure; 3] {
        let figure = |what, found, aim, unit| Figure {
            what: format!("{what}, {database}"),
            found,
            aim,
            unit,
        };
        [
            figure("processor time of node and keeper", self.percent, 0.1, "%"),
            figure("memory of the node", self.node, 25.0, "MB"),
            figure("memory of the keeper", self.keeper, 6.0, "MB"),
        ]
    }
}
