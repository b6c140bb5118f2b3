//! `[[gateway.agents]]`: a command that is asked as if it were a model.

use super::texts::AgentTexts;
use crate::config::error::ConfigError;
use crate::config::values::invalid;
use baton_agents::gateway::{AgentSettings, Prompt};

pub(super) fn read_agent(origin: &str, text: AgentTexts) -> Result<AgentSettings, ConfigError> {
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
    Ok(AgentSettings { name, command, prompt, flavor, env })
}
