//! Who a node is: made once, kept through every crash, moved into a new epoch with its folder.

use crate::fixture::Folder;
use baton_backup::{Source, Unlock};
use baton_server::Config;
use baton_session::{NodeId, SessionId};
use baton_store::Store;
use baton_store::data::DataFolder;
use baton_sync::identity::{Identity, load_or_create, verify_card};
use baton_testkit::{Peer, settings};
use secrecy::SecretString;
use std::path::Path;

/// A folder on which a node may start, and its database.
async fn ready() -> (Folder, Store) {
    let folder = Folder::new();
    lock(&folder.data);
    let store = folder.store().await;
    (folder, store)
}

/// The lock file, which a start makes and by which a folder is told from its copies.
fn lock(data: &DataFolder) {
    std::fs::write(data.lock(), "").unwrap();
}

async fn load(store: &Store, data: &DataFolder) -> Identity {
    let identity = load_or_create(store, data).await.unwrap();
    assert_eq!(data.node_id().unwrap(), Some(identity.node()), "the folder says so too");
    identity
}

async fn home_of(store: &Store, session: SessionId) -> NodeId {
    store.fetch_session(&"ada".parse().unwrap(), session).await.unwrap().node
}

#[tokio::test]
async fn a_new_folder_gets_an_identity_that_stays() {
    let (folder, store) = ready().await;
    let first = load(&store, &folder.data).await;
    let again = load(&store, &folder.data).await;
    assert_eq!((again.key(), again.actor()), (first.key(), first.actor()));
    assert_eq!(again.seal_key(), first.seal_key());
    assert_eq!(first.node(), first.key().node_id());
    let (other, other_store) = ready().await;
    assert_ne!(load(&other_store, &other.data).await.key(), first.key());
}

#[tokio::test]
async fn a_folder_from_before_nodes_had_keys_keeps_its_sessions() {
    let (folder, store) = ready().await;
    let formerly = folder.node();
    let session = folder.seed(&store, "ada", "shop").await;
    let identity = load(&store, &folder.data).await;
    assert_ne!(identity.node(), formerly);
    assert_eq!(home_of(&store, session).await, identity.node());
}

#[tokio::test]
async fn whoever_dies_between_database_and_file_is_the_same_node_afterwards() {
    let (folder, store) = ready().await;
    let formerly = folder.node();
    let session = folder.seed(&store, "ada", "shop").await;
    let identity = load(&store, &folder.data).await;
    folder.data.write_node_id(formerly).unwrap();
    let again = load(&store, &folder.data).await;
    assert_eq!(again.actor(), identity.actor(), "the file was not written yet");
    assert_eq!(home_of(&store, session).await, again.node());
}

#[tokio::test]
async fn whoever_dies_between_file_and_database_makes_another_key() {
    let (folder, store) = ready().await;
    let lost = Peer::new(1).identity.node();
    folder.data.write_node_id(lost).unwrap();
    let identity = load(&store, &folder.data).await;
    assert_ne!(identity.node(), lost);
    folder.data.write_node_id(lost).unwrap();
    assert_eq!(load(&store, &folder.data).await.node(), identity.node());
}

#[tokio::test]
async fn a_folder_that_moved_begins_another_epoch_and_is_the_same_node() {
    let (folder, store) = ready().await;
    let before = load(&store, &folder.data).await;
    store.close().await;
    let moved = folder.data.path().with_file_name("moved");
    std::fs::rename(folder.data.path(), &moved).unwrap();
    let moved = DataFolder::at(&moved).unwrap();
    let store = open(&moved).await;
    let after = load(&store, &moved).await;
    assert_eq!(after.key(), before.key());
    assert_ne!(after.actor(), before.actor());
    let again = load(&store, &moved).await;
    assert_eq!(again.actor(), after.actor(), "and stays in it");
}

#[tokio::test]
async fn a_node_that_runs_says_who_it_is_and_carries_on_as_the_same() {
    let folder = Folder::new();
    let formerly = folder.node();
    let node = folder.start().await;
    let id = node.id();
    assert_ne!(id, formerly);
    assert_eq!(node.admin().health().await.unwrap().node_id, id);
    let node = node.stop().await.start().await;
    assert_eq!(node.id(), id);
    node.stop().await;
}

