//! The programs in which agents run, and their lists of MCP servers, of which Baton is to be one.
//!
//! Such a file belongs to its owner. Of its text one entry is changed and every other byte stays; what
//! would be written is read again first, and must say what was meant. Nothing here asks or prints.

mod edit;
mod entry;
mod file;
mod homes;
mod json;
mod mistake;
mod shown;
#[cfg(test)]
mod tests;
mod toml;

pub(crate) use edit::{Edited, Kind, differing, remove, set};
pub(crate) use entry::Entry;
pub(crate) use file::{FileError, Found};
pub(crate) use homes::{Homes, lasting_name};
pub(crate) use mistake::Mistake;

use clap::ValueEnum;
use serde::Serialize;
use std::path::PathBuf;

/// A program in which agents run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
}

/// How a list of servers is written down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// JSON with comments: an object of servers at `key`, each with its `type` if `typed`.
    Json {
        /// Where the servers stand.
        key: &'static str,
        /// Whether an entry says that it is a program.
        typed: bool,
    },
    /// TOML: a table for each server.
    Toml,
}

impl Client {
    /// All of them, as they are listed.
    pub(crate) const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Vscode, Self::Gemini];

    /// What is typed for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Gemini => "gemini",
        }
    }

    /// Whether somebody uses it here.
    pub(crate) fn is_here(self, homes: &Homes) -> bool {
        self.places(homes).iter().any(|place| place.exists())
    }

    /// What is there once it has run.
    fn places(self, homes: &Homes) -> Vec<PathBuf> {
        match self {
            Self::ClaudeCode => vec![homes.claude(), self.user_file(homes)],
            Self::Codex => vec![homes.codex()],
            Self::Cursor => vec![homes.home.join(".cursor")],
            Self::Vscode => vec![homes.settings.join("Code/User")],
            Self::Gemini => vec![homes.home.join(".gemini")],
        }
    }

    /// The file with the servers of a user.
    pub(crate) fn user_file(self, homes: &Homes) -> PathBuf {
        match self {
            Self::ClaudeCode => homes.claude_file(),
            Self::Codex => homes.codex().join("config.toml"),
            Self::Cursor => homes.home.join(".cursor/mcp.json"),
            Self::Vscode => homes.settings.join("Code/User/mcp.json"),
            Self::Gemini => homes.home.join(".gemini/settings.json"),
        }
    }

    /// The file with the servers of a project.
    pub(crate) fn project_file(self, homes: &Homes) -> PathBuf {
        homes.project.join(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Gemini => ".gemini/settings.json",
        })
    }

    /// How it writes its servers down.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::ClaudeCode => Form::Json { key: "mcpServers", typed: true },
            Self::Vscode => Form::Json { key: "servers", typed: true },
            Self::Cursor | Self::Gemini => Form::Json { key: "mcpServers", typed: false },
            Self::Codex => Form::Toml,
        }
    }
}
