//! `baton node`: the nodes of a cluster, as a person reads them.

use super::fake::FakeNode;
use super::fixture::{stderr, stdout};
use baton_api::{ErrorCode, NodeBus, NodeList, NodeView};
use baton_session::NodeSecret;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn view(seed: u8, name: &str) -> NodeView {
    let key = NodeSecret::from_seed(&[seed; 32]).key();
    NodeView {
        node_id: key.node_id(),
        name: name.to_owned(),
        internal_url: format!("http://10.0.0.{seed}:7420/"),
        key,
        version: "1.0.0".to_owned(),
        started_at: Timestamp::now() - 2.hours().minutes(1),
        seen_at: Timestamp::now() - 3.minutes().seconds(30),
        is_there: true,
        is_this: seed == 1,
        clock_ahead_ms: 0,
        browsers: 3,
        labels: BTreeSet::new(),
        places: Some(5),
        sandboxes: 2,
        sandbox_places: Some(6),
        is_draining: false,
        drain: None,
        bus: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nodes_of_a_cluster_fit_a_terminal() {
    let gone = NodeView {
        is_there: false,
        seen_at: Timestamp::now() - 5.minutes().seconds(30),
        ..view(2, "frankfurt")
    };
    let off = NodeView { clock_ahead_ms: -3_600_500, ..view(3, "rack \u{1b}[2J three") };
    let bus = NodeBus {
        is_connected: true,
        sent: 7,
        heard: 9,
        dropped: [("late".to_owned(), 1), ("stranger".to_owned(), 2)].into(),
        gaps: 1,
        ..NodeBus::default()
    };
    let berlin = NodeView { bus: Some(bus), ..view(1, "berlin") };
    let items = vec![berlin.clone(), gone, off.clone()];
    let list = NodeList { cluster: Some("shop".to_owned()), items };
    let node = FakeNode::start().await.with("GET /nodes", &list);
    let node = node.with("GET /nodes/three", &off).with("GET /nodes/berlin", &berlin);
    let data = node.folder.data();
    let run = node.folder.run(&["node", "list"]).success();
    let said = stdout(&run, &data);
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let said: Vec<&str> = said.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    cluster shop
    NODE        AT                    BROWSERS  ROOM  VERSION  SEEN
    berlin      http://10.0.0.1:7420  3         5     1.0.0    3 min ago  this one
    frankfurt   http://10.0.0.2:7420  3         5     1.0.0    5 min ago  gone
    rack �[2J   http://10.0.0.3:7420  3         5     1.0.0    3 min ago  clock 3600
    three                                                                 s behind
    ");
    let run = node.folder.run(&["node", "show", "three"]).success();
    let said = stdout(&run, &data);
    assert_eq!(said.lines().next(), Some("rack \u{fffd}[2J three (clock 3600 s behind)"));
    assert!(said.contains("-3600500 ms ahead of the database"), "{said}");
    let run = node.folder.run(&["node", "show", "berlin"]).success();
    let said = stdout(&run, &data);
    assert!(said.contains("  bus       connected: 7 sent, 9 heard, 3 dropped, 1 gaps"), "{said}");
    let run = node.folder.run(&["node", "list", "--json"]).success();
    let parsed: NodeList = serde_json::from_str(&stdout(&run, &data)).unwrap();
    assert_eq!(parsed.items.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_one_by_itself_says_how_it_becomes_one_of_several() {
    let list = NodeList { cluster: None, items: Vec::new() };
    let node = FakeNode::start().await.with("GET /nodes", &list);
    let run = node.folder.run(&["node", "list"]).success();
    insta::assert_snapshot!(stderr(&run, &node.folder.data()), @"this node is one by itself: cluster.name makes it one of several");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_gone_is_forgotten_and_one_that_is_there_is_not() {
    let node = FakeNode::start().await.with("DELETE /nodes/berlin", &());
    let detail = "expected node bonn to be gone for good, found that it counts as there";
    let node = node.refusing("DELETE /nodes/bonn", ErrorCode::Conflict, detail);
    let data = node.folder.data();
    let run = node.folder.run(&["node", "forget", "berlin"]).success();
    assert_eq!(stdout(&run, &data).trim(), "forgot berlin");
    let run = node.folder.run(&["node", "forget", "berlin", "--json"]).success();
    let said: Value = serde_json::from_str(&stdout(&run, &data)).unwrap();
    assert_eq!(said, json!({ "forgotten": "berlin" }));
    let run = node.folder.run(&["node", "forget", "bonn"]).code(4);
    assert!(stderr(&run, &data).contains(detail), "{}", stderr(&run, &data));
}
