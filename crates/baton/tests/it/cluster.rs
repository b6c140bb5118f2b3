//! Two real nodes that are one, with a real browser: a session of the one is driven through the other.

use crate::cdp::Tool;
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{ClientError, ErrorCode, OpenCdp};
use baton_playground::{Site, TestNode};
use baton_session::Lifecycle;
use serde_json::json;
use std::ffi::OsStr;

/// A node that is asked at the address at which it listens, by a name that is its own.
async fn start(database: &str, name: &str) -> TestNode {
    let with = |node: TestNode, variable: &str, value: &dyn AsRef<OsStr>| {
        node.with(variable, value.as_ref().to_owned())
    };
    let mut node = test_nodes::build();
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
    node.start_node().await.unwrap();
    node
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
