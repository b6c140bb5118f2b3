//! The model of a browser session: what it is, what a browser held, and what a restore did with it.
//!
//! The one idea: this crate is *pure*. It knows no clock, no disk, no network, no async and no randomness; a
//! caller passes instants and random bytes in. So every rule here can be tested with a table or a property.
//!
//! Rooms, from the smallest to the largest: [`text`] and [`id`]; [`cookie`], [`storage`], [`value`], what
//! else an origin has [`stored`], [`tab`] with its history; [`permission`], [`certificate`] and [`identity`];
//! [`state`] holds them all, names a state and tells whether one has shrunk; [`parts`] cuts a state into
//! pieces, each addressed by its [`PartHash`]; [`receipt`] tells what a restore did; [`diff`], [`changed`] and [`login`] tell
//! what changed, where a login is and what expires; [`redact`] hides secrets; [`playwright`] reads and writes
//! `storageState` files and [`wire`] session files, [`import`] says what a file is and reads it, whichever
//! program wrote it, [`json`] writes what our types say, [`admit`] says what of a file from elsewhere a
//! browser may get, [`view`] takes a part of a state: what a peer sees of it, or what belongs to some
//! domains; [`write_back`] takes over what a profile elsewhere holds; [`NodeLabel`] says what a node is for, [`peer`] who wrote something,
//! [`once`] what counts once, and [`revision`] which published state is newer than which.

pub mod admit;
pub mod certificate;
pub mod changed;
pub mod confinement;
pub mod cookie;
pub mod diff;
pub mod egress;
pub mod id;
pub mod identity;
pub mod import;
pub mod invitation;
pub mod json;
mod json_tree;
mod label;
pub mod login;
pub mod once;
pub mod parts;
pub mod peer;
pub mod permission;
pub mod playwright;
pub mod printable;
pub mod receipt;
pub mod redact;
pub mod revision;
pub mod scope;
pub mod session;
pub mod state;
pub mod storage;
pub mod stored;
pub mod tab;
pub mod text;
mod text_form;
pub mod value;
pub mod view;
pub mod wire;
pub mod write_back;

pub use certificate::{Certificate, CertificateView};
pub use confinement::Confinement;
pub use cookie::Cookie;
pub use diff::Diff;
pub use id::{
    AgentName, AuditId, DeliveryId, NodeId, NodeMark, Owner, PartHash, SandboxId, SessionId,
    SnapshotId,
};
pub use identity::Identity;
pub use label::NodeLabel;
pub use login::Forecast;
pub use parts::{Part, PartKind, PartRef};
pub use peer::{
    AuthMethod, BadSignature, Fingerprint, NodeKey, NodeSecret, NodeSignature, PeerLease,
    PeerLimits, PeerState, Term,
};
pub use permission::Permission;
pub use receipt::{Receipt, Unread};
pub use revision::{Actor, Epoch, Offer, Replica, Revision, RevisionId, Signed, Vector};
pub use scope::{AuditOutcome, Scope};
pub use session::{ExportFormat, Lifecycle, Session, SessionName, SnapshotReason};
pub use state::{Environment, Holdings, Pages, State};
pub use storage::{Entries, Site, StorageKey};
pub use stored::{Cache, Database, FileEntry, Registration};
pub use tab::{History, HistoryEntry, Tab};
pub use text::Text;
pub use text_form::InvalidText;
pub use value::Value;
pub use view::{StateKind, View};
