//! What runs in a sandbox, and what it says.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

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
