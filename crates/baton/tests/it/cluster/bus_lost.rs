//! A node is cut off from the bus that the others hear: what it does goes on, what it follows it sees in the database, a
//! key that is revoked ends there all the same, and once it is back it knows that it missed something.

use super::moving::site;
use super::{bus, on_bus, on_the_bus, start_with};
use crate::cdp::Tool;
use crate::notes::{LIMIT, eventually};
use baton_api::client::{ChangeEvents, NodeChange};
use baton_api::{Client, CreateKey, FileText, ImportSession, OpenCdp, Scope};
use baton_playground::{Cable, CableEnd, Cut, Nats, TestNode};
use baton_testing::skip;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How often the database is looked at for what no bus told, and how long a busy machine may take for it.
const LOOK: Duration = Duration::from_secs(5);
const BUSY: Duration = Duration::from_secs(5);

/// A key that drives and reads, as a client of a node.
async fn tool_key(node: &TestNode, name: &str, at: &TestNode) -> (Client, String) {
    let scopes = [Scope::Read, Scope::Drive].into();
    let request = CreateKey { name: name.to_owned(), owner: None, scopes, for_node: None };
    let key = node.client().unwrap().create_key(&request).await.unwrap();
    let base = at.client().unwrap().base().clone();
    (Client::new(base, key.secret.into()).unwrap(), key.key.id)
}

/// What is told next.
async fn next(events: &mut ChangeEvents) -> Option<NodeChange> {
    timeout(LIMIT, events.next()).await.expect("what happened is told").unwrap()
}

/// Waits until it is told that sessions changed. Tabs change, too, and once the bus was away all lists may have.
async fn sessions_told(events: &mut ChangeEvents) {
    while next(events).await.expect("the node goes on") != NodeChange::Sessions {}
}

async fn import(node: &TestNode, name: &str) {
    let file = FileText::new(json!({"cookies": [], "origins": []}).to_string()).unwrap();
    let request = ImportSession { name: Some(name.parse().unwrap()), description: None, file };
    node.client().unwrap().import_session(&request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_from_the_bus_works_on_and_misses_nothing() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let nats = Nats::start(program, None).await.unwrap();
    let port = url::Url::parse(&nats.url()).unwrap().port().unwrap();
    let cable = Cable::lay(CableEnd::Address(([127, 0, 0, 1], port).into())).unwrap();
    let by_cable = format!("nats://127.0.0.1:{}", cable.port());
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &on_bus(&nats, nats.url())).await;
    let other = start_with(&database, "other", &on_bus(&nats, by_cable)).await;
    on_the_bus(&[&own, &other]).await;
    let site = site().await;
    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let (client, id) = tool_key(&own, "tool", &other).await;
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    let mut theirs = client.follow_changes().await.unwrap();
    let mut events = other.client().unwrap().follow_changes().await.unwrap();
    import(&own, "before").await;
    sessions_told(&mut events).await;
    let gaps = bus(&other).await.gaps;

    cable.set(Cut::Refused);
    eventually("the other node says so", async || !bus(&other).await.is_connected).await;
    assert!(bus(&own).await.is_connected, "its own node hears it still");
    // Sessions go on, also by way of the node that is cut off.
    assert_eq!(tool.evaluate("document.title").await, "nobody");
    client.capture_session("shop").await.unwrap();
    // What happens is seen in the database.
    import(&own, "meanwhile").await;
    let changed = Instant::now();
    sessions_told(&mut events).await;
    assert!(changed.elapsed() < LOOK + BUSY, "{:?}", changed.elapsed());
    // So is it that a key was revoked: nobody tells it, and all that it opened ends.
    own.client().unwrap().revoke_key(&id, None).await.unwrap();
    let revoked = Instant::now();
    timeout(LIMIT, tool.connection.closed()).await.unwrap();
    assert!(revoked.elapsed() < BUSY, "{:?}", revoked.elapsed());
    while next(&mut theirs).await.is_some() {}
    assert!(revoked.elapsed() < LOOK + BUSY, "{:?}", revoked.elapsed());
    assert!(!bus(&other).await.is_connected, "it was the database that told it");

    cable.set(Cut::Whole);
    eventually("it is on the bus again", async || bus(&other).await.is_connected).await;
    // The next word shows that words before it are missing, and whoever follows looks at everything.
    import(&own, "after").await;
    sessions_told(&mut events).await;
    eventually("that is counted", async || bus(&other).await.gaps > gaps).await;
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_revoked_while_the_bus_restarts_ends_everywhere() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let mut nats = Nats::start(program, None).await.unwrap();
    let database = baton_postgres::create_database().unwrap();
    let settings = on_bus(&nats, nats.url());
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    on_the_bus(&[&own, &other]).await;
    let (client, id) = tool_key(&own, "tool", &other).await;
    let mut theirs = client.follow_changes().await.unwrap();
    nats.kill().await.unwrap();
    own.client().unwrap().revoke_key(&id, None).await.unwrap();
    let revoked = Instant::now();
    nats.restart().await.unwrap();
    // By the bus, where it is back before the next look; else by that look.
    while next(&mut theirs).await.is_some() {}
    assert!(revoked.elapsed() < LOOK + BUSY, "{:?}", revoked.elapsed());
    for node in [&own, &other] {
        eventually("it is on the bus again", async || bus(node).await.is_connected).await;
    }
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
