//! What was typed, and what surrounds the process, becomes the configuration of a node.
//!
//! A node starts this binary again: `baton keeper` holds one session's browser, `baton sandbox-init` is the first
//! process in a sandbox, and there `baton browser-wrapper` stands in a browser's place.

use super::flags::Flags;
use anyhow::Context as _;
use baton_api::Exit;
use baton_browser::keeper::{self, KeeperCommand, KeeperSpec, WrapperSpec};
use baton_net::tls::Exposure;
use baton_proxy::ProxySettings;
use baton_sandbox::InitCommand;
use baton_server::Config;
use baton_server::config::{
    Choices, DatabaseUrl, ProxyTexts, Settings, StorageSettings, Surroundings,
};
use baton_session::Owner;
use baton_store::data::DataFolder;
use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// What an error calls the settings that were not in a file.
const TYPED: &str = "the flags and BATON_* variables";

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
    /// What other programs share that sign or check the tokens of pages
    #[arg(long, env = "HIVE_SECRET", hide = true, hide_env_values = true)]
    hive_secret: Option<SecretString>,
    /// Secret of the client as which people are sent to a provider, for auth.oidc.people
    #[arg(long, env = "BATON_OIDC_CLIENT_SECRET", hide = true, hide_env_values = true)]
    oidc_client_secret: Option<SecretString>,
    /// Folder of the board that agents share [default: ~/.federation]
    #[arg(
        long = "federation-dir",
        value_name = "DIR",
        env = "FEDERATION_DIR",
        hide_env_values = true
    )]
    board: Option<PathBuf>,
}

/// Where the board is unless a flag or a variable names a folder.
fn board() -> Option<PathBuf> {
    etcetera::home_dir().ok().map(|home| home.join(".federation"))
}

impl NodeArgs {
    /// Flags and variables first, then the settings file, then the defaults.
    pub(in crate::cli) fn config(&self, data: &DataFolder) -> anyhow::Result<Config> {
        let named = self.config.is_some();
        let file = self.config.clone().unwrap_or_else(|| data.settings());
        let typed = Choices::check(TYPED, self.settings.clone().into())?;
        let written = if named || file.exists() { written(&file)? } else { Choices::default() };
        let around = Surroundings {
            data: data.clone(),
            master_key: self.master_key.clone(),
            debug_secret: self.hive_secret.clone(),
            client_secret: self.oidc_client_secret.clone(),
            keepers: Arc::new(keeper(data)?),
            sandbox_init: Some(sandbox_init()?),
            inherited: inherited(),
            board: self.board.clone().or_else(board),
            idle_exit: None,
        };
        Ok(Config::new(typed.or(written), around)?)
    }
}

/// Where a database is to go, for a command that needs nothing else of a node.
#[derive(Debug, Args)]
pub(in crate::cli) struct DatabaseArgs {
    /// `postgres://…`, an empty database [default: baton.db in the data folder]
    #[arg(long, value_name = "URL", env = "BATON_DATABASE_URL", hide_env_values = true)]
    database_url: Option<SecretString>,
    /// Settings file that names the database [default: none]
    #[arg(long, value_name = "FILE", env = "BATON_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
}

impl DatabaseArgs {
    /// What the flag, the variable or the file says; none when none of them says anything.
    pub(in crate::cli) fn database(&self) -> anyhow::Result<Option<DatabaseUrl>> {
        let database_url = self.database_url.as_ref().map(|url| url.expose_secret().to_owned());
        let storage = StorageSettings { database_url, ..StorageSettings::default() };
        let typed = Choices::check(TYPED, Settings { storage, ..Settings::default() })?;
        let written = self.config.as_deref().map(written).transpose()?.unwrap_or_default();
        Ok(typed.or(written).database)
    }
}

/// The settings of a proxy that runs by itself in front of cocoons, and what protects it: flags and
/// variables first, then the settings file.
pub(in crate::cli) fn proxy(
    listen: Option<String>,
    config: Option<&Path>,
    data: &DataFolder,
) -> anyhow::Result<(ProxySettings, Exposure)> {
    let proxy = ProxyTexts { listen, ..ProxyTexts::default() };
    let typed = Choices::check(TYPED, Settings { proxy, ..Settings::default() })?;
    let file = config.map_or_else(|| data.settings(), Path::to_owned);
    let exists = config.is_some() || file.exists();
    let written = if exists { written(&file)? } else { Choices::default() };
    let choices = typed.or(written);
    let exposure = choices.exposure()?;
    Ok((choices.proxy.settle(&Owner::local()), exposure))
}

