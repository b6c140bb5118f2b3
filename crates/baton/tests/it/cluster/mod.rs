//! Real nodes that are one, with a real browser: a session of the one is driven through the other (here), a new one
//! goes where there is room (`placed`), also for models (`tools`), as do sandboxes (`sandboxed`), what a node held that was lost or leaves goes on elsewhere (`moving`), stays where not all of it can be captured (`unread`) or is ended there (`gone`), and so do pages that are signed in (`pages`).
//! What they stand on fails: the database (`database_restarted`), the way to it (`cut_off`), the bus (`bus_lost`) and a
//! clock (`clock_off`).

mod bus_lost;
mod clock_off;
mod cut_off;
mod database_restarted;
mod gone;
mod lists;
mod moving;
mod pages;
mod placed;
mod sandboxed;
mod tools;
mod unread;

use crate::cdp::Tool;
use crate::notes::{LIMIT, eventually};
use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{Client, ClientError, CreateKey, ErrorCode, NodeBus, OpenCdp, Scope};
use baton_playground::{Nats, Site, TestNode};
use baton_session::{Lifecycle, NodeId};
use baton_testing::skip;
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::timeout;

/// A node that is asked at the address at which it listens, by a name that is its own.
async fn start(database: &str, name: &str) -> TestNode {
    start_with(database, name, &[]).await
}

/// The same with these settings more, which count once it is of the cluster.
pub(crate) async fn start_with(
    database: &str,
    name: &str,
    settings: &[(&str, String)],
) -> TestNode {
    start_built(test_nodes::build(), database, name, settings).await
}

