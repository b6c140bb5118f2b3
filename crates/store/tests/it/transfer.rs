//! All rows go from one engine to the other and back, and are the same there.

use crate::fixture::{Engine, Fixture, config, cookies, new_snapshot, raw};
use baton_store::{DatabaseUrl, MasterKey, Store, StoreError, copy_database, refuse_filled};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};
use rstest::rstest;
use sqlx::any::AnyRow;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row, SqlSafeStr};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Every table with one of its statements: `T` a text, `B` bytes, `I` an integer, `N` an integer or
/// nothing, `M` bytes or nothing; `K` a key and `H` a hash, which differ from row to row; `O` a key or
/// nothing.
const INSERTS: [&str; 25] = [
    "data_keys (id, wrapped_by, wrapped) values (K, T, B)",
    "sessions (id, owner, name, description, node, headed, lifecycle, created_at, updated_at,
        failed_resumes, debug) values (K, T, K, T, T, I, T, I, I, I, I)",
    "parts (id, owner, sealed) values (K, T, B)",
    "snapshots (id, session, owner, ordinal, taken_at, reason, manifest, term, sibling, shrunk,
        saved) values (K, K, T, I, I, T, B, I, I, I, I)",
    "part_spans (session, place, since, until, part) values (K, T, I, N, K)",
    "receipts (session, ordinal, snapshot, created_at, sealed) values (K, I, T, I, B)",
    "api_keys (id, owner, name, scopes, secret_hash, created_at, revoked_at)
        values (K, T, K, T, H, I, N)",
    "nodes (id, place, beat, lease) values (K, T, I, I)",
    "leases (session, node, term) values (K, null, I)",
    "audit (id, at, owner, actor, action, subject, outcome, detail)
        values (K, I, T, T, T, T, T, T)",
    "identities (node, formerly, place, epoch, sealed, listens) values (K, O, T, T, B, O)",
    "peers (owner, node, name, url, node_type, auth, state, node_key, seal_key, credential, api_key,
        added_at, last_seen, last_sync, limits, pin)
        values (K, K, K, O, T, T, T, T, T, M, O, I, N, N, O, O)",
    "shared_sessions (owner, session, generation, entry, body, updated_at)
        values (T, K, I, B, B, I)",
    "sync_owners (owner, generation) values (K, I)",
    "revision_snapshots (owner, session, revision, snapshot, released_at) values (T, K, K, K, N)",
    "staged_parts (owner, session, part, staged_at) values (T, K, K, I)",
    "peer_acks (owner, node, session, revision, at) values (K, K, K, T, I)",
    "session_agents (session, agent, fence, since, reason, gives_back_to) values (K, T, I, I, T, O)",
    "cocoons (id, owner, body, updated_at) values (K, T, T, I)",
    "invitations (id, owner, node, invitation_key, created_at, expires_at, redeemed_at)
        values (K, T, K, T, I, I, N)",
    "cluster_nodes (node, cluster, name, internal_url, node_key, version, start, started_at, seen_at,
        lease, clock_ahead, browsers, labels, places, is_draining)
        values (K, T, T, T, T, T, T, I, I, I, I, I, T, I, I)",
    "session_labels (session, labels) values (K, T)",
    "sandbox_holds (sandbox, owner, node) values (K, T, T)",
    "cluster_rates (node, spent) values (K, T)",
    "page_sessions (cookie_hash, cluster, value_hash, key_hash, key_id, owner, person, rule,
        person_ends_at, ends_at) values (H, T, B, B, T, T, H, M, N, I)",
];

/// Texts that somebody might get wrong. None has a NUL: no engine takes one.
const TEXTS: [&str; 6] =
    ["", "O'Neil \"\\\" %_$1 ?", "ü\u{1f600}\u{301}", "\u{1}\r\n", " ", "\\x00"];

fn key() -> MasterKey {
    MasterKey::from_bytes([7; 32])
}

