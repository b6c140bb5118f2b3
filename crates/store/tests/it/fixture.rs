//! A store in a temp folder or on our server, and what tests fill it with.

use baton_session::{
    Lifecycle, NodeId, Owner, Part, PartKind, Session, SessionId, SnapshotId, SnapshotReason,
};
use baton_store::{Config, DatabaseUrl, Limits, MasterKey, NewSnapshot, Store};
use jiff::Timestamp;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

/// On which engine a story is told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// An open store, and where it is.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) database: DatabaseUrl,
    pub(crate) folder: TempDir,
}

impl Fixture {
    /// A new store with the usual limits.
    pub(crate) async fn open(engine: Engine) -> Self {
        Self::open_with(engine, Limits::default()).await
    }

    pub(crate) async fn open_with(engine: Engine, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = match engine {
            Engine::Sqlite => DatabaseUrl::Sqlite(folder.path().join("baton #1%.db")),
            Engine::Postgres => baton_postgres::create_database().unwrap().parse().unwrap(),
        };
        let config = Config { limits, ..config(&database) };
        let store = Store::open(config).await.unwrap();
        Self { store, database, folder }
    }

    /// Opens the same database once more, as another node would.
    pub(crate) async fn open_again(&self) -> Store {
        Store::open(config(&self.database)).await.unwrap()
    }

    /// The path of a SQLite database.
    pub(crate) fn path(&self) -> PathBuf {
        match &self.database {
            DatabaseUrl::Sqlite(path) => path.clone(),
            DatabaseUrl::Postgres(_) => panic!("not a file"),
        }
    }

    /// A connection past the store.
    pub(crate) async fn raw(&self) -> AnyConnection {
        raw(&self.database).await
    }

    /// Runs a statement past the store, and says how many rows it changed.
    pub(crate) async fn execute(&self, sql: &str) -> u64 {
        let mut connection = self.raw().await;
        let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        done.rows_affected()
    }

    /// How many rows a table has.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        let mut connection = self.raw().await;
        let sql = format!("select count(*) from {table}");
        let count =
            sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
    }

    /// A stored session of the local owner, active.
    pub(crate) async fn session(&self, name: &str) -> Session {
        let session = session(name);
        self.store.create_session(&session).await.unwrap();
        session
    }

    /// Stores a snapshot of these parts.
    pub(crate) async fn snapshot(
        &self,
        session: &Session,
        parts: &[Part],
    ) -> baton_store::Snapshot {
        self.store.create_snapshot(new_snapshot(session, parts)).await.unwrap()
    }
}

/// A connection to a database past any store.
pub(crate) async fn raw(database: &DatabaseUrl) -> AnyConnection {
    use secrecy::ExposeSecret;
    let url = match database {
        DatabaseUrl::Sqlite(path) => {
            let path = path.to_str().unwrap().replace('%', "%25").replace('#', "%23");
            format!("sqlite://{path}").replace(' ', "%20")
        }
        DatabaseUrl::Postgres(url) => url.expose_secret().to_owned(),
    };
    sqlx::any::install_default_drivers();
    AnyConnection::connect(&url).await.unwrap()
}

/// How the fixture opens a database.
pub(crate) fn config(database: &DatabaseUrl) -> Config {
    let key = MasterKey::from_bytes([7; 32]);
    Config { database: database.clone(), key, limits: Limits::default() }
}

/// An active session of the local owner. Every call is a millisecond later.
pub(crate) fn session(name: &str) -> Session {
    let at = next_instant();
    Session {
        id: SessionId::new(at, random()),
        name: name.parse().unwrap(),
        description: "a story".to_owned(),
        owner: Owner::local(),
        node: node(),
        headed: false,
        debug: false,
        lifecycle: Lifecycle::Active,
        created_at: at,
        updated_at: at,
    }
}

/// Closes an active session.
pub(crate) async fn close(fixture: &Fixture, session: &Session) {
    let at = next_instant();
    fixture
        .store
        .update_lifecycle(session.id, node(), Lifecycle::Active, Lifecycle::Closed, at)
        .await
        .unwrap();
}

pub(crate) fn node() -> NodeId {
    "01890000-0000-7000-8000-000000000001".parse().unwrap()
}

pub(crate) fn new_snapshot(session: &Session, parts: &[Part]) -> NewSnapshot {
    let at = next_instant();
    NewSnapshot {
        id: SnapshotId::new(at, random()),
        session: session.id,
        owner: session.owner.clone(),
        taken_at: at,
        reason: SnapshotReason::Request,
        term: None,
        shrunk: false,
        sibling: false,
        saved: false,
        parts: parts.to_vec(),
        carried: Vec::new(),
        keep: None,
    }
}

/// The cookies of a site, as bytes that only the test understands.
pub(crate) fn cookies(site: &str, bytes: &[u8]) -> Part {
    Part { kind: PartKind::Cookies, name: site.to_owned(), bytes: bytes.to_vec() }
}

/// Time goes on by a millisecond a call, and starts in 2026.
pub(crate) fn next_instant() -> Timestamp {
    static MILLIS: AtomicI64 = AtomicI64::new(1_767_225_600_000);
    Timestamp::from_millisecond(MILLIS.fetch_add(1, Ordering::Relaxed)).unwrap()
}

/// Not random at all: ids differ by their instant.
pub(crate) fn random() -> [u8; 10] {
    [0x5a; 10]
}
