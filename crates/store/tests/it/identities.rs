//! Identities: who a node is, found by the id that it had before, and moved with its folder.

use crate::fixture::{Engine, Fixture, next_instant, node, random};
use baton_session::{Epoch, NodeId, NodeSecret};
use baton_store::{NodeRecord, StoreError, StoredIdentity};
use rstest::rstest;
use secrecy::ExposeSecret;
use zeroize::Zeroizing;

/// The identity of a node with keys of these bytes.
fn identity(byte: u8) -> StoredIdentity {
    let seed = [byte; 32];
    StoredIdentity {
        node: NodeSecret::from_seed(&seed).key().node_id(),
        place: "/home/ann/.baton".to_owned(),
        epoch: Epoch::new([byte; 8]),
        seed: Zeroizing::new(seed),
        seal_secret: format!("AGE-SECRET-KEY-{byte}").into(),
    }
}

#[rstest]
#[tokio::test]
async fn a_node_finds_its_keys_by_its_id_and_by_the_one_before(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, identity(1));
    assert!(store.fetch_identity(made.node).await.unwrap().is_none());
    store.create_identity(&made, Some(node())).await.unwrap();
    store.create_identity(&identity(2), None).await.unwrap();
    for id in [made.node, node()] {
        let found = store.fetch_identity(id).await.unwrap().unwrap();
        assert_eq!((found.node, &found.place, found.epoch), (made.node, &made.place, made.epoch));
        assert_eq!(found.seed, made.seed);
        assert_eq!(found.seal_secret.expose_secret(), made.seal_secret.expose_secret());
    }
    let again = store.create_identity(&made, None).await.unwrap_err();
    assert!(matches!(again, StoreError::IdTaken { .. }), "{again}");
    // Of two who were made of one folder, one takes over what belonged to its id.
    let second = store.create_identity(&identity(3), Some(node())).await.unwrap_err();
    assert!(matches!(second, StoreError::IdTaken { .. }), "{second}");
}

#[rstest]
#[tokio::test]
async fn what_belonged_to_the_id_before_belongs_to_the_new_one(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let record = |id| NodeRecord { id, place: "here".to_owned(), lease: None };
    store.register_node(&record(node())).await.unwrap();
    store.acquire_lease(made.id, node()).await.unwrap();
    let other = NodeId::new(next_instant(), random());
    store.register_node(&record(other)).await.unwrap();

    let keys = identity(1);
    store.create_identity(&keys, Some(node())).await.unwrap();
    assert_eq!(store.fetch_session(&made.owner, made.id).await.unwrap().node, keys.node);
    assert_eq!(store.fetch_lease(made.id).await.unwrap().unwrap().node, Some(keys.node));
    let nodes: Vec<NodeId> =
        store.list_nodes().await.unwrap().iter().map(|found| found.node.id).collect();
    assert!(nodes.len() == 2 && nodes.contains(&other) && nodes.contains(&keys.node));
}

#[rstest]
#[tokio::test]
async fn a_node_that_fails_to_take_over_changes_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    fixture.execute("alter table leases rename to elsewhere").await;
    fixture.store.create_identity(&identity(1), Some(node())).await.unwrap_err();
    assert_eq!(fixture.count("identities").await, 0);
    assert_eq!(fixture.store.fetch_session(&made.owner, made.id).await.unwrap().node, node());
}

#[rstest]
#[tokio::test]
async fn a_node_that_was_moved_keeps_its_keys_and_begins_another_epoch(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, identity(1));
    store.create_identity(&made, None).await.unwrap();
    store.move_identity(made.node, "/srv/baton", Epoch::new([9; 8])).await.unwrap();
    let found = store.fetch_identity(made.node).await.unwrap().unwrap();
    assert_eq!((found.place.as_str(), found.epoch), ("/srv/baton", Epoch::new([9; 8])));
    assert_eq!(found.seed, made.seed);
    let unknown = store.move_identity(node(), "/srv/baton", made.epoch).await.unwrap_err();
    assert!(matches!(unknown, StoreError::IdentityNotFound { .. }), "{unknown}");
}

#[rstest]
#[tokio::test]
async fn the_keys_of_one_node_do_not_open_for_another(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (one, two) = (identity(1), identity(2));
    fixture.store.create_identity(&one, None).await.unwrap();
    fixture.store.create_identity(&two, None).await.unwrap();
    let sql = format!(
        "update identities set sealed = (select sealed from identities where node = '{}')",
        one.node
    );
    fixture.execute(&sql).await;
    assert!(fixture.store.fetch_identity(one.node).await.unwrap().is_some());
    let error = fixture.store.fetch_identity(two.node).await.unwrap_err();
    let text = error.to_string().replace(&two.node.to_string(), "NODE");
    insta::allow_duplicates! {
        insta::assert_snapshot!(text, @r"
        the identity of node NODE cannot be read: its seal is broken: it was changed, or it belongs elsewhere
        restore the database from a backup
        ");
    }
}

#[test]
fn an_identity_does_not_show_its_keys() {
    let shown = format!("{:?}", identity(7));
    assert!(
        shown.contains("place") && !shown.contains("AGE") && !shown.contains("seed"),
        "{shown}"
    );
}
