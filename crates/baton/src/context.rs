//! What every command is given: the data folder, and how to answer.

use crate::local;
use crate::output::Output;
use anyhow::Context as _;
use baton_api::Client;
use baton_session::AgentName;
use baton_store::data::DataFolder;
use etcetera::BaseStrategy as _;
use std::path::PathBuf;

/// The surroundings of a command.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The node's folder.
    pub(crate) data: DataFolder,
    /// Whether somebody named that folder.
    pub(crate) named: bool,
    /// As which agent to ask.
    pub(crate) agent: Option<AgentName>,
    /// How to answer.
    pub(crate) output: Output,
}

impl Context {
    /// The data folder is the one named, or `baton` in the platform's folder for data.
    pub(crate) fn new(
        data: Option<PathBuf>,
        agent: Option<AgentName>,
        output: Output,
    ) -> anyhow::Result<Self> {
        let named = data.is_some();
        let path = match data {
            Some(path) => path,
            None => default_folder()?,
        };
        Ok(Self { data: DataFolder::at(&path)?, named, agent, output })
    }

    /// A client of the data folder's node, which is started when none runs.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let client = local::find_or_start(&self.data, self.output).await?;
        Ok(client.as_agent(self.agent.clone()))
    }
}

fn default_folder() -> anyhow::Result<PathBuf> {
    let strategy = etcetera::base_strategy::choose_native_strategy()
        .context("expected a home folder, found none\nname a folder with --data")?;
    Ok(strategy.data_dir().join("baton"))
}
