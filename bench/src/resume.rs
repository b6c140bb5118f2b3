//! Resume after a crash against opening the same tabs without state.

use crate::report::{Comparison, Ratio, Section, median};
use crate::site;
use anyhow::{Result, ensure};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use serde_json::{Value, json};
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
    /// Fifty origins without databases and a thousand cookies, on a machine that never saw them.
    Elsewhere,
}

/// How many cookies that session has.
pub const COOKIES: usize = 1000;

impl Memory {
    /// The page that its tabs show.
    pub fn path(self) -> &'static str {
        if self == Self::Elsewhere { "/items" } else { "/memory" }
    }
}

/// Measures `pairs` pairs, each in the other order than the one before.
pub async fn measure(baton: &Path, pairs: usize, memory: Memory) -> Result<Section> {
    let site = site::start().await?;
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let id = open(&test_node, "kept", memory.path(), &site).await?.0;
    match memory {
        Memory::Tabs => {}
        Memory::Origins => remember(&test_node, id, &site).await?,
        Memory::Elsewhere => fill(&test_node, id, "kept", &site).await?,
    }
    test_node.client()?.capture_session("kept").await?;
    let (mut measured, mut steps) = (Vec::with_capacity(pairs), BTreeMap::new());
    for pair in 0..pairs {
        let (resumed, opened);
        if pair % 2 == 0 {
            opened = open_fresh(&test_node, memory.path(), &site).await?;
            resumed = resume(&test_node, id, memory, &mut steps).await?;
        } else {
            resumed = resume(&test_node, id, memory, &mut steps).await?;
            opened = open_fresh(&test_node, memory.path(), &site).await?;
        }
        println!(
            "pair {:>2} of {pairs}: resume {resumed:.0} ms, open {opened:.0} ms, ratio {:.3}",
            pair + 1,
            resumed / opened
        );
        measured.push((resumed, opened));
    }
    test_node.client()?.close_session("kept").await?;
    test_node.clear().await?;
    Ok(section(&measured, steps, memory))
}

/// Visits origins, each in a tab that is closed again.
pub async fn remember(test_node: &TestNode, id: SessionId, site: &Site) -> Result<()> {
    let socket = test_node.keeper_socket(id);
    let first = Page::attach(&socket, site.url_on(TABS[0], "/memory")?.as_str()).await?;
    let browser = first.session().connection().browser();
    for number in TABS.len()..ORIGINS {
        let url = site.url_on(&format!("host{number}"), "/memory")?;
        let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
        let page = Page::attach(&socket, url.as_str()).await?;
        page.wait_for("document.title === 'remembered'").await?;
        test_node.client()?.capture_session("kept").await?;
        let closing = json!({ "targetId": made["targetId"] });
        browser.call("Target.closeTarget", closing).await?;
    }
    Ok(())
}

/// The hosts of the origins: first those of the tabs.
pub fn host(number: usize) -> String {
    TABS.get(number).map_or_else(|| format!("host{number}"), |tab| (*tab).to_owned())
}

/// Twenty items on each of fifty origins and a thousand cookies, on top of the items page that is open.
pub async fn fill(test_node: &TestNode, id: SessionId, name: &str, site: &Site) -> Result<()> {
    let socket = test_node.keeper_socket(id);
    let hosts: Vec<String> = (0..ORIGINS).map(host).collect();
    let page = |host: &str| site.url_on(host, "/items");
    let first = Page::attach(&socket, page(&hosts[0])?.as_str()).await?;
    let browser = first.session().connection().browser();
    for host in &hosts {
        let url = format!("{}?fill", page(host)?);
        let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
        let filled = Page::attach(&socket, &url).await?;
        filled.wait_for("localStorage.length === 20").await?;
        test_node.client()?.capture_session(name).await?;
        let closing = json!({ "targetId": made["targetId"] });
        browser.call("Target.closeTarget", closing).await?;
    }
    let tomorrow = jiff::Timestamp::now().as_second() + 86_400;
    let cookies: Result<Vec<Value>> = (0..COOKIES)
        .map(|number| {
            let url = page(&hosts[number % ORIGINS])?;
            let (name, value) = (format!("cookie{number}"), format!("value of {number}"));
            Ok(json!({ "name": name, "value": value, "url": url, "expires": tomorrow, "sameSite": "Lax" }))
        })
        .collect();
    browser.call("Storage.setCookies", json!({ "cookies": cookies? })).await?;
    Ok(())
}

/// Opens the tabs in a session of this name, and says how many milliseconds it took.
pub async fn open(
    test_node: &TestNode,
    name: &str,
    path: &str,
    site: &Site,
) -> Result<(SessionId, f64)> {
    let urls: Result<Vec<Url>> = TABS.iter().map(|host| site.url_on(host, path)).collect();
    let urls = urls?;
    let start = Instant::now();
    let id = test_node.open(name, urls).await?;
    Ok((id, milliseconds(start)))
}

/// The same tabs in a new session, which is then thrown away.
pub async fn open_fresh(test_node: &TestNode, path: &str, site: &Site) -> Result<f64> {
    let (_, took) = open(test_node, "fresh", path, site).await?;
    let fresh = test_node.client()?.abandon_session("fresh").await?;
    test_node.client()?.delete_session(&fresh.session.id.to_string()).await?;
    Ok(took)
}

/// The kept session after SIGKILL of its browser and keeper, in milliseconds.
pub async fn resume(
    test_node: &TestNode,
    id: SessionId,
    memory: Memory,
    steps: &mut BTreeMap<String, Vec<f64>>,
) -> Result<f64> {
    let client = test_node.client()?;
    client.capture_session("kept").await?;
    victims::kill_all(&test_node.holders(id).await?).await?;
    let end = Instant::now() + Duration::from_secs(15);
    while client.fetch_session("kept").await?.session.state != Lifecycle::Recoverable {
        ensure!(Instant::now() < end, "the node did not notice that the browser is gone");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if memory == Memory::Elsewhere {
        test_node.take_files_away(id)?;
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

/// Since then.
pub fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn section(measured: &[(f64, f64)], steps: BTreeMap<String, Vec<f64>>, memory: Memory) -> Section {
    let has = "a cookie, 20 localStorage items and a database of 50 records";
    let closed = ORIGINS - TABS.len();
    let (title, holds, machine, aim) = match memory {
        Memory::Tabs => ("Resume against open", format!("each with {has}"), "the same", 1.5),
        Memory::Origins => (
            "Resume of fifty origins against open",
            format!(
                "each with {has}; {closed} more origins are remembered of tabs that were closed"
            ),
            "the same",
            1.2,
        ),
        Memory::Elsewhere => (
            "Resume on another machine against open",
            format!(
                "each with 20 localStorage items; {closed} more origins are remembered of tabs that \
                 were closed, and {COOKIES} cookies"
            ),
            "a new",
            1.3,
        ),
    };
    let is_new = memory == Memory::Elsewhere;
    let gone = if is_new { " (all files of the session were taken away)" } else { "" };
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
            "{} tabs, each on an origin of its own, {holds}. The browser and its keeper are killed with \
             SIGKILL, then the session is resumed on {machine} machine{gone}; beside it the same tabs are \
             opened in a new session without state. Both times are those of one call to the node, a \
             first snapshot included for open.",
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
