//! The agents that there are.

use super::error::GatewayRefusal;
use super::settings::{AgentSettings, BUILT_IN_AGENT, GatewaySettings, UpstreamSettings};
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::chat::{Model, ModelList};
use std::collections::BTreeMap;

/// An agent that is asked.
#[derive(Debug, Clone)]
pub(super) enum Agent {
    /// A program.
    Command(AgentSettings),
    /// The one that is built in.
    Baseline(UpstreamSettings),
}

impl Agent {
    /// The agent of a name.
    pub(super) fn find(settings: &GatewaySettings, name: &str) -> Result<Self, GatewayRefusal> {
        if let (BUILT_IN_AGENT, Some(upstream)) = (name, &settings.upstream) {
            return Ok(Self::Baseline(upstream.clone()));
        }
        let found = settings.agents.iter().find(|agent| agent.name == name);
        found.cloned().map(Self::Command).ok_or_else(|| GatewayRefusal::UnknownModel {
            found: name.chars().take(100).collect(),
            known: match names(settings).as_slice() {
                [] => "none".to_owned(),
                names => names.join(", "),
            },
        })
    }

    /// What is in its sandbox.
    pub(super) fn flavor(&self) -> Option<String> {
        match self {
            Self::Command(agent) => agent.flavor.clone(),
            Self::Baseline(upstream) => upstream.flavor.clone(),
        }
    }

    /// Variables of every command in its sandbox.
    pub(super) fn env(&self) -> BTreeMap<String, String> {
        match self {
            Self::Command(agent) => agent.env.clone(),
            Self::Baseline(_) => BTreeMap::new(),
        }
    }
}

/// The agents of this node.
pub fn models(context: &Agents) -> ModelList {
    let data = names(&context.gateway).into_iter().map(shown).collect();
    ModelList { object: "list".to_owned(), data }
}

/// One of them.
pub fn model(context: &Agents, id: &str) -> Result<Model, AgentsError> {
    Agent::find(&context.gateway, id)?;
    Ok(shown(id.to_owned()))
}

fn shown(id: String) -> Model {
    Model { id, object: "model".to_owned(), created: 0, owned_by: "baton".to_owned() }
}

fn names(settings: &GatewaySettings) -> Vec<String> {
    let built_in = settings.upstream.iter().map(|_| BUILT_IN_AGENT.to_owned());
    built_in.chain(settings.agents.iter().map(|agent| agent.name.clone())).collect()
}
