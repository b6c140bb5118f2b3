//! What a node keeps on disk. The database: sessions, snapshots, parts, receipts, API keys, the audit log,
//! and what is shared with other nodes; and around it the data folder.
//!
//! The one idea: *acknowledged means on disk, and at rest nothing can be read*. Every write is one
//! transaction that the engine has synced before we answer; whatever a browser held is sealed
//! before it reaches the database, down to the names of the sites. One SQL text serves SQLite and
//! PostgreSQL; only the schema (`migrations/`), the settings and the locks know the engine.
//!
//! Rooms: `store` is what is open, and has the verbs of all others; `config` and `master_key` say
//! what to open; `open` opens it through `connect`, and `pooled` gives out its connections; `copy` and `outside` copy
//! it and look at it while others use it, `transfer` carries its rows from one engine to the other;
//! `sealed_file` seals what leaves the data folder; `seal` compresses and encrypts; `write` begins what
//! changes something; `blocking` takes long work off the async threads; `row` translates rows and what an engine says;
//! `sessions`, `leases`, `snapshots`, `parts`, `agents`, `receipts`, `api_keys`, `upstreams` and
//! `usage` (what `quotas` allow) hold the verbs, and for sync `identities`, `peers`, `invitations`, `shared` (revisions) and `packed` (parts that
//! travel); `error` is what can go wrong. [`data`] is the
//! folder, [`plain`] opens files that somebody else may have put there, and [`clock`] tells by which
//! instants rows are written.

mod agents;
mod api_keys;
pub mod blocking;
pub mod clock;
mod cluster;
mod config;
mod connect;
mod copy;
pub mod data;
mod error;
mod identities;
mod invitations;
mod leases;
mod master_key;
mod open;
mod outside;
mod packed;
mod pages;
mod parts;
mod peers;
mod pins;
pub mod plain;
mod pooled;
mod quotas;
mod receipts;
mod row;
mod seal;
mod sealed_file;
mod sessions;
mod shared;
mod snapshots;
mod store;
mod transfer;
mod upstreams;
mod usage;
mod write;

pub use agents::{Driver, HumanTurn};
pub use api_keys::{ApiKey, AuditEntry, FoundKey, PERSON_KEY, is_local_key_name, local_key_name};
pub use cluster::{ClusterBeat, ClusterMember, ClusterRow, Forgetting};
pub use config::{Config, DatabaseUrl, InvalidDatabaseUrl, Limits};
pub use error::StoreError;
pub use identities::StoredIdentity;
pub use invitations::StoredInvitation;
pub use leases::{Epoch, Lease, NodeBeat, NodeRecord};
pub use master_key::{KeyError, MasterKey};
pub use outside::{Contents, Look, copy_database, has_begun, inspect, is_sealed};
pub use packed::PackedPart;
pub use pages::{PageLimits, PersonOfPage, SignedInPage};
pub use parts::SealedParts;
pub use peers::Peer;
pub use pins::PinnedSnapshot;
pub use quotas::{Counted, Quota, Quotas, Usage};
pub use sealed_file::{FileKey, FileKeyKind, SealedFileError, SealedReader, SealedWriter};
pub use sessions::SessionsMark;
pub use shared::{Base, CommitShared, Generation, RevisionContent, Shared};
pub use snapshots::{NewSnapshot, Snapshot};
pub use store::Store;
pub use transfer::refuse_filled;
pub use upstreams::StoredUpstream;
