//! How often a caller may ask, over all nodes of a cluster.

use crate::cluster::{MASTER_KEY, choices, open};
use crate::fixture::{Folder, Node, until};
use baton_api::{CreateKey, ErrorCode, ListSessions, Scope};
use baton_server::config::Choices;
use std::time::Duration;
use tokio::net::TcpListener;

/// How often a key may ask in a minute.
const LIMIT: u32 = 60;

async fn start(database: &str, name: &str) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = Folder::new();
    let choices = Choices {
        requests_per_minute: Some(LIMIT),
        lease: Some(Duration::from_secs(4)),
        ..choices(database, name, listener.local_addr().unwrap().port())
    };
    let mut config = folder.config_with(choices).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    folder.start_at(config, listener).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_to_all_nodes_in_turn_has_one_minutes_worth() {
    let database = baton_postgres::create_database().unwrap();
    let (one, other) = (start(&database, "one").await, start(&database, "other").await);
    let key = CreateKey {
        name: "ada".to_owned(),
        owner: Some("ada".parse().unwrap()),
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let ada = one.admin().create_key(&key).await.unwrap().secret;
    let ask = async |node: &Node| {
        let asked = node.client(&ada).list_sessions(&ListSessions::default()).await;
        asked.map(drop).map_err(|error| error.code().unwrap())
    };
    let mut asked = 0;
    while ask(&one).await.is_ok() {
        asked += 1;
    }
    assert!(asked >= LIMIT, "{asked}");
    // It is told at a beat, and heard at the next one of the other, which has ended when a second one begins.
    let store = &open(&database).await;
    let row = async || {
        let rows = store.list_cluster("shop").await.unwrap();
        rows.into_iter().find(|row| row.member.name == "other").unwrap()
    };
    let hears = &row().await.member;
    until("it is told", || async {
        (!store.hear_rates(hears).await.unwrap().is_empty()).then_some(())
    })
    .await;
    for _ in 0..2 {
        let before = row().await.seen_at;
        until("the other one beats", async || (row().await.seen_at > before).then_some(())).await;
    }
    let mut given = 0;
    let refused = loop {
        match ask(&other).await {
            Ok(()) => given += 1,
            Err(code) => break code,
        }
    };
    assert_eq!(refused, ErrorCode::TooManyRequests);
    assert!(given < LIMIT / 2, "{given} after {asked}");
    store.close().await;
    one.stop().await;
    other.stop().await;
}
