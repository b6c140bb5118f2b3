//! Which kinds of state come back.

use super::{Disk, PEERS, Peers, best, cell, name, section};
use crate::report::{Section, Table};
use anyhow::Result;
use baton_playground::kinds::{Kept, TABS};
use baton_playground::{Kinds, Page, TestNode};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Baton's two ways: with the profile, and without.
const BATON: [(&str, Disk); 2] = [("same machine", Disk::Same), ("fresh profile", Disk::Fresh)];

/// A way of keeping state, and what it kept, or why nobody knows.
struct Method {
    name: String,
    kept: Result<Kept, String>,
}

impl Method {
    fn count(&self) -> Option<usize> {
        let kept = self.kept.as_ref().ok()?;
        Some(kept.values().filter(|kept| **kept).count())
    }
}

/// Fills the same site with each tool, ends its browser, and asks the site what is there afterwards.
pub async fn measure(baton: &Path, peers: Option<&Peers>) -> Result<Section> {
    let kinds = Kinds::start().await?;
    let mut ways = Vec::new();
    for (way, disk) in BATON {
        let kept = Ok(killed(baton, &kinds, disk).await?);
        ways.push(Method { name: name("Baton", way), kept });
    }
    for peer in peers.map_or(&[][..], |_| &PEERS[..]) {
        let Some(peers) = peers else { continue };
        let title = peers.title(*peer)?;
        for way in peer.keeps {
            let job = json!({
                "fill": kinds.tabs_to_fill()?,
                "tabs": kinds.tabs()?,
                "passkey": kinds.passkey()?,
            });
            let kept = peers.drive(*peer, "keep", way, job).await;
            ways.push(Method { name: name(&title, way), kept });
        }
    }
    for way in &ways {
        match &way.kept {
            Ok(kept) => println!("{}: {} of {}", way.name, way.count().unwrap_or(0), kept.len()),
            Err(reason) => println!("{}: {reason}", way.name),
        }
    }
    Ok(section("Kinds of state kept", method(), tables(&ways)))
}

/// The ways that the page tells of.
#[cfg(test)]
pub(super) fn ways() -> Vec<String> {
    let baton = BATON.iter().map(|(way, _)| name("Baton", way));
    let peers = PEERS.iter().flat_map(|peer| peer.keeps.iter().map(|way| name(peer.name, way)));
    baton.chain(peers).collect()
}

/// What is there after browser, keeper and node were killed and the session was resumed.
async fn killed(baton: &Path, kinds: &Kinds, disk: Disk) -> Result<Kept> {
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let id = test_node.open("kinds", kinds.tabs_to_fill()?).await?;
    kinds.fill(&test_node.keeper_socket(id)).await?;
    // There is no authenticator, so none is made; the answer names what was refused.
    ask_apart::<String>(&test_node.keeper_socket(id), kinds, "fill()").await?;
    test_node.client()?.capture_session("kinds").await?;
    test_node.kill_everybody(&[id]).await?;
    if disk == Disk::Fresh {
        test_node.take_files_away(id)?;
    }
    test_node.start_node().await?;
    test_node.client()?.resume_session("kinds").await?;
    test_node.client()?.capture_session("kinds").await?;
    let state = test_node.client()?.fetch_state("kinds", true).await?.state;
    let tabs: Vec<_> =
        state["tabs"].as_array().into_iter().flatten().map(|tab| &tab["url"]).collect();
    let in_order = tabs == kinds.tabs()?.map(|url| json!(url)).iter().collect::<Vec<_>>();
    let mut kept = ask_apart::<Kept>(&test_node.keeper_socket(id), kinds, "check()").await?;
    kept.extend(kinds.check(&test_node.keeper_socket(id)).await?);
    kept.insert(TABS.to_owned(), in_order);
    test_node.clear().await?;
    Ok(kept)
}

/// Asks the page with the passkey, in a tab that is gone afterwards.
async fn ask_apart<T: DeserializeOwned>(keeper: &Path, kinds: &Kinds, call: &str) -> Result<T> {
    let [first, ..] = kinds.tabs()?;
    let url = kinds.passkey()?;
    let first = Page::attach(keeper, first.as_str()).await?;
    let browser = first.session().connection().browser();
    let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
    let page = Page::attach(keeper, url.as_str()).await?;
    page.wait_for("document.readyState === 'complete'").await?;
    let said = page.evaluate(call).await?;
    browser.call("Target.closeTarget", json!({ "targetId": made["targetId"] })).await?;
    Ok(said)
}

fn method() -> String {
    "One site on loopback writes each kind and reads it back by itself: three tabs on three sites, with \
     a third party's frame, and a page apart with a passkey. Each tool fills it in a browser of its own \
     and keeps it in each way that its documentation offers; then the browser ends and another one is \
     asked what is there. In bold stands the way of each tool that keeps most. Baton's browser, keeper \
     and node end with SIGKILL right after a capture; the peers are asked to save, and their browsers end \
     as their row says. A peer that opens no tabs is given them, so that only the row of the tabs counts \
     that against it. A passkey needs an authenticator, which Playwright alone brings along \
     (`credentials.install()`); where there is none, it counts as lost.\n\n\
     What a browser had not written to its profile when it was killed is lost: Chromium writes cookies \
     and localStorage within about half a minute. browser-use's `kill()` ends its browser with a signal; in the \
     last of its rows it is asked to close over CDP first. Playwright's and browser-use's browsers refuse \
     to store anything but cookies for a third party, which counts as lost. What breaks everything else is \
     left out, and counts as lost alone: of Playwright's state a database with an object that holds \
     itself, and of browser-use's an item of localStorage with half a surrogate pair. browser-use saves \
     web storage of the tab in front and restores it in the first tab, so it is asked to save in each \
     tab and looked at in the first; its cookies that http set as `Secure` on localhost are told as if \
     https had set them, for Chromium refuses all of them otherwise."
        .to_owned()
}

/// The ways, numbered, with what they kept in all, and a row for each kind.
fn tables(ways: &[Method]) -> Vec<Table> {
    let known = ways.iter().filter_map(|way| way.kept.as_ref().ok());
    let kinds: BTreeSet<&String> = known.flat_map(|kept| kept.keys()).collect();
    let counts: Vec<_> = ways.iter().map(|way| (way.name.as_str(), way.count())).collect();
    let best = best(&counts, Ord::cmp);
    let keys: Vec<_> =
        (1..).zip(&best).map(|(at, is_best)| cell(&format!("{at}"), *is_best)).collect();
    let sums = ways.iter().zip(&best).zip(&keys).map(|((way, is_best), key)| {
        let sum = match &way.kept {
            Ok(_) => format!("{} of {}", way.count().unwrap_or(0), kinds.len()),
            Err(reason) => reason.clone(),
        };
        (key.clone(), vec![cell(&way.name, *is_best), cell(&sum, *is_best)])
    });
    let rows = kinds.iter().map(|kind| {
        let found = |way: &Method| match &way.kept {
            Ok(kept) if kept.get(*kind).copied().unwrap_or_default() => "kept",
            Ok(_) => "lost",
            Err(_) => "–",
        };
        ((*kind).clone(), ways.iter().map(|way| found(way).to_owned()).collect())
    });
    let rows = rows.collect();
    vec![
        Table { heading: ["way", "kept"].map(str::to_owned).into(), rows: sums.collect() },
        Table { heading: keys, rows },
    ]
}
