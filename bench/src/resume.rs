//! Resume after a crash against opening the same tabs without state.

use crate::ratio::{Ratio, median};
use crate::report::{Comparison, Section};
use crate::site;
use anyhow::{Result, ensure};
use baton_playground::{House, Page, Site, victims};
use baton_session::{Lifecycle, SessionId};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use url::Url;

/// Tabs that stay open, each on an origin of its own.
pub const TABS: [&str; 3] = ["a", "b", "c"];

/// How many origins the large session remembers.
pub const ORIGINS: usize = 50;

/// What the session that is resumed remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// What its tabs show.
    Tabs,
    /// Fifty origins, most of them in tabs that were closed since.
    Origins,
}

/// Measures `pairs` pairs, each in the other order than the one before.
pub async fn measure(baton: &Path, pairs: usize, memory: Memory) -> Result<Section> {
    let site = site::start().await?;
    let mut house = House::build(baton)?;
    house.start_node().await?;
    let id = open(&house, "kept", &site).await?.0;
    if memory == Memory::Origins {
        remember(&house, id, &site).await?;
    }
    house.client()?.capture_session("kept").await?;
    let (mut measured, mut steps) = (Vec::with_capacity(pairs), BTreeMap::new());
    for pair in 0..pairs {
        let (resumed, opened);
        if pair % 2 == 0 {
            opened = open_fresh(&house, &site).await?;
            resumed = resume(&house, id, &mut steps).await?;
        } else {
            resumed = resume(&house, id, &mut steps).await?;
            opened = open_fresh(&house, &site).await?;
        }
        println!(
            "pair {:>2} of {pairs}: resume {resumed:.0} ms, open {opened:.0} ms, ratio {:.3}",
            pair + 1,
            resumed / opened
        );
        measured.push((resumed, opened));
    }
    house.client()?.close_session("kept").await?;
    house.clear().await?;
    Ok(section(&measured, steps, memory))
}

/// Visits origins, each in a tab that is closed again.
pub async fn remember(house: &House, id: SessionId, site: &Site) -> Result<()> {
    let socket = house.keeper_socket(id);
    let first = Page::attach(&socket, site.url_on(TABS[0], "/memory")?.as_str()).await?;
    let browser = first.session().connection().browser();
    for number in TABS.len()..ORIGINS {
        let url = site.url_on(&format!("host{number}"), "/memory")?;
        let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
        let page = Page::attach(&socket, url.as_str()).await?;
        page.wait_for("document.title === 'remembered'").await?;
        house.client()?.capture_session("kept").await?;
        let closing = json!({ "targetId": made["targetId"] });
        browser.call("Target.closeTarget", closing).await?;
    }
    Ok(())
}

async fn open(house: &House, name: &str, site: &Site) -> Result<(SessionId, f64)> {
    let urls: Result<Vec<Url>> = TABS.iter().map(|host| site.url_on(host, "/memory")).collect();
    let urls = urls?;
    let start = Instant::now();
    let id = house.open(name, urls).await?;
    Ok((id, milliseconds(start)))
}

/// The same tabs in a new session, which is then thrown away.
async fn open_fresh(house: &House, site: &Site) -> Result<f64> {
    let (_, took) = open(house, "fresh", site).await?;
    let fresh = house.client()?.abandon_session("fresh").await?;
    house.client()?.delete_session(&fresh.session.id.to_string()).await?;
    Ok(took)
}

/// The kept session after SIGKILL of its browser and keeper.
async fn resume(
    house: &House,
    id: SessionId,
    steps: &mut BTreeMap<String, Vec<f64>>,
) -> Result<f64> {
    let client = house.client()?;
    client.capture_session("kept").await?;
    victims::kill_all(&house.holders(id).await?).await?;
    let end = Instant::now() + Duration::from_secs(15);
    while client.fetch_session("kept").await?.session.state != Lifecycle::Recoverable {
        ensure!(Instant::now() < end, "the node did not notice that the browser is gone");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let start = Instant::now();
    let resumed = client.resume_session("kept").await?;
    let took = milliseconds(start);
    let receipt = resumed.session.receipt.unwrap_or_default();
    ensure!(!receipt.has_losses(), "expected a whole resume, found {:?}", receipt.losses().next());
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a resume")]
    for (step, time) in resumed.timing {
        steps.entry(step).or_default().push(time as f64);
    }
    Ok(took)
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn section(measured: &[(f64, f64)], steps: BTreeMap<String, Vec<f64>>, memory: Memory) -> Section {
    let (title, more, aim) = match memory {
        Memory::Tabs => ("Resume against open", String::new(), 1.5),
        Memory::Origins => (
            "Resume of fifty origins against open",
            format!(
                "The session remembers {ORIGINS} origins, all but {} of them from tabs that were closed \
                 before. ",
                TABS.len()
            ),
            1.2,
        ),
    };
    let mut medians = vec![
        ("resume".to_owned(), format!("{:.0} ms", median(measured.iter().map(|m| m.0)))),
        ("open".to_owned(), format!("{:.0} ms", median(measured.iter().map(|m| m.1)))),
    ];
    for (step, times) in steps {
        medians.push((format!("resume: {step}"), format!("{:.0} ms", median(times))));
    }
    Section {
        title,
        method: format!(
            "{} tabs, each on an origin of its own with a cookie, 20 localStorage items and a database \
             of 50 records. {more}The browser and its keeper are killed with SIGKILL, then the session is \
             resumed on the same machine; beside it the same tabs are opened in a new session without \
             state. Both times are those of one call to the node, a first snapshot included for open.",
            TABS.len()
        ),
        comparisons: vec![Comparison {
            what: "resume / open",
            ratio: Ratio::of(measured),
            aim,
            aim_is_for_the_bound: false,
        }],
        figures: Vec::new(),
        medians,
        tables: Vec::new(),
    }
}