/// Fills every table with so many rows; what stands in them is as odd as can be.
async fn fill(fixture: &Fixture, rows: usize, bytes: Vec<Vec<u8>>) {
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(Cases::default(), seed);
    let any_text = any::<String>().prop_map(|text| text.replace('\0', "0"));
    let any_bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let mut texts: Vec<String> = TEXTS.map(str::to_owned).into();
    texts.extend((0..50).map(|_| any_text.new_tree(&mut runner).unwrap().current()));
    let mut blobs = bytes;
    blobs.extend((0..rows).map(|_| any_bytes.new_tree(&mut runner).unwrap().current()));
    let mut raw = fixture.raw().await;
    let mut writing = raw.begin().await.unwrap();
    for insert in INSERTS {
        for number in 0..rows {
            let (statement, values) = statement(insert);
            let mut query = sqlx::query(AssertSqlSafe(statement));
            for (place, kind) in values.into_iter().enumerate() {
                let integer = [0, 1, -1, i64::MAX, i64::MIN][(number + place) % 5];
                let blob = &blobs[number];
                query = match kind {
                    'K' => query.bind(format!("key {number}")),
                    'T' => query.bind(texts[(number + place) % texts.len()].clone()),
                    'I' => query.bind(integer),
                    'O' => query.bind((number % 2 == 0).then(|| format!("key {number}"))),
                    'M' => query.bind((number % 2 == 0).then(|| blob.clone())),
                    'N' => query.bind((number % 2 == 0).then_some(integer)),
                    'H' => query.bind(number.to_be_bytes().to_vec()),
                    _ => query.bind(blob.clone()),
                };
            }
            query.execute(&mut *writing).await.unwrap();
        }
    }
    writing.commit().await.unwrap();
    raw.close().await.unwrap();
}

/// The statement with its places numbered, and what goes there.
fn statement(insert: &str) -> (String, Vec<char>) {
    let (table, values) = insert.split_once("values").unwrap();
    let (mut statement, mut kinds) = (format!("insert into {table} values"), Vec::new());
    for letter in values.chars() {
        if letter.is_ascii_uppercase() {
            kinds.push(letter);
            write!(statement, "${}", kinds.len()).unwrap();
        } else {
            statement.push(letter);
        }
    }
    (statement, kinds)
}

/// All that stands in all tables, in the order of the keys.
async fn dump(database: &DatabaseUrl) -> Vec<String> {
    let mut raw = raw(database).await;
    let mut lines = Vec::new();
    for insert in INSERTS {
        let (table, rest) = insert.split_once(" (").unwrap();
        let columns = rest.split_once(')').unwrap().0.replace('\n', " ");
        let sql = format!("select {columns} from {table}");
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut raw).await.unwrap();
        let mut found: Vec<String> = rows.iter().map(|row| line(table, row)).collect();
        found.sort();
        lines.extend(found);
    }
    raw.close().await.unwrap();
    lines
}

fn line(table: &str, row: &AnyRow) -> String {
    let value = |column: usize| {
        let text = row.try_get::<Option<String>, _>(column).map(|text| format!("{text:?}"));
        let number = || row.try_get::<Option<i64>, _>(column).map(|number| format!("{number:?}"));
        let bytes = || row.try_get::<Option<Vec<u8>>, _>(column).map(digest);
        text.or_else(|_| number()).or_else(|_| bytes()).unwrap()
    };
    let values: Vec<String> = (0..row.len()).map(value).collect();
    format!("{table} {}", values.join(" "))
}

/// Some bytes are too many to be shown.
fn digest(bytes: Option<Vec<u8>>) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:?} bytes {:x}", bytes.map(|bytes| bytes.len()), hasher.finish())
}

#[rstest]
#[tokio::test]
async fn every_row_is_the_same_on_the_other_engine_and_back(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    // More rows than one batch takes, and bytes that fill batches by themselves.
    let large =
        [vec![], vec![0; 9 << 20], vec![0xff; 3 << 20], vec![1; 3 << 20], vec![b'\\', b'x']];
    fill(&fixture, 1_203, large.into()).await;
    let before = dump(&fixture.database).await;
    assert_eq!(before.len(), INSERTS.len() * 1_203 + 1, "and the data key of the store");

    let server: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
    refuse_filled(&server).await.unwrap();
    fixture.store.copy_to(&server).await.unwrap();
    assert!(dump(&server).await == before, "on PostgreSQL");

    let file = fixture.folder.path().join("back.db");
    let contents = copy_database(&server, &key(), &file).await.unwrap();
    assert_eq!((contents.version, contents.sessions, contents.parts), (18, 1_203, 1_203));
    assert!(dump(&DatabaseUrl::Sqlite(file.clone())).await == before, "and in a file again");

    // Both are databases like any other.
    for database in [server, DatabaseUrl::Sqlite(file)] {
        Store::open(config(&database)).await.unwrap().close().await;
    }
}

