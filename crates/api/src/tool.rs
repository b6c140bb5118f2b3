//! A tool of the MCP server as one node of a cluster asks another for it, in the name of a client.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What a tool is called with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallTool {
    /// Its arguments, as its schema says.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// What a person agreed to, as [`ToolEnd::Ask`] named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<String>,
    /// Whether the client can ask a person.
    #[serde(default)]
    pub can_ask: bool,
    /// Whether the client hears that work goes on.
    #[serde(default)]
    pub is_heard: bool,
}

/// What is said of a call: any number of times that it goes on, and then how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ToolEvent {
    /// Work goes on.
    Doing {
        /// On what.
        text: String,
    },
    /// It has ended.
    Ended(ToolEnd),
}

/// How a call of a tool ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum ToolEnd {
    /// It was done.
    Done {
        /// What a model reads.
        text: String,
        /// The same for programs.
        data: Value,
    },
    /// It was not done.
    Failed {
        /// A stable word.
        code: String,
        /// What was expected, and what was found.
        detail: String,
        /// What a model does next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    /// A person has to agree first. Nothing was done.
    Ask {
        /// What it is about, such as the id of a session: what is agreed to.
        about: String,
        /// What they are asked.
        what: String,
        /// The command with which a person does it.
        command: String,
    },
}