/// The choices of a settings file.
fn written(file: &Path) -> anyhow::Result<Choices> {
    Ok(Choices::check(&format!("the file {}", file.display()), Settings::read(file)?)?)
}

/// The variables of a keeper: it outlives the node, and so would a secret among them.
const KEEPERS: &[&str] = &["PATH", "LANG", "RUST_BACKTRACE"];

/// A keeper is this program with its hidden subcommand.
fn keeper(data: &DataFolder) -> anyhow::Result<KeeperCommand> {
    let program = std::env::current_exe().context("expected to know this program's own file")?;
    // The folder is named so that a list of processes tells whose keeper it is.
    let args = ["--data".into(), data.path().into(), OsString::from("keeper")];
    let mut environment = inherited();
    environment.retain(|name, _| KEEPERS.contains(&name.as_str()));
    Ok(KeeperCommand { program, args: args.into(), environment })
}

/// The first process in a sandbox is this program with another hidden subcommand.
pub(in crate::cli) fn sandbox_init() -> anyhow::Result<InitCommand> {
    let program = std::env::current_exe().context("expected to know this program's own file")?;
    Ok(InitCommand { program, args: vec!["sandbox-init".to_owned()] })
}

/// The variables of this process; the launch of a browser passes on only those that it needs.
pub(in crate::cli) fn inherited() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.starts_with("BATON_"))
        .collect()
}

/// The longest specification that is read, in bytes.
const SPEC_LIMIT: u64 = 1 << 20;

/// Hold the browser of one session; reads what to do from standard input
#[derive(Debug, Args)]
pub(in crate::cli) struct Keeper {}

impl Keeper {
    #[expect(clippy::unused_self, reason = "every command runs like this")]
    pub(in crate::cli) fn run(self) -> anyhow::Result<Exit> {
        crate::output::log_to_stderr("info", false);
        let (mut told, mut text) = (BufReader::new(std::io::stdin()), String::new());
        told.by_ref().take(SPEC_LIMIT).read_line(&mut text)?;
        let spec: KeeperSpec = serde_json::from_str(&text)
            .context("expected the specification of a keeper on standard input")?;
        let signals = keeper::detach()?;
        keeper::run(&spec, told, std::io::stdout(), signals)?;
        Ok(Exit::Done)
    }
}

/// Run a browser that is to sites what a session is, for programs that start one themselves
#[derive(Debug, Args)]
pub(in crate::cli) struct BrowserWrapper {
    /// What it is a wrapper of, as JSON
    #[arg(value_name = "FILE")]
    spec: PathBuf,

    /// The command line of the browser
    #[arg(value_name = "ARG", num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl BrowserWrapper {
    /// How the browser ended.
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let file = std::fs::File::open(&self.spec)
            .with_context(|| format!("expected a file at {}", self.spec.display()))?;
        let mut text = String::new();
        file.take(WrapperSpec::LIMIT).read_to_string(&mut text)?;
        let spec: WrapperSpec = serde_json::from_str(&text)
            .context("expected the specification of a wrapper of a browser")?;
        let say = |line: &str| {
            // Whoever does not listen is not waited for.
            let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
        };
        Ok(ExitCode::from(keeper::wrap(&spec, self.arguments, say)?))
    }
}

/// Run as the first process of a sandbox, or as one of its tools
#[derive(Debug, Args)]
pub(in crate::cli) struct SandboxInit {
    /// `read`, `write`, `pack` or `connect` and a path; without them it obeys the socket on standard input, and with `bare` and a folder there
    #[arg(value_name = "WORD", num_args = 0..)]
    words: Vec<String>,
}

impl SandboxInit {
    #[cfg(target_os = "linux")]
    pub(in crate::cli) fn run(self) -> anyhow::Result<Exit> {
        baton_sandbox::init::run(&self.words)?;
        Ok(Exit::Done)
    }

    #[cfg(not(target_os = "linux"))]
    pub(in crate::cli) fn run(self) -> anyhow::Result<Exit> {
        anyhow::bail!("sandboxes need Linux, and {} words are of no use here", self.words.len())
    }
}
