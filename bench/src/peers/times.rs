//! How long it takes until a page is there with everything that 50 origins and 1000 cookies hold.

use super::{Disk, PEERS, Peers, best, cell, name, section};
use crate::report::{Section, Table, median};
use crate::resume::{COOKIES, ORIGINS, fill, host};
use crate::site;
use anyhow::{Result, ensure};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use url::Url;

/// Each is measured so often, in turn.
const ROUNDS: usize = 3;
/// How many items each origin has.
const ITEMS: u32 = 20;
/// How long the node may take to notice that a browser is gone.
const NOTICE_LIMIT: Duration = Duration::from_secs(15);

const BARE: &str = "a browser with one page, no state";
const SAME: &str = "Baton: resume, same machine";
const FRESH: &str = "Baton: resume, fresh profile";

/// Milliseconds, or why there are none.
type Took = Result<f64, String>;

/// What each way took, round by round.
type RoundTimes = Vec<(String, Vec<Took>)>;

/// Restores the same state with each tool, in turn.
pub async fn measure(baton: &Path, peers: Option<&Peers>) -> Result<Section> {
    let site = site::start().await?;
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let id = remember(&test_node, &site).await?;
    let mut times = RoundTimes::new();
    for round in 0..ROUNDS {
        for (way, took) in measure_round(&test_node, id, &site, peers).await? {
            let said = took.as_ref().map_or_else(Clone::clone, |took| format!("{took:.0} ms"));
            println!("round {} of {ROUNDS}: {way} {said}", round + 1);
            match times.iter_mut().find(|(known, _)| *known == way) {
                Some((_, rounds)) => rounds.push(took),
                None => times.push((way, vec![took])),
            }
        }
    }
    test_node.clear().await?;
    Ok(section("Time of a restore", method(), vec![table(times)]))
}

async fn measure_round(
    test_node: &TestNode,
    id: SessionId,
    site: &Site,
    peers: Option<&Peers>,
) -> Result<Vec<(String, Took)>> {
    let mut times = Vec::new();
    if let Some(peers) = peers {
        let job = json!({
            "page": page(site, 0)?,
            "origins": origins(site)?.map(|mut url| {
                url.set_query(Some("fill-all"));
                url
            }).collect::<Vec<_>>(),
            "state": large_state(site)?,
        });
        times.push((BARE.to_owned(), peers.start_bare(job.clone()).await));
        for peer in PEERS {
            let title = peers.title(peer)?;
            for way in peer.restores {
                let took = peers.drive(peer, "restore", way, job.clone()).await;
                times.push((name(&title, way), took));
            }
        }
    }
    times.push((SAME.to_owned(), Ok(resume(test_node, id, site, Disk::Same).await?)));
    times.push((FRESH.to_owned(), Ok(resume(test_node, id, site, Disk::Fresh).await?)));
    Ok(times)
}

/// A session with one tab that remembers all origins and cookies.
async fn remember(test_node: &TestNode, site: &Site) -> Result<SessionId> {
    let id = test_node.open("large", [page(site, 0)?]).await?;
    fill(test_node, id, "large", site).await?;
    Ok(id)
}

/// Kills the browser and its keeper, and resumes: milliseconds until the page has its items.
async fn resume(test_node: &TestNode, id: SessionId, site: &Site, disk: Disk) -> Result<f64> {
    let client = test_node.client()?;
    client.capture_session("large").await?;
    victims::kill_all(&test_node.holders(id).await?).await?;
    let end = Instant::now() + NOTICE_LIMIT;
    while client.fetch_session("large").await?.session.state != Lifecycle::Recoverable {
        ensure!(Instant::now() < end, "the node did not notice that the browser is gone");
        sleep(Duration::from_millis(20)).await;
    }
    if disk == Disk::Fresh {
        test_node.take_files_away(id)?;
    }
    let start = Instant::now();
    let resumed = client.resume_session("large").await?;
    let page = Page::attach(&test_node.keeper_socket(id), page(site, 0)?.as_str()).await?;
    let items: u32 = page.evaluate("localStorage.length").await?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    ensure!(items == ITEMS, "expected {ITEMS} items, found {items}");
    let receipt = resumed.session.receipt.unwrap_or_default();
    ensure!(!receipt.has_losses(), "expected a whole resume, found {:?}", receipt.losses().next());
    let whole = receipt.restored >= COOKIES + ORIGINS;
    ensure!(whole, "expected everything in the receipt, found {} items", receipt.restored);
    Ok(took)
}

