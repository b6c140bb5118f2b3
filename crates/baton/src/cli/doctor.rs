//! `baton doctor`: each look at this machine is a line, and none changes anything.
//!
//! It starts the browser as a node starts it, on a profile that it throws away. Its looks at the data
//! folder are in `data`.

mod data;

use super::Context;
use super::browser::listed;
use super::failure::whole_text;
use super::looks::{Check, Status, browser_sandbox, confinement, sandboxes};
use super::serve::{self, NodeArgs, inherited};
use crate::output::ListedBrowser;
use crate::{local, output};
use baton_api::{Client, Exit};
use baton_browser::keeper::{self, BrowserSpec, KeeperError, KeeperSpec, Ready, Role};
use baton_browser::launch::{
    self, BrowserPlaces, BrowserVersion, ChromiumSandbox, LaunchOptions, NEWEST_TRIED,
};
use baton_net::tls::TlsFiles;
use baton_sandbox::Network;
use baton_server::{Config, inspect};
use baton_session::SessionId;
use clap::Args;
use data::{database, folder, inside, keepers, private};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

/// Look for what is missing or wrong on this machine, and say what to do
#[derive(Debug, Args)]
#[command(after_help = "The exit code is 1 when something is broken. Nothing is changed.")]
pub(super) struct Doctor {
    #[command(flatten)]
    node: serve::NodeArgs,
}

/// Everything that was looked at.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether nothing is broken.
    ok: bool,
    /// One line a look.
    checks: Vec<Check>,
    /// The browsers that are there, the one first that is looked for first.
    browsers: Vec<ListedBrowser>,
}

/// At most so many lines of one kind.
const LINES: usize = 10;

/// The first lines, and one that says how many more there are.
fn bounded(name: &'static str, mut checks: Vec<Check>) -> Vec<Check> {
    let more = checks.len().saturating_sub(LINES);
    if more > 0 {
        checks.truncate(LINES);
        checks.push(Check::warning(name, format!("and {more} more"), "begin with those above"));
    }
    checks
}

impl Doctor {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let (checks, browsers) = checks(self.node, context).await;
        let ok = checks.iter().all(|check| check.status != Status::Broken);
        let report = Report { ok, checks, browsers };
        context.output.answer(&report, || text(&report));
        Ok(if ok { Exit::Done } else { Exit::Failed })
    }
}

fn text(report: &Report) -> String {
    let lines = report.checks.iter().flat_map(|check| {
        let mark = match check.status {
            Status::Ok => output::good("ok     "),
            Status::Warning => output::doubtful("warning"),
            Status::Broken => output::bad("broken "),
        };
        let line = format!("{mark}  {:<12} {}", check.name, output::plain(&check.found));
        let fixes = check.fix.iter().flat_map(|fix| fix.lines());
        let fixes: Vec<String> = fixes.map(|fix| format!("{:22} → {fix}", "")).collect();
        std::iter::once(line).chain(fixes)
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if !report.browsers.is_empty() {
        text.push_str("\n\n");
        text.push_str(&output::browsers(&report.browsers));
    }
    text
}

/// Every look, in the order in which things are needed, and the browsers that are there.
async fn checks(args: NodeArgs, context: &Context) -> (Vec<Check>, Vec<ListedBrowser>) {
    let data = &context.data;
    let path = inherited().remove("PATH");
    let mut browsers = Vec::new();
    let mut checks = vec![folder(data), private("master key", &data.key())];
    checks.push(private("admin key", &data.admin_key()));
    let config = args.config(data);
    // Where nobody can read what sandboxes reach, they need all that they may.
    let network = config.as_ref().map(|config| config.sandboxes.network.clone());
    let network = network.unwrap_or_else(|_| Network::Public(Vec::new()));
    checks.push(sandboxes(path.as_deref(), serve::sandbox_init().ok(), network).await);
    checks.extend(inside(data));
    match config {
        Ok(config) => {
            browsers = listed(&config).await;
            let first =
                [browser_starts(&config).await, confinement(config.confine, path.as_deref())];
            checks.splice(0..0, first.into_iter().chain([browser_sandbox(config.sandbox)]));
            let node = local::find(data).await;
            let cluster = match &node {
                Ok(Some(node)) if config.cluster.is_some() => Some(cluster(&node.client).await),
                _ => None,
            };
            let bus = bus(&config, node.as_ref().ok().and_then(Option::as_ref)).await;
            checks.push(self::node(node));
            checks.extend(cluster);
            checks.extend(bus);
            let (found, look) = database(&config).await;
            checks.extend(found);
            checks.extend(config.exposure.tls.iter().map(certificate));
            checks.extend(keepers(data, look.as_ref()).await);
        }
        Err(error) => {
            checks.insert(0, browser_sandbox(ChromiumSandbox::Auto));
            checks.push(Check::broken("settings", whole_text(&error)));
            checks.extend(keepers(data, None).await);
        }
    }
    (checks, browsers)
}

const NAME: &str = "browser";

/// How long the browser may take to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Whether a browser is there, speaks under the rules that the settings want, and which one it is.
async fn browser_starts(config: &Config) -> Check {
    let places = BrowserPlaces::of(&config.inherited);
    let program = match launch::find_browser(config.browser.as_ref(), &places) {
        Ok(program) => program,
        Err(error) => return Check::broken(NAME, error.to_string()),
    };
    let folder = match tempfile::Builder::new().prefix("baton-doctor-").tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            return Check::broken(NAME, format!("no folder for a browser to be tried in: {error}"));
        }
    };
    match tried(config, program.clone(), folder.path()).await {
        Ok(ready) => {
            let version = ready.browser_version;
            let found = format!("{version} ({}), and it starts", program.display());
            match BrowserVersion::in_text(&version).filter(|version| version.is_untried()) {
                Some(_) => Check::warning(NAME, found, &untried()),
                None => Check::ok(NAME, found),
            }
        }
        Err(error) => Check::broken(NAME, error.to_string()),
    }
}

