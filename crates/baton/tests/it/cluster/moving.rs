//! Sessions go on at another node: when theirs is lost, when it is drained, and when it is told to end.

use super::{home, id, start_with};
use crate::cdp::Tool;
use crate::notes::eventually;
use axum::Router;
use axum::http::HeaderMap;
use axum::response::Html;
use axum::routing::get;
use baton_api::{Client, ErrorCode, OpenCdp};
use baton_playground::{Site, TestNode};
use baton_session::Lifecycle;
use futures_util::StreamExt;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// A site that says which cookies it gets.
async fn site() -> Site {
    let page = async |headers: HeaderMap| {
        let cookies = headers.get("cookie").and_then(|value| value.to_str().ok());
        Html(format!("<title>{}</title>", cookies.unwrap_or("nobody")))
    };
    Site::start(Router::new().route("/", get(page))).await.unwrap()
}

/// Opens a session at a node and signs in.
async fn signed_in(node: &TestNode, name: &str, site: &Site) {
    node.open(name, [site.url("/").unwrap()]).await.unwrap();
    let client = node.client().unwrap();
    let access = client.open_cdp(name, &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    tool.evaluate("document.cookie = 'login=ada; max-age=9999'").await;
    tool.page.call("Page.reload", json!({})).await.unwrap();
    client.capture_session(name).await.unwrap();
}

/// What the site says in the tab of a session.
async fn title(client: &Client, name: &str) -> String {
    let access = client.open_cdp(name, &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    tool.evaluate("document.title").await.as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_lost_node_held_goes_on_at_another_one_by_itself() {
    let lease = Duration::from_secs(4);
    let settings = [("BATON_CLUSTER_FAILOVER", "true".to_owned()), ("BATON_LEASE", "4".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    let sessions = [own.client().unwrap().fetch_session("shop").await.unwrap().session.id];

    own.kill_everybody(&sessions).await.unwrap();
    let killed = Instant::now();
    let client = other.client().unwrap();
    eventually("the session runs at the other node", async || {
        // Until its lease has ended it is still the lost node's, which does not answer.
        client.capture_session("shop").await.is_ok()
    })
    .await;
    let took = killed.elapsed();
    // The promise is five seconds more than a lease; a busy machine has some more.
    assert!(took > lease / 2 && took < lease + Duration::from_secs(15), "{took:?}");
    println!("back after {took:?}, with a lease of {lease:?}");
    assert_eq!(title(client, "shop").await, "login=ada");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_drained_and_its_tools_find_their_sessions_at_the_same_address() {
    let database = baton_postgres::create_database().unwrap();
    let one = ("BATON_BROWSER_MOST", "1".to_owned());
    let own = start_with(&database, "own", &[]).await;
    let mut other = start_with(&database, "other", &[one]).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    signed_in(&own, "bank", &site).await;

    // There is no room for both: nothing is begun.
    let (is_done, _, said) = drain(&other, &["own"]).await;
    assert!(!is_done);
    insta::assert_snapshot!(said, @"
    error: expected room for 2 browsers at the other nodes, found room for 1: other runs 0 browsers and takes 1 more
      add a node, or move what finds room: baton node drain --partly
    ");
    let nodes = own.client().unwrap().list_nodes().await.unwrap().items;
    assert!(nodes.iter().all(|node| !node.is_draining));

    other.stop_node().await.unwrap();
    other = other.with("BATON_BROWSER_MOST", "3");
    other.start_node().await.unwrap();
    let client = own.client().unwrap();
    let access = client.open_cdp("shop", &OpenCdp { reusable: true }).await.unwrap();
    let (mut tool, _) = connect_async(access.cdp_url.as_str()).await.unwrap();
    let (is_done, said, _) = drain(&other, &["own"]).await;
    assert!(is_done, "{said}");
    let told: Vec<&str> = said.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(told, ["own: 2 sessions moved", "SESSION", "shop", "bank"], "{said}");
    // The tool is told that it may come again, and where it was the session is.
    let closed = loop {
        if let Message::Close(closed) = tool.next().await.unwrap().unwrap() {
            break closed.unwrap();
        }
    };
    assert_eq!(u16::from(closed.code), 1012);
    assert_eq!(closed.reason.as_str(), "the session moves to another node: connect again");
    for name in ["shop", "bank"] {
        assert_eq!(home(&own, name).await, Some(id(&other).await), "{name}");
        assert_eq!(title(client, name).await, "login=ada", "{name}");
    }
    // Nothing new comes to a node that is drained, whichever is asked, until that is ended.
    client.open_session(&open("new", &site)).await.unwrap();
    let full = client.open_session(&open("newer", &site)).await.unwrap_err();
    assert_eq!(full.code(), Some(ErrorCode::NoRoom));
    assert!(full.to_string().contains("own is being drained"), "{full}");
    let (is_done, said, _) = drain(&other, &["own", "--undo"]).await;
    assert!(is_done && said.contains("own"), "{said}");
    client.open_session(&open("newer", &site)).await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

fn open(name: &str, site: &Site) -> baton_api::OpenSession {
    baton_api::OpenSession::new(name.parse().unwrap(), [site.url("/").unwrap()])
}

/// Runs `baton node drain` at a node: whether it did all, and what it said.
async fn drain(at: &TestNode, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("--data").arg(at.data().path()).args(["node", "drain"]).args(arguments);
    let run = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (run.status.success(), text(run.stdout), text(run.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_told_to_end_brings_its_sessions_to_others_first() {
    let settings = [("BATON_CLUSTER_DRAIN", "true".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    signed_in(&own, "shop", &site).await;
    own.stop_node().await.unwrap();
    let client = other.client().unwrap();
    let found = client.fetch_session("shop").await.unwrap();
    assert_eq!(found.session.state, Lifecycle::Active);
    assert_eq!(title(client, "shop").await, "login=ada");
    // The last one has nowhere to bring them: its browsers wait for it.
    other.client().unwrap().capture_session("shop").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
