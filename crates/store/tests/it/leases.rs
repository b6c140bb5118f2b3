//! Leases: one holder at a time, terms that only count up, and late writes that harm nobody.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant, node};
use baton_session::{Lifecycle, NodeId, Session, Term};
use baton_store::{NewSnapshot, NodeRecord, StoreError};
use rstest::rstest;
use std::time::Duration;

fn other() -> NodeId {
    "01890000-0000-7000-8000-000000000002".parse().unwrap()
}

fn record(id: NodeId) -> NodeRecord {
    NodeRecord { id, place: "here".to_owned(), lease: Some(Duration::from_secs(30)) }
}

/// The beat of the node that holds the sessions of these tests.
async fn beat(fixture: &Fixture) -> i64 {
    let nodes = fixture.store.list_nodes().await.unwrap();
    nodes.iter().find(|found| found.node.id == node()).unwrap().beat
}

fn in_term(session: &Session, term: Term, bytes: &[u8]) -> NewSnapshot {
    let new = new_snapshot(session, &[cookies("a.example", bytes)]);
    NewSnapshot { term: Some(term), ..new }
}

#[rstest]
#[tokio::test]
async fn a_session_has_one_holder(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    assert_eq!(store.fetch_lease(made.id).await.unwrap(), None);
    let first = store.acquire_lease(made.id, node()).await.unwrap();
    // The same node, started again, opens a term of its own.
    let second = store.acquire_lease(made.id, node()).await.unwrap();
    assert!(second > first);
    let refused = store.acquire_lease(made.id, other()).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::HeldElsewhere { node: found } if found == node()),
        "{refused}"
    );
    let refused = store.adopt_session(made.id, other()).await.unwrap_err();
    assert!(matches!(refused, StoreError::HeldElsewhere { .. }), "{refused}");

    // A session that stops being active is free for any node, in a new term.
    let at = next_instant();
    let (from, to) = (Lifecycle::Active, Lifecycle::Recoverable);
    store.update_lifecycle(made.id, node(), from, to, at).await.unwrap();
    store.adopt_session(made.id, other()).await.unwrap();
    assert!(store.acquire_lease(made.id, other()).await.unwrap() > second);
    let late = store.update_lifecycle(made.id, node(), to, Lifecycle::Closed, at).await;
    assert!(matches!(late, Err(StoreError::HeldElsewhere { node }) if node == other()));
}

#[rstest]
#[tokio::test]
async fn a_node_that_fell_silent_loses_what_it_holds(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    store.register_node(&record(node())).await.unwrap();
    let term = store.acquire_lease(made.id, node()).await.unwrap();
    let seen = beat(&fixture).await;
    assert!(store.beat_node(&record(node())).await.unwrap());
    // It lives: what we saw is old.
    let refused = store
        .expire_lease(made.id, node(), seen, Lifecycle::Recoverable, next_instant())
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::HeldElsewhere { .. }), "{refused}");

    let seen = beat(&fixture).await;
    store
        .expire_lease(made.id, node(), seen, Lifecycle::Recoverable, next_instant())
        .await
        .unwrap();
    let again =
        store.expire_lease(made.id, node(), seen, Lifecycle::Recoverable, next_instant()).await;
    assert!(again.is_err(), "another node was faster");
    let lease = store.fetch_lease(made.id).await.unwrap().unwrap();
    assert_eq!(lease.node, None);
    assert!(lease.term > term);
    let found = store.fetch_session(&made.owner, made.id).await.unwrap();
    assert_eq!(found.lifecycle, Lifecycle::Recoverable);
}

#[rstest]
#[tokio::test]
async fn what_lapsed_with_its_node_is_told_until_somebody_brings_it_back(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    store.register_node(&record(node())).await.unwrap();
    let (lost, left) = (fixture.session("lost").await, fixture.session("left").await);
    for made in [&lost, &left] {
        let term = store.acquire_lease(made.id, node()).await.unwrap();
        store.create_snapshot(in_term(made, term, b"kept")).await.unwrap();
    }
    // What its own node let go of is nobody's to bring back.
    let (from, to) = (Lifecycle::Active, Lifecycle::Recoverable);
    store.update_lifecycle(left.id, node(), from, to, next_instant()).await.unwrap();
    let (seen, at) = (beat(&fixture).await, next_instant());
    let lapsed = async |since| -> Vec<_> {
        let found = store.list_lapsed_sessions(node(), since, 10).await.unwrap();
        found.into_iter().map(|session| session.id).collect()
    };
    assert_eq!(lapsed(at).await, []);
    store.expire_lease(lost.id, node(), seen, to, at).await.unwrap();
    assert_eq!(lapsed(at).await, [lost.id]);
    assert_eq!(lapsed(next_instant()).await, [], "it was tried for long enough");
    store.adopt_session(lost.id, other()).await.unwrap();
    assert_eq!(lapsed(at).await, []);
}

