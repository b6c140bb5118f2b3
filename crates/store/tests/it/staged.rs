//! Parts that come from another node: checked, sealed as they came, and kept until they are named.

use crate::fixture::{Engine, Fixture, config, cookies, new_snapshot, next_instant, session};
use crate::shared::commit;
use crate::written_by::Writer;
use baton_session::{Owner, Part, PartRef, Session};
use baton_store::{
    CommitShared, Limits, MasterKey, NewSnapshot, PackedPart, RevisionContent, StoreError, inspect,
};
use rstest::rstest;

/// A part as it travels when it is not compressed.
fn raw(part: &Part) -> PackedPart {
    PackedPart { part: part.reference(), packed: [&[0], part.bytes.as_slice()].concat() }
}

/// A part as it travels in a zstd frame.
fn zstd_of(part: &Part, frame: &[u8]) -> PackedPart {
    PackedPart { part: part.reference(), packed: [&[1], frame].concat() }
}

/// Stages these parts for a session.
pub(crate) async fn stage(fixture: &Fixture, session: &Session, parts: &[Part]) {
    let packed = parts.iter().map(raw).collect();
    let at = next_instant();
    fixture.store.stage_parts(&session.owner, session.id, packed, at).await.unwrap();
}

/// Names staged parts with the first revision of a new session.
async fn publish(fixture: &Fixture, made: &Session, parts: &[PartRef]) {
    let mut writer = Writer::new(made);
    let (revision, shared) = (writer.edit("first").id(), writer.shared());
    let new = NewSnapshot { carried: parts.to_vec(), ..new_snapshot(made, &[]) };
    let change = CommitShared {
        create: Some(made),
        snapshots: vec![(revision, RevisionContent::New(new))],
        ..commit(made, None, &shared)
    };
    fixture.store.commit_shared(change).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn parts_travel_from_one_database_to_the_other_as_they_are_packed(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let (from, to) = (Fixture::open(Engine::Sqlite).await, Fixture::open(engine).await);
    let theirs = from.session("mail").await;
    let parts = [cookies("a.example", &vec![7; 100_000]), cookies("b.example", b"short")];
    let mut wanted = from.snapshot(&theirs, &parts).await.parts;
    let lost = cookies("c.example", b"never stored").reference();
    let asked = [wanted[0].clone(), lost.clone(), wanted[1].clone()];
    let mut found = from.store.fetch_packed(&theirs.owner, &asked).await.unwrap();
    let error = found.remove(1).unwrap_err();
    assert!(
        matches!(&error, StoreError::PartMissing { name, .. } if name == "c.example"),
        "{error}"
    );
    let packed: Vec<PackedPart> = found.into_iter().map(Result::unwrap).collect();
    assert!(packed[0].packed.len() < 1_000, "it was compressed once");

    let made = session("mail");
    assert_eq!(to.store.missing_parts(&made.owner, &asked).await.unwrap(), asked);
    to.store.stage_parts(&made.owner, made.id, packed.clone(), next_instant()).await.unwrap();
    assert_eq!(to.store.missing_parts(&made.owner, &asked).await.unwrap(), [lost]);
    // A retry changes nothing.
    to.store.stage_parts(&made.owner, made.id, packed.clone(), next_instant()).await.unwrap();
    assert_eq!((to.count("parts").await, to.count("staged_parts").await), (2, 2));
    publish(&to, &made, &wanted).await;
    assert_eq!(to.count("staged_parts").await, 0);
    let arrived = to.store.fetch_parts(&made.owner, &wanted).await.unwrap();
    assert_eq!(arrived.into_iter().map(Result::unwrap).collect::<Vec<_>>(), parts);
    let again = to.store.fetch_packed(&made.owner, &wanted).await.unwrap();
    assert_eq!(again.into_iter().map(Result::unwrap).collect::<Vec<_>>(), packed);

    // What belongs to one owner is missing for another.
    wanted.truncate(1);
    let ann: Owner = "ann".parse().unwrap();
    assert_eq!(to.store.missing_parts(&ann, &wanted).await.unwrap(), wanted);
}

#[rstest]
#[tokio::test]
async fn what_was_looked_at_as_it_came_is_still_checked_when_it_is_read(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let parts = [cookies("b.example", b"first"), cookies("a.example", &[b'x'; 1_000])];
    let come = async |packed: Vec<PackedPart>| {
        store.stage_and_look(&made.owner, made.id, packed, next_instant(), Part::clone).await
    };
    let packed = || parts.iter().map(PackedPart::of).collect::<Vec<_>>();
    let refused = PackedPart { packed: vec![], ..raw(&parts[0]) };
    let error = come([packed(), vec![refused]].concat()).await.unwrap_err();
    assert!(matches!(error, StoreError::PartRefused { .. }), "{error}");
    assert_eq!(fixture.count("parts").await, 0, "of some parts that were looked at none is stored");
    assert_eq!(come(packed()).await.unwrap(), parts, "unpacked, in the order in which they came");

    fixture.execute("update parts set sealed = substr(sealed, 1, 30)").await;
    let wanted = parts.each_ref().map(Part::reference);
    for found in store.fetch_parts(&made.owner, &wanted).await.unwrap() {
        assert!(matches!(found, Err(StoreError::PartCorrupt { .. })), "{found:?}");
    }
    for found in store.fetch_packed(&made.owner, &wanted).await.unwrap() {
        assert!(matches!(found, Err(StoreError::PartCorrupt { .. })), "{found:?}");
    }
    // What comes once more mends what was changed.
    come(packed()).await.unwrap();
    let found = store.fetch_parts(&made.owner, &wanted).await.unwrap();
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), parts);
}

