//! A node whose clock is an hour off is told so and works all the same: who is there, what is believed and whose lease
//! has ended goes by the database.

use super::moving::{signed_in, site, title};
use super::{code, doctor, home, id, start_with};
use crate::notes::eventually;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::ErrorCode;
use baton_playground::TestNode;
use baton_session::Lifecycle;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long leases are.
const LEASE: Duration = Duration::from_secs(4);

/// A library that sets the clock of whatever loads it ahead by so many seconds, made in this folder.
fn shifted(folder: &Path, seconds: i64) -> PathBuf {
    let library = folder.join("shifted.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/clocks.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", &format!("-DAHEAD={seconds}"), "-o"]);
    let made = compiler.arg(&library).arg(source).status().unwrap();
    assert!(made.success(), "expected a compiler of C, which Rust links with");
    library
}

/// What a command says at a node, on a machine with a right clock.
fn says(node: &TestNode, arguments: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(node.data().path()).args(arguments).write_stdin("");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_clock_is_an_hour_ahead_takes_nothing_too_early() {
    is_off(3600, "ahead").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_clock_is_an_hour_behind_takes_nothing_too_late() {
    is_off(-3600, "behind").await;
}

async fn is_off(seconds: i64, told: &str) {
    let folder = tempfile::tempdir().unwrap();
    let library = shifted(folder.path(), seconds).display().to_string();
    let database = baton_postgres::create_database().unwrap();
    let lease = ("BATON_LEASE", LEASE.as_secs().to_string());
    let mut own = start_with(&database, "own", std::slice::from_ref(&lease)).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    let other = start_with(&database, "other", &[lease, ("LD_PRELOAD", library)]).await;

    // It is told: in its log, in the list of any node, and to a doctor.
    assert!(other.log().contains("the clock of this machine is not that of the database"));
    for node in [&own, &other] {
        let shown = says(node, &["node", "show", "other"]);
        let title = shown.lines().next().unwrap_or_default();
        let off = title.strip_prefix("other (clock ").and_then(|off| off.strip_suffix(')'));
        let (off, way) = off.and_then(|off| off.split_once(" s ")).expect(&shown);
        let off: i64 = off.parse().unwrap();
        assert!((3590..3610).contains(&off) && way == told, "{shown}");
    }
    let (is_content, line) = doctor(&other, "cluster", &database, &[]);
    assert!(!is_content && line.contains("other: this one, clock 3"), "{line}");
    // Both are there, for both, and each believes the other.
    let client = other.client().unwrap();
    let nodes = client.list_nodes().await.unwrap().items;
    assert!(nodes.len() == 2 && nodes.iter().all(|node| node.is_there), "{nodes:?}");
    client.capture_session("shop").await.unwrap();
    assert_eq!(title(client, "shop").await, "login=ada");
    let running = client.resume_session("shop").await.unwrap_err();
    assert_ne!(code(&running), ErrorCode::NodeUnreachable, "{running}");
    assert_eq!(home(&other, "shop").await, Some(id(&own).await));

    // The lease of a node that is lost ends when it ends, and not an hour sooner or later.
    let session = client.fetch_session("shop").await.unwrap().session.id;
    own.kill_everybody(&[session]).await.unwrap();
    let killed = Instant::now();
    eventually("the lease ended", async || client.resume_session("shop").await.is_ok()).await;
    let took = killed.elapsed();
    assert!(took > LEASE / 2 && took < LEASE + Duration::from_secs(20), "{took:?}");
    assert_eq!(client.fetch_session("shop").await.unwrap().session.state, Lifecycle::Active);
    assert_eq!(home(&other, "shop").await, Some(id(&other).await));
    assert_eq!(title(client, "shop").await, "login=ada");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
