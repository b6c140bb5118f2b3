//! The database of a node: sessions, snapshots, parts, receipts, API keys, the audit log, and what is
//! shared with other nodes.
//!
//! The one idea: *acknowledged means on disk, and at rest nothing can be read*. Every write is one
//! transaction that the engine has synced before we answer; whatever a browser held is sealed
//! before it reaches the database, down to the names of the sites. One SQL text serves SQLite and
//! PostgreSQL; only the schema (`migrations/`), the settings and the locks know the engine.
//!
//! Rooms: `config` and `master_key` say what to open; `open`, `sqlite_file`, `migrate` and
//! `data_key` open it through `connect`; `copy` and `outside` copy it and look at it while others
//! use it, `transfer` carries its rows from one engine to the other, `epoch` gives what was restored
//! to a new node; `sealed_file` seals what leaves the data folder; `seal` compresses and encrypts;
//! `write` and `turns` give turns to writers, and `changes` tells what they changed; `row` decodes rows, and `prefix` the starts of ids; `sessions`,
//! `leases`, `snapshots`, `parts`, `collect`, `receipts`, `api_keys`, `cocoons` and `audit` hold the verbs, and
//! for sync `identities`, `peers`, `shared` (revisions), `packed`, `checked` and `staged` (parts that travel);
//! `error` is what can go wrong, and `fault` translates what an engine says.

mod agents;
mod api_keys;
mod audit;
mod beside;
mod changes;
mod checked;
mod cocoons;
mod collect;
mod config;
mod connect;
mod copy;
mod data_key;
mod epoch;
mod error;
mod fault;
mod identities;
mod leases;
mod master_key;
mod migrate;
mod open;
mod outside;
mod packed;
mod parts;
mod peers;
mod prefix;
mod receipts;
mod row;
mod seal;
mod sealed_file;
mod sessions;
mod shared;
mod snapshots;
mod sqlite_file;
mod staged;
mod transfer;
mod turns;
mod write;

pub use agents::Driver;
pub use api_keys::{ApiKey, FoundKey};
pub use audit::AuditEntry;
pub use cocoons::StoredCocoon;
pub use config::{Config, DatabaseUrl, InvalidDatabaseUrl, Limits};
pub use epoch::Epoch;
pub use error::StoreError;
pub use identities::StoredIdentity;
pub use leases::{Lease, NodeBeat, NodeRecord};
pub use master_key::{KeyError, MasterKey};
pub use outside::{Contents, Look, copy_database, is_sealed, look};
pub use packed::PackedPart;
pub use parts::SealedParts;
pub use peers::Peer;
pub use sealed_file::{FileKey, FileKeyKind, SealedFileError, SealedReader, SealedWriter};
pub use sessions::SessionsMark;
pub use shared::{Base, CommitShared, Generation, RevisionContent, Shared};
pub use snapshots::{NewSnapshot, Snapshot};
pub use transfer::refuse_filled;

use changes::Changes;
use config::Engine;
use seal::Seal;
use sqlx::AnyPool;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use turns::Turns;

/// How long [`Store::check`] waits for an answer.
const CHECK_LIMIT: Duration = Duration::from_secs(2);

/// The most rows that one list answers, whatever was asked for.
const PAGE_MAX: u32 = 1000;

/// An open database. Clones are cheap and share one pool of connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pool: AnyPool,
    engine: Engine,
    /// For what says that this node lives: a connection of its own on PostgreSQL, where the others may
    /// all wait for something. Readers of SQLite wait for nobody, and its writers for each other anyway.
    beats: AnyPool,
    /// Whose turn it is to write to SQLite, which knows one writer at a time.
    turn: Arc<Mutex<()>>,
    /// Whose turn it is to take a connection to PostgreSQL for an owner's parts.
    turns: Turns,
    seal: Arc<Seal>,
    limits: Limits,
    changes: Changes,
}

impl Store {
    /// Closes every connection, after the work under way on them.
    pub async fn close(&self) {
        self.inner.pool.close().await;
        self.inner.beats.close().await;
    }

    /// Whether the database answers within 2 seconds.
    pub async fn check(&self) -> Result<(), StoreError> {
        let query = sqlx::query("select 1").execute(&self.inner.pool);
        match tokio::time::timeout(CHECK_LIMIT, query).await {
            Ok(answer) => Ok(answer.map(drop)?),
            Err(_) => Err(StoreError::Unreachable {
                place: error::SOMEWHERE.to_owned(),
                why: format!("no answer within {} s", CHECK_LIMIT.as_secs()),
            }),
        }
    }

    /// What bounds what is stored.
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    fn pool(&self) -> &AnyPool {
        &self.inner.pool
    }

    fn seal(&self) -> Arc<Seal> {
        Arc::clone(&self.inner.seal)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("engine", &self.inner.engine).finish_non_exhaustive()
    }
}

/// Runs what takes the processor for long (compression, encryption) off the async threads. A panic in it
/// goes on here: it is a fault of ours and no end of the program.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => StoreError::Interrupted,
    })
}
