//! What opening, capturing and resuming a session cost while browsers are under rules of the kernel.

use crate::report::{Comparison, Ratio, Section, median};
use crate::resume::{self, Memory};
use crate::site;
use anyhow::Result;
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// How often each is measured, in turn.
const PAIRS: usize = 30;

/// The same session at two nodes, one of which takes the machine's files away from its browsers.
pub async fn measure(baton: &Path) -> Result<Section> {
    let site = site::start().await?;
    let nodes = [
        RuledNode::start(baton, "landlock", &site).await?,
        RuledNode::start(baton, "off", &site).await?,
    ];
    let mut pairs: [Vec<(f64, f64)>; 3] = Default::default();
    for pair in 0..PAIRS {
        // Who comes first changes, so that neither has a warmer machine.
        let (first, second) = (pair % 2, (pair + 1) % 2);
        let mut took = [[0.0; 3]; 2];
        for side in [first, second] {
            took[side] = nodes[side].once(&site, pair).await?;
        }
        for (step, pairs) in pairs.iter_mut().enumerate() {
            pairs.push((took[0][step], took[1][step]));
        }
        println!("pair {} of {PAIRS}: {:.0?} ms, {:.0?} ms without", pair + 1, took[0], took[1]);
    }
    for RuledNode { test_node, .. } in nodes {
        test_node.clear().await?;
    }
    Ok(section(&pairs))
}

/// A node with a session, whose browsers are under `rules`.
struct RuledNode {
    test_node: TestNode,
    session: SessionId,
}

impl RuledNode {
    async fn start(baton: &Path, rules: &str, site: &Site) -> Result<Self> {
        let mut test_node = TestNode::build(baton)?.with("BATON_BROWSER_CONFINEMENT", rules);
        test_node.start_node().await?;
        let (session, _) = resume::open(&test_node, "kept", Memory::Tabs.path(), site).await?;
        let started = Self { test_node, session };
        // The first ones read the program from the disk.
        started.once(site, usize::MAX).await?;
        Ok(started)
    }

    /// How many milliseconds each of the steps takes: to open tabs in a new session, to capture a session of
    /// which one item changed, and to resume it after its browser was killed.
    async fn once(&self, site: &Site, number: usize) -> Result<[f64; 3]> {
        let opened = resume::open_fresh(&self.test_node, Memory::Tabs.path(), site).await?;
        let url = site.url_on(resume::TABS[0], Memory::Tabs.path())?;
        let socket = self.test_node.keeper_socket(self.session);
        let page = Page::attach(&socket, url.as_str()).await?;
        let _: bool =
            page.evaluate(&format!("localStorage.setItem('changed', '{number}'); true")).await?;
        let begun = Instant::now();
        self.test_node.client()?.capture_session("kept").await?;
        let captured = resume::milliseconds(begun);
        let mut steps = BTreeMap::new();
        let resumed =
            resume::resume(&self.test_node, self.session, Memory::Tabs, &mut steps).await?;
        Ok([opened, captured, resumed])
    }
}

fn section(pairs: &[Vec<(f64, f64)>; 3]) -> Section {
    let steps = ["open three tabs", "capture a change of one item", "resume three tabs"];
    let compared = |(what, pairs): (&'static str, &Vec<(f64, f64)>)| Comparison {
        what,
        ratio: Ratio::of(pairs),
        aim: 1.03,
        aim_is_for_the_bound: false,
    };
    let medians = steps.iter().zip(pairs).map(|(what, pairs)| {
        let of = |side: fn(&(f64, f64)) -> f64| median(pairs.iter().map(side));
        ((*what).to_owned(), format!("{:.0} ms, {:.0} ms without", of(|p| p.0), of(|p| p.1)))
    });
    Section {
        title: "A session whose browser is under rules of the kernel against one without",
        method: format!(
            "Two nodes, one with `browser.confinement = \"landlock\"`, the other with `off`; in turn, {PAIRS} \
             times: a session of {} tabs is opened, one of the same is captured after one item changed, and \
             resumed after its browser and keeper were killed. All times are those of one call to the node.",
            resume::TABS.len()
        ),
        comparisons: steps.into_iter().zip(pairs).map(compared).collect(),
        figures: Vec::new(),
        medians: medians.collect(),
        tables: Vec::new(),
    }
}
