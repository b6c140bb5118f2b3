//! A node does not reach the database that the others reach: its browsers end before another node starts them, and when
//! it is back it leaves them where they are.

use super::moving::{signed_in, site, title};
use super::{home, id, start_with};
use crate::notes::eventually;
use baton_api::{ErrorCode, ListSessions};
use baton_playground::victims::is_alive;
use baton_playground::{Cable, CableEnd, Cut, TestNode};
use baton_postgres::Server;
use baton_session::{Lifecycle, SessionId};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// How long leases are.
const LEASE: Duration = Duration::from_secs(4);

/// The process of a session's browser at a node, if it has one.
async fn browser(node: &TestNode, session: SessionId) -> Option<u32> {
    node.holders(session).await.ok().map(|[_, (_, browser)]| browser)
}

/// The address of a database, by way of a cable.
fn by_way_of(cable: &Cable, database: &str) -> String {
    let name = database.rsplit_once('/').unwrap().1;
    let name = name.split_once('?').unwrap().0;
    format!("postgres://baton:unused@127.0.0.1:{}/{name}", cable.port())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_refused_by_the_database_ends_its_browsers_before_others_start_them() {
    is_cut_off(Cut::Refused).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hears_nothing_of_the_database_ends_its_browsers_before_others_start_them() {
    is_cut_off(Cut::Silent).await;
}

async fn is_cut_off(cut: Cut) {
    let server = spawn_blocking(|| Server::start().unwrap()).await.unwrap();
    let database = server.create_database().unwrap();
    let cable = Cable::lay(CableEnd::Socket(server.socket())).unwrap();
    let settings = [
        ("BATON_CLUSTER_FAILOVER", "true".to_owned()),
        ("BATON_LEASE", LEASE.as_secs().to_string()),
    ];
    let own = start_with(&by_way_of(&cable, &database), "own", &settings).await;
    let site = site().await;
    // It is the only node, so the session is there.
    signed_in(&own, "shop", &site).await;
    let other = start_with(&database, "other", &settings).await;
    let session = own.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    let was = browser(&own, session).await.unwrap();
    own.client().unwrap().capture_session("shop").await.unwrap();

    cable.set(cut);
    let begun = Instant::now();
    let (mut gone, mut started) = (None, None);
    eventually("the other node has a browser of it", async || {
        // In this order: what is alive after another one was seen was there at the same time.
        let now = browser(&other, session).await;
        let lives = is_alive(was);
        assert!(now.is_none() || !lives, "two browsers after {:?}", begun.elapsed());
        if !lives {
            gone.get_or_insert_with(Instant::now);
        }
        if now.is_some() {
            started.get_or_insert_with(Instant::now);
        }
        started.is_some()
    })
    .await;
    eventually("the session runs at the other node", async || {
        other.client().unwrap().capture_session("shop").await.is_ok()
    })
    .await;
    let (gone, started) = (gone.unwrap(), started.unwrap());
    assert!(gone < started, "it ended before");
    // Nobody took what the node still held; a busy machine has some seconds more.
    assert!(started - begun < LEASE + Duration::from_secs(15), "{:?}", started - begun);
    // What was acknowledged is there.
    assert_eq!(title(other.client().unwrap(), "shop").await, "login=ada");

    // The node that was cut off says what it knows, while it is and afterwards.
    let asked = Instant::now();
    let refused = own.client().unwrap().fetch_session("shop").await.unwrap_err();
    assert_eq!(super::code(&refused), ErrorCode::StorageUnavailable, "{refused}");
    assert!(asked.elapsed() < Duration::from_secs(30), "{:?}", asked.elapsed());
    let ready = own.client().unwrap().base().join("ready").unwrap();
    let is_ready = async || reqwest::get(ready.clone()).await.unwrap().status() == 200;
    assert!(!is_ready().await);
    cable.set(Cut::Whole);
    eventually("the node is ready again", is_ready).await;
    let client = own.client().unwrap();
    let shown = client.fetch_session("shop").await.unwrap().session;
    assert_eq!(shown.state, Lifecycle::Active);
    assert_eq!(home(&own, "shop").await, Some(id(&other).await));
    let listed = client.list_sessions(&ListSessions::default()).await.unwrap().items;
    assert_eq!((listed.len(), listed[0].state), (1, Lifecycle::Active));
    eventually("it says that it lost the session", async || {
        own.log().contains("another node has the session now")
    })
    .await;
    // It is there for the others, and starts nothing of what it had.
    eventually("both are there", async || {
        let nodes = other.client().unwrap().list_nodes().await.unwrap().items;
        nodes.len() == 2 && nodes.iter().all(|node| node.is_there)
    })
    .await;
    client.capture_session("shop").await.unwrap();
    assert_eq!(browser(&own, session).await, None);
    assert_eq!(title(client, "shop").await, "login=ada");
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
