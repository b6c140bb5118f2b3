//! `baton browser`: which browsers this machine has, and one for a machine that has none.
//!
//! No node is asked. What is installed lies in the cache of its user, for all data folders, and the next
//! browser that a node starts may be it.

use super::Context;
use super::serve::{self, inherited};
use crate::output::{self, InstalledView, ListedBrowser, size};
use anyhow::Context as _;
use baton_api::Exit;
use baton_browser::install::{
    FileHash, INDEX, InstallStep, Installer, PublishedBrowser, WantedVersion, may_ask,
};
use baton_browser::launch::{
    self, BrowserChoice, BrowserKind, BrowserPlaces, BrowserVersion, NEWEST_TRIED, OLDEST,
};
use baton_server::Config;
use clap::{Args, Subcommand};
use futures_util::future::join_all;
use reqwest::redirect::Policy;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// List the browsers of this machine, and install one
#[derive(Debug, Subcommand)]
pub(super) enum BrowserCommand {
    Install(InstallBrowser),
    List(Box<ListBrowsers>),
}

impl BrowserCommand {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Install(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
        }
    }
}

/// Install Chrome for Testing for the sessions of this user
#[derive(Debug, Args)]
#[command(after_help = "\
It is loaded from where Google publishes it, over HTTPS, through HTTPS_PROXY where that is set, and put
into baton/browsers of the cache (XDG_CACHE_HOME, or ~/.cache). A download that is cut off goes on when the same is typed
again. Its length, the checksums that the server tells, and those in the ZIP file are compared; the
published index has none, so a SHA-256 from elsewhere is compared where one is given.

A machine without a network installs a ZIP file that another one has loaded.

Sessions start it where the system has no Chromium and no Chrome, and everywhere with
browser.program = \"chrome-for-testing\" in the settings. What is installed is not updated by itself.

The exit code is 6 when it is installed and lacks libraries to start, which are named.

Examples:
  baton browser install                          the stable version
  baton browser install --version 156            the last one of 156
  baton browser install --from-file chrome-linux64.zip")]
pub(super) struct InstallBrowser {
    /// stable, beta, dev, canary, a number such as 156, or a whole version
    #[arg(long, value_name = "VERSION", default_value = "stable")]
    version: WantedVersion,
    /// A ZIP file of Chrome for Testing for Linux that is here already
    #[arg(long, value_name = "ZIP", conflicts_with = "index")]
    from_file: Option<PathBuf>,
    /// Where the index is, or a copy of it: https, or http at 127.0.0.1
    #[arg(long, value_name = "URL", default_value = INDEX)]
    index: Url,
    /// What the SHA-256 of the ZIP file has to be
    #[arg(long, value_name = "HASH")]
    sha256: Option<FileHash>,
}

/// There is no place for browsers.
#[derive(Debug, thiserror::Error)]
#[error("expected a home folder in HOME, or a cache in XDG_CACHE_HOME, found none")]
struct NoHome;

/// A version of a ZIP file that no program could be called.
#[derive(Debug, thiserror::Error)]
#[error("expected a whole version such as {NEWEST_TRIED}.0.0.0 beside --from-file, found {0}")]
pub(super) struct NotWhole(WantedVersion);

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// How long nothing may come.
const SILENCE_LIMIT: Duration = Duration::from_secs(30);
/// How often one may be led elsewhere.
const REDIRECTS: usize = 5;

impl InstallBrowser {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let output = context.output;
        let places = BrowserPlaces::of(&inherited());
        let folder = places.installed_in().ok_or(NoHome)?;
        let installer = Installer::open(folder)?;
        let progress = output.progress("installing a browser");
        let tell = |step| progress.say(&text_of(step));
        let made = if let Some(zip) = &self.from_file {
            let version = whole(&self.version)?;
            installer.install_file(zip, version, self.sha256, &tell).await
        } else {
            let wanted = PublishedBrowser {
                client: &client()?,
                index: &self.index,
                version: &self.version,
                sha256: self.sha256,
            };
            installer.install(wanted, &tell).await
        };
        progress.end();
        let browser = made?;
        let view = InstalledView::of(&browser);
        output.answer(&view, || output::installed_browser(&view));
        if browser.was_there && self.sha256.is_some() && self.from_file.is_none() {
            output.note(
                "it was there already, so nothing was loaded, and nothing compared with --sha256; to have it \
                 loaded and compared, remove its folder first",
            );
        }
        if let Some(other) = other_default(&places) {
            output.note(&format!(
                "this machine has {} too, which sessions start; to have them start the installed one, set \
                 browser.program = \"{}\"",
                other.display(),
                BrowserKind::ChromeForTesting
            ));
        }
        Ok(if browser.missing.is_some() { Exit::Losses } else { Exit::Done })
    }
}

/// The version that a file is said to be; a channel says nothing of it.
fn whole(wanted: &WantedVersion) -> Result<Option<BrowserVersion>, NotWhole> {
    match wanted {
        WantedVersion::Channel("Stable") => Ok(None),
        WantedVersion::Exact(version) => Ok(Some(*version)),
        other => Err(NotWhole(other.clone())),
    }
}

