//! A node is gone for good: what it had can be closed, abandoned, deleted and rolled back at another one, once its
//! leases have ended.

use super::moving::{site, title};
use super::{code, home, id, start_with};
use crate::cdp::Tool;
use crate::notes::{LIMIT, eventually};
use baton_api::{Client, ErrorCode, FileText, ImportSession, ListHistory, OpenCdp};
use baton_session::Lifecycle;
use tokio::time::timeout;

/// Keeps a session at a node, without a browser.
async fn keep(client: &Client, name: &str) {
    let state = r#"{"cookies": [], "origins": [{"origin": "https://shop.test", "localStorage": [{"name": "a", "value": "b"}]}]}"#;
    let import = ImportSession {
        name: Some(name.parse().unwrap()),
        description: None,
        file: FileText::new(state.to_owned()).unwrap(),
    };
    client.import_session(&import).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_a_node_that_is_gone_can_be_ended_at_another_one() {
    let settings = [("BATON_LEASE", "4".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    for name in ["one", "two", "three"] {
        keep(own.client().unwrap(), name).await;
    }
    let session = own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    own.client().unwrap().capture_session("shop").await.unwrap();
    let kept = own.client().unwrap().list_history("shop", &ListHistory::default()).await.unwrap();
    let kept = kept.items[0].id;
    own.client().unwrap().close_session("two").await.unwrap();

    own.kill_everybody(&[session]).await.unwrap();
    let client = other.client().unwrap();
    let refused = client.delete_session("one").await.unwrap_err();
    assert_eq!(code(&refused), ErrorCode::NodeUnreachable, "it may be back in a moment");
    eventually("it is gone for a lease", async || client.delete_session("one").await.is_ok()).await;
    assert_eq!(code(&client.fetch_session("one").await.unwrap_err()), ErrorCode::SessionNotFound);
    client.delete_session("two").await.unwrap();
    let abandoned = client.abandon_session("three").await.unwrap();
    assert_eq!(abandoned.session.state, Lifecycle::Closed);
    let back = client.roll_back_session("shop", &kept.to_string()).await.unwrap();
    assert_eq!(back.session.session.state, Lifecycle::Active);
    assert_eq!(title(client, "shop").await, "nobody");
    assert_eq!(home(&other, "shop").await, Some(id(&other).await));
    client.close_session("shop").await.unwrap();
    eventually("it is forgotten", async || client.forget_node("own").await.is_ok()).await;
    let nodes = client.list_nodes().await.unwrap().items;
    assert_eq!(nodes.iter().map(|node| &*node.name).collect::<Vec<_>>(), ["other"]);

    // Where it comes back after all, it leaves them where they are, and has another key in its folder.
    own.start_node().await.unwrap();
    let listed = own.client().unwrap().fetch_session("shop").await.unwrap();
    assert_eq!(listed.session.state, Lifecycle::Closed);
    own.client().unwrap().delete_session("three").await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_through_another_node_ends_when_its_own_stands_still() {
    let settings = [("BATON_LEASE", "4".to_owned())];
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let site = site().await;
    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = other.client().unwrap();
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    assert_eq!(tool.evaluate("document.title").await, "nobody");
    let node = own.node_pid().unwrap();
    baton_testing::freeze(node).unwrap();
    // No byte comes from there, and none says that it is over.
    timeout(LIMIT, tool.connection.closed()).await.unwrap();
    baton_testing::wake(node).unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
