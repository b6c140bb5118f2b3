//! From an older version of the schema to the present one: nothing is lost, whatever happens.

use crate::fixture::{Engine, Fixture, config, cookies, new_snapshot, session};
use baton_session::Owner;
use baton_store::{DatabaseUrl, MasterKey, NewSnapshot, Store, StoreError, copy_database, inspect};
use rstest::rstest;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, SqlSafeStr};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the database for the process that is killed.
const DATABASE: &str = "MIGRATED_DATABASE";

#[tokio::test]
async fn a_database_of_version_1_keeps_its_rows_and_leaves_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    create_version_1(&path, 3).await;
    let store = open(&path).await.unwrap();
    assert_eq!(store.list_sessions(&Owner::local(), None, None, 10).await.unwrap().len(), 3);
    let [copy] = copies(folder.path()).try_into().unwrap();
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(version(&copy).await, 1);
    assert_eq!(version(&path).await, 18);

    // The copy is a database like any other.
    let copied = open(&copy).await.unwrap();
    assert_eq!(copied.list_sessions(&Owner::local(), None, None, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_database_that_is_new_or_up_to_date_leaves_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    open(&path).await.unwrap().close().await;
    open(&path).await.unwrap().close().await;
    assert_eq!(copies(folder.path()), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_open_an_old_database_one_brings_it_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    create_version_1(&path, 500).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let path = path.clone();
        tasks.spawn(async move { open(&path).await.unwrap().close().await });
    }
    tasks.join_all().await;
    assert_eq!(version(&path).await, 18);
    assert_eq!(copies(folder.path()).len(), 1);
}

#[tokio::test]
async fn a_look_or_a_copy_leaves_an_old_database_as_old_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    create_version_1(&path, 3).await;
    let key = MasterKey::from_bytes([7; 32]);
    let found = inspect(&DatabaseUrl::Sqlite(path.clone()), &key, None).await.unwrap();
    assert_eq!((found.contents.version, found.known, found.sessions.len()), (1, 18, 3));
    let copy = folder.path().join("copy.db");
    let contents = copy_database(&DatabaseUrl::Sqlite(path.clone()), &key, &copy).await.unwrap();
    assert_eq!((contents.version, contents.sessions), (1, 3));
    assert_eq!((version(&path).await, version(&copy).await), (1, 1));
}

#[tokio::test]
async fn the_newest_two_copies_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    let old = ["v1-20250101T000000000Z", "v9-20240101T000000000Z", "v10-20230101T000000000Z"];
    for name in old {
        std::fs::write(path.with_added_extension(name), "an old copy").unwrap();
    }
    let draft = path.with_added_extension("v1-20250101T000000000Z.part");
    std::fs::write(&draft, "half a copy").unwrap();
    let theirs = folder.path().join("baton.db.video");
    std::fs::write(&theirs, "not ours").unwrap();
    create_version_1(&path, 1).await;
    open(&path).await.unwrap().close().await;
    let kept = copies(folder.path());
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.contains(&path.with_added_extension(old[0])), "{kept:?}");
    assert!(!draft.exists() && theirs.exists());
}

#[tokio::test]
async fn a_step_that_fails_changes_nothing_and_names_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    create_version_1(&path, 2).await;
    // The second step makes this table, and finds it there.
    execute(&path, "create table leases (theirs bigint)").await;
    let error = open(&path).await.unwrap_err();
    let StoreError::NotMigrated { found: 1, known: 18, copy, .. } = &error else {
        panic!("expected the migration to fail, found {error}");
    };
    let text = error.to_string().replace(copy.to_str().unwrap(), "COPY");
    insta::assert_snapshot!(text, @r"
    the database could not be brought from version 1 to 18: the database failed: error returned from database: (code: 1) table leases already exists
    nothing in it was changed; a copy of it is COPY
    ");
    assert_eq!((version(&path).await, version(copy).await), (1, 1));
    execute(&path, "drop table leases").await;
    let store = open(&path).await.unwrap();
    assert_eq!(store.list_sessions(&Owner::local(), None, None, 10).await.unwrap().len(), 2);
}

/// Version 3 notes from which snapshot to which a part is named, not in each of them.
#[rstest]
#[tokio::test]
async fn what_snapshots_of_version_2_name_is_kept_and_collected_as_before(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let (stays, comes_back) = (cookies("a.example", b"stays"), cookies("b.example", b"again"));
    for number in 0..4 {
        let changes = cookies("c.example", &[number]);
        // Named by the second and the last one only.
        let some = [stays.clone(), changes, comes_back.clone()];
        fixture.snapshot(&made, &some[..2 + usize::from(number % 2)]).await;
    }
    let before = fixture.store.list_snapshots(made.id, None, 10).await.unwrap();
    fixture.store.close().await;
    make_version_2(&fixture).await;
    let look = async || inspect(&fixture.database, &config(&fixture.database).key, None).await;
    let found = look().await.unwrap();
    assert_eq!((found.contents.version, found.unnamed_parts, found.missing_parts), (2, 0, 0));

    let store = fixture.open_again().await;
    assert_eq!(store.collect_parts().await.unwrap(), 0);
    assert_eq!(store.list_snapshots(made.id, None, 10).await.unwrap(), before);
    // What is carried over from a snapshot of before is named from now on as well.
    let carried = NewSnapshot { carried: before[0].parts.clone(), ..new_snapshot(&made, &[]) };
    let newest = store.create_snapshot(carried).await.unwrap();
    assert_eq!(store.prune_snapshots(made.id, 2).await.unwrap(), 3);
    assert_eq!(fixture.count("parts").await, 3);
    assert_eq!(store.prune_snapshots(made.id, 1).await.unwrap(), 1);
    let kept = store.fetch_parts(&made.owner, &newest.parts).await.unwrap();
    assert!(kept.len() == 3 && kept.iter().all(Result::is_ok));
    let found = look().await.unwrap();
    assert_eq!((found.contents.version, found.unnamed_parts, found.missing_parts), (18, 0, 0));
    assert_eq!(fixture.count("part_spans").await, 3);
}