/// What to do with a browser that is newer than this program.
fn untried() -> String {
    format!(
        "newer than {NEWEST_TRIED}, the last that was tried; if something fails, take a newer Baton, or: baton \
         browser install --version {NEWEST_TRIED}, and browser.program = \"chrome-for-testing\""
    )
}

async fn tried(config: &Config, program: PathBuf, folder: &Path) -> Result<Ready, KeeperError> {
    let options = LaunchOptions {
        files: folder.join("files"),
        folders: config.folders.clone(),
        confine: config.confine,
        sandbox: config.sandbox,
        extra_args: config.switches.iter().map(ToString::to_string).collect(),
        inherited: config.inherited.clone(),
        ..LaunchOptions::new(program, folder.join("profile"))
    };
    let spec = KeeperSpec {
        session: SessionId::new(jiff::Timestamp::now(), rand::random()),
        socket: folder.join("keeper.sock"),
        browser: BrowserSpec::Launch(Box::new(options)),
        log: folder.join("keeper.log"),
        hold_until: None,
        prelude: Vec::new(),
        egress: None,
    };
    let ready = config.keepers.spawn(&spec, None).await?.ready;
    let link = keeper::connect(&spec.socket, Role::Node).await?;
    keeper::close(&link.connection).await?;
    let closed = timeout(END_LIMIT, link.connection.closed()).await;
    closed.map(|()| ready).map_err(|_| KeeperError::TimedOut {
        what: "the end of a browser that was asked to end",
        limit: END_LIMIT,
    })
}

fn node(found: anyhow::Result<Option<local::LocalNode>>) -> Check {
    match found {
        Ok(Some(node)) => Check::ok("node", format!("runs at {}", node.client.base())),
        Ok(None) => Check::ok("node", "none runs; the first command that needs one starts it"),
        Err(error) => Check::broken("node", whole_text(&error)),
    }
}

/// The nodes that are one with the node that runs, as that one knows them.
async fn cluster(client: &Client) -> Check {
    let list = match client.list_nodes().await {
        Ok(list) => list,
        Err(error) => return Check::broken("cluster", error.to_string()),
    };
    match output::clustered(&list) {
        None => {
            let found = "the node that runs is of none, though the settings name one";
            Check::warning("cluster", found, "end it: baton stop, and start it with these settings")
        }
        Some((found, wrong)) if wrong.is_empty() => Check::ok("cluster", found),
        Some((found, wrong)) => {
            let found = format!("{found}; {}", wrong.join("; "));
            let fix = "set clocks that are off, and start nodes that are gone (baton node list), or forget them: baton node forget";
            Check::warning("cluster", found, fix)
        }
    }
}

/// Whether the bus that the settings name lets a node in, and whether the node that runs is on it.
async fn bus(config: &Config, node: Option<&local::LocalNode>) -> Option<Check> {
    const NAME: &str = "bus";
    let found = match inspect::bus(config).await? {
        Ok(found) => found,
        Err(found) => return Some(Check::broken(NAME, found)),
    };
    let nodes = match node {
        Some(node) => node.client.list_nodes().await.ok(),
        None => None,
    };
    Some(match nodes.and_then(|nodes| output::bus_away(&nodes)) {
        Some(away) => {
            let fix = "it tries again within seconds; baton node list, and baton node show NODE";
            Check::warning(NAME, format!("{found}, and for the node that runs {away}"), fix)
        }
        None => Check::ok(NAME, found),
    })
}

/// Certificate and key, and whether others can use the key.
fn certificate(files: &TlsFiles) -> Check {
    const NAME: &str = "certificate";
    match inspect::certificate(files) {
        Err(error) => Check::broken(NAME, error.to_string()),
        Ok(()) => match private(NAME, &files.key) {
            key if key.status == Status::Ok => {
                Check::ok(NAME, files.certificate.display().to_string())
            }
            key => key,
        },
    }
}
