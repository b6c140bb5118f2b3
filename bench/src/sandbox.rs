//! What it costs to hand a session in: a sandbox with a large one, against the same without any.

use crate::profile::{self, COOKIES};
use crate::ratio::{Ratio, median};
use crate::report::{Comparison, Figure, Section};
use anyhow::{Result, ensure};
use baton_api::sandbox::{BrowserSession, BrowserSessionType, CreateSandbox};
use baton_api::{Client, FileText, ImportSession};
use baton_playground::House;
use baton_session::playwright;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often each is measured, in turn.
const ROUNDS: usize = 20;

/// Creates sandboxes without a session, with one that was never handed in before, and with the same
/// again.
pub async fn measure(baton: &Path) -> Result<Section> {
    let mut house = House::build(baton)?;
    house.start_node().await?;
    let client = house.client()?.clone();
    let (mut firsts, mut agains) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let name = format!("session-{round}");
        import(&client, &name, round).await?;
        let without = create(&client, None).await?;
        let first = create(&client, Some(&name)).await?;
        let plain = create(&client, None).await?;
        let again = create(&client, Some(&name)).await?;
        println!(
            "round {} of {ROUNDS}: without {without:.0} and {plain:.0} ms, with {first:.0} ms, again {again:.0} ms",
            round + 1
        );
        firsts.push((first, without));
        agains.push((again, plain));
    }
    house.clear().await?;
    Ok(section(&firsts, &agains))
}

/// A session that differs from all others.
async fn import(client: &Client, name: &str, round: usize) -> Result<()> {
    let mut state = profile::state(jiff::Timestamp::now().as_microsecond());
    if let Some(cookie) = state.cookies.first_mut() {
        cookie.value = format!("of round {round}");
    }
    for origin in state.origins.values_mut() {
        origin.local_storage.0.insert("round".into(), round.to_string().into());
    }
    // It has no word for the port from which a cookie came, which costs nothing here.
    let (text, _) = playwright::write(&state);
    let file = FileText::new(text)?;
    let request = ImportSession { name: Some(name.parse()?), description: None, file };
    client.import_session(&request).await?;
    Ok(())
}

/// How many milliseconds it takes until a sandbox is ready.
async fn create(client: &Client, session: Option<&str>) -> Result<f64> {
    let handed = session.map(|session| BrowserSession {
        kind: BrowserSessionType::Reference,
        storage_state: None,
        session_id: Some(session.to_owned()),
        session_service_url: None,
        shared: false,
    });
    let request = CreateSandbox { browser_session: handed, ..CreateSandbox::default() };
    let start = Instant::now();
    let made = client.create_sandbox(&request).await?;
    let took = start.elapsed();
    if let Some(handed) = &made.browser_session {
        ensure!(!handed.receipt.has_losses(), "expected all of the session in the sandbox");
    }
    let ended = client.delete_sandbox(&made.id.to_string()).await?;
    let written = ended.browser_session.is_none_or(|one| one.snapshot.is_some() && !one.shrunk);
    ensure!(written, "expected the session to be written back");
    Ok(milliseconds(took))
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

fn section(firsts: &[(f64, f64)], agains: &[(f64, f64)]) -> Section {
    let with = |what: &str, pairs: &[(f64, f64)]| Figure {
        what: what.to_owned(),
        found: median(pairs.iter().map(|pair| pair.0)),
        aim: 1000.0,
        unit: "ms",
    };
    let against = |what, pairs| Comparison {
        what,
        ratio: Ratio::of(pairs),
        aim: 1.5,
        aim_is_for_the_bound: false,
    };
    Section {
        title: "A session handed in",
        method: format!(
            "A sandbox that is ready for commands, over HTTP: without a session, with one of {COOKIES} \
             cookies and 11 MB of localStorage that no sandbox had before, without, and with the same \
             session once more, after it was written back; {ROUNDS} times in turn."
        ),
        comparisons: vec![
            against("with a session for the first time / without", firsts),
            against("with the same session again / without", agains),
        ],
        figures: vec![with("with a session, first", firsts), with("with it again", agains)],
        medians: vec![(
            "without a session".to_owned(),
            format!("{:.0} ms", median(firsts.iter().chain(agains).map(|pair| pair.1))),
        )],
        tables: Vec::new(),
    }
}
