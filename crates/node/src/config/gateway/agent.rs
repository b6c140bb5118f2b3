//! `[[gateway.agents]]`: a command that is asked as if it were a model.

use super::texts::AgentTexts;
use crate::config::choices::invalid;
use crate::config::error::ConfigError;
use std::collections::BTreeMap;
use std::fmt;

/// A command that is asked as if it were a model.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// What requests call it.
    pub name: String,
    /// A program and its arguments.
    pub command: Vec<String>,
    /// How it is told what to do.
    pub prompt: Prompt,
    /// What is in its sandbox; none means what a sandbox usually has.
    pub flavor: Option<String>,
    /// Variables of every command in its sandbox, such as keys.
    pub env: BTreeMap<String, String>,
}

/// How an agent is told what to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prompt {
    /// As its last argument.
    #[default]
    Argument,
    /// On its standard input.
    Stdin,
    /// In a file, whose path is its last argument.
    File,
}

impl AgentSettings {
    pub(super) fn check(origin: &str, text: AgentTexts) -> Result<Self, ConfigError> {
        let is_name = (1..=63).contains(&text.name.len())
            && text.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if !is_name {
            let expected = "1 to 63 letters, digits, '-', '.' or '_'";
            let found = format!("{:?}", text.name);
            return Err(invalid(origin, "gateway.agents.name", expected, found));
        }
        if text.command.first().is_none_or(String::is_empty) {
            let expected = "a program and its arguments";
            return Err(invalid(origin, "gateway.agents.command", expected, "nothing"));
        }
        let prompt = match text.prompt.as_deref() {
            None | Some("argument") => Prompt::Argument,
            Some("stdin") => Prompt::Stdin,
            Some("file") => Prompt::File,
            Some(other) => {
                let expected = "argument, stdin or file";
                let found = format!("{other:?}");
                return Err(invalid(origin, "gateway.agents.prompt", expected, found));
            }
        };
        let AgentTexts { name, command, flavor, env, .. } = text;
        Ok(Self { name, command, prompt, flavor, env })
    }
}

impl fmt::Debug for AgentSettings {
    /// Without the values of its variables, which may be keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.keys().collect();
        let mut told = f.debug_struct("AgentSettings");
        told.field("name", &self.name).field("command", &self.command);
        told.field("prompt", &self.prompt).field("flavor", &self.flavor).field("env", &names);
        told.finish()
    }
}
