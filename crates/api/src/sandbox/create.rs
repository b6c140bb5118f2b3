//! What a sandbox shall be.

use crate::document::FileText;
pub use baton_session::write_back::TakeBack;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

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
