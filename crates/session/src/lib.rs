//! The model of a browser session: what it is, what a browser held, and what a restore did with it.
//!
//! The one idea: this crate is *pure*. It knows no clock, no disk, no network, no async and no
//! randomness; whoever needs an instant or random bytes passes them in. So every rule here can be
//! tested with a table or a property.
//!
//! Rooms, from the smallest to the largest: [`text`] and [`id`]; [`cookie`], [`storage`],
//! [`value`], [`database`], [`cache`], [`mod@file`], [`registration`], [`tab`] and its [`history`],
//! [`environment`] with [`permission`] and [`certificate`]; [`state`] holds them all; [`parts`] cuts a state into pieces, each addressed by its
//! [`PartHash`];
//! [`checksum`] names a state; [`receipt`] tells what a restore did; [`Holdings`] tell whether a
//! state has shrunk; [`diff`], [`forecast`] and [`login`] tell what changed, what expires and where somebody is logged in; [`redact`] hides
//! secrets; [`playwright`] reads and writes `storageState` files and [`wire`] session files,
//! [`import`] says what a file is and reads it, whoever wrote it, [`json`] writes what our types say, [`admit`] says what of a file from elsewhere a browser may get, [`domains`] takes what belongs to some
//! domains and [`view`] what of it somebody sees, [`write_back`] takes over what a profile elsewhere holds; [`NodeKey`] says who wrote something, [`once`] what counts once, and
//! [`revision`] which published state is newer than which.

pub mod admit;
mod agent;
pub mod audit;
pub mod cache;
pub mod certificate;
pub mod checksum;
pub mod confinement;
pub mod cookie;
pub mod database;
pub mod diff;
pub mod domains;
pub mod environment;
pub mod file;
pub mod forecast;
pub mod format;
pub mod history;
pub mod id;
mod identity;
pub mod import;
pub mod json;
mod json_tree;
mod lease;
pub mod lifecycle;
pub mod login;
mod node;
pub mod once;
mod part_hash;
pub mod parts;
pub mod peer;
pub mod permission;
pub mod playwright;
pub mod printable;
pub mod reason;
pub mod receipt;
pub mod redact;
pub mod registration;
pub mod revision;
pub mod scope;
pub mod session;
mod shrunk;
pub mod site;
pub mod state;
pub mod storage;
pub mod tab;
mod term;
pub mod text;
mod text_form;
mod unknown;
pub mod unread;
pub mod value;
pub mod view;
pub mod wire;
mod words;
pub mod write_back;

pub use agent::AgentName;
pub use audit::AuditOutcome;
pub use cache::Cache;
pub use certificate::{Certificate, CertificateView};
pub use confinement::Confinement;
pub use cookie::Cookie;
pub use database::Database;
pub use diff::Diff;
pub use environment::Environment;
pub use file::FileEntry;
pub use forecast::Forecast;
pub use format::ExportFormat;
pub use history::{History, HistoryEntry};
pub use id::{AuditId, DeliveryId, NodeId, Owner, SandboxId, SessionId, SnapshotId};
pub use identity::{BadSignature, Fingerprint, NodeKey, NodeSecret, NodeSignature};
pub use lease::Lease;
pub use lifecycle::Lifecycle;
pub use part_hash::PartHash;
pub use parts::{Part, PartKind, PartRef};
pub use peer::{AuthMethod, PeerLimits, PeerState};
pub use permission::Permission;
pub use reason::SnapshotReason;
pub use receipt::Receipt;
pub use registration::Registration;
pub use revision::{Actor, Epoch, Offer, Replica, Revision, RevisionId, Signed, Vector};
pub use scope::Scope;
pub use session::{Session, SessionName};
pub use shrunk::Holdings;
pub use site::Site;
pub use state::State;
pub use storage::{Entries, StorageKey};
pub use tab::Tab;
pub use term::Term;
pub use text::Text;
pub use text_form::InvalidText;
pub use unread::Unread;
pub use value::Value;
pub use view::{StateKind, View};
