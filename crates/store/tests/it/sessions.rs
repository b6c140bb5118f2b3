//! Sessions: made, found by what a person typed, listed.

use crate::fixture::{Engine, Fixture, close, cookies, new_snapshot, node, session};
use baton_session::{Lifecycle, Owner, SessionId};
use baton_store::StoreError;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn a_session_comes_back_as_it_was(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let mut made = session("büro.1");
    made.headed = true;
    made.description = "naïve; drop table sessions; --'\"".to_owned();
    fixture.store.create_session(&made).await.unwrap();
    fixture.store.close().await;

    let store = fixture.open_again().await;
    assert_eq!(store.fetch_session(&made.owner, made.id).await.unwrap(), made);
    store.check().await.unwrap();
}

#[rstest]
#[tokio::test]
async fn an_id_is_taken_once_and_owners_do_not_see_each_other(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let mut other = session("other");
    other.id = made.id;
    assert!(matches!(store.create_session(&other).await, Err(StoreError::IdTaken { .. })));

    let ann: Owner = "ann".parse().unwrap();
    let mut hers = session("mail");
    hers.owner = ann.clone();
    store.create_session(&hers).await.unwrap();
    let foreign = store.fetch_session(&ann, made.id).await;
    assert!(matches!(foreign, Err(StoreError::SessionNotFound { .. })));
    let foreign = store.delete_session(&ann, made.id).await;
    assert!(matches!(foreign, Err(StoreError::SessionNotFound { .. })));
    assert_eq!(store.find_session(&ann, "mail").await.unwrap().id, hers.id);
    assert_eq!(store.list_sessions(&ann, None, None, 10).await.unwrap(), [hers]);
}

#[rstest]
#[tokio::test]
async fn a_session_comes_with_its_first_snapshot_or_not_at_all(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let mut mail = session("mail");
    mail.lifecycle = Lifecycle::Recoverable;
    let cookies = cookies("app.test", b"[]");
    let twice = new_snapshot(&mail, &[cookies.clone(), cookies.clone()]);
    let refused = store.create_session_with(&mail, twice).await;
    assert!(matches!(refused, Err(StoreError::DuplicatePart { .. })));
    assert_eq!(fixture.count("sessions").await, 0);

    let first = new_snapshot(&mail, std::slice::from_ref(&cookies));
    let stored = store.create_session_with(&mail, first).await.unwrap();
    assert_eq!(store.fetch_session(&mail.owner, mail.id).await.unwrap(), mail);
    assert_eq!(store.latest_snapshot(mail.id).await.unwrap().unwrap(), stored);

    let other = session("mail");
    let first = new_snapshot(&other, &[cookies]);
    let refused = store.create_session_with(&other, first).await;
    assert!(matches!(refused, Err(StoreError::NameTaken { .. })));
    assert_eq!((fixture.count("sessions").await, fixture.count("snapshots").await), (1, 1));
}

#[rstest]
#[tokio::test]
async fn a_person_finds_a_session_by_id_name_or_prefix(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let find = async |reference: &str| {
        fixture.store.find_session(&Owner::local(), reference).await.map(|session| session.id)
    };
    let one = with_id(&fixture, "one", "01890000-0000-7000-8000-0000000000aa").await;
    let two = with_id(&fixture, "two", "01890000-0000-7000-8000-0000000000bb").await;
    let far = with_id(&fixture, "far", "0abc0000-0000-7000-8000-000000000000").await;

    assert_eq!(find(&one.to_string().to_uppercase()).await.unwrap(), one);
    assert_eq!(find("two").await.unwrap(), two);
    assert_eq!(find("0ABC").await.unwrap(), far);
    assert_eq!(find("01890000-0000-7000-8000-0000000000b").await.unwrap(), two);
    let longer = find("01890000-0000-7000-8000-00").await;
    assert_eq!(longer.map_err(kind), Err("ambiguous"));
    match find("0189").await.unwrap_err() {
        StoreError::Ambiguous { matches, .. } => assert_eq!(matches, [one, two]),
        other => panic!("{other}"),
    }
    for unknown in [
        "0ab",
        "nobody",
        "",
        "100%",
        "_a_",
        "a\0b",
        "-----",
        "0abc0000-0000-7000-8000-0000000000ff",
    ] {
        assert_eq!(find(unknown).await.map_err(kind), Err("not found"), "{unknown:?}");
    }
}

#[rstest]
#[tokio::test]
async fn a_name_wins_over_a_prefix_and_the_newest_closed_bearer_counts(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    with_id(&fixture, "prefix", "beef0000-0000-7000-8000-000000000000").await;
    let older = fixture.session("beef").await;
    close(&fixture, &older).await;
    let newer = fixture.session("beef").await;
    close(&fixture, &newer).await;
    let found = fixture.store.find_session(&Owner::local(), "beef").await.unwrap();
    assert_eq!(found.id, newer.id);
}

#[rstest]
#[tokio::test]
async fn lists_are_newest_first_and_paged(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        ids.insert(0, fixture.session(name).await.id);
    }
    let list = async |lifecycle, after, limit| -> Vec<SessionId> {
        let page = store.list_sessions(&owner, lifecycle, after, limit).await.unwrap();
        page.iter().map(|session| session.id).collect()
    };
    assert_eq!(list(None, None, 2).await, ids[..2]);
    assert_eq!(list(None, Some(ids[1]), 2).await, ids[2..4]);
    assert_eq!(list(None, Some(ids[3]), u32::MAX).await, ids[4..]);

    let last = store.fetch_session(&owner, ids[4]).await.unwrap();
    close(&fixture, &last).await;
    assert_eq!(list(Some(Lifecycle::Closed), None, 10).await, ids[4..]);
    assert_eq!(list(Some(Lifecycle::Active), Some(ids[0]), 10).await, ids[1..4]);
    let active = store.list_active_sessions(node()).await.unwrap();
    assert_eq!(active.len(), 4);
    let elsewhere = "01890000-0000-7000-8000-000000000002".parse().unwrap();
    assert_eq!(store.list_active_sessions(elsewhere).await.unwrap(), []);
    let found = store.fetch_any_session(ids[4]).await.unwrap().unwrap();
    assert_eq!((found.id, found.lifecycle), (ids[4], Lifecycle::Closed));
    assert_eq!(store.fetch_any_session(session("unknown").id).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn a_description_with_a_nul_is_refused_alike(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let mut made = session("mail");
    made.description = "a\0b".to_owned();
    let refused = fixture.store.create_session(&made).await;
    assert!(matches!(refused, Err(StoreError::InvalidText { field: "a description" })));
}

async fn with_id(fixture: &Fixture, name: &str, id: &str) -> SessionId {
    let mut made = session(name);
    made.id = id.parse().unwrap();
    fixture.store.create_session(&made).await.unwrap();
    made.id
}

fn kind(error: StoreError) -> &'static str {
    match error {
        StoreError::SessionNotFound { .. } => "not found",
        StoreError::Ambiguous { .. } => "ambiguous",
        other => panic!("{other}"),
    }
}
