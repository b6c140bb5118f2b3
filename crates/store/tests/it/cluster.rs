//! The nodes of a cluster as rows: one start of each, seen by the clock of the database.

use crate::fixture::{Engine, Fixture};
use baton_session::NodeSecret;
use baton_store::ClusterMember;
use rstest::rstest;
use std::time::Duration;

fn member(seed: u8, start: &str) -> ClusterMember {
    let key = NodeSecret::from_seed(&[seed; 32]).key();
    ClusterMember {
        cluster: "shop".to_owned(),
        node: key.node_id(),
        name: format!("node-{seed}"),
        internal_url: format!("http://10.0.0.{seed}:7420/"),
        key,
        version: "1.0.0".to_owned(),
        start: start.to_owned(),
        lease: Duration::from_mins(1),
    }
}

#[rstest]
#[tokio::test]
async fn who_entered_is_listed_until_it_leaves(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let before = store.database_now().await.unwrap();
    let (one, two) = (member(1, "a"), member(2, "b"));
    for member in [&one, &two] {
        assert_eq!(store.enter_cluster(member, None).await.unwrap(), None);
    }
    let elsewhere = ClusterMember { cluster: "other".to_owned(), ..member(3, "c") };
    store.enter_cluster(&elsewhere, None).await.unwrap();
    assert!(store.beat_cluster(&one, -7, 3).await.unwrap());
    let rows = store.list_cluster("shop").await.unwrap();
    let members: Vec<_> = rows.iter().map(|row| &row.member).collect();
    assert_eq!(members, [&one, &two]);
    assert_eq!((rows[0].clock_ahead, rows[0].browsers, rows[0].is_there), (-7, 3, true));
    assert!(rows[0].started_at >= before && rows[0].seen_at >= rows[0].started_at);
    store.leave_cluster(&one).await.unwrap();
    assert!(!store.beat_cluster(&one, 0, 0).await.unwrap(), "what left does not beat");
    let rows = store.list_cluster("shop").await.unwrap();
    assert_eq!(rows.iter().map(|row| &row.member).collect::<Vec<_>>(), [&two]);
}

#[rstest]
#[tokio::test]
async fn a_second_start_of_a_node_has_its_place_only_once_the_first_stands_still(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (first, second) = (member(1, "a"), member(1, "b"));
    store.enter_cluster(&first, None).await.unwrap();
    let seen = store.enter_cluster(&second, None).await.unwrap().unwrap();
    // It goes on: what was seen of it no longer stands.
    while store.list_cluster("shop").await.unwrap()[0].seen_at == seen {
        assert!(store.beat_cluster(&first, 0, 0).await.unwrap());
    }
    let seen_again = store.enter_cluster(&second, Some(seen)).await.unwrap().unwrap();
    assert!(seen_again > seen);
    // It stands still.
    assert_eq!(store.enter_cluster(&second, Some(seen_again)).await.unwrap(), None);
    assert!(
        !store.beat_cluster(&first, 0, 0).await.unwrap(),
        "the first hears that it lost its place"
    );
    store.leave_cluster(&first).await.unwrap();
    assert!(store.beat_cluster(&second, 0, 0).await.unwrap(), "and takes nobody's with it");
}

#[rstest]
#[tokio::test]
async fn who_was_not_there_for_a_lease_is_gone(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let first = member(1, "a");
    store.enter_cluster(&first, None).await.unwrap();
    fixture.execute("update cluster_nodes set seen_at = seen_at - 60001").await;
    assert!(!store.list_cluster("shop").await.unwrap()[0].is_there);
    assert_eq!(store.enter_cluster(&member(1, "b"), None).await.unwrap(), None);
}
