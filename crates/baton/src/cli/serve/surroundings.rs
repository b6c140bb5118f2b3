//! What was typed, and what surrounds the process, becomes the configuration of a node.

use super::flags::Flags;
use anyhow::Context as _;
use baton_browser::keeper::KeeperCommand;
use baton_node::config::{Choices, Settings, Surroundings};
use baton_node::{Config, DataFolder};
use clap::Args;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a node is made from.
#[derive(Debug, Args)]
pub(in crate::cli) struct NodeArgs {
    #[command(flatten)]
    settings: Flags,
    /// Settings file [default: baton.toml in the data folder, when there is one]
    #[arg(long, value_name = "FILE", env = "BATON_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Master key in base64, instead of the file `key` in the data folder
    #[arg(long, env = "BATON_MASTER_KEY", hide = true, hide_env_values = true)]
    master_key: Option<SecretString>,
}

impl NodeArgs {
    /// Flags and variables first, then the settings file, then the defaults.
    pub(in crate::cli) fn config(&self, data: &DataFolder) -> anyhow::Result<Config> {
        let named = self.config.is_some();
        let file = self.config.clone().unwrap_or_else(|| data.settings());
        let typed =
            Choices::check("the flags and BATON_* variables", self.settings.clone().into())?;
        let written = if named || file.exists() {
            Choices::check(&format!("the file {}", file.display()), Settings::read(&file)?)?
        } else {
            Choices::default()
        };
        let around = Surroundings {
            data: data.clone(),
            master_key: self.master_key.clone(),
            keeper: keeper(data)?,
            inherited: inherited(),
            idle_exit: None,
        };
        Ok(Config::new(typed.or(written), around)?)
    }
}

/// A keeper is this program with its hidden subcommand.
fn keeper(data: &DataFolder) -> anyhow::Result<KeeperCommand> {
    let program = std::env::current_exe().context("expected to know this program's own file")?;
    // The folder is named so that a list of processes tells whose keeper it is.
    let args = ["--data".into(), data.path().into(), OsString::from("keeper")];
    Ok(KeeperCommand { program, args: args.into() })
}

/// The variables of this process; whoever starts a browser passes on only those that it needs.
pub(in crate::cli) fn inherited() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.starts_with("BATON_"))
        .collect()
}