/// The page of an origin; it writes nothing unless it is asked to fill.
fn page(site: &Site, number: usize) -> Result<Url> {
    site.url_on(&host(number), "/items")
}

/// All of them.
fn origins(site: &Site) -> Result<impl Iterator<Item = Url>> {
    let pages: Result<Vec<Url>> = (0..ORIGINS).map(|number| page(site, number)).collect();
    Ok(pages?.into_iter())
}

/// What the peers that read Playwright's format are given: the same items and as many cookies.
fn large_state(site: &Site) -> Result<Value> {
    let tomorrow = jiff::Timestamp::now().as_second() + 86_400;
    let cookies = (0..COOKIES).map(|number| {
        json!({
            "name": format!("cookie{number}"),
            "value": format!("value of {number}"),
            "domain": host(number % ORIGINS),
            "path": "/",
            "expires": tomorrow,
            "httpOnly": false,
            "secure": false,
            "sameSite": "Lax",
        })
    });
    let item = |number| {
        let value = format!("value of {number} ").repeat(4);
        json!({ "name": format!("item {number}"), "value": value })
    };
    let items: Vec<Value> = (0..ITEMS).map(item).collect();
    let origins = origins(site)?.map(
        |page| json!({ "origin": page.origin().ascii_serialization(), "localStorage": items }),
    );
    Ok(json!({
        "cookies": cookies.collect::<Vec<_>>(),
        "origins": origins.collect::<Vec<_>>(),
    }))
}

/// The ways that the page tells of.
#[cfg(test)]
pub(super) fn ways() -> Vec<String> {
    let peers = PEERS.iter().flat_map(|peer| peer.restores.iter().map(|way| name(peer.name, way)));
    let all = [BARE.to_owned()].into_iter().chain(peers);
    all.chain([SAME, FRESH].map(str::to_owned)).collect()
}

fn method() -> String {
    format!(
        "{ORIGINS} origins with {ITEMS} localStorage items each, and {COOKIES} cookies: from the start of \
         the browser until a page of one origin is there and finds its {ITEMS} items, {ROUNDS} times in \
         turn. Baton resumes after SIGKILL of browser and keeper, and has read everything back by then. \
         agent-browser starts its daemon too, and chrome-devtools-mcp its server. Where a peer has a profile \
         or restores what it saved by itself, it has visited every origin before, and closed gracefully. \
         browser-use writes each origin's localStorage when it is first visited. The median stands beside a \
         browser that is started by Playwright without any state; in bold stands the fastest way of each tool."
    )
}

/// The median of each way, and what it is against the bare browser's.
fn table(times: RoundTimes) -> Table {
    let heading = ["median", "against no state"].map(str::to_owned).into();
    let bare = times.iter().find(|(way, _)| way == BARE).and_then(|(_, times)| middle(times).ok());
    let times: Vec<_> = times.into_iter().map(|(way, rounds)| (way, middle(&rounds))).collect();
    let measured = |way: &str, took: &Took| took.as_ref().ok().copied().filter(|_| way != BARE);
    let known: Vec<_> =
        times.iter().map(|(way, took)| (way.as_str(), measured(way, took))).collect();
    let best = best(&known, |one: &f64, other: &f64| other.total_cmp(one));
    let rows = times.iter().zip(best).map(|((way, took), is_best)| {
        let cells = match took {
            Ok(took) => {
                let against = bare.map_or("–".to_owned(), |bare| format!("× {:.1}", took / bare));
                [format!("{took:.0} ms"), against]
            }
            Err(reason) => [reason.clone(), "–".to_owned()],
        };
        (cell(way, is_best), cells.map(|text| cell(&text, is_best)).into())
    });
    Table { heading, rows: rows.collect() }
}

/// The median, or why there is none: a round without a time took longest.
fn middle(times: &[Took]) -> Took {
    let took = times.iter().map(|took| took.as_ref().map_or(f64::INFINITY, |took| *took));
    let took = median(took);
    let reason = times.iter().find_map(|took| took.as_ref().err());
    if let Some(reason) = reason.filter(|_| !took.is_finite()) {
        Err(reason.clone())
    } else {
        Ok(took)
    }
}
