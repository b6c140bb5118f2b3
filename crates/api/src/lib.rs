//! The contract of a node: what its doors take, what they answer, and how they fail.
//!
//! The one idea: every door of an operation (HTTP, command line, typed client) shares these types,
//! so that they cannot drift apart. Rooms: [`session`], [`ask`], [`carry`], [`key`], [`node`], [`federation`], [`chat`],
//! [`upstream`], [`page`], [`live`] and its [`picture`], [`debug`], [`sandbox`], [`tool`] and [`sync`] hold requests and views, and `document` what goes through as
//! it is; [`problem`] says how a request fails; `client` asks a node.

pub mod ask;
pub mod carry;
pub mod chat;
#[cfg(feature = "client")]
pub mod client;
pub mod debug;
mod document;
pub mod federation;
pub mod key;
pub mod live;
pub mod node;
pub mod page;
pub mod picture;
pub mod problem;
pub mod sandbox;
pub mod session;
pub mod sync;
pub mod tool;
pub mod upstream;
mod usage;

pub use ask::{
    AskOutcome, AskPerson, AskReach, AskState, AskView, CreatedAsk, EndAsk, GUEST_HEADER,
    GuestView, LookAtAsk, MAX_ASK_WAIT, OPEN_ASK, OpenedAsk, RedeemAsk, ToldPerson, WaitForAsk,
};
pub use carry::{
    Contents, ContextList, ContextView, ExportFormat, ExportSession, ExportView, ImportSession,
    ImportView, KeepContext,
};
#[cfg(feature = "client")]
pub use client::{
    ChangeEvents, Client, ClientError, FederationEvents, Messages, NodeChange, SandboxRun,
    SyncEvents, Wishes,
};
pub use document::FileText;
pub use federation::{
    AGENT_HEADER, ChangeFederation, DrivenSession, DrivenSessions, DriverView, FederationChange,
    FederationView, PassSession,
};
pub use key::{
    AuditList, AuditOutcome, AuditView, CreateKey, CreatedKey, KeyList, KeyView, ListAudit, Scope,
};
pub use live::LiveAccess;
pub use node::{
    DrainNode, FileAhead, Health, MovedSession, NodeBus, NodeDrain, NodeList, NodeView, Ready,
    StayedSession, TakeSession,
};
pub use page::{
    PAGE_HEADER, PageDeparture, PageProvider, PageSession, PageSignIn, PageTicket, PageView,
    PageWays,
};
pub use problem::{Answers, ErrorCode, Exit, Invalid, Problem, usual_hint};
pub use sandbox::{Login, LoginList};
pub use session::{
    AttachSession, CdpAccess, CompareSnapshots, DiffView, EgressHost, EgressView, History,
    ListHistory, ListSessions, OpenCdp, OpenSession, PickSnapshot, ResumeAs, ResumeResult,
    ResumeSession, RollBack, SessionFile, SessionFiles, SessionList, SessionSummary, SessionView,
    SharedFolder, SnapshotReason, SnapshotView, StateView, SwitchDebug, Tab, Unread,
};
pub use sync::{NodeCard, NodeIdentity};
pub use tool::{CallTool, ToolEnd, ToolEvent};
pub use upstream::{InvalidUpstreamId, UpstreamId};
pub use usage::{ShowUsage, UsageView, Used};
