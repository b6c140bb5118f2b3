//! The board that agents share, which of them drives which session, and how it passes from one to another.
//!
//! A board is a file that other programs write too, so it travels as it stands there: all of its fields,
//! also those that nobody here knows.

use baton_session::{AgentName, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The board at an instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FederationView {
    /// What is in `active-session.json`, and what follows from it: `gone` are the agents that were not
    /// seen for a while, `waiting` says for which others a task waits, `lapsed` are the tasks whose
    /// holder is gone. None when no session is active.
    #[schema(value_type = Option<Object>)]
    pub board: Option<Value>,
    /// Who drives which browser session, by name.
    pub sessions: Vec<DrivenSession>,
}

/// A browser session that an agent drives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct DrivenSession {
    /// Its name.
    pub session: SessionName,
    /// Its id.
    pub id: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// Since when.
    pub since: Timestamp,
}

/// Who drives which browser session, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DrivenSessions {
    /// One for each session that an agent drives.
    pub items: Vec<DrivenSession>,
}

/// One thing to do with the board. `agent` is who acts; left out, it is the one of the header
/// `Baton-Agent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "operation", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChangeFederation {
    /// Say what an agent does. Begins a session when none is active.
    UpdateAgent {
        /// Whose entry.
        agent: Option<AgentName>,
        /// `active`, `idle` … in a word of its own.
        status: String,
        /// What it works on; left out, nothing.
        current_task: Option<String>,
        /// Its folder; left out, what was there stays.
        workspace: Option<String>,
        /// Its model; left out, what was there stays.
        model: Option<String>,
    },
    /// Be seen, and nothing else: claims of agents that are not seen for a while can be taken.
    Heartbeat {
        /// Who is there.
        agent: Option<AgentName>,
    },
    /// Add something to do.
    AddTask {
        /// What.
        description: String,
        /// `low`, `normal`, `high` or `urgent`; left out, `normal`.
        priority: Option<String>,
        /// Who adds it.
        agent: Option<AgentName>,
        /// The only agent that may take it.
        assigned_to: Option<AgentName>,
        /// After which tasks.
        #[serde(default)]
        blocked_by: Vec<String>,
    },
    /// Take a task; exactly one agent gets it.
    ClaimTask {
        /// Who takes it.
        agent: Option<AgentName>,
        /// Which; left out, the best that is free.
        task: Option<String>,
    },
    /// Begin to work on a claimed task.
    StartTask {
        /// Who holds it.
        agent: Option<AgentName>,
        /// Which.
        task: String,
        /// The number that the claim gave; when given it must be that of the claim.
        fence: Option<u64>,
    },
    /// Say that a claimed task is done.
    CompleteTask {
        /// Who holds it.
        agent: Option<AgentName>,
        /// Which.
        task: String,
        /// The number that the claim gave; when given it must be that of the claim.
        fence: Option<u64>,
    },
    /// Give a claimed task back.
    ReleaseTask {
        /// Who holds it.
        agent: Option<AgentName>,
        /// Which.
        task: String,
        /// The number that the claim gave; when given it must be that of the claim.
        fence: Option<u64>,
    },
    /// Let a task wait for others.
    BlockTask {
        /// Who says so.
        agent: Option<AgentName>,
        /// Which waits.
        task: String,
        /// For which.
        on: Vec<String>,
    },
    /// Say what the router is now. What is left out stays.
    SetRouter {
        /// Who says so.
        agent: Option<AgentName>,
        /// Its version; a new one is to be measured again.
        version: Option<String>,
        /// How often it chose well, from 0 to 1.
        accuracy: Option<f64>,
        /// Its tier.
        tier: Option<i64>,
    },
    /// Name the sprint.
    SetSprint {
        /// Who says so.
        agent: Option<AgentName>,
        /// What it is called.
        sprint: String,
    },
    /// End the sprint: the session is archived.
    EndSprint {
        /// Who says so.
        agent: Option<AgentName>,
    },
    /// Close the session: it is archived.
    Close {
        /// Who says so.
        agent: Option<AgentName>,
    },
}

/// What became of a change. It is on disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FederationChange {
    /// The task that was meant, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub task: Option<Value>,
    /// The name under which the session was archived, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<String>,
}

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