/// The same of a node that is built already.
pub(crate) async fn start_built(
    mut node: TestNode,
    database: &str,
    name: &str,
    settings: &[(&str, String)],
) -> TestNode {
    let with = |node: TestNode, variable: &str, value: &dyn AsRef<OsStr>| {
        node.with(variable, value.as_ref().to_owned())
    };
    node = with(node, "BATON_MASTER_KEY", &"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    node = with(node, "BATON_DATABASE_URL", &database);
    node = with(node, "BATON_NODE_NAME", &name);
    node = with(node, "BATON_LEASE", &"12");
    // The first start finds a port, at which the node is asked from then on.
    node.start_node().await.unwrap();
    node.keep_address().unwrap();
    let port = node.client().unwrap().base().port().unwrap();
    node.stop_node().await.unwrap();
    node = with(node, "BATON_INTERNAL_URL", &format!("http://127.0.0.1:{port}"));
    node = with(node, "BATON_CLUSTER_NAME", &"shop");
    for (variable, value) in settings {
        node = with(node, variable, value);
    }
    node.start_node().await.unwrap();
    node
}

/// Which node has a session, as the node that is asked says it; none while that is not reached.
async fn home(at: &TestNode, name: &str) -> Option<NodeId> {
    let client = at.client().unwrap();
    let key = std::fs::read_to_string(at.data().admin_key()).unwrap();
    let url = client.base().join(&format!("sessions/{name}")).unwrap();
    let answer = reqwest::Client::new().get(url).bearer_auth(key.trim()).send().await.unwrap();
    let node = answer.headers()["x-baton-node"].to_str().unwrap().parse().unwrap();
    answer.status().is_success().then_some(node)
}

/// Which node this is.
async fn id(node: &TestNode) -> NodeId {
    let nodes = node.client().unwrap().list_nodes().await.unwrap().items;
    nodes.into_iter().find(|node| node.is_this).unwrap().node_id
}

/// The settings of a node that reads these from a file.
fn settings_file(folder: &TempDir, text: &str) -> (&'static str, String) {
    let file = folder.path().join("baton.toml");
    fs::write(&file, text).unwrap();
    ("BATON_CONFIG", file.display().to_string())
}

/// The settings of a node on this bus, which it finds there.
fn on_bus(nats: &Nats, url: String) -> [(&'static str, String); 2] {
    let credentials = nats.credentials().display().to_string();
    [("BATON_CLUSTER_BUS_URL", url), ("BATON_CLUSTER_BUS_CREDENTIALS", credentials)]
}

/// How the bus is, as a node says it.
async fn bus(node: &TestNode) -> NodeBus {
    let nodes = node.client().unwrap().list_nodes().await.unwrap().items;
    nodes.into_iter().find_map(|node| node.bus).unwrap()
}

fn code(error: &ClientError) -> ErrorCode {
    error.code().unwrap_or_else(|| panic!("expected an answer of the node, found {error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_driven_through_the_other_node_until_its_own_is_killed() {
    let database = baton_postgres::create_database().unwrap();
    let (mut own, other) = (start(&database, "own").await, start(&database, "other").await);
    let page = async || Html("<title>shop</title><p>Welcome</p>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let id = own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = other.client().unwrap();
    let port = client.base().port();

    // It is shown with its browser, at the address that was asked.
    let shown = client.fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.id, shown.session.state), (id, Lifecycle::Active));
    assert_eq!(shown.cdp_url.as_ref().unwrap().port(), port, "{:?}", shown.cdp_url);
    // Its files go there and come back.
    client.put_file("shop", "note.txt", b"by way of another node".to_vec()).await.unwrap();
    let back = client.get_file("shop", "note.txt").await.unwrap();
    assert_eq!(back, b"by way of another node");
    // A tool drives it, and what it does is captured.
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    assert_eq!(access.cdp_url.port(), port);
    let tool = Tool::connect(&access.cdp_url).await;
    assert_eq!(tool.evaluate("document.title").await, json!("shop"));
    tool.evaluate("document.cookie = 'by=tool; max-age=9999'").await;
    client.capture_session("shop").await.unwrap();
    let state = client.fetch_state("shop", false).await.unwrap();
    assert!(serde_json::to_string(&state).unwrap().contains("\"by\""), "the cookie was captured");
    drop(tool);
    let closed = client.close_session("shop").await.unwrap();
    assert_eq!(closed.session.state, Lifecycle::Closed);
    // It comes back where it was.
    let resumed = client.resume_session("shop").await.unwrap();
    assert_eq!(resumed.session.session.state, Lifecycle::Active);
    assert_eq!(
        own.client().unwrap().fetch_session("shop").await.unwrap().session.state,
        Lifecycle::Active
    );

    own.kill_node().await.unwrap();
    let gone = client.capture_session("shop").await.unwrap_err();
    assert_eq!(code(&gone), ErrorCode::NodeUnreachable, "{gone}");
    assert!(gone.to_string().contains("own"), "{gone}");
    // What the database says is said all the same.
    client.fetch_state("shop", false).await.unwrap();
    own.start_node().await.unwrap();
    client.capture_session("shop").await.unwrap();
    client.close_session("shop").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

/// Waits until these nodes hear each other by the bus.
async fn on_the_bus(nodes: &[&TestNode]) {
    for node in nodes {
        eventually("it is on the bus", async || bus(node).await.is_connected).await;
    }
}

/// What a doctor says of one thing, with these settings, and whether it is content.
fn doctor(
    node: &TestNode,
    what: &str,
    database: &str,
    settings: &[(&str, String)],
) -> (bool, String) {
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(node.data().path()).arg("doctor").write_stdin("");
    command.env("BATON_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    command.env("BATON_DATABASE_URL", database).env("BATON_CLUSTER_NAME", "shop");
    command.env("BATON_INTERNAL_URL", "http://127.0.0.1:7420");
    command.envs(settings.iter().map(|(variable, value)| (variable, value)));
    let run = command.assert();
    let told = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let line = told.lines().find(|line| line.contains(&format!(" {what} ")));
    let line = line.unwrap_or_else(|| panic!("no {what} in {told}"));
    (line.starts_with("ok"), line.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_revoked_elsewhere_drives_no_more_and_a_doctor_tries_the_bus() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let mut nats = Nats::start(program, None).await.unwrap();
    let credentials = |path: PathBuf| ("BATON_CLUSTER_BUS_CREDENTIALS", path.display().to_string());
    let url = ("BATON_CLUSTER_BUS_URL", nats.url());
    let settings = [url.clone(), credentials(nats.credentials())];
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    on_the_bus(&[&own, &other]).await;
    let page = async || Html("<title>shop</title><p>Welcome</p>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let scopes = [Scope::Read, Scope::Drive].into();
    let request = CreateKey { name: "tool".to_owned(), owner: None, scopes, for_node: None };
    let key = own.client().unwrap().create_key(&request).await.unwrap();
    let client = Client::new(own.client().unwrap().base().clone(), key.secret.into()).unwrap();
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    assert_eq!(tool.evaluate("document.title").await, json!("shop"));
    other.client().unwrap().revoke_key(&key.key.id, None).await.unwrap();
    let revoked = Instant::now();
    timeout(LIMIT, tool.connection.closed()).await.unwrap();
    // The promise is a second; a busy machine has some more.
    assert!(revoked.elapsed() < Duration::from_secs(4), "{:?}", revoked.elapsed());

    let (is_content, line) = doctor(&own, "bus", &database, &settings);
    assert!(is_content && line.contains(&nats.url()), "{line}");
    let wrong = [url.clone(), credentials(nats.wrong_credentials())];
    let (is_content, line) = doctor(&own, "bus", &database, &wrong);
    assert!(!is_content && line.contains("expected to be let in at nats://"), "{line}");
    let missing = [url, credentials("/nowhere/bus.creds".into())];
    let (is_content, line) = doctor(&own, "bus", &database, &missing);
    assert!(!is_content && line.contains("found No such file"), "{line}");
    nats.kill().await.unwrap();
    let (is_content, line) = doctor(&own, "bus", &database, &settings);
    assert!(!is_content && line.contains("expected a server of NATS at"), "{line}");
    // Without it, the node works.
    own.client().unwrap().close_session("shop").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