#[rstest]
#[tokio::test]
async fn staged_parts_survive_collectors_until_they_expire(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let early = [cookies("a.example", b"1"), cookies("b.example", b"2")];
    stage(&fixture, &made, &early).await;
    let between = next_instant();
    let late = [cookies("b.example", b"2"), cookies("c.example", b"3")];
    stage(&fixture, &made, &late).await;
    assert_eq!(store.collect_parts().await.unwrap(), 0);
    let key = MasterKey::from_bytes([7; 32]);
    let found = inspect(&fixture.database, &key, None).await.unwrap();
    assert_eq!((found.contents.parts, found.unnamed_parts, found.missing_parts), (3, 0, 0));

    // What was staged once more is as young as that.
    assert_eq!(store.expire_staged(between).await.unwrap(), 1);
    assert_eq!(fixture.count("parts").await, 2);
    assert_eq!(store.expire_staged(between).await.unwrap(), 0);
    assert_eq!(store.expire_staged(next_instant()).await.unwrap(), 2);
    assert_eq!(fixture.count("parts").await, 0);
}

#[rstest]
#[tokio::test]
async fn a_commit_lets_go_of_what_was_staged_and_not_named(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (mail, shop) = (session("mail"), session("shop"));
    let named = cookies("a.example", b"named");
    let (left, others) = (cookies("b.example", b"left"), cookies("c.example", b"for another"));
    stage(&fixture, &mail, &[named.clone(), left, others.clone()]).await;
    stage(&fixture, &shop, std::slice::from_ref(&others)).await;
    publish(&fixture, &mail, &[named.reference()]).await;
    assert_eq!((fixture.count("parts").await, fixture.count("staged_parts").await), (2, 1));
    publish(&fixture, &shop, &[others.reference()]).await;
    assert_eq!((fixture.count("parts").await, fixture.count("staged_parts").await), (2, 0));
}

#[rstest]
#[tokio::test]
async fn a_part_that_is_damaged_is_mended_by_one_that_comes(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let part = cookies("a.example", b"whole");
    fixture.snapshot(&made, std::slice::from_ref(&part)).await;
    fixture.execute("update parts set sealed = substr(sealed, 1, 30)").await;
    let wanted = [part.reference()];
    let found = store.fetch_packed(&made.owner, &wanted).await.unwrap();
    assert!(matches!(found[0], Err(StoreError::PartCorrupt { .. })), "{found:?}");
    stage(&fixture, &made, std::slice::from_ref(&part)).await;
    assert_eq!(store.fetch_part(&made.owner, &wanted[0]).await.unwrap(), part);
}

