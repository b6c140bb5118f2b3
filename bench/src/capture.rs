//! Capture on against capture off: the same work of the same page in the same browser.
//!
//! Two browsers with the same page work in turn: one is watched by a node that captures as often as
//! automatic captures ever do, every 2 s (the default is every 30 s); beside the other is its keeper
//! and nobody else. After half of the pairs they change parts, so that no browser is measured against
//! its twin. The node is there before the work begins: what is measured is capturing, not starting.

use crate::report::{Comparison, Ratio, Section, median};
use crate::site;
use anyhow::Result;
use baton_playground::{Page, TestNode};
use baton_session::SessionId;
use jiff::Timestamp;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use url::Url;

/// Units of work of a measurement; a few seconds, so that captures fall into it.
const STEPS: u32 = 2000;

/// After so long without a new snapshot there is nothing left to capture.
const CALM: Duration = Duration::from_secs(3);

/// Measures `pairs` pairs, each in the other order than the one before.
pub async fn measure(baton: &Path, pairs: usize) -> Result<Section> {
    let site = site::start().await?;
    let url = site.url("/busy")?;
    let mut sides = [BusyBrowser::open(baton, &url).await?, BusyBrowser::open(baton, &url).await?];
    let mut measured = Vec::with_capacity(pairs);
    let mut captures = 0;
    for pair in 0..pairs {
        let watched = usize::from(pair >= pairs / 2);
        if pair == 0 || pair == pairs / 2 {
            sides[1 - watched].leave().await?;
            sides[watched].watch().await?;
        }
        let (on, off);
        if pair % 2 == 0 {
            off = sides[1 - watched].work().await?;
            on = sides[watched].work_watched(&mut captures).await?;
        } else {
            on = sides[watched].work_watched(&mut captures).await?;
            off = sides[1 - watched].work().await?;
        }
        println!(
            "pair {:>2} of {pairs}: on {on:.0} ms, off {off:.0} ms, ratio {:.3}",
            pair + 1,
            on / off
        );
        measured.push((on, off));
    }
    for side in sides {
        side.test_node.clear().await?;
    }
    Ok(section(&measured, captures))
}

/// A browser with the busy page.
struct BusyBrowser {
    test_node: TestNode,
    session: SessionId,
    page: Page,
    is_watched: bool,
}

impl BusyBrowser {
    /// Opens the page and warms it up; nobody watches it yet.
    async fn open(baton: &Path, url: &Url) -> Result<Self> {
        let mut test_node = TestNode::build(baton)?.with("BATON_SESSION_SNAPSHOT_INTERVAL", "2");
        test_node.start_node().await?;
        let session = test_node.open("busy", [url.clone()]).await?;
        let page = Page::attach(&test_node.keeper_socket(session), url.as_str()).await?;
        test_node.stop_node().await?;
        let side = Self { test_node, session, page, is_watched: false };
        side.work().await?;
        Ok(side)
    }

    /// Starts a node, and waits until it has captured what it found.
    async fn watch(&mut self) -> Result<()> {
        self.test_node.start_node().await?;
        self.is_watched = true;
        self.work().await?;
        self.rest().await
    }

    /// Ends the node, if there is one, without a last capture.
    async fn leave(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_watched) {
            self.test_node.kill_node().await?;
        }
        Ok(())
    }

    async fn work(&self) -> Result<f64> {
        self.page.evaluate(&format!("work({STEPS})")).await
    }

    /// The same work while a node watches. It returns when all is captured, so that nothing of it is
    /// left to be done while the other browser works.
    async fn work_watched(&self, captures: &mut usize) -> Result<f64> {
        let begun = Timestamp::now();
        let took = self.work().await?;
        *captures += usize::from(self.newest().await?.is_some_and(|newest| newest > begun));
        self.rest().await?;
        Ok(took)
    }

    /// Waits until all is captured: until a snapshot is stored that was taken after now, or none comes.
    async fn rest(&self) -> Result<()> {
        let (now, end) = (Timestamp::now(), Instant::now() + CALM);
        while self.newest().await?.is_none_or(|newest| newest < now) && Instant::now() < end {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// When the newest snapshot was taken.
    async fn newest(&self) -> Result<Option<Timestamp>> {
        let session = self.test_node.client()?.fetch_session(&self.session.to_string()).await?;
        Ok(session.snapshot.map(|snapshot| snapshot.taken_at))
    }
}

fn section(measured: &[(f64, f64)], captures: usize) -> Section {
    Section {
        title: "Capture on against off",
        method: format!(
            "A busy page (layout, localStorage, IndexedDB, cookies, requests) does {STEPS} units of work, \
             in turn in a browser that a node captures every 2 s and in one without any node; halfway \
             the two change parts. A snapshot was taken during {captures} of {} measurements with the \
             node.",
            measured.len()
        ),
        comparisons: vec![Comparison {
            what: "capture on / off",
            ratio: Ratio::of(measured),
            aim: 1.03,
            aim_is_for_the_bound: true,
        }],
        figures: Vec::new(),
        medians: vec![
            (
                "work, capture on".to_owned(),
                format!("{:.0} ms", median(measured.iter().map(|m| m.0))),
            ),
            (
                "work, capture off".to_owned(),
                format!("{:.0} ms", median(measured.iter().map(|m| m.1))),
            ),
        ],
        tables: Vec::new(),
    }
}
