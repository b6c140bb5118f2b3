//! What a sandbox is, and what became of the session that was handed in.

use super::create::BrowserSessionType;
use baton_session::login::Likelihood;
use baton_session::{Forecast, Owner, Receipt, SandboxId, SessionId, SessionName, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// A site where somebody may be logged in, as far as cookies and localStorage tell.
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
    /// Whether localStorage holds something that may be a login.
    #[serde(default)]
    pub stored: bool,
    /// How long the cookies of the site last.
    pub forecast: Forecast,
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
