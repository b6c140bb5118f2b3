//! Quotas: an owner has no more than it may, whichever node is asked, and nothing that is there is taken away.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant, node, session};
use baton_session::{Lifecycle, Owner, SandboxId, Session};
use baton_store::{Counted, Quota, Quotas, Store, StoreError, Usage};
use rstest::rstest;

fn shop() -> Owner {
    "shop".parse().unwrap()
}

fn session_of(owner: &Owner, name: &str) -> Session {
    Session { owner: owner.clone(), ..session(name) }
}

fn sandbox() -> SandboxId {
    SandboxId::made_by(node(), next_instant(), rand::random())
}

/// Another node of the same database, with the same quotas.
async fn other_node(fixture: &Fixture, quotas: &Quotas) -> Store {
    let store = fixture.open_again().await;
    store.set_quotas(quotas.clone());
    store
}

fn quotas(quota: Quota) -> Quotas {
    Quotas { others: quota, owners: [("bank".parse().unwrap(), Quota::default())].into() }
}

fn reached(error: &StoreError) -> Option<(Counted, u64)> {
    match error {
        StoreError::QuotaReached { what, most, .. } => Some((*what, *most)),
        _ => None,
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_take_the_last_at_once_one_gets_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let quotas = quotas(Quota { sessions: Some(3), sandboxes: Some(1), ..Quota::default() });
    fixture.store.set_quotas(quotas.clone());
    let stores = [fixture.store.clone(), other_node(&fixture, &quotas).await];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let store = stores[number % 2].clone();
        tasks.spawn(async move {
            let made = store.create_session(&session_of(&shop(), &format!("s{number}"))).await;
            let held = store.hold_sandbox(&shop(), sandbox(), node()).await;
            [made, held]
        });
    }
    let outcomes = tasks.join_all().await;
    let done = |at: usize| outcomes.iter().filter(|outcome| outcome[at].is_ok()).count();
    assert_eq!((done(0), done(1)), (3, 1));
    let all: Vec<_> =
        outcomes.iter().flatten().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(all.iter().all(|error| reached(error).is_some()), "{all:?}");
    let refused = stores[1].create_session(&session_of(&shop(), "more")).await.unwrap_err();
    insta::allow_duplicates! {
        insta::assert_snapshot!(refused, @"
        expected fewer than 3 sessions, the quota of shop, found 3
        end or delete some, or ask who runs the node for more ([[quotas]])
        ");
    }
    // Another owner has its own, and one with a rule of its own has that.
    fixture.session("mine").await;
    for number in 0..5 {
        let bank = session_of(&"bank".parse().unwrap(), &format!("b{number}"));
        fixture.store.create_session(&bank).await.unwrap();
    }
    let Usage { sessions, sandboxes, .. } = stores[1].usage(&shop()).await.unwrap();
    assert_eq!((sessions, sandboxes), (3, 1));
}

#[rstest]
#[tokio::test]
async fn what_runs_counts_until_it_ends_and_a_node_brings_back_what_it_likes(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let quotas = quotas(Quota { browsers: Some(1), ..Quota::default() });
    fixture.store.set_quotas(quotas.clone());
    let other = other_node(&fixture, &quotas).await;
    let [first, second] = [session_of(&shop(), "first"), session_of(&shop(), "second")];
    for session in [&first, &second] {
        fixture.store.create_session(session).await.unwrap();
    }
    fixture.store.acquire_lease_within_quota(first.id, node(), &shop()).await.unwrap();
    // One that is held has its place, and takes no second one.
    fixture.store.acquire_lease_within_quota(first.id, node(), &shop()).await.unwrap();
    let refused = other.acquire_lease_within_quota(second.id, node(), &shop()).await.unwrap_err();
    assert_eq!(reached(&refused), Some((Counted::Browsers, 1)), "{refused}");
    // What a node brings back by itself ran before.
    other.acquire_lease(second.id, node()).await.unwrap();
    assert_eq!(other.usage(&shop()).await.unwrap().browsers, 2);
    for session in [&first, &second] {
        let (from, to) = (Lifecycle::Active, Lifecycle::Recoverable);
        let moved = other.update_lifecycle(session.id, node(), from, to, next_instant());
        moved.await.unwrap();
    }
    fixture.store.acquire_lease_within_quota(second.id, node(), &shop()).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_sandbox_counts_until_it_or_its_node_is_gone(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    store.set_quotas(quotas(Quota { sandboxes: Some(1), ..Quota::default() }));
    let first = sandbox();
    store.hold_sandbox(&shop(), first, node()).await.unwrap();
    let refused = store.hold_sandbox(&shop(), sandbox(), node()).await.unwrap_err();
    assert_eq!(reached(&refused), Some((Counted::Sandboxes, 1)), "{refused}");
    store.release_sandbox(first).await.unwrap();
    store.hold_sandbox(&shop(), sandbox(), node()).await.unwrap();
    store.release_sandboxes_of(node()).await.unwrap();

    // Of a node of a cluster that says nothing any more nothing is left.
    let member = crate::cluster::member(9, "a");
    store.hold_sandbox(&shop(), sandbox(), member.node).await.unwrap();
    store.enter_cluster(&member, None).await.unwrap();
    assert_eq!(store.usage(&shop()).await.unwrap().sandboxes, 1);
    fixture.execute("update cluster_nodes set seen_at = 1").await;
    assert_eq!(store.usage(&shop()).await.unwrap().sandboxes, 0);
    store.hold_sandbox(&shop(), sandbox(), node()).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn who_has_stored_enough_makes_no_session_and_loses_no_capture(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    store.set_quotas(quotas(Quota { stored_bytes: Some(1000), ..Quota::default() }));
    let made = session_of(&shop(), "mail");
    store.create_session(&made).await.unwrap();
    let mut noise = [0_u8; 2000];
    rand::fill(&mut noise);
    for site in ["a.example", "b.example"] {
        let new = new_snapshot(&made, &[cookies(site, &noise)]);
        store.create_snapshot(new).await.unwrap();
    }
    assert!(store.usage(&shop()).await.unwrap().stored_bytes > 2000);
    // Another process has counted nothing yet.
    let other = fixture.open_again().await;
    other.set_quotas(quotas(Quota { stored_bytes: Some(1000), ..Quota::default() }));
    let refused = other.create_session(&session_of(&shop(), "more")).await.unwrap_err();
    assert_eq!(reached(&refused), Some((Counted::StoredBytes, 1000)), "{refused}");
    other.create_snapshot(new_snapshot(&made, &[cookies("c.example", &noise)])).await.unwrap();
}
