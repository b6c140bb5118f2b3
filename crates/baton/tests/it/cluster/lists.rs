//! Lists that only the memory of a node has, of tabs and of sandboxes: whoever follows another node hears by the bus
//! that one's own are others, and nothing of those of other owners.

use super::moving::site;
use super::{bus, home, id, on_bus, on_the_bus, settings_file, start_with};
use crate::notes::{LIMIT, eventually};
use baton_api::client::{ChangeEvents, NodeChange};
use baton_api::sandbox::CreateSandbox;
use baton_api::{Client, CreateKey, FileText, ImportSession, Scope, SwitchDebug};
use baton_playground::Nats;
use baton_testing::skip;
use serde_json::json;
use std::collections::BTreeSet;
use tokio::time::timeout;

/// Waits until this is told. What comes before it.
async fn until(events: &mut ChangeEvents, wanted: &NodeChange) -> BTreeSet<String> {
    let mut before = BTreeSet::new();
    loop {
        let told = timeout(LIMIT, events.next()).await.expect("it is told").unwrap().unwrap();
        if told == *wanted {
            return before;
        }
        before.insert(format!("{told:?}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_follows_a_node_hears_of_tabs_and_sandboxes_at_others() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let nats = Nats::start(program, None).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let none = settings_file(&folder, "[sandboxes]\nmost = 0\n");
    let database = baton_postgres::create_database().unwrap();
    let own = start_with(&database, "own", &on_bus(&nats, nats.url())).await;
    let [url, credentials] = on_bus(&nats, nats.url());
    let other = start_with(&database, "other", &[url, credentials, none]).await;
    on_the_bus(&[&own, &other]).await;
    let site = site().await;
    let client = other.client().unwrap();
    let stranger = {
        let scopes = [Scope::Read, Scope::Drive, Scope::Debug, Scope::Sandbox].into();
        let owner = Some("acme".parse().unwrap());
        let request = CreateKey { name: "acme".to_owned(), owner, scopes, for_node: None };
        let key = client.create_key(&request).await.unwrap();
        Client::new(client.base().clone(), key.secret.into()).unwrap()
    };
    let import = async |at: &Client, name: &str| {
        let file = FileText::new(json!({"cookies": [], "origins": []}).to_string()).unwrap();
        let name = Some(name.parse().unwrap());
        at.import_session(&ImportSession { name, description: None, file }).await.unwrap();
    };
    // When a node is heard for the first time, all lists may have changed: that is over.
    for number in 1..=2 {
        import(own.client().unwrap(), &format!("before-{number}")).await;
        eventually("it is heard", async || bus(&other).await.heard >= number).await;
    }
    let mut strangers = stranger.follow_changes().await.unwrap();
    let mut events = client.follow_changes().await.unwrap();

    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    assert_eq!(home(&other, "shop").await, Some(id(&own).await));
    until(&mut events, &NodeChange::Sessions).await;
    own.client()
        .unwrap()
        .switch_debug("shop", SwitchDebug { on: true, reveal: false })
        .await
        .unwrap();
    until(&mut events, &NodeChange::Tabs).await;
    assert_eq!(client.list_tabs().await.unwrap().items.len(), 1);

    let sandbox = own.client().unwrap().create_sandbox(&CreateSandbox::default()).await.unwrap();
    assert!(sandbox.id.is_of(id(&own).await));
    until(&mut events, &NodeChange::Sandboxes).await;
    let listed = client.list_sandboxes().await.unwrap().items;
    assert_eq!(listed.iter().map(|sandbox| sandbox.id).collect::<Vec<_>>(), [sandbox.id]);
    client.delete_sandbox(&sandbox.id.to_string()).await.unwrap();
    until(&mut events, &NodeChange::Sandboxes).await;
    assert_eq!(client.list_sandboxes().await.unwrap().items, []);

    // Another owner hears of what is theirs alone.
    import(&stranger, "after").await;
    let before = until(&mut strangers, &NodeChange::Sessions).await;
    assert_eq!(before, BTreeSet::new());
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