/// Takes the last steps of the schema back, as the version before them wrote the same.
async fn make_version_2(fixture: &Fixture) {
    for sql in [
        "drop table list_changes",
        "drop index sessions_closed_name",
        "drop table cluster_rates",
        "drop table sandbox_holds",
        "drop table page_sessions",
        "drop index leases_held",
        "drop table session_labels",
        "drop table cluster_nodes",
        "drop table invitations",
        "alter table api_keys drop column for_node",
        "drop table cocoons",
        "alter table sessions drop column debug",
        "drop table session_agents",
        "drop table peer_acks",
        "drop table staged_parts",
        "drop table revision_snapshots",
        "drop table sync_owners",
        "drop table shared_sessions",
        "drop table peers",
        "drop table identities",
        "create table snapshot_parts (snapshot text not null references snapshots (id)
             on delete cascade, part text not null references parts (id),
             primary key (snapshot, part))",
        "insert into snapshot_parts select distinct snapshots.id, part
         from part_spans join snapshots on snapshots.session = part_spans.session
         and snapshots.ordinal between since and coalesce(until, snapshots.ordinal)",
        "drop table part_spans",
        "create index parts_owner on parts (owner)",
        "delete from _sqlx_migrations where version > 2",
    ] {
        fixture.execute(sql).await;
    }
}

/// Each round dies somewhat later in the migration than the one before.
#[tokio::test]
async fn a_process_killed_while_it_migrates_leaves_a_database_that_opens() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    create_version_1(&whole, 2_000).await;
    let mut died_before_the_end = 0;
    // `cargo xtask soak` asks for more.
    let rounds = baton_testing::rounds(10);
    for round in 0..rounds {
        let home = folder.path().join(round.to_string());
        std::fs::create_dir(&home).unwrap();
        let path = home.join("baton.db");
        std::fs::copy(&whole, &path).unwrap();
        kill_while_migrating(&path, Duration::from_micros(400 * (round % 10) * (round % 10)));
        for copy in copies(&home).iter().filter(|copy| !copy.to_str().unwrap().contains(".part")) {
            assert_eq!(version(copy).await, 1, "a copy that bears its name is whole");
        }
        let version = version(&path).await;
        assert!([1, 18].contains(&version), "all steps or none");
        died_before_the_end += usize::from(version == 1);
        let store = open(&path).await.unwrap();
        let page =
            async |after| store.list_sessions(&Owner::local(), None, after, 1_000).await.unwrap();
        let newer = page(None).await;
        let older = page(newer.last().map(|session| session.id)).await;
        assert_eq!((newer.len(), older.len()), (1_000, 1_000), "round {round}: all rows are there");
        store.close().await;
    }
    assert!(died_before_the_end > 0, "some of {rounds}");
}

/// What the killed process does; by itself it is no test.
#[tokio::test]
#[ignore = "run by the test above, as a process of its own"]
async fn migrate_the_named_database() {
    let path = std::env::var_os(DATABASE).expect("the path of a database");
    println!("migrating");
    open(Path::new(&path)).await.unwrap().close().await;
}

fn kill_while_migrating(path: &Path, after: Duration) {
    let name = "migrating::migrate_the_named_database";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().ends_with("migrating")).unwrap().unwrap();
    // The moment of death is the point of the story; whatever it is, the story holds.
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A database as the first version of the schema made it, with sessions in it.
async fn create_version_1(path: &Path, sessions: usize) {
    std::fs::write(path, "").unwrap();
    let mut raw = raw(path).await;
    let sql = include_str!("../../migrations/sqlite/0001_first.sql").into_sql_str();
    let first = Migration::new(1, "first".into(), MigrationType::Simple, sql, false);
    Migrator::with_migrations(vec![first]).run(&mut raw).await.unwrap();
    let mut writing = raw.begin().await.unwrap();
    for number in 0..sessions {
        let made = session(&format!("session-{number}"));
        sqlx::query(
            "insert into sessions (id, owner, name, description, node, headed, lifecycle, created_at, updated_at)
             values ($1, $2, $3, $4, $5, 0, 'closed', 0, 0)",
        )
        .bind(made.id.to_string())
        .bind(made.owner.as_str())
        .bind(made.name.to_string())
        .bind("word ".repeat(50))
        .bind(made.node.to_string())
        .execute(&mut *writing)
        .await
        .unwrap();
    }
    writing.commit().await.unwrap();
    raw.close().await.unwrap();
}

async fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(config(&DatabaseUrl::Sqlite(path.to_owned()))).await
}

async fn raw(path: &Path) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap()
}

async fn execute(path: &Path, sql: &str) {
    let mut raw = raw(path).await;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
}

async fn version(path: &Path) -> i64 {
    let mut raw = raw(path).await;
    let sql = "select max(version) from _sqlx_migrations";
    let version = sqlx::query_scalar(sql).fetch_one(&mut raw).await.unwrap();
    raw.close().await.unwrap();
    version
}

/// Files beside the database that are named like copies of it.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut copies: Vec<_> = files
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("baton.db.v") && name != "baton.db.video"
        })
        .collect();
    copies.sort();
    copies
}
