//! What is held of a session's revisions: one value, changed by one writer at a time, all or nothing.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant, session};
use crate::written_by::Writer;
use baton_session::{Owner, Session};
use baton_store::{Base, CommitShared, Generation, RevisionContent, Shared, Store, StoreError};
use rstest::rstest;

/// A change of what is held of a session, and of nothing else.
pub(crate) fn commit<'a>(
    session: &'a Session,
    expected: Option<Generation>,
    shared: &'a Shared,
) -> CommitShared<'a> {
    CommitShared {
        owner: &session.owner,
        session: session.id,
        expected,
        shared,
        entry: format!("entry of {}", session.name).into_bytes(),
        create: None,
        snapshots: Vec::new(),
        released: Vec::new(),
        forget: false,
        now: next_instant(),
    }
}

#[rstest]
#[tokio::test]
async fn what_was_committed_is_read_back_with_its_generation(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    assert_eq!(store.fetch_shared(&made.owner, made.id).await.unwrap(), None);
    let (nothing, entries) = store.list_entries(&made.owner).await.unwrap();
    assert_eq!((nothing, entries), (Generation::default(), vec![]));

    let mut writer = Writer::new(&made);
    let first = writer.shared();
    let one = store.commit_shared(commit(&made, None, &first)).await.unwrap();
    assert_eq!(store.fetch_shared(&made.owner, made.id).await.unwrap(), Some((one, first)));
    let revision = writer.edit("second");
    let snapshot = fixture.snapshot(&made, &[cookies("a.example", b"1")]).await.id;
    let second = Shared { base: Some(Base { revision, snapshot }), ..writer.shared() };
    let two = store.commit_shared(commit(&made, Some(one), &second)).await.unwrap();
    assert!(two > one);
    let again = fixture.open_again().await;
    assert_eq!(again.fetch_shared(&made.owner, made.id).await.unwrap(), Some((two, second)));
    assert_eq!(again.owner_generation(&made.owner).await.unwrap(), two);
}

