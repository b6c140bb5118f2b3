//! The nodes of a cluster as rows: one start of each, seen by the clock of the database.

use crate::fixture::{Engine, Fixture, next_instant, node};
use baton_session::{NodeSecret, Owner, Scope};
use baton_store::{ApiKey, ClusterBeat, ClusterMember, Forgetting, local_key_name};
use rstest::rstest;
use std::time::Duration;

pub(crate) fn member(seed: u8, start: &str) -> ClusterMember {
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
        labels: ["eu".parse().unwrap(), format!("n={seed}").parse().unwrap()].into(),
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
    let beat = ClusterBeat {
        clock_ahead: -7,
        browsers: 3,
        places: Some(4),
        sandboxes: 2,
        sandbox_places: Some(6),
        is_draining: true,
    };
    assert!(store.beat_cluster(&one, beat).await.unwrap());
    let rows = store.list_cluster("shop").await.unwrap();
    let members: Vec<_> = rows.iter().map(|row| &row.member).collect();
    assert_eq!(members, [&one, &two]);
    assert_eq!((rows[0].beat, rows[0].is_there), (beat, true));
    // One that has entered takes nothing before it says that it does.
    assert_eq!(
        rows[1].beat,
        ClusterBeat { places: Some(0), sandbox_places: Some(0), ..ClusterBeat::default() }
    );
    let uncounted = ClusterBeat::default();
    assert!(store.beat_cluster(&two, uncounted).await.unwrap());
    assert_eq!(store.list_cluster("shop").await.unwrap()[1].beat, uncounted);
    assert!(rows[0].started_at >= before && rows[0].seen_at >= rows[0].started_at);
    store.leave_cluster(&one).await.unwrap();
    assert!(
        !store.beat_cluster(&one, ClusterBeat::default()).await.unwrap(),
        "what left does not beat"
    );
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
        assert!(store.beat_cluster(&first, ClusterBeat::default()).await.unwrap());
    }
    let seen_again = store.enter_cluster(&second, Some(seen)).await.unwrap().unwrap();
    assert!(seen_again > seen);
    // It stands still.
    assert_eq!(store.enter_cluster(&second, Some(seen_again)).await.unwrap(), None);
    assert!(
        !store.beat_cluster(&first, ClusterBeat::default()).await.unwrap(),
        "the first hears that it lost its place"
    );
    store.leave_cluster(&first).await.unwrap();
    assert!(
        store.beat_cluster(&second, ClusterBeat::default()).await.unwrap(),
        "and takes nobody's with it"
    );
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

#[rstest]
#[tokio::test]
async fn a_node_is_forgotten_once_it_is_gone_and_holds_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (gone, left) = (ClusterMember { node: node(), ..member(1, "a") }, member(2, "b"));
    for member in [&gone, &left] {
        store.enter_cluster(member, None).await.unwrap();
        store.tell_rates(member.node, "much").await.unwrap();
    }
    let key = ApiKey {
        id: "key_1".to_owned(),
        name: local_key_name(Some(node())),
        owner: Owner::local(),
        scopes: [Scope::Admin].into(),
        created_at: next_instant(),
        revoked_at: None,
        for_node: None,
    };
    store.create_key(&key, [1; 32]).await.unwrap();
    let made = fixture.session("mail").await;
    store.acquire_lease(made.id, node()).await.unwrap();
    let (id, holds) = (node(), "insert into sandbox_holds (sandbox, owner, node) values");
    fixture.execute(&format!("{holds} ('sbx', 'local', '{id}')")).await;
    let forget = async || store.forget_node(node(), next_instant()).await.unwrap();

    let seen = store.list_cluster("shop").await.unwrap()[0].seen_at;
    assert_eq!(forget().await, Forgetting::There { until: seen + gone.lease });
    fixture.execute(&format!("update cluster_nodes set seen_at = 1 where node = '{id}'")).await;
    assert_eq!(forget().await, Forgetting::Holds { sessions: 1 });
    assert_eq!(store.list_cluster("shop").await.unwrap().len(), 2, "nothing was changed");
    assert!(store.find_key([1; 32]).await.unwrap().is_some());
    store.release_lease(made.id, node()).await.unwrap();
    assert_eq!(forget().await, Forgetting::Done);

    let rows = store.list_cluster("shop").await.unwrap();
    assert_eq!(rows.iter().map(|row| &row.member).collect::<Vec<_>>(), [&left]);
    assert_eq!(
        (fixture.count("cluster_rates").await, fixture.count("sandbox_holds").await),
        (1, 0)
    );
    assert!(store.find_key([1; 32]).await.unwrap().is_none(), "its data folder opens nothing");
    let noted = store.list_audit(None, None, 10).await.unwrap();
    assert_eq!((noted.len(), noted[0].action.as_str()), (1, "key.revoke"));
    assert_eq!(noted[0].subject, key.id);
    // Its sessions are where they were, and it may come again.
    assert_eq!(store.fetch_session(&made.owner, made.id).await.unwrap().node, node());
    assert!(!store.beat_cluster(&gone, ClusterBeat::default()).await.unwrap());
    assert_eq!(store.enter_cluster(&gone, None).await.unwrap(), None);
}