/// The browser that was installed for Baton, where sessions start it without a setting.
pub(super) fn installed() -> Option<PathBuf> {
    let places = BrowserPlaces::of(&inherited());
    let found = launch::find_browser(None, &places).ok();
    let is_named = std::env::var_os("BATON_BROWSER").is_some();
    found.filter(|found| !is_named && is_installed(&places, found))
}

fn is_installed(places: &BrowserPlaces, program: &Path) -> bool {
    places.installed_in().is_some_and(|folder| program.starts_with(folder))
}

/// What sessions start instead of what was installed, as long as the settings name nothing.
fn other_default(places: &BrowserPlaces) -> Option<PathBuf> {
    let found = launch::find_browser(None, places).ok();
    found.filter(|found| !is_installed(places, found))
}

/// Asks through the proxy that the environment names, and is led only where nobody can change what comes.
fn client() -> anyhow::Result<reqwest::Client> {
    let policy = Policy::custom(|attempt| {
        if attempt.previous().len() > REDIRECTS {
            attempt.error("it is led elsewhere again and again")
        } else if may_ask(attempt.url()) {
            attempt.follow()
        } else {
            attempt.error("it is led to an address without https")
        }
    });
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(SILENCE_LIMIT)
        .redirect(policy)
        .build();
    client.context(
        "expected certificates of authorities on this machine, found none that can be used",
    )
}

/// What is being done, on one line.
fn text_of(step: InstallStep) -> String {
    match step {
        InstallStep::Asking => "asking for the index".to_owned(),
        InstallStep::Downloading { done, total: Some(total) } => {
            format!("loading: {} of {}", size(done), size(total))
        }
        InstallStep::Downloading { done, total: None } => format!("loading: {}", size(done)),
        InstallStep::Checking => "comparing checksums".to_owned(),
        InstallStep::Unpacking { done, total } => {
            format!("unpacking: {} of {}", size(done), size(total))
        }
        InstallStep::Trying => "asking it for its version".to_owned(),
    }
}

/// List the browsers of this machine, and which one sessions start
#[derive(Debug, Args)]
#[command(after_help = "\
They are looked for in the order of the list: what the system has, what baton browser install
put there, the caches of Playwright and Puppeteer, and then Edge and Brave. browser.program in the
settings names another one, by the name in the list or by its path.

Settings that only a node needs are read and not used.

Example:
  baton browser list")]
pub(super) struct ListBrowsers {
    #[command(flatten)]
    node: serve::NodeArgs,
}

/// The document of a list.
#[derive(Debug, Serialize)]
struct BrowserList {
    items: Vec<ListedBrowser>,
}

impl ListBrowsers {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let config = self.node.config(&context.data)?;
        let list = BrowserList { items: listed(&config).await };
        context.output.answer(&list, || {
            if list.items.is_empty() {
                "no browser; baton browser install installs one".to_owned()
            } else {
                output::browsers(&list.items)
            }
        });
        Ok(Exit::Done)
    }
}

/// The most browsers that are asked for their versions.
const ASKED: usize = 30;

/// The browsers of this machine, each of which is asked for its version, and the one that sessions start.
pub(super) async fn listed(config: &Config) -> Vec<ListedBrowser> {
    let places = BrowserPlaces::of(&config.inherited);
    let used = launch::find_browser(config.browser.as_ref(), &places).ok();
    let mut all: Vec<(&str, PathBuf)> = launch::all_browsers(&places)
        .into_iter()
        .map(|found| (found.kind.name(), found.program))
        .take(ASKED)
        .collect();
    if let Some(BrowserChoice::Program(path)) = &config.browser
        && used.is_some()
        && all.iter().all(|(_, program)| program != path)
    {
        all.insert(0, ("browser.program", path.clone()));
    }
    let looks = all.into_iter().map(async |(name, program)| {
        let is_used = used.as_ref() == Some(&program);
        look(name, program, is_used).await
    });
    join_all(looks).await
}

async fn look(name: &'static str, program: PathBuf, is_used: bool) -> ListedBrowser {
    let said = launch::version(&program).await;
    let version = said.as_ref().ok().and_then(|text| BrowserVersion::in_text(text));
    let problem = match (&said, version) {
        (Err(_), _) => Some(not_started(&program).await),
        (Ok(_), None) => Some("it does not say its version".to_owned()),
        (Ok(_), Some(version)) if version.is_too_old() => {
            Some(format!("too old: Baton works with {OLDEST} and newer"))
        }
        (Ok(_), Some(version)) if version.is_untried() => {
            Some(format!("newer than {NEWEST_TRIED}, the last that was tried"))
        }
        (Ok(_), Some(_)) => None,
    };
    ListedBrowser {
        name,
        version: version.map(|version| version.to_string()),
        used: is_used,
        problem,
        program,
    }
}

async fn not_started(program: &Path) -> String {
    match baton_browser::install::MissingLibraries::of(program).await {
        Some(missing) => missing.to_string().replace('\n', "; "),
        None => "it does not start".to_owned(),
    }
}
