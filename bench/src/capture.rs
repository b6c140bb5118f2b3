//! Capture on against capture off: the same work of the same page in the same browser.
//!
//! "Off" is the browser with its keeper and no node at all; "on" is a node that watches it and
//! captures as often as automatic captures ever do, every 2 s (the default is every 30 s).

use crate::ratio::{Ratio, median};
use crate::report::{Comparison, Section};
use crate::site;
use anyhow::Result;
use baton_playground::{House, Page};
use baton_session::SessionId;
use std::path::Path;

/// Units of work of a measurement; a few seconds, so that captures fall into it.
const STEPS: u32 = 2000;

/// Measures `pairs` pairs, each in the other order than the one before.
pub async fn measure(baton: &Path, pairs: usize) -> Result<Section> {
    let site = site::start().await?;
    let mut house = House::build(baton)?.with("BATON_SESSION_SNAPSHOT_INTERVAL", "2");
    house.start_node().await?;
    let url = site.url("/busy")?;
    let id = house.open("busy", [url.clone()]).await?;
    let page = Page::attach(&house.keeper_socket(id), url.as_str()).await?;
    house.stop_node().await?;
    work(&page).await?;
    let mut measured = Vec::with_capacity(pairs);
    let mut captures = 0;
    for pair in 0..pairs {
        let (on, off);
        if pair % 2 == 0 {
            off = work(&page).await?;
            on = with_node(&mut house, id, &page, &mut captures).await?;
        } else {
            on = with_node(&mut house, id, &page, &mut captures).await?;
            off = work(&page).await?;
        }
        println!(
            "pair {:>2} of {pairs}: on {on:.0} ms, off {off:.0} ms, ratio {:.3}",
            pair + 1,
            on / off
        );
        measured.push((on, off));
    }
    house.clear().await?;
    Ok(section(&measured, captures))
}

async fn work(page: &Page) -> Result<f64> {
    page.evaluate(&format!("work({STEPS})")).await
}

/// The same work while a node watches. It is stopped without a last capture of its own.
async fn with_node(
    house: &mut House,
    id: SessionId,
    page: &Page,
    captures: &mut usize,
) -> Result<f64> {
    house.start_node().await?;
    let before = newest(house, id).await?;
    let took = work(page).await?;
    *captures += usize::from(newest(house, id).await? != before);
    house.kill_node().await?;
    Ok(took)
}

async fn newest(house: &House, id: SessionId) -> Result<Option<String>> {
    let session = house.client()?.fetch_session(&id.to_string()).await?;
    Ok(session.snapshot.map(|snapshot| snapshot.id.to_string()))
}

fn section(measured: &[(f64, f64)], captures: usize) -> Section {
    Section {
        title: "Capture on against off",
        method: format!(
            "One busy page (layout, localStorage, IndexedDB, cookies, requests) does {STEPS} units of \
             work in one browser, in turn with a node that captures every 2 s and without any node. \
             A new snapshot was stored during {captures} of {} measurements with the node.",
            measured.len()
        ),
        comparisons: vec![Comparison {
            what: "capture on / off",
            ratio: Ratio::of(measured),
            aim: 1.05,
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
