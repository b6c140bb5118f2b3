//! What one changed item costs in a session of many origins: the node's time, and what it writes.

use crate::report::{Figure, Section};
use crate::resume::{ORIGINS, TABS, remember};
use crate::{process, site};
use anyhow::{Result, ensure};
use baton_api::ListHistory;
use baton_playground::{Page, TestNode};
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// How many items are changed, one after the other.
const CHANGES: u32 = 20;
/// Seconds between two captures that nobody asks for.
const INTERVAL: u64 = 2;
/// After that long a change is captured; nobody asks the node meanwhile, which would cost it time.
const CAPTURED: Duration = Duration::from_millis(INTERVAL * 1000 + 1500);

/// Measures captures after one changed item each.
pub async fn measure(baton: &Path) -> Result<Section> {
    let site = site::start().await?;
    let test_node = TestNode::build(baton)?;
    let mut test_node = test_node
        .with("BATON_SESSION_SNAPSHOT_INTERVAL", INTERVAL.to_string())
        .with("BATON_MAX_SESSION_SNAPSHOTS", "1000");
    test_node.start_node().await?;
    let urls: Result<Vec<_>> = TABS.iter().map(|host| site.url_on(host, "/memory")).collect();
    let id = test_node.open("kept", urls?).await?;
    remember(&test_node, id, &site).await?;
    let first = site.url_on(TABS[0], "/memory")?;
    let page = Page::attach(&test_node.keeper_socket(id), first.as_str()).await?;
    sleep(CAPTURED).await;

    let node = test_node.node_pid()?;
    let held = snapshots(&test_node).await?;
    let (time, written) = (process::processor_time(node)?, process::written(node)?);
    for change in 0..CHANGES {
        let set = format!("localStorage.setItem('item 7', 'changed {change}'); true");
        ensure!(page.evaluate::<bool>(&set).await?, "expected the page to change an item");
        sleep(CAPTURED).await;
    }
    let time = process::processor_time(node)?.saturating_sub(time);
    let written = process::written(node)? - written;
    let taken = snapshots(&test_node).await? - held;
    ensure!(taken == u64::from(CHANGES), "expected {CHANGES} snapshots, found {taken}");
    test_node.clear().await?;
    Ok(section(time, written))
}

async fn snapshots(test_node: &TestNode) -> Result<u64> {
    let all = ListHistory { limit: Some(200), ..ListHistory::default() };
    let history = test_node.client()?.list_history("kept", &all).await?;
    Ok(history.items.len() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "kilobytes")]
fn section(time: Duration, written: u64) -> Section {
    let each = f64::from(CHANGES);
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    Section {
        title: "One changed item among fifty origins",
        method: format!(
            "{} tabs, {ORIGINS} origins, each with a cookie, 20 localStorage items and a database of 50 \
             records. {CHANGES} times one localStorage item is changed and captured without being \
             asked. The node's processor time (`/proc/PID/stat`, all threads) and what it gave to the \
             disk (`write_bytes` of `/proc/PID/io`, SQLite's log included), for each capture. Absolute, \
             not a ratio.",
            TABS.len()
        ),
        comparisons: Vec::new(),
        figures: vec![
            figure("node time of a capture", time.as_secs_f64() * 1e3 / each, 20.0, "ms"),
            figure("written by a capture", written as f64 / 1e3 / each, 64.0, "kB"),
        ],
        medians: Vec::new(),
        tables: Vec::new(),
    }
}