/// Restores what `config` says into a new folder beside `beside`, and starts nothing.
async fn restored(config: &Config, beside: &Path) -> DataFolder {
    let file = beside.with_file_name("baton.backup");
    let passphrase = || SecretString::from("correct horse battery");
    let source = Source {
        data: &config.data,
        database: &config.database,
        master_key: config.master_key.as_ref(),
    };
    baton_backup::create(source, &file, Some(passphrase()), false).await.unwrap();
    let data = DataFolder::at(&beside.with_file_name("restored")).unwrap();
    let unlock = Unlock::Passphrase(passphrase());
    let restored = baton_backup::restore(&file, &data, None, unlock, false).await.unwrap();
    assert_eq!(data.node_id().unwrap(), Some(restored.node));
    data
}

/// The database of a folder that was restored.
async fn open(data: &DataFolder) -> Store {
    let config = baton_store::Config {
        database: baton_store::DatabaseUrl::Sqlite(data.database()),
        key: baton_store::MasterKey::load(&data.key()).unwrap(),
        limits: baton_store::Limits::default(),
    };
    Store::open(config).await.unwrap()
}

#[tokio::test]
async fn what_is_restored_is_the_same_node_in_another_epoch() {
    let (folder, store) = ready().await;
    let original = load(&store, &folder.data).await;
    let session = folder.seed(&store, "ada", "shop").await;
    let data = restored(&folder.config(), folder.data.path()).await;
    lock(&data);
    let store = open(&data).await;
    let stored = store.fetch_identity(original.node()).await.unwrap().unwrap();
    assert_ne!(stored.epoch, original.actor().epoch, "before its first start already");
    let identity = load(&store, &data).await;
    assert_eq!((identity.key(), identity.seal_key()), (original.key(), original.seal_key()));
    assert_ne!(identity.actor(), original.actor());
    assert_eq!(home_of(&store, session).await, identity.node());
}

#[tokio::test]
async fn a_backup_from_before_nodes_had_keys_gets_one_at_its_first_start() {
    let (folder, store) = ready().await;
    let session = folder.seed(&store, "ada", "shop").await;
    let data = restored(&folder.config(), folder.data.path()).await;
    lock(&data);
    assert_ne!(data.node_id().unwrap(), folder.data.node_id().unwrap());
    let store = open(&data).await;
    let identity = load(&store, &data).await;
    assert_eq!(home_of(&store, session).await, identity.node());
}

#[test]
fn a_card_says_who_a_node_is() {
    let peer = Peer::new(1);
    verify_card(&peer.card).unwrap();
    let mut card = serde_json::to_value(peer.identity.card(&settings("laptop"))).unwrap();
    for secret in ["nodeId", "key", "sealKey", "sealSignature"] {
        let text = card[secret].as_str().unwrap().len();
        card[secret] = format!("{text} characters").into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&card).unwrap(), @r#"
    {
      "key": "43 characters",
      "name": "laptop",
      "nodeId": "36 characters",
      "nodeType": "hosted",
      "publicUrl": "https://baton.example.org/",
      "sealKey": "62 characters",
      "sealSignature": "86 characters"
    }
    "#);
}

#[test]
fn an_identity_shows_no_secret() {
    let shown = format!("{:?}", Peer::new(1).identity);
    assert_eq!(shown, format!("Identity(of {})", Peer::new(1).identity.actor()));
}

#[tokio::test]
async fn a_folder_that_was_used_with_another_database_is_the_same_node_again() {
    let (folder, usual) = ready().await;
    let first = load(&usual, &folder.data).await;
    let (_other, elsewhere) = ready().await;
    let there = load(&elsewhere, &folder.data).await;
    assert_ne!(there.node(), first.node(), "the other database has never seen it");
    let again = load(&usual, &folder.data).await;
    assert_eq!((again.node(), again.actor()), (first.node(), first.actor()));
    assert_eq!(load(&elsewhere, &folder.data).await.node(), there.node());
}