/// A writer stores one snapshot after the other, and never waits for the copy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_postgres_beside_a_writer_shows_one_moment() {
    let fixture = Fixture::open(Engine::Postgres).await;
    let made = fixture.session("mail").await;
    let (store, writing) = (fixture.store.clone(), made.clone());
    let writer = tokio::spawn(async move {
        for number in 0_u8..60 {
            let parts =
                [cookies("a.example", &vec![number; 20_000]), cookies("b.example", &[number])];
            store.create_snapshot(new_snapshot(&writing, &parts)).await.unwrap();
        }
    });
    for round in 0..5 {
        let to = fixture.folder.path().join(format!("copy-{round}.db"));
        let contents = copy_database(&fixture.database, &key(), &to).await.unwrap();
        let copy = Store::open(config(&DatabaseUrl::Sqlite(to))).await.unwrap();
        let snapshots = copy.list_snapshots(made.id, None, 1_000).await.unwrap();
        assert_eq!(snapshots.len() as u64, contents.snapshots);
        for snapshot in snapshots {
            let parts = copy.fetch_parts(&made.owner, &snapshot.parts).await.unwrap();
            assert!(!parts.is_empty() && parts.iter().all(Result::is_ok));
        }
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_server_that_holds_something_is_left_alone() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let theirs = Fixture::open(Engine::Postgres).await;
    theirs.session("mail").await;
    let before = dump(&theirs.database).await;
    let looked = refuse_filled(&theirs.database).await.unwrap_err();
    let copied = fixture.store.copy_to(&theirs.database).await.unwrap_err();
    for error in [looked, copied] {
        assert!(matches!(error, StoreError::Filled { table: "data_keys", .. }), "{error}");
    }
    assert_eq!(dump(&theirs.database).await, before);

    theirs.execute("drop table _sqlx_migrations").await;
    let error = fixture.store.copy_to(&theirs.database).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(dump(&theirs.database).await, before);
}

/// What has gone wrong in the middle leaves nothing there, and the next attempt succeeds.
#[tokio::test]
async fn a_copy_that_fails_leaves_the_server_empty() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    fixture.session("mail").await;
    // Past the store: it takes no such text.
    fixture
        .execute(
            "insert into audit (id, at, owner, actor, action, subject, outcome, detail)
             values ('a', 0, '', 'a' || char(0), '', '', '', '')",
        )
        .await;
    let server: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
    let error = fixture.store.copy_to(&server).await.unwrap_err();
    assert!(matches!(error, StoreError::InvalidText { field: "actor" }), "{error}");
    refuse_filled(&server).await.unwrap();
    fixture.execute("drop trigger audit_is_not_removed").await;
    fixture.execute("delete from audit").await;
    fixture.store.copy_to(&server).await.unwrap();
    Store::open(config(&server)).await.unwrap().close().await;
}

/// The newer program makes a backup before it brings a server up to date.
#[tokio::test]
async fn an_older_server_stays_as_it_is_and_its_copy_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let server: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
    let sql = include_str!("../../migrations/postgres/0001_first.sql").into_sql_str();
    let first = Migration::new(1, "first".into(), MigrationType::Simple, sql, false);
    let mut old = raw(&server).await;
    Migrator::with_migrations(vec![first]).run(&mut old).await.unwrap();
    sqlx::query(
        "insert into sessions (id, owner, name, description, node, headed, lifecycle, created_at,
             updated_at)
         values ('a', 'local', 'mail', '', 'b', 0, 'closed', 5, 6)",
    )
    .execute(&mut old)
    .await
    .unwrap();
    let to = folder.path().join("copy.db");
    let contents = copy_database(&server, &key(), &to).await.unwrap();
    assert_eq!((contents.version, contents.sessions), (18, 1));
    assert_eq!(number(&mut old, "select max(version) from _sqlx_migrations").await, 1);
    let mut copy = raw(&DatabaseUrl::Sqlite(to)).await;
    let sql = "select count(*) from sessions where failed_resumes = 0 and updated_at = 6";
    assert_eq!(number(&mut copy, sql).await, 1);
}

async fn number(raw: &mut AnyConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(raw).await.unwrap()
}
