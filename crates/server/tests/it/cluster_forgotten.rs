//! A node of a cluster that is gone for good is forgotten, and not before it is gone.

use crate::cluster::{MASTER_KEY, choices, open};
use crate::fixture::{Folder, Node, seed_snapshot, state_at, until};
use baton_api::{ErrorCode, ListAudit, Scope};
use baton_server::config::Choices;
use baton_session::{AuditOutcome, Lifecycle, NodeId, NodeSecret};
use baton_store::{ClusterMember, NodeRecord, Store};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::net::TcpListener;

async fn start(database: &str, name: &str) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = Folder::new();
    let choices = Choices {
        lease: Some(Duration::from_secs(4)),
        ..choices(database, name, listener.local_addr().unwrap().port())
    };
    let mut config = folder.config_with(choices).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    folder.start_at(config, listener).await
}

/// A node says once that it is there, for so long, and is not heard any more.
async fn enter(store: &Store, node: NodeId, name: &str, lease: Duration) {
    let record = NodeRecord { id: node, place: "elsewhere".to_owned(), lease: Some(lease) };
    store.register_node(&record).await.unwrap();
    let member = ClusterMember {
        cluster: "shop".to_owned(),
        node,
        name: name.to_owned(),
        internal_url: "http://127.0.0.1:1/".to_owned(),
        key: NodeSecret::from_seed(&[7; 32]).key(),
        version: "1.0.0".to_owned(),
        start: "the only one".to_owned(),
        lease,
        labels: BTreeSet::new(),
    };
    assert_eq!(store.enter_cluster(&member, None).await.unwrap(), None);
}

async fn names(node: &Node) -> Vec<String> {
    let nodes = node.admin().list_nodes().await.unwrap().items;
    nodes.into_iter().map(|node| node.name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_forgotten_once_it_is_gone_and_its_sessions_are_free() {
    let database = baton_postgres::create_database().unwrap();
    let store = open(&database).await;
    let left = start(&database, "left").await;
    let (lost, there) = (Folder::new(), Folder::new());
    enter(&store, lost.node(), "lost", Duration::from_secs(1)).await;
    enter(&store, there.node(), "there", Duration::from_mins(5)).await;
    let session = lost.seed_active(&store, "ada", "shop").await;
    seed_snapshot(&store, "ada", session.id, &state_at("https://shop.test/")).await;
    store.acquire_lease(session.id, lost.node()).await.unwrap();
    let admin = left.admin();
    let ada = left.as_owner("ada", &[Scope::Read, Scope::Drive]).await;

    let refused = ada.forget_node("lost").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let missing = admin.forget_node("never").await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::NodeNotFound));
    let refused = admin.forget_node("there").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Conflict));
    let text = refused.to_string();
    assert!(text.contains("expected node there to be gone for good"), "{text}");
    assert!(text.contains("its lease may last for"), "{text}");
    let refused = admin.forget_node("left").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Conflict), "the one that is asked");
    // Another machine has its name by now, and is not meant.
    let next = Folder::new();
    enter(&store, next.node(), "lost", Duration::from_mins(5)).await;
    until("its lease was ended", || async {
        store.fetch_lease(session.id).await.unwrap().unwrap().node.is_none().then_some(())
    })
    .await;
    until("it counts as gone", || async {
        let rows = store.list_cluster("shop").await.unwrap();
        let row = rows.into_iter().find(|row| row.member.node == lost.node()).unwrap();
        (!row.is_there).then_some(())
    })
    .await;
    admin.forget_node("lost").await.unwrap();

    assert_eq!(names(&left).await, ["left", "lost", "there"]);
    let nodes = admin.list_nodes().await.unwrap().items;
    let lost_now = nodes.iter().find(|node| node.name == "lost").unwrap();
    assert_eq!(lost_now.node_id, next.node());
    let missing = admin.fetch_node(&lost.node().to_string()).await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::NodeNotFound));
    let noted = admin.list_audit(&ListAudit::default()).await.unwrap().items;
    let noted: Vec<_> = noted.iter().filter(|entry| entry.action == "node.forget").collect();
    assert_eq!((noted[0].subject.as_str(), noted[0].outcome), ("lost", AuditOutcome::Done));
    assert_eq!(noted[0].detail["node"], lost.node().to_string());
    assert_eq!(noted.iter().filter(|entry| entry.outcome == AuditOutcome::Done).count(), 1);
    // What it held is free, and whose it was stays known.
    let shown = ada.fetch_session("shop").await.unwrap().session;
    assert_eq!(shown.state, Lifecycle::Recoverable);
    ada.delete_session("shop").await.unwrap();
    store.close().await;
    left.stop().await;
}