#[rstest]
#[tokio::test]
async fn a_list_is_of_one_owner_and_one_moment(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (mail, shop) = (fixture.session("mail").await, fixture.session("shop").await);
    let hers = Session { owner: "ann".parse().unwrap(), ..session("hers") };
    let mut newest = Generation::default();
    for made in [&shop, &mail, &hers] {
        let shared = Writer::new(made).shared();
        let generation = store.commit_shared(commit(made, None, &shared)).await.unwrap();
        newest = if made.owner == hers.owner { newest } else { generation };
    }
    let expected = vec![(mail.id, b"entry of mail".to_vec()), (shop.id, b"entry of shop".to_vec())];
    assert_eq!(store.list_entries(&Owner::local()).await.unwrap(), (newest, expected));
    assert_eq!(store.list_entries(&hers.owner).await.unwrap().1.len(), 1);
    // What is another's is not there for an owner.
    assert_eq!(store.fetch_shared(&hers.owner, mail.id).await.unwrap(), None);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_commits_with_one_generation_one_wins(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let mut expected = None;
    for _ in 0..3 {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (store, made) = (fixture.open_again().await, made.clone());
            tasks.spawn(async move {
                let shared = Writer::new(&made).shared();
                store.commit_shared(commit(&made, expected, &shared)).await
            });
        }
        let (mut won, mut lost) = (Vec::new(), 0);
        for done in tasks.join_all().await {
            match done {
                Ok(generation) => won.push(generation),
                Err(StoreError::SharedChanged { session }) if session == made.id => lost += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((won.len(), lost), (1, 3));
        expected = won.pop();
    }
    // The losers did not count.
    assert_eq!(Some(fixture.store.owner_generation(&made.owner).await.unwrap()), expected);
}

/// How many rows each table has that a commit writes.
async fn rows(fixture: &Fixture) -> Vec<i64> {
    let tables =
        ["sync_owners", "shared_sessions", "sessions", "snapshots", "parts", "staged_parts"];
    let mut rows = Vec::new();
    for table in tables {
        rows.push(fixture.count(table).await);
    }
    rows
}

/// A table that is not there cuts the commit after most of it was written.
#[rstest]
#[tokio::test]
async fn a_commit_that_is_cut_in_the_middle_leaves_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let part = cookies("a.example", b"came before");
    crate::staged::stage(&fixture, &made, std::slice::from_ref(&part)).await;
    let before = rows(&fixture).await;
    let mut writer = Writer::new(&made);
    let (revision, shared) = (writer.edit("first").id(), writer.shared());
    let all = || CommitShared {
        create: Some(&made),
        snapshots: vec![(
            revision,
            RevisionContent::New(new_snapshot(&made, std::slice::from_ref(&part))),
        )],
        ..commit(&made, None, &shared)
    };
    fixture.execute("alter table revision_snapshots rename to elsewhere").await;
    store.commit_shared(all()).await.unwrap_err();
    fixture.execute("alter table elsewhere rename to revision_snapshots").await;
    assert_eq!(rows(&fixture).await, before);
    assert_eq!(store.fetch_shared(&made.owner, made.id).await.unwrap(), None);

    store.commit_shared(all()).await.unwrap();
    assert_eq!(rows(&fixture).await, [1, 1, 1, 1, 1, 0]);
    let found = store.fetch_content(&made.owner, made.id, revision).await.unwrap().unwrap();
    assert_eq!(found.parts, [part.reference()]);
}

/// Creates what the record of a deletion is about, and says how that went.
async fn share(store: &Store, made: &Session, shared: &Shared) -> Generation {
    store.commit_shared(commit(made, None, shared)).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn the_record_of_a_deletion_outlives_the_session(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    let mut writer = Writer::new(&made);
    writer.edit("first");
    let first = share(store, &made, &writer.shared()).await;
    writer.delete();
    let deleted = writer.shared();
    let forget = || CommitShared { forget: true, ..commit(&made, Some(first), &deleted) };
    let active = store.commit_shared(forget()).await.unwrap_err();
    assert!(matches!(active, StoreError::LifecycleConflict { .. }), "{active}");

    crate::fixture::close(&fixture, &made).await;
    let second = store.commit_shared(forget()).await.unwrap();
    assert_eq!((fixture.count("sessions").await, fixture.count("snapshots").await), (0, 0));
    let held = store.fetch_shared(&made.owner, made.id).await.unwrap();
    assert_eq!(held, Some((second, deleted.clone())));
    assert!(held.unwrap().1.replica.current().unwrap().deleted);
    // Forgotten once more, with nothing left to forget.
    let again = CommitShared { forget: true, ..commit(&made, Some(second), &deleted) };
    store.commit_shared(again).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_session_that_is_deleted_by_hand_leaves_its_revisions(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let snapshot = fixture.snapshot(&made, &[cookies("a.example", b"1")]).await.id;
    let mut writer = Writer::new(&made);
    let revision = writer.edit("first").id();
    let shared = writer.shared();
    let snapshots = vec![(revision, RevisionContent::Existing(snapshot))];
    let named = CommitShared { snapshots, ..commit(&made, None, &shared) };
    let generation = store.commit_shared(named).await.unwrap();
    crate::fixture::close(&fixture, &made).await;
    store.delete_session(&made.owner, made.id).await.unwrap();
    let held = store.fetch_shared(&made.owner, made.id).await.unwrap();
    assert_eq!(held, Some((generation, shared)));
    assert_eq!(store.fetch_content(&made.owner, made.id, revision).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn a_deletion_that_everybody_has_seen_is_let_go(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let laptop = crate::peers::peer("laptop", 1);
    store.create_peer(&laptop).await.unwrap();
    let mut writer = Writer::new(&made);
    let revision = writer.edit("first").id();
    let first = share(store, &made, &writer.shared()).await;
    let (owner, at) = (&made.owner, next_instant());
    store.note_ack(owner, laptop.node, made.id, revision, at).await.unwrap();
    let second = store.commit_shared(commit(&made, Some(first), &writer.shared())).await.unwrap();
    let late = store.delete_shared(owner, made.id, first).await.unwrap_err();
    assert!(matches!(late, StoreError::SharedChanged { .. }), "{late}");
    let third = store.delete_shared(owner, made.id, second).await.unwrap();
    assert_eq!(store.list_entries(owner).await.unwrap(), (third, vec![]));
    assert_eq!(store.list_acks(owner, made.id).await.unwrap(), []);
    // A generation is never given twice, so nobody takes what comes now for what was before.
    let fourth = share(store, &made, &writer.shared()).await;
    assert!(third > second && fourth > third);
}

#[rstest]
#[tokio::test]
async fn a_peer_that_was_told_of_a_session_is_known_before_it_says_what_it_holds(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let (owner, laptop) = (&made.owner, crate::peers::peer("laptop", 1));
    store.create_peer(&laptop).await.unwrap();
    let known = async || store.note_known(owner, laptop.node, made.id, next_instant()).await;
    known().await.unwrap();
    assert_eq!(store.list_knowers(owner, made.id).await.unwrap(), [], "nothing of it is shared");
    let mut writer = Writer::new(&made);
    let revision = writer.edit("first").id();
    share(store, &made, &writer.shared()).await;
    known().await.unwrap();
    assert_eq!(store.list_knowers(owner, made.id).await.unwrap(), [(laptop.node, None)]);
    assert_eq!(store.list_acks(owner, made.id).await.unwrap(), [], "nobody has said so");
    store.note_ack(owner, laptop.node, made.id, revision, next_instant()).await.unwrap();
    known().await.unwrap();
    let held = Some(revision);
    assert_eq!(store.list_knowers(owner, made.id).await.unwrap(), [(laptop.node, held)]);
    assert_eq!(store.list_held(owner, laptop.node).await.unwrap(), [(made.id, held)]);
}

#[rstest]
#[tokio::test]
async fn what_a_peer_was_told_of_takes_the_place_of_nothing_that_it_holds(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, session("mail"));
    let (owner, laptop) = (&made.owner, crate::peers::peer("laptop", 1));
    store.create_peer(&laptop).await.unwrap();
    let mut writer = Writer::new(&made);
    let [first, second] = [writer.edit("first").id(), writer.edit("second").id()];
    let heard =
        async |id, rev| store.note_heard(owner, laptop.node, &[(id, rev)], next_instant()).await;
    heard(made.id, first).await.unwrap();
    assert_eq!(store.list_knowers(owner, made.id).await.unwrap(), [], "nothing of it is shared");
    share(store, &made, &writer.shared()).await;
    heard(made.id, first).await.unwrap();
    heard(made.id, second).await.unwrap();
    let held = Some(first);
    assert_eq!(store.list_knowers(owner, made.id).await.unwrap(), [(laptop.node, held)]);
}

#[rstest]
#[tokio::test]
async fn what_changed_since_an_instant_is_not_quiet(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, mail, shop) = (&fixture.store, session("mail"), session("shop"));
    share(store, &mail, &Writer::new(&mail).shared()).await;
    let between = next_instant();
    share(store, &shop, &Writer::new(&shop).shared()).await;
    assert_eq!(store.list_quiet(between).await.unwrap(), [(mail.owner.clone(), mail.id)]);
    assert_eq!(store.list_quiet(next_instant()).await.unwrap().len(), 2);
}

#[rstest]
#[tokio::test]
async fn what_belongs_to_another_session_does_not_open(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, mail, shop) = (&fixture.store, session("mail"), session("shop"));
    for made in [&mail, &shop] {
        share(store, made, &Writer::new(made).shared()).await;
    }
    for column in ["entry", "body"] {
        let sql = format!(
            "update shared_sessions set {column} = (
                 select {column} from shared_sessions where session = '{}'
             )",
            mail.id
        );
        fixture.execute(&sql).await;
    }
    let listed = store.list_entries(&Owner::local()).await.unwrap().1;
    assert_eq!(listed, [(mail.id, b"entry of mail".to_vec())]);
    let error = store.fetch_shared(&shop.owner, shop.id).await.unwrap_err();
    let text = error.to_string().replace(&shop.id.to_string(), "SESSION");
    insta::allow_duplicates! {
        insta::assert_snapshot!(text, @"the revisions of session SESSION cannot be used: its seal is broken: it was changed, or it belongs elsewhere");
    }
}
