//! What it costs to move a session to another node, against rsync with the same bytes.

use crate::report::{Comparison, Figure, Ratio, Section, median};
use anyhow::{Context as _, Result, ensure};
use baton_api::sync::{ConfirmPeer, MovementOutcome, RegisterPeer, SaveSession};
use baton_api::{CreateKey, FileText, ImportSession, Scope};
use baton_playground::TestNode;
use baton_session::peer::AuthMethod;
use baton_sync::compare;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

/// Origins of the session, each with as many bytes of localStorage.
const ORIGINS: u64 = 500;
const BYTES: usize = 200_000;
/// How often it moves.
const ROUNDS: u64 = 20;
/// Sessions of the indexes that are compared.
const SESSIONS: usize = 10_000;

/// Moves sessions of 100 MB, and files of the same content by rsync, in turn; then compares indexes.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    let (mut cloud, mut laptop) = (TestNode::build(baton)?, TestNode::build(baton)?);
    cloud.start_node().await?;
    laptop.start_node().await?;
    meet(&cloud, &laptop).await?;
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let name = format!("shop{round}");
        let origins: Vec<String> =
            (0..ORIGINS).map(|origin| noise(round * ORIGINS + origin + 1)).collect();
        save(&cloud, &name, &origins).await?;
        let begun = Instant::now();
        let moved = laptop.client()?.pull_session("cloud", &name).await?;
        let pulled = begun.elapsed();
        ensure!(moved.outcome == MovementOutcome::Moved, "expected all of it, found {moved:?}");
        let synced = rsync(&origins).await?;
        println!("round {} of {ROUNDS}: pull {pulled:.2?}, rsync {synced:.2?}", round + 1);
        pairs.push((pulled.as_secs_f64(), synced.as_secs_f64()));
        for test_node in [&cloud, &laptop] {
            test_node.client()?.delete_session(&name).await?;
        }
    }
    cloud.clear().await?;
    laptop.clear().await?;
    Ok(vec![transfer(&pairs), indexes()?])
}

fn transfer(pairs: &[(f64, f64)]) -> Section {
    let seconds = |value: f64| format!("{:.0} ms", value * 1e3);
    Section {
        title: "A session moved to another node",
        method: format!(
            "{ORIGINS} origins with {BYTES} bytes of localStorage each (100 MB that hardly compress), \
             {ROUNDS} times in turn over loopback. Pulled: from the call until it is durable at the \
             other node, signed, sealed, every part checked. rsync: a file an origin with the same \
             bytes, from a daemon, with `--fsync`."
        ),
        comparisons: vec![Comparison {
            what: "pulled / rsync",
            ratio: Ratio::of(pairs),
            aim: 2.0,
            aim_is_for_the_bound: false,
        }],
        figures: Vec::new(),
        medians: vec![
            ("pulled".to_owned(), seconds(median(pairs.iter().map(|pair| pair.0)))),
            ("rsync".to_owned(), seconds(median(pairs.iter().map(|pair| pair.1)))),
        ],
        tables: Vec::new(),
    }
}

/// Reads the index of a peer and compares it with ours.
fn indexes() -> Result<Section> {
    let ours = serde_json::from_value(index(1))?;
    let theirs = index(2).to_string();
    let mut took = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        let theirs = serde_json::from_str(&theirs)?;
        let items = compare(&ours, &theirs);
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(items.len() == SESSIONS, "expected all sessions to be compared");
    }
    Ok(Section {
        title: "Two indexes compared",
        method: format!(
            "The JSON of a peer's index of {SESSIONS} sessions is read and compared with ours, which \
             the node remembers; one in ten has changed. 20 times, the median."
        ),
        comparisons: Vec::new(),
        figures: vec![Figure {
            what: "read and compared".to_owned(),
            found: median(took),
            aim: 50.0,
            unit: "ms",
        }],
        medians: Vec::new(),
        tables: Vec::new(),
    })
}

