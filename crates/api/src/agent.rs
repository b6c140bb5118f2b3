//! Which agent drives a session, and how it passes from one to another.

use baton_session::AgentName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The header in which a caller says which agent it is. A name is no secret: it keeps agents of one
/// owner apart, and the key says what they may do.
pub const AGENT_HEADER: &str = "baton-agent";

/// Who drives a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DriverView {
    /// The agent.
    pub agent: AgentName,
    /// Since when.
    pub since: Timestamp,
    /// The fencing number: it counts up whenever the session passes on.
    pub fence: u64,
    /// Why it was taken from another agent; left out when it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Passes a session to another agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PassSession {
    /// Who drives it from now on; left out, nobody does, and the next agent that asks gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentName>,
    /// Why, 1 to 1000 characters. Whoever does not drive the session has to say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
