//! Parts: any bytes come back, and a part that was tampered with costs itself only.

use crate::fixture::{Engine, Fixture, config, cookies, new_snapshot, session};
use baton_session::{Owner, Part, PartKind, PartRef};
use baton_store::{Config, Limits, Store, StoreError};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn any_bytes_under_any_name_come_back(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Cases::default(), rng);
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0..100_000_usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    let strategy = proptest::collection::btree_map(any::<String>(), bytes, 0..8);
    for _ in 0..12 {
        let named = strategy.new_tree(&mut runner).unwrap().current();
        let parts: Vec<Part> = named.iter().map(|(name, bytes)| cookies(name, bytes)).collect();
        let stored = fixture.snapshot(&made, &parts).await;
        let found = fixture.store.fetch_parts(&made.owner, &stored.parts).await.unwrap();
        assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), parts);
    }
}

#[rstest]
#[tokio::test]
async fn the_same_bytes_of_two_kinds_are_two_parts(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let one = cookies("a.example", b"[]");
    let two = Part { kind: PartKind::LocalStorage, ..one.clone() };
    // A third differs by its name alone, which is in the manifest: it is the same part at rest.
    let three = cookies("b.example", b"[]");
    let stored = fixture.snapshot(&made, &[one.clone(), three.clone(), two.clone()]).await;
    assert_eq!(fixture.count("parts").await, 2);
    let found = fixture.store.fetch_parts(&made.owner, &stored.parts).await.unwrap();
    let found: Vec<Part> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, [one, three, two]);
}

#[rstest]
#[tokio::test]
async fn a_corrupt_part_costs_itself_only(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let parts = [cookies("a.example", b"first"), cookies("b.example", b"the second")];
    let stored = fixture.snapshot(&made, &parts).await;
    flip_last_byte_of_longest_part(&fixture).await;
    let lost =
        PartRef { hash: cookies("", b"never stored").reference().hash, ..parts[0].reference() };
    let wanted = [stored.parts[0].clone(), stored.parts[1].clone(), lost];
    let found = fixture.store.fetch_parts(&made.owner, &wanted).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap(), &parts[0]);
    let text = found[1].as_ref().unwrap_err().to_string();
    assert_eq!(
        text,
        r#"the cookies part "b.example" cannot be read: its seal is broken: it was changed, or it belongs elsewhere"#
    );
    let text = found[2].as_ref().unwrap_err().to_string();
    assert_eq!(text, r#"the cookies part "a.example" is not in the database"#);
}

#[rstest]
#[tokio::test]
async fn a_corrupt_part_is_mended_by_the_next_snapshot_that_has_its_bytes(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let parts = [cookies("a.example", b"first"), cookies("b.example", b"the second")];
    let stored = fixture.snapshot(&made, &parts).await;
    flip_last_byte_of_longest_part(&fixture).await;
    let opens = async || {
        let found = fixture.store.fetch_parts(&made.owner, &stored.parts).await.unwrap();
        found.iter().filter(|part| part.is_ok()).count()
    };
    assert_eq!(opens().await, 1);
    fixture.snapshot(&made, &parts).await;
    assert_eq!(opens().await, 2);
    assert_eq!(fixture.count("parts").await, 2);
}

#[rstest]
#[tokio::test]
async fn a_part_does_not_open_for_another_owner_or_kind(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let ann: Owner = "ann".parse().unwrap();
    let mut hers = session("hers");
    hers.owner = ann.clone();
    fixture.store.create_session(&hers).await.unwrap();
    let mine = fixture.session("mine").await;
    let part = cookies("a.example", b"secret");
    fixture.snapshot(&hers, std::slice::from_ref(&part)).await;
    // The owners' ids differ, so she cannot be asked whether she has the same part.
    fixture.snapshot(&mine, std::slice::from_ref(&part)).await;
    assert_eq!(fixture.count("parts").await, 2);
    move_blobs(&fixture, "ann", "local").await;
    let moved = fixture.store.fetch_part(&mine.owner, &part.reference()).await.unwrap_err();
    assert!(matches!(moved, StoreError::PartCorrupt { .. }), "{moved}");
    assert_eq!(fixture.store.fetch_part(&ann, &part.reference()).await.unwrap(), part);

    let other = Part { kind: PartKind::Tab, ..part.clone() };
    fixture.store.create_snapshot(new_snapshot(&hers, std::slice::from_ref(&other))).await.unwrap();
    fixture
        .execute("update parts set sealed = (select sealed from parts where owner = 'ann' limit 1) where owner = 'ann'")
        .await;
    let opened = [part, other].map(|part| part.reference());
    let opened = fixture.store.fetch_parts(&ann, &opened).await.unwrap();
    assert_eq!(opened.iter().filter(|part| part.is_ok()).count(), 1, "one of them is in its place");
}

#[rstest]
#[tokio::test]
async fn a_reference_that_lies_about_its_size_is_found_out(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let part = cookies("a.example", &vec![0; 100_000]);
    fixture.snapshot(&made, std::slice::from_ref(&part)).await;
    let fetch = async |size| {
        let reference = PartRef { size, ..part.reference() };
        fixture.store.fetch_part(&made.owner, &reference).await.unwrap_err().to_string()
    };
    assert_eq!(
        fetch(99_999).await,
        r#"the cookies part "a.example" cannot be read: expected at most 99999 bytes in it, found more"#
    );
    assert_eq!(
        fetch(100_001).await,
        r#"the cookies part "a.example" cannot be read: expected 100001 bytes, found 100000"#
    );

    // A limit that became smaller loses nothing: it says what it would take.
    let limits = Limits { part_bytes: 10, ..Limits::default() };
    let strict = Store::open(Config { limits, ..config(&fixture.database) }).await.unwrap();
    let refused = strict.fetch_part(&made.owner, &part.reference()).await.unwrap_err();
    assert!(matches!(refused, StoreError::PartTooLarge { found: 100_000, limit: 10, .. }));
}

async fn flip_last_byte_of_longest_part(fixture: &Fixture) {
    let mut raw = fixture.raw().await;
    let (id, mut sealed): (String, Vec<u8>) =
        sqlx::query_as("select id, sealed from parts order by length(sealed) desc limit 1")
            .fetch_one(&mut raw)
            .await
            .unwrap();
    *sealed.last_mut().unwrap() ^= 1;
    let changed = sqlx::query("update parts set sealed = $1 where id = $2")
        .bind(sealed)
        .bind(id)
        .execute(&mut raw)
        .await
        .unwrap();
    assert_eq!(changed.rows_affected(), 1);
}

async fn move_blobs(fixture: &Fixture, from: &str, to: &str) {
    let changed = fixture
        .execute(&format!(
            "update parts set sealed = (select sealed from parts where owner = '{from}') \
             where owner = '{to}'"
        ))
        .await;
    assert_eq!(changed, 1);
}
