//! What a tool answers: text for the model to read, and the same for programs.
//!
//! Whatever it tells was written by others in part, so all of it becomes clean here, in one place.

use crate::error::NodeError;
use baton_agents::AgentsError;
use baton_api::{Answers, Invalid, by_way_of};
use baton_runtime::RuntimeError;
use baton_session::printable::{Printable, data_for_model};
use baton_sync::SyncError;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult,
};
use serde_json::{Value, json};

/// What was done.
pub(super) struct ToolAnswer {
    text: String,
    data: Value,
}

impl ToolAnswer {
    /// An answer that reads as these lines and says the same to programs as `data`, an object.
    pub(super) fn new(lines: &[String], data: Value) -> Self {
        Self { text: lines.join("\n"), data }
    }
}

/// Why it was not done.
pub(super) enum Failure {
    /// The operation refused or failed.
    Node(Box<NodeError>),
    /// The arguments cannot be read.
    Arguments(String),
    /// The call names no session, and it cannot be guessed.
    Which {
        /// What was found instead of one.
        found: String,
    },
    /// No session at the peers is meant, or more than one.
    AtPeers {
        /// What was found instead of one.
        found: String,
    },
    /// A person has to be asked first, by a client that asks and then calls again.
    Ask {
        /// What they are asked.
        requests: InputRequests,
        /// What it is about, which the client says when it calls again.
        about: String,
    },
    /// The person said no.
    Declined {
        /// What was to be done.
        what: String,
    },
    /// No person can be asked.
    NobodyToAsk {
        /// What was to be done.
        what: String,
        /// The command with which a person does it.
        command: String,
    },
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        Self::Node(Box::new(error))
    }
}

by_way_of! {
    Failure: NodeError { RuntimeError, SyncError, AgentsError, Invalid }
}

impl From<ToolAnswer> for CallToolResponse {
    fn from(answer: ToolAnswer) -> Self {
        let text = Printable::for_model(&answer.text);
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(data_for_model(answer.data));
        result.into()
    }
}

impl From<Failure> for CallToolResponse {
    fn from(failure: Failure) -> Self {
        let failure = match failure {
            Failure::Ask { requests, about } => {
                return InputRequiredResult::new(Some(requests), Some(about)).into();
            }
            failure => failure,
        };
        let (code, detail, next) = failure.into_texts();
        let text = match &next {
            Some(next) => format!("{detail}\nNext: {next}"),
            None => detail.clone(),
        };
        let text = Printable::for_model(&text);
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        let data = json!({"code": code, "detail": detail, "next": next});
        result.structured_content = Some(data_for_model(data));
        result.into()
    }
}

impl Failure {
    /// A stable word, what was expected and what was found, and what to do next.
    fn into_texts(self) -> (String, String, Option<String>) {
        let word = str::to_owned;
        match self {
            Self::Node(error) => {
                let problem = error.problem();
                if problem.status >= 500 {
                    tracing::error!(code = problem.code.as_str(), %error, "a tool failed");
                }
                let next = next_for(&error).or_else(|| next(problem.code.as_str()));
                let next = next.map(word).or(problem.hint);
                (problem.code.as_str().to_owned(), problem.detail, next)
            }
            Self::Arguments(found) => (
                word("invalid_request"),
                format!("expected arguments as the tool's schema says: {found}"),
                Some(word("call it again with these corrected")),
            ),
            Self::Which { found } => (
                word("invalid_request"),
                format!("expected sessionId, or one active session; found {found}"),
                Some(word("give sessionId: a name or an id; list_sessions lists them")),
            ),
            Self::AtPeers { found } => (
                word("session_not_found"),
                format!("expected one session that is called so, found {found}"),
                Some(word(
                    "browser_sync_list_remote_sessions lists those at peers, with their ids",
                )),
            ),
            Self::Declined { what } => (
                word("declined"),
                format!("the user was asked and did not agree: {what}"),
                Some(word("do something else, or ask the user what they want")),
            ),
            Self::NobodyToAsk { what, command } => (
                word("needs_confirmation"),
                format!("a person has to confirm this, and this client cannot ask one: {what}"),
                Some(format!("ask the user to type: {command}")),
            ),
            Self::Ask { .. } => (word("needs_confirmation"), String::new(), None),
        }
    }
}

/// What a model does next, where the error's code alone does not tell.
fn next_for(error: &NodeError) -> Option<&'static str> {
    match error {
        NodeError::Sync(SyncError::WhichRevision { .. }) => {
            Some("browser_sync_conflicts lists the revisions that there are")
        }
        NodeError::Sync(SyncError::Pending { .. } | SyncError::NoKey { .. }) => {
            Some("ask the user; browser_sync_list_peers tells what they type")
        }
        NodeError::Sync(SyncError::NotShared { .. }) => Some("browser_save_profile saves it"),
        _ => None,
    }
}

/// What a model does next, where it differs from what a person at a terminal does.
fn next(code: &str) -> Option<&'static str> {
    match code {
        "session_not_found" => Some("list_sessions lists the sessions that there are"),
        "wrong_state" => Some(
            "list_sessions tells the state: an active session is used as it is or closed first, \
             any other is brought back with session_resume",
        ),
        "peer_not_found" => Some("browser_sync_list_peers lists the peers that there are"),
        "tab_gone" => Some("browser_debug_list_tabs lists the tabs that there are"),
        "no_snapshot" => Some("session_history lists the snapshots that there are"),
        "name_taken" => {
            Some("use the session that has this name (session_resume), or choose another name")
        }
        _ => None,
    }
}
