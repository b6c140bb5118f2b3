//! What it costs to hand a session in: a sandbox with a large one, against the same without any.

use crate::profile::{self, COOKIES};
use crate::report::{Comparison, Figure, Ratio, Section, median};
use anyhow::{Result, ensure};
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{Client, FileText, ImportSession};
use baton_playground::TestNode;
use baton_session::{SessionId, playwright};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How often each is measured, in turn.
const ROUNDS: usize = 20;

/// How long a session may take to be prepared.
const PREPARED: Duration = Duration::from_mins(1);

/// Pairs of milliseconds: with a session, and without.
#[derive(Default)]
struct Timings {
    /// The first time, after the node had prepared it.
    prepared: Vec<(f64, f64)>,
    /// The first time, at a node that prepares none.
    unprepared: Vec<(f64, f64)>,
    /// The second time.
    again: Vec<(f64, f64)>,
    /// How long it took from the import on until it was prepared.
    took: Vec<f64>,
    /// The first time with databases, after the node had prepared them.
    databases: Vec<(f64, f64)>,
}

/// Creates sandboxes without a session, with one that was never handed in before, and with the same
/// again: at a node as it is, and at one that prepares nothing.
pub async fn measure(baton: &Path) -> Result<Section> {
    let (usual, late) = (test_node(baton, "used").await?, test_node(baton, "never").await?);
    let mut found = Timings::default();
    // From here on the node knows that sandboxes are wanted.
    create(usual.client()?, None).await?;
    create(late.client()?, None).await?;
    for round in 0..ROUNDS {
        let name = format!("session-{round}");
        let client = usual.client()?;
        let begun = Instant::now();
        let session = import(client, &name, state(round)).await?;
        until_prepared(&usual, session).await?;
        found.took.push(milliseconds(begun.elapsed()));
        let prepared = create_pair(client, &name, round).await?;
        let again = create_pair(client, &name, round).await?;
        let client = late.client()?;
        import(client, &name, state(round)).await?;
        let unprepared = create_pair(client, &name, round).await?;
        let client = usual.client()?;
        let name = format!("databases-{round}");
        let session = import(client, &name, databases(round)).await?;
        until_prepared(&usual, session).await?;
        let databases = create_pair(client, &name, round).await?;
        println!(
            "round {} of {ROUNDS}, ms with a session and without: prepared {prepared:.0?}, again {again:.0?}, \
             unprepared {unprepared:.0?}, with databases {databases:.0?}",
            round + 1
        );
        found.prepared.push(prepared);
        found.again.push(again);
        found.unprepared.push(unprepared);
        found.databases.push(databases);
    }
    usual.clear().await?;
    late.clear().await?;
    Ok(section(&found))
}

/// A node that prepares what goes into sandboxes as the settings say.
async fn test_node(baton: &Path, prepare: &str) -> Result<TestNode> {
    let mut test_node = TestNode::build(baton)?;
    test_node.data().create()?;
    let settings = format!("[sandboxes]\nprepare = \"{prepare}\"\n");
    std::fs::write(test_node.data().settings(), settings)?;
    test_node.start_node().await?;
    Ok(test_node)
}

/// Waits until a node says that it has prepared a session.
async fn until_prepared(test_node: &TestNode, session: SessionId) -> Result<()> {
    let (end, id) = (Instant::now() + PREPARED, session.to_string());
    let says_so = |line: &str| line.contains("prepared a session") && line.contains(&id);
    while !test_node.log().lines().any(says_so) {
        ensure!(
            Instant::now() < end,
            "expected the session to be prepared: {}",
            test_node.log_tail()
        );
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn import(client: &Client, name: &str, text: String) -> Result<SessionId> {
    let file = FileText::new(text)?;
    let request = ImportSession { name: Some(name.parse()?), description: None, file };
    Ok(client.import_session(&request).await?.session.session.id)
}

/// A login beside 10 MB of databases, as Playwright writes it.
fn databases(round: usize) -> String {
    let text = "a note of somebody ".repeat(54);
    let records: Vec<_> = (0..1_000)
        .map(|number| {
            let notes: Vec<_> = (0..10).map(|note| format!("{note} of {round}: {text}")).collect();
            json!({ "key": number, "value": { "notes": notes } })
        })
        .collect();
    let store =
        json!({ "name": "notes", "autoIncrement": false, "records": records, "indexes": [] });
    let database = json!({ "name": "notes", "version": 1, "stores": [store] });
    let token = json!({ "name": "token", "value": format!("t0k3n-of-{round}") });
    let origin = "https://notes.example";
    let origin = json!({ "origin": origin, "localStorage": [token], "indexedDB": [database] });
    json!({ "cookies": [], "origins": [origin] }).to_string()
}

/// A session that differs from all others.
fn state(round: usize) -> String {
    let mut state = profile::state(jiff::Timestamp::now().as_microsecond());
    if let Some(cookie) = state.cookies.first_mut() {
        cookie.value = format!("of round {round}");
    }
    for origin in state.origins.values_mut() {
        origin.local_storage.0.insert("round".into(), round.to_string().into());
    }
    // It has no word for the port from which a cookie came, which costs nothing here.
    let (text, _) = playwright::write(&state);
    text
}

/// How many milliseconds it takes with this session, and without any. Who comes first changes from round to round, so
/// that neither has a warmer machine.
async fn create_pair(client: &Client, session: &str, round: usize) -> Result<(f64, f64)> {
    if round.is_multiple_of(2) {
        let without = create(client, None).await?;
        Ok((create(client, Some(session)).await?, without))
    } else {
        let with = create(client, Some(session)).await?;
        Ok((with, create(client, None).await?))
    }
}

/// How many milliseconds it takes until a sandbox is ready.
async fn create(client: &Client, session: Option<&str>) -> Result<f64> {
    let handed = session.map(BrowserSession::reference);
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

fn section(found: &Timings) -> Section {
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
    let Timings { prepared, unprepared, again, took, databases } = found;
    let all = prepared.iter().chain(unprepared).chain(again);
    let without = median(all.map(|pair| pair.1));
    Section {
        title: "A session handed in",
        method: format!(
            "A sandbox that is ready for commands, over HTTP: without a session, and with one of {COOKIES} \
             cookies and 11 MB of localStorage. Prepared: the session was imported a moment before, no \
             sandbox had it, and the node had prepared it, as it does when sandboxes were made there before. \
             Again: the same session once more, after it was written back. Unprepared: the first time, at a \
             node that prepares nothing; so it is for whoever hands a session in within a moment of its \
             import, too. With databases: another session, of 1,000 records of 10 kB, prepared. Each is one of a \
             pair with a sandbox without a session, which comes first in every other of {ROUNDS} rounds."
        ),
        comparisons: vec![
            against("the first time, prepared / without", prepared),
            against("again / without", again),
            against("the first time, unprepared / without", unprepared),
            against("with 10 MB of IndexedDB, prepared / without", databases),
        ],
        figures: vec![
            with("with a session, prepared", prepared),
            with("with it again", again),
            with("with a session, unprepared", unprepared),
            with("with 10 MB of IndexedDB, prepared", databases),
        ],
        medians: vec![
            ("without a session".to_owned(), format!("{without:.0} ms")),
            (
                "from the begin of an import until the session is prepared".to_owned(),
                format!("{:.0} ms", median(took.iter().copied())),
            ),
        ],
        tables: Vec::new(),
    }
}
