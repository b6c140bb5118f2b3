//! The life of a session: where it may go, who wins, and what its end leaves.

use crate::fixture::{Engine, Fixture, close, cookies, next_instant, node, session};
use baton_session::{Lifecycle, Owner, Session};
use baton_store::{HumanTurn, StoreError};
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn a_name_is_free_again_when_its_session_is_closed(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let first = fixture.session("mail").await;
    let second = session("mail");
    let taken = store.create_session(&second).await.unwrap_err();
    assert!(matches!(&taken, StoreError::NameTaken { name } if name == "mail"), "{taken}");

    close(&fixture, &first).await;
    store.create_session(&second).await.unwrap();
    let found = store.find_session(&Owner::local(), "mail").await.unwrap();
    assert_eq!(found.id, second.id);

    // The closed one cannot come back while another bears its name.
    let back = reopen(&fixture, &first).await.unwrap_err();
    assert!(matches!(&back, StoreError::NameTaken { name } if name == "mail"), "{back}");
    close(&fixture, &second).await;
    reopen(&fixture, &first).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_lifecycle_moves_only_from_where_it_stands(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    use Lifecycle::{Active, Closed, Recoverable, Stale};
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let at = next_instant();
    let update =
        async |from, to| fixture.store.update_lifecycle(made.id, node(), from, to, at).await;
    let moved = update(Active, Recoverable).await.unwrap();
    assert_eq!(moved, Session { lifecycle: Recoverable, updated_at: at, ..made.clone() });
    match update(Active, Stale).await.unwrap_err() {
        StoreError::LifecycleConflict { expected: Active, found: Recoverable } => {}
        other => panic!("{other}"),
    }
    match update(Closed, Stale).await.unwrap_err() {
        StoreError::LifecycleForbidden { from: Closed, to: Stale } => {}
        other => panic!("{other}"),
    }
    let unknown = session("unknown").id;
    let lost = fixture.store.update_lifecycle(unknown, node(), Active, Closed, at).await;
    assert!(matches!(lost, Err(StoreError::SessionNotFound { .. })));
}

/// A person who has taken a session over is found whatever became of it, so that it is given back.
#[rstest]
#[tokio::test]
async fn a_turn_of_a_person_is_listed_whatever_becomes_of_the_session(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    use Lifecycle::{Active, Closed, Stale};
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let [kimi, ada] = ["kimi", "ada"].map(|name| name.parse().unwrap());
    // Nothing in a reason passes for a turn.
    let reason = "the second factor, ada's\u{1e}kimi";
    store.pass_session(made.id, None, Some(&kimi), reason, next_instant()).await.unwrap();
    assert_eq!(store.list_turns(node()).await.unwrap(), []);
    let begun = store.begin_turn(made.id, Some(&kimi), &ada, Some(&kimi), reason, next_instant());
    let begun = begun.await.unwrap();
    assert_eq!(begun.turn, Some(HumanTurn { from: Some(kimi.clone()) }));
    let elsewhere = "01890000-0000-7000-8000-000000000002".parse().unwrap();
    assert_eq!(store.list_turns(elsewhere).await.unwrap(), []);
    for (from, to) in [(Active, Stale), (Stale, Closed)] {
        store.update_lifecycle(made.id, node(), from, to, next_instant()).await.unwrap();
        assert_eq!(store.list_turns(node()).await.unwrap(), [(made.id, begun.clone())], "{to:?}");
    }
    store.pass_session(made.id, Some(&ada), Some(&kimi), "", next_instant()).await.unwrap();
    assert_eq!(store.list_turns(node()).await.unwrap(), []);
    // From nobody it goes back to nobody.
    store.pass_session(made.id, Some(&kimi), None, "", next_instant()).await.unwrap();
    let begun = store.begin_turn(made.id, None, &ada, None, "", next_instant()).await.unwrap();
    assert_eq!(begun.turn, Some(HumanTurn { from: None }));
    assert_eq!(store.list_turns(node()).await.unwrap(), [(made.id, begun)]);
}

#[rstest]
#[tokio::test]
async fn of_many_who_move_a_session_one_wins(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (store, id, at) = (fixture.store.clone(), made.id, next_instant());
        tasks.spawn(async move {
            store.update_lifecycle(id, node(), Lifecycle::Active, Lifecycle::Recoverable, at).await
        });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let lost = |error: &StoreError| {
        matches!(error, StoreError::LifecycleConflict { found: Lifecycle::Recoverable, .. })
    };
    assert!(outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).all(lost));
}

#[rstest]
#[tokio::test]
async fn a_deleted_session_leaves_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let made = fixture.session("mail").await;
    fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    match store.delete_session(&owner, made.id).await.unwrap_err() {
        StoreError::LifecycleConflict { found: Lifecycle::Active, .. } => {}
        other => panic!("{other}"),
    }
    close(&fixture, &made).await;
    store.delete_session(&owner, made.id).await.unwrap();
    assert_eq!(store.collect_parts().await.unwrap(), 1);
    for table in ["sessions", "snapshots", "part_spans", "parts"] {
        assert_eq!(fixture.count(table).await, 0, "{table}");
    }
    let again = store.delete_session(&owner, made.id).await;
    assert!(matches!(again, Err(StoreError::SessionNotFound { .. })));
}

async fn reopen(fixture: &Fixture, session: &Session) -> Result<Session, StoreError> {
    let at = next_instant();
    fixture
        .store
        .update_lifecycle(session.id, node(), Lifecycle::Closed, Lifecycle::Active, at)
        .await
}
