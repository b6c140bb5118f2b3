//! Opening what is not as expected: a clear error, and the file as it was.

use crate::fixture::{Engine, Fixture, config, cookies, node, session};
use baton_store::{Config, DatabaseUrl, MasterKey, Store, StoreError};
use rstest::rstest;
use sqlx::{AnyConnection, Connection};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[rstest]
#[tokio::test]
async fn the_wrong_key_is_named(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::open(engine).await;
    let key = MasterKey::from_bytes([8; 32]);
    let error = Store::open(Config { key, ..config(&fixture.database) }).await.unwrap_err();
    let text = "the database's key is sealed for another key file: expected key e149a02f55e0786d, \
                found key df114ddf018f9dba\n\
                put the key file that belongs to this database in its place";
    assert_eq!(error.to_string(), text);
    assert_eq!(fixture.count("data_keys").await, 1);
    fixture.open_again().await;
}

#[rstest]
#[tokio::test]
async fn a_lost_data_key_is_not_replaced(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    fixture.snapshot(&made, &[]).await;
    fixture.execute("delete from data_keys").await;
    let error = Store::open(config(&fixture.database)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { why, .. } if why.contains("data key")),
        "{error}"
    );
    assert_eq!(fixture.count("data_keys").await, 0);
}

#[rstest]
#[tokio::test]
async fn a_newer_database_is_left_alone(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    fixture
        .execute(
            "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
             select 19, description, success, checksum, execution_time from _sqlx_migrations
             where version = 1",
        )
        .await;
    let error = Store::open(config(&fixture.database)).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 19, known: 18 }), "{error}");
    let text = "expected a database of version 18 or older, found version 19\n\
                install the version of Baton that made it, or a newer one";
    assert_eq!(error.to_string(), text);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_open_a_new_database_at_once(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let folder = tempfile::tempdir().unwrap();
    let database = match engine {
        Engine::Sqlite => DatabaseUrl::Sqlite(folder.path().join("baton.db")),
        Engine::Postgres => baton_postgres::create_database().unwrap().parse().unwrap(),
    };
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..6 {
        let config = config(&database);
        tasks.spawn(async move {
            let store = Store::open(config).await.unwrap();
            store.create_session(&session(&format!("session-{number}"))).await.unwrap();
        });
    }
    tasks.join_all().await;
    let store = Store::open(config(&database)).await.unwrap();
    assert_eq!(store.list_active_sessions(node()).await.unwrap().len(), 6);
}

#[tokio::test]
async fn a_sqlite_file_is_private_and_logs_ahead() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    fixture.session("mail").await;
    for file in std::fs::read_dir(fixture.folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
    assert!(fixture.path().with_extension("db-wal").exists());
}

#[tokio::test]
async fn a_file_of_another_kind_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baton.db");
    for content in [b"x".to_vec(), b"not a database\n".repeat(400)] {
        std::fs::write(&path, &content).unwrap();
        let error = open(&path).await.unwrap_err();
        assert!(
            matches!(&error, StoreError::NotADatabase { place } if Path::new(place) == path),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    sqlx::any::install_default_drivers();
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let mut raw = AnyConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("create table theirs (a)").execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_truncated_database_is_left_alone() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    fixture.store.close().await;
    let whole = std::fs::read(fixture.path()).unwrap();
    for length in [100, 4096, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        std::fs::write(fixture.path(), &whole[..length]).unwrap();
        let error = Store::open(config(&fixture.database)).await.unwrap_err();
        let told = matches!(error, StoreError::Damaged { .. } | StoreError::NotADatabase { .. });
        assert!(told, "{length} of {} bytes: {error}", whole.len());
        assert_eq!(std::fs::read(fixture.path()).unwrap(), whole[..length]);
    }
    std::fs::write(fixture.path(), &whole).unwrap();
    fixture.open_again().await.fetch_session(&made.owner, made.id).await.unwrap();
}

#[tokio::test]
async fn a_path_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("no/such/folder.db")] {
        let error = open(&path).await.unwrap_err();
        assert!(
            matches!(&error, StoreError::NoAccess { path: named, .. } if *named == path),
            "{error}"
        );
    }
}

/// A disk is filled by telling SQLite that it may have no page more.
#[tokio::test]
async fn a_full_disk_and_a_read_only_file_are_told_apart() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let insert = "insert into parts (id, owner, sealed) values ('a', 'b', zeroblob(100000))";
    let mut raw = fixture.raw().await;
    sqlx::raw_sql("pragma max_page_count = 1").execute(&mut raw).await.unwrap();
    let error = StoreError::from(sqlx::query(insert).execute(&mut raw).await.unwrap_err());
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    insta::assert_snapshot!(error.to_string(), @"
    no space is left for the database
    free some; what was stored before is safe
    ");
    sqlx::raw_sql("pragma query_only = on").execute(&mut raw).await.unwrap();
    let error = StoreError::from(sqlx::query(insert).execute(&mut raw).await.unwrap_err());
    insta::assert_snapshot!(error.to_string(), @"expected to be able to write the database, found it read-only");
}

/// Another process holds the file when our writer comes; it gets its turn.
#[tokio::test]
async fn a_writer_waits_for_another_process() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let mut raw = fixture.raw().await;
    let theirs = raw.begin_with("begin immediate").await.unwrap();
    let ours = fixture.session("mail");
    let (made, ()) = tokio::join!(ours, async {
        theirs.rollback().await.unwrap();
    });
    assert_eq!(fixture.store.fetch_session(&made.owner, made.id).await.unwrap(), made);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().to_str().unwrap().replace('/', "%2F");
    let url = format!("postgres://me:hunter2@db.example:6543/baton?host={socket}&password=hunter3");
    let database: DatabaseUrl = url.parse().unwrap();
    let error = Store::open(config(&database)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let text = format!("{error} {error:?} {database:?} {database}");
    assert!(text.contains("postgres://db.example:6543/baton"), "{text}");
    assert!(!text.contains("hunter"), "{text}");
}

#[test]
fn addresses_of_databases_are_read() {
    let path = |text: &str| match text.parse() {
        Ok(DatabaseUrl::Sqlite(path)) => path,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(path("/var/lib/baton.db"), PathBuf::from("/var/lib/baton.db"));
    assert_eq!(path("sqlite:baton.db"), PathBuf::from("baton.db"));
    assert_eq!(path("sqlite:///var/baton.db"), PathBuf::from("/var/baton.db"));
    let postgres: DatabaseUrl = "postgresql://me:secret@host/db".parse().unwrap();
    assert_eq!(format!("{postgres:?}"), "DatabaseUrl(postgres://host/db)");
    let error = "mysql://me:secret@host/db".parse::<DatabaseUrl>().unwrap_err().to_string();
    insta::assert_snapshot!(error, @r#"expected a path or "postgres://user@host/database" as the database, found the scheme "mysql""#);
    assert!("".parse::<DatabaseUrl>().is_err());
    assert!("postgres://[::1".parse::<DatabaseUrl>().is_err());
}

async fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(config(&DatabaseUrl::Sqlite(path.to_owned()))).await
}
