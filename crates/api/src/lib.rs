//! The contract of a node: what its doors take, what they answer, and how they fail.
//!
//! The one idea: every door of an operation (HTTP, command line, typed client) shares these types,
//! so that they cannot drift apart. Rooms: [`open`], [`session`], [`history`], [`state`], [`key`],
//! [`audit`], [`agent`], [`chat`], [`federation`], [`carry`], [`cdp`], [`cocoon`], [`debug`], [`sandbox`],
//! [`sync`] and [`health`] hold requests and views, and `document` what goes through as it is; [`problem`] and [`code`] say how a request fails; `client` asks a node.

pub mod agent;
mod answers;
pub mod audit;
pub mod carry;
pub mod cdp;
pub mod chat;
#[cfg(feature = "client")]
pub mod client;
pub mod cocoon;
pub mod code;
pub mod debug;
mod document;
pub mod federation;
pub mod files;
pub mod health;
pub mod history;
mod invalid;
pub mod key;
pub mod open;
pub mod problem;
pub mod sandbox;
pub mod session;
pub mod state;
pub mod sync;

pub use agent::{AGENT_HEADER, DriverView, PassSession};
pub use answers::{Answers, usual_hint};
pub use audit::{AuditList, AuditOutcome, AuditView, ListAudit};
pub use carry::{
    Contents, ContextList, ContextView, ExportFormat, ExportSession, ExportView, ImportSession,
    ImportView, KeepContext,
};
pub use cdp::{CdpAccess, OpenCdp};
#[cfg(feature = "client")]
pub use client::{
    ChangeEvents, Client, ClientError, FederationEvents, Messages, NodeChange, SandboxRun,
    SyncEvents, Wishes,
};
pub use cocoon::{CocoonId, InvalidCocoonId};
pub use code::{ErrorCode, Exit};
pub use document::FileText;
pub use federation::{
    ChangeFederation, DrivenSession, DrivenSessions, FederationChange, FederationView,
};
pub use files::{SessionFile, SessionFiles, SharedFolder};
pub use health::{Health, Ready};
pub use history::{CompareSnapshots, DiffView, History, ListHistory, RollBack};
pub use invalid::Invalid;
pub use key::{CreateKey, CreatedKey, KeyList, KeyView, Scope};
pub use open::{AttachSession, OpenSession, SwitchDebug};
pub use problem::Problem;
pub use session::{
    ListSessions, ResumeResult, SessionList, SessionSummary, SessionView, SnapshotReason,
    SnapshotView, Tab, Unread,
};
pub use state::StateView;
pub use sync::{NodeCard, NodeIdentity};
