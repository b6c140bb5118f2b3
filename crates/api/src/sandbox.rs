//! Sandboxes: isolated workspaces in which agents run, with a session handed in: what one shall be, what it is
//! and what became of its session, and what runs in it.
//!
//! The names are those of the specification of session injection, in camel case.

use crate::document::FileText;
use crate::session::EgressView;
use baton_session::diff::SiteDiff;
use baton_session::login;
use baton_session::login::{Likelihood, SignIn};
pub use baton_session::write_back::TakeBack;
use baton_session::{Forecast, Owner, Receipt, SandboxId, SessionId, SessionName, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use url::Url;
use utoipa::{IntoParams, ToSchema};

/// Makes a sandbox.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSandbox {
    /// What is in it, by a name of the node's settings; `agent-ready` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<String>,
    /// Whether it has a display, which a VNC viewer on the node's machine shows: for a browser with a
    /// window. The answer says where, and with which password.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub enable_vnc: bool,
    /// The session that is handed in; none makes a sandbox that is logged in nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_session: Option<BrowserSession>,
    /// Domains that the task needs a login for, each with what is below it. One that the session has no
    /// living login for is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// Seconds until it ends by itself; as the node's settings say when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
    /// Variables of every command in it. They are no place for secrets: whatever runs there reads them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Less than the node's settings allow.
    #[serde(default)]
    pub limits: WantedLimits,
}

/// A session that is handed in: a whole state, or the name of one that is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BrowserSession {
    /// Which of both.
    #[serde(rename = "type")]
    pub kind: BrowserSessionType,
    /// With `inline`: a Playwright `storageState`, or any other file that is imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub storage_state: Option<FileText>,
    /// With `reference`: an id, a unique prefix of one, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// With `reference`: another service that keeps the session, one of the node's settings. Left out,
    /// this node keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_service_url: Option<String>,
    /// With `reference`: take a copy, and neither hold the session nor write back what changes. A login
    /// whose tokens rotate is lost to one of both.
    #[serde(default)]
    pub shared: bool,
    /// With `reference`, and not `shared`: take the session also when somebody drives it. Whoever that is
    /// loses its browser, which is saved first. For a caller that says no agent's name.
    #[serde(default)]
    pub take: bool,
    /// With `reference`, and not `shared`: which sites are written back when the sandbox ends. Left out,
    /// those that were handed in; what it holds of others is named then, and left.
    #[serde(default, alias = "take_back")]
    pub take_back: TakeBack,
}

impl BrowserSession {
    /// A session that this node keeps: an id, a unique prefix of one, or a name.
    pub fn reference(session: impl Into<String>) -> Self {
        Self {
            kind: BrowserSessionType::Reference,
            storage_state: None,
            session_id: Some(session.into()),
            session_service_url: None,
            shared: false,
            take: false,
            take_back: TakeBack::Lent,
        }
    }

    /// A whole state.
    pub fn inline(state: FileText) -> Self {
        Self {
            kind: BrowserSessionType::Inline,
            storage_state: Some(state),
            session_id: None,
            ..Self::reference("")
        }
    }
}

/// How a session is handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BrowserSessionType {
    /// With the request.
    Inline,
    /// By its name.
    Reference,
}

/// What a sandbox may use. Left out is what the node's settings allow, which is also the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct WantedLimits {
    /// Memory of all processes and files, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Processors; 0.5 is half of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<f64>,
    /// Files in the workspace, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<u64>,
}

/// A sandbox that is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxView {
    /// Which one.
    pub id: SandboxId,
    /// What is in it.
    pub flavor: String,
    /// To whom it belongs.
    #[schema(value_type = String)]
    pub owner: Owner,
    /// Where its own files are, as its commands know it.
    pub workspace: String,
    /// Since when it is there.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ends by itself.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Whether this machine enforces the limits.
    pub limits: Enforcement,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits_reason: Option<String>,
    /// What it may use.
    pub allowed: WrittenLimits,
    /// The session that was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_session: Option<HandedIn>,
    /// Where its display is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vnc: Option<Vnc>,
    /// Its only way to the network, where its session or its flavor says so, and what was asked of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<EgressView>,
    /// What its maker should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A display that a VNC viewer shows (RFB 3.8, RFC 6143).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Vnc {
    /// An address of the node's own loopback, with its port.
    pub address: String,
    /// The password, of 8 characters as the protocol has it; told to the sandbox's maker only, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// Where the display of a sandbox is shown through the node, once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisplayAccess {
    /// The address of a WebSocket that speaks RFB, with a ticket that counts once. The display asks for no password
    /// there.
    pub display_url: Url,
    /// Until when the ticket counts.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for DisplayAccess {
    /// Without the ticket.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DisplayAccess")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Vnc {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vnc").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Whether the limits of memory, processes and processors hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Enforcement {
    /// They do.
    #[serde(rename = "enforced")]
    Enforced,
    /// They do not: this machine lets the node make no control groups.
    #[serde(rename = "not enforced")]
    NotEnforced,
}