/// Each stands behind a part that is in order, which is not stored either.
#[rstest]
#[tokio::test]
async fn a_part_that_is_not_what_it_is_said_to_be_is_refused_with_all_that_came_with_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let part = cookies("a.example", &[b'x'; 1_000]);
    let frame = |bytes: &[u8]| zstd::bulk::compress(bytes, 3).unwrap();
    let bomb = frame(&vec![0; 10 << 20]);
    let bad = [
        zstd_of(&part, &bomb),
        // It says of itself that it is short, and another one follows.
        zstd_of(&part, &[frame(b"short"), bomb.clone()].concat()),
        // It does not say how long it is.
        zstd_of(&part, &zstd::encode_all(part.bytes.as_slice(), 3).unwrap()),
        zstd_of(&part, &[0; 1_001]),
        zstd_of(&part, &frame(&part.bytes)[..10]),
        zstd_of(&part, &frame(&part.bytes[1..])),
        PackedPart { part: part.reference(), ..raw(&cookies("", &part.bytes[1..])) },
        PackedPart { part: part.reference(), ..raw(&cookies("", &[b'y'; 1_000])) },
        PackedPart { packed: part.bytes.clone(), ..raw(&part) },
        PackedPart { packed: vec![], ..raw(&part) },
    ];
    let mut told = Vec::new();
    for bad in bad {
        let parts = vec![raw(&cookies("fine.example", b"fine")), bad];
        let made = session("mail");
        let done = fixture.store.stage_parts(&made.owner, made.id, parts, next_instant()).await;
        let error = done.unwrap_err();
        assert!(matches!(&error, StoreError::PartRefused { name, .. } if name == "a.example"));
        told.push(error.to_string().lines().next().unwrap().replace("the cookies part ", ""));
    }
    assert_eq!((fixture.count("parts").await, fixture.count("staged_parts").await), (0, 0));
    insta::allow_duplicates! {
        insta::assert_snapshot!(told.join("\n"), @r#"
        "a.example" was refused: expected at most 1000 bytes in it, found more
        "a.example" was refused: expected zstd data in it, found something else
        "a.example" was refused: expected zstd data in it, found something else
        "a.example" was refused: expected at most 1001 bytes packed, found 1002
        "a.example" was refused: expected zstd data in it, found something else
        "a.example" was refused: expected 1000 bytes, found 999
        "a.example" was refused: expected 1000 bytes, found 999
        "a.example" was refused: expected the bytes with hash 44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f, found others
        "a.example" was refused: expected zstd data in it, found something else
        "a.example" was refused: expected zstd data in it, found something else
        "#);
    }
}

#[rstest]
#[tokio::test]
async fn a_part_or_a_batch_beyond_the_limits_is_refused(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let limits = Limits { part_bytes: 4, snapshot_parts: 2, ..Limits::default() };
    let fixture = Fixture::open_with(engine, limits).await;
    let made = session("mail");
    let refuse = async |parts: Vec<Part>| {
        let packed = parts.iter().map(raw).collect();
        let at = next_instant();
        fixture.store.stage_parts(&made.owner, made.id, packed, at).await.unwrap_err()
    };
    let error = refuse(vec![cookies("a", b"1234"), cookies("b", b"12345")]).await;
    assert!(matches!(error, StoreError::PartTooLarge { found: 5, limit: 4, .. }), "{error}");
    let error = refuse(vec![cookies("a", b"1"), cookies("b", b"2"), cookies("c", b"3")]).await;
    assert!(matches!(error, StoreError::TooManyParts { found: 3, limit: 2 }), "{error}");
    assert_eq!((fixture.count("parts").await, fixture.count("staged_parts").await), (0, 0));
    assert_eq!(config(&fixture.database).limits, Limits::default());
}

#[rstest]
#[tokio::test]
async fn what_waits_is_bounded_for_each_owner_and_goes_on_once_there_is_room(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    // Sealed, each of these takes a little more than its thousand bytes.
    let limits = Limits { staged_bytes: 2_500, ..Limits::default() };
    let fixture = Fixture::open_with(engine, limits).await;
    let (mail, shop) = (session("mail"), session("shop"));
    let parts = ["a.example", "b.example", "c.example"].map(noise);
    let try_stage = async |owner: &Owner, made: &Session, parts: &[Part]| {
        let packed = parts.iter().map(raw).collect();
        fixture.store.stage_parts(owner, made.id, packed, next_instant()).await
    };
    try_stage(&mail.owner, &mail, &parts[..2]).await.unwrap();
    // Once more, or for another session, they take no more room.
    try_stage(&mail.owner, &mail, &parts[..1]).await.unwrap();
    try_stage(&shop.owner, &shop, &parts[1..2]).await.unwrap();
    let error = try_stage(&shop.owner, &shop, &parts[2..]).await.unwrap_err();
    assert!(matches!(error, StoreError::TooManyStaged { limit: 2_500, .. }), "{error}");
    assert_eq!((fixture.count("parts").await, fixture.count("staged_parts").await), (2, 3));
    let ann: Owner = "ann".parse().unwrap();
    try_stage(&ann, &shop, &parts[2..]).await.expect("another owner has room of her own");
    // What a snapshot names does not wait.
    publish(&fixture, &mail, &[parts[0].reference(), parts[1].reference()]).await;
    try_stage(&shop.owner, &shop, &parts[2..]).await.unwrap();
}

/// A part of a thousand bytes that do not compress.
fn noise(name: &str) -> Part {
    let mut number = name.bytes().map(u64::from).sum::<u64>();
    let digit = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (number >> 56) as u8
    };
    cookies(name, &std::iter::repeat_with(digit).take(1_000).collect::<Vec<_>>())
}