#[rstest]
#[tokio::test]
async fn what_a_node_was_about_to_start_is_among_what_it_holds(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    store.register_node(&record(node())).await.unwrap();
    let mut made = Vec::new();
    for name in ["active", "starting", "resting"] {
        made.push(fixture.session(name).await);
    }
    let [active, starting, resting] = made.try_into().unwrap();
    let (from, to) = (Lifecycle::Active, Lifecycle::Recoverable);
    for session in [&starting, &resting] {
        // Kept without a term, as what comes from elsewhere.
        let new = new_snapshot(session, &[cookies("a.example", b"kept")]);
        store.create_snapshot(new).await.unwrap();
        store.update_lifecycle(session.id, node(), from, to, next_instant()).await.unwrap();
    }
    for session in [&active, &starting] {
        store.acquire_lease(session.id, node()).await.unwrap();
    }
    let held = async |node| -> Vec<_> {
        let found = store.list_held_sessions(node).await.unwrap();
        found.into_iter().map(|session| (session.id, session.lifecycle)).collect()
    };
    assert_eq!(held(node()).await, [(active.id, from), (starting.id, to)]);
    assert!(held(other()).await.is_empty());

    // It fell silent: what it was about to start is another one's to bring back.
    let seen = beat(&fixture).await;
    for session in [&active, &starting] {
        store.expire_lease(session.id, node(), seen, to, next_instant()).await.unwrap();
    }
    assert!(held(node()).await.is_empty());
    let lapsed = store.list_lapsed_sessions(node(), starting.created_at, 10).await.unwrap();
    assert!(lapsed.iter().any(|session| session.id == starting.id), "{lapsed:?}");
    assert!(lapsed.iter().all(|session| session.id != resting.id), "{lapsed:?}");
    store.adopt_session(starting.id, other()).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_late_write_of_an_old_term_becomes_a_sibling(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    store.register_node(&record(node())).await.unwrap();
    let term = store.acquire_lease(made.id, node()).await.unwrap();
    let in_time = store.create_snapshot(in_term(&made, term, b"in time")).await.unwrap();
    assert!(!in_time.sibling);
    let seen = beat(&fixture).await;
    store
        .expire_lease(made.id, node(), seen, Lifecycle::Recoverable, next_instant())
        .await
        .unwrap();
    let late = store.create_snapshot(in_term(&made, term, b"late")).await.unwrap();
    assert!(late.sibling, "nobody holds it");
    store.adopt_session(made.id, other()).await.unwrap();
    let next = store.acquire_lease(made.id, other()).await.unwrap();
    let later = NewSnapshot { keep: Some(1), ..in_term(&made, term, b"later") };
    let later = store.create_snapshot(later).await.unwrap();
    assert!(later.sibling, "another node holds it");
    assert_eq!(store.latest_snapshot(made.id).await.unwrap().unwrap().id, in_time.id);
    let newest = store.create_snapshot(in_term(&made, next, b"newest")).await.unwrap();
    assert_eq!(store.latest_snapshot(made.id).await.unwrap().unwrap().id, newest.id);
    // Nothing is lost: the siblings stand in the list, and let nothing go.
    let all = store.list_snapshots(made.id, None, 10).await.unwrap();
    let siblings: Vec<bool> = all.iter().map(|snapshot| snapshot.sibling).collect();
    assert_eq!(siblings, [false, true, true, false]);
}

#[rstest]
#[tokio::test]
async fn of_many_who_want_a_silent_nodes_session_one_gets_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    fixture.store.register_node(&record(node())).await.unwrap();
    fixture.store.acquire_lease(made.id, node()).await.unwrap();
    let (seen, at) = (beat(&fixture).await, next_instant());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 10..20 {
        let (store, id) = (fixture.store.clone(), made.id);
        let rival: NodeId = format!("01890000-0000-7000-8000-0000000000{number}").parse().unwrap();
        tasks.spawn(async move {
            store.expire_lease(id, node(), seen, Lifecycle::Recoverable, at).await?;
            store.adopt_session(id, rival).await?;
            store.acquire_lease(id, rival).await
        });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
}

#[rstest]
#[tokio::test]
async fn a_copy_of_a_node_notices_that_it_was_replaced(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    store.register_node(&record(node())).await.unwrap();
    assert!(store.beat_node(&record(node())).await.unwrap());
    let moved = NodeRecord { place: "elsewhere".to_owned(), ..record(node()) };
    store.register_node(&moved).await.unwrap();
    assert!(!store.beat_node(&record(node())).await.unwrap());
    assert_eq!(store.list_nodes().await.unwrap()[0].node, moved);
}
