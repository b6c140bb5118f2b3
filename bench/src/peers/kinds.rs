//! Which kinds of state come back.

use super::driver::{AGENT_BROWSER, PLAYWRIGHT, Peers};
use super::{Disk, section};
use crate::report::{Section, Table};
use anyhow::Result;
use baton_playground::kinds::{Kept, TABS};
use baton_playground::{House, Kinds};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A way of keeping state, and what it kept, or why nobody knows.
struct Way {
    name: String,
    kept: Result<Kept, String>,
}

/// Fills the same site with each tool, ends its browser, and asks the site what is there afterwards.
pub async fn measure(baton: &Path, peers: Option<&Peers>) -> Result<Section> {
    let kinds = Kinds::start().await?;
    let mut ways = vec![
        Way {
            name: "Baton, same machine".to_owned(),
            kept: Ok(killed(baton, &kinds, Disk::Same).await?),
        },
        Way {
            name: "Baton, fresh profile".to_owned(),
            kept: Ok(killed(baton, &kinds, Disk::Fresh).await?),
        },
    ];
    for peer in [PLAYWRIGHT, AGENT_BROWSER] {
        let Some(peers) = peers else { continue };
        let job = json!({ "task": "keep", "fill": kinds.tabs_to_fill()?, "tabs": kinds.tabs()? });
        let title = peers.title(peer)?;
        match peers.drive::<BTreeMap<String, Kept>>(peer, job).await {
            Ok(kept) => ways.extend(kept.into_iter().map(|(way, mut kept)| {
                kept.insert(TABS.to_owned(), false);
                Way { name: format!("{title}: {way}"), kept: Ok(kept) }
            })),
            Err(reason) => ways.push(Way { name: title, kept: Err(reason) }),
        }
    }
    for Way { name, kept } in &ways {
        match kept {
            Ok(kept) => println!("{name}: {} of {}", count(kept), kept.len()),
            Err(reason) => println!("{name}: {reason}"),
        }
    }
    Ok(section("Kinds of state kept", method(), table(&ways)))
}

/// What is there after browser, keeper and node were killed and the session was resumed.
async fn killed(baton: &Path, kinds: &Kinds, disk: Disk) -> Result<Kept> {
    let mut house = House::build(baton)?;
    house.start_node().await?;
    let id = house.open("kinds", kinds.tabs_to_fill()?).await?;
    kinds.fill(&house.keeper_socket(id)).await?;
    house.client()?.capture_session("kinds").await?;
    house.kill_everybody(&[id]).await?;
    if disk == Disk::Fresh {
        house.take_files_away(id)?;
    }
    house.start_node().await?;
    house.client()?.resume_session("kinds").await?;
    house.client()?.capture_session("kinds").await?;
    let state = house.client()?.fetch_state("kinds", true).await?.state;
    let tabs: Vec<_> =
        state["tabs"].as_array().into_iter().flatten().map(|tab| &tab["url"]).collect();
    let in_order = tabs == kinds.tabs()?.map(|url| json!(url)).iter().collect::<Vec<_>>();
    let mut kept = kinds.check(&house.keeper_socket(id)).await?;
    kept.insert(TABS.to_owned(), in_order);
    house.clear().await?;
    Ok(kept)
}

fn method() -> String {
    "One site on loopback writes each kind and reads it back by itself: three tabs on three sites, with \
     a third party's frame. Each tool fills it in a browser of its own and keeps it in its own way; then \
     the browser ends and another one is asked what is there. Baton's browser, keeper and node end with \
     SIGKILL right after a capture; the peers are asked to save, and their browsers close gracefully. A \
     peer that opens no tabs is given them, so that only the row of the tabs counts that against it. \
     In Playwright's contexts the browser refuses to store anything but cookies for a third party, which \
     counts as lost. An object that holds itself in one database makes Playwright fail to restore all \
     others too; here that database is left out of its state."
        .to_owned()
}

/// A row for each kind, and a first one that counts them.
fn table(ways: &[Way]) -> Table {
    let known = ways.iter().filter_map(|way| way.kept.as_ref().ok());
    let kinds: BTreeSet<&String> = known.flat_map(|kept| kept.keys()).collect();
    let heading = ways.iter().map(|way| way.name.clone()).collect();
    let sum = |way: &Way| match &way.kept {
        Ok(kept) => format!("**{} of {}**", count(kept), kinds.len()),
        Err(reason) => reason.clone(),
    };
    let mut rows = vec![("all".to_owned(), ways.iter().map(sum).collect())];
    rows.extend(kinds.iter().map(|kind| {
        let cell = |way: &Way| match &way.kept {
            Ok(kept) if kept.get(*kind).copied().unwrap_or_default() => "kept",
            Ok(_) => "lost",
            Err(_) => "–",
        };
        ((*kind).clone(), ways.iter().map(|way| cell(way).to_owned()).collect())
    }));
    Table { heading, rows }
}

fn count(kept: &Kept) -> usize {
    kept.values().filter(|kept| **kept).count()
}