/// What a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WrittenLimits {
    /// Memory of all processes and files, in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Processors; 0.5 is half of one.
    pub processors: f64,
    /// Files in the workspace, in bytes.
    pub disk: u64,
}

/// A session in a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandedIn {
    /// How it came.
    #[serde(rename = "type")]
    pub kind: BrowserSessionType,
    /// Which session of this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub name: Option<SessionName>,
    /// From which snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// Whether the sandbox holds the session, and writes back what changes when it ends.
    pub writes_back: bool,
    /// Where it is logged in, as far as cookies tell, and how long they last.
    pub logins: Vec<Login>,
    /// How much of it is in the sandbox's profile, and line by line what is not.
    pub receipt: Receipt,
}

/// A site where somebody may be logged in, as far as cookies, localStorage and databases tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Login {
    /// The site: a registrable domain.
    pub domain: String,
    /// How likely that is: `likely` where something looks like a login, `possible` where something may be one,
    /// `over` where it has expired. What only measures visitors, or notes a taste, is no login.
    #[serde(default = "possible")]
    pub likelihood: Likelihood,
    /// Where to begin: an origin, without a path.
    #[serde(default)]
    pub address: String,
    /// Whether localStorage or a database holds something that may be a login.
    #[serde(default)]
    pub stored: bool,
    /// The last sign-in there that was seen, where what it changed lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_in: Option<SeenSignIn>,
    /// How long the cookies of the site last.
    pub forecast: Forecast,
}

/// A sign-in that was seen: what is new at a site, or another, since a password was entered there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenSignIn {
    /// When the first snapshot was taken that has what it changed.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What changed, in a sentence.
    pub changed: String,
    /// The same by kind, with names and never a value.
    pub changes: Vec<SiteDiff>,
}

impl From<&SignIn> for SeenSignIn {
    fn from(sign_in: &SignIn) -> Self {
        Self { at: sign_in.at, changed: sign_in.sentence(), changes: sign_in.changes() }
    }
}

impl From<login::Login> for Login {
    fn from(login: login::Login) -> Self {
        Self {
            domain: login.site.as_str().to_owned(),
            likelihood: login.likelihood,
            address: login.address,
            stored: login.is_stored,
            sign_in: login.sign_in.as_ref().map(SeenSignIn::from),
            forecast: login.forecast,
        }
    }
}

/// Where a session may be logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoginList {
    /// The snapshot that tells: the one that a resume would take; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// The likeliest first.
    pub items: Vec<Login>,
}

/// What a node that is older than likelihoods knows.
fn possible() -> Likelihood {
    Likelihood::Possible
}

/// The sandboxes of an owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SandboxList {
    /// The oldest first.
    pub items: Vec<SandboxView>,
    /// Nodes of the cluster that did not answer: what they have is not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A sandbox that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndedSandbox {
    /// Which one.
    pub id: SandboxId,
    /// What became of the session that it held; none when it held none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_session: Option<WrittenBack>,
}

/// What became of a session that a sandbox held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenBack {
    /// Which session.
    pub session_id: SessionId,
    /// The snapshot that holds what the sandbox left; none when the one before stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// Whether more than half of the cookies or of the storage is gone, so that a resume passes the
    /// snapshot over.
    pub shrunk: bool,
    /// Why the one before stands, or why something may be missing in the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What in the profile could not be taken over, and what of it was of sites that were not handed in.
    pub left_out: Receipt,
}

/// Runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecSandbox {
    /// What runs.
    pub command: CommandLine,
    /// Variables, beside those of the sandbox.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// In which folder; the workspace when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Seconds after which it is ended; until the sandbox ends when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

/// A command: a line for the shell, or a program and what it is given, word by word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CommandLine {
    /// A line for `/bin/sh`.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// One line of the answer: what a command wrote since the last one, or how it ended. Bytes that are no
/// UTF-8 are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExecEvent {
    /// On its standard output.
    Stdout(String),
    /// On its standard error.
    Stderr(String),
    /// It has ended; always the last line.
    Exit(ExecEnd),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExecEnd {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took longer than it may, and was ended.
    TimedOut,
    /// Together with its sandbox.
    Gone,
}

/// Names a file of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SandboxFile {
    /// Its path, from the workspace on.
    pub path: String,
}