fn index(counter: usize) -> Value {
    let session = |number: usize| {
        let counter = if number.is_multiple_of(10) { counter } else { 1 };
        json!({
            "id": format!("0190aaaa-0000-7000-8000-{number:012x}"),
            "name": format!("session-{number}"),
            "version": counter,
            "checksum": format!("{:064x}", number * 7 + counter),
            "lastModified": "2026-11-22T10:00:00Z",
            "originNodeId": "56b6dc52-9ef8-89d4-8c7c-d6c6eb3561db",
            "size": 100_000,
            "rev": format!("{counter}-{:064x}", number * 13 + counter),
            "vector": {"56b6dc52-9ef8-89d4-8c7c-d6c6eb3561db#00112233aabbccdd": counter},
        })
    };
    let sessions: Vec<Value> = (0..SESSIONS).map(session).collect();
    json!({"nodeId": "56b6dc52-9ef8-89d4-8c7c-d6c6eb3561db", "sessions": sessions})
}

/// The laptop registers the cloud and confirms its fingerprint.
async fn meet(cloud: &TestNode, laptop: &TestNode) -> Result<()> {
    let fingerprint = cloud.client()?.list_peers().await?.fingerprint;
    let scopes = [Scope::Sync].into();
    let for_node = Some(laptop.client()?.list_peers().await?.fingerprint);
    let request = CreateKey { name: "laptop".to_owned(), owner: None, scopes, for_node };
    let key = cloud.client()?.create_key(&request).await?;
    let request = RegisterPeer {
        url: cloud.client()?.base().clone(),
        name: "cloud".to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        limits: None,
        fingerprint: None,
    };
    laptop.client()?.register_peer(&request).await?;
    laptop.client()?.confirm_peer("cloud", &ConfirmPeer { fingerprint }).await?;
    Ok(())
}

/// Makes a session with these texts in its origins, and saves it.
async fn save(test_node: &TestNode, name: &str, origins: &[String]) -> Result<()> {
    let origin = |(number, text): (usize, &String)| json!({"storageKey": format!("https://{name}-{number}.test/"), "localStorage": [["text", text]]});
    let origins: Vec<Value> = origins.iter().enumerate().map(origin).collect();
    let file = json!({"name": name, "state": {"cookies": [], "origins": origins}, "tabs": []});
    let file = FileText::new(file.to_string())?;
    let request = ImportSession { name: None, description: None, file };
    test_node.client()?.import_session(&request).await?;
    test_node.client()?.save_session(name, &SaveSession::default()).await?;
    Ok(())
}

fn noise(seed: u64) -> String {
    let mut number = seed;
    let mut text = String::with_capacity(BYTES + 16);
    while text.len() < BYTES {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let _ = write!(text, "{number:016x}");
    }
    text
}

/// How long rsync takes for files with these texts, from a daemon to an empty folder.
async fn rsync(texts: &[String]) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::create_dir(&from)?;
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(from.join(format!("{number:04}")), text)?;
    }
    let (mut daemon, port) = start_daemon(folder.path(), &from).await?;
    let begun = Instant::now();
    let done = Command::new("rsync")
        .args(["--recursive", "--fsync", &format!("rsync://127.0.0.1:{port}/parts/")])
        .arg(&to)
        .status()
        .await
        .context("expected rsync to be installed")?;
    let took = begun.elapsed();
    daemon.kill().await?;
    ensure!(done.success(), "rsync failed");
    Ok(took)
}

async fn start_daemon(folder: &Path, from: &Path) -> Result<(Child, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let config = folder.join("rsyncd.conf");
    let text = format!(
        "use chroot = no\nuid = root\ngid = root\n[parts]\npath = {}\nread only = yes\n",
        from.display()
    );
    std::fs::write(&config, text)?;
    let mut daemon = Command::new("rsync");
    daemon.args(["--daemon", "--no-detach", "--address=127.0.0.1"]);
    daemon.arg(format!("--port={port}")).arg(format!("--config={}", config.display()));
    let daemon = daemon.kill_on_drop(true).spawn().context("expected rsync to be installed")?;
    let end = Instant::now() + Duration::from_secs(10);
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        ensure!(Instant::now() < end, "expected the daemon of rsync to listen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((daemon, port))
}
