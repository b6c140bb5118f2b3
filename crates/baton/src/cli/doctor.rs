//! `baton doctor`: each look at this machine is a line, and none changes anything.
//!
//! It starts the browser as a node starts it, on a profile that it throws away. Its looks at the data
//! folder are in `data`.

mod data;

use super::Context;
use super::failure::whole_text;
use super::serve::{self, NodeArgs, inherited};
use crate::{local, output};
use baton_api::Exit;
use baton_browser::keeper::{self, BrowserSpec, KeeperError, KeeperSpec, Ready, Role};
use baton_browser::launch::{self, ChromiumSandbox, Confine, LaunchOptions};
use baton_net::tls::TlsFiles;
use baton_server::{Config, inspect};
use baton_session::{Confinement, SessionId};
use clap::Args;
use data::{database, folder, inside, keepers, private};
use serde::Serialize;
use std::ffi::OsStr;
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
}

/// One look.
#[derive(Debug, Serialize)]
struct Check {
    /// What was looked at.
    name: &'static str,
    /// How it is.
    status: Status,
    /// What was found.
    found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// As it should be.
    Ok,
    /// It works, but should be known.
    Warning,
    /// It does not work.
    Broken,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), fix: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, fix: &str) -> Self {
        let (found, fix) = (found.into(), Some(fix.to_owned()));
        Self { name, status: Status::Warning, found, fix }
    }

    /// The first line of an error is what was found, the others are what to do.
    fn broken(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        let (found, fix) = match text.split_once('\n') {
            Some((found, fix)) => (found.to_owned(), Some(fix.to_owned())),
            None => (text, None),
        };
        Self { name, status: Status::Broken, found, fix }
    }
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
        let checks = checks(self.node, context).await;
        let ok = checks.iter().all(|check| check.status != Status::Broken);
        let report = Report { ok, checks };
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
    lines.collect::<Vec<_>>().join("\n")
}

/// Every look, in the order in which things are needed.
async fn checks(args: NodeArgs, context: &Context) -> Vec<Check> {
    let data = &context.data;
    let mut checks = vec![folder(data), private("master key", &data.key())];
    checks.push(private("admin key", &data.admin_key()));
    checks.push(sandboxes());
    checks.extend(inside(data));
    match args.config(data) {
        Ok(config) => {
            let first = [browser_starts(&config).await, confinement(config.confine)];
            checks.splice(0..0, first.into_iter().chain([browser_sandbox(config.sandbox)]));
            let node = local::find(data).await;
            checks.push(self::node(node));
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
    checks
}

const NAME: &str = "browser";

/// How long the browser may take to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Whether a browser is there, speaks under the rules that the settings want, and which one it is.
async fn browser_starts(config: &Config) -> Check {
    let path = inherited().remove("PATH");
    let named = config.browser.as_deref();
    let program = match launch::find_browser(named, path.as_deref().map(OsStr::new)) {
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
            Check::ok(NAME, found)
        }
        Err(error) => Check::broken(NAME, error.to_string()),
    }
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
    let ready = config.keepers.spawn(&spec).await?;
    let link = keeper::connect(&spec.socket, Role::Node).await?;
    keeper::close(&link.connection).await?;
    let closed = timeout(END_LIMIT, link.connection.closed()).await;
    closed.map(|()| ready).map_err(|_| KeeperError::TimedOut {
        what: "the end of a browser that was asked to end",
        limit: END_LIMIT,
    })
}

/// Whether Chromium keeps its pages in a sandbox of its own.
fn browser_sandbox(wanted: ChromiumSandbox) -> Check {
    const NAME: &str = "user";
    if rustix::process::geteuid().is_root() {
        let fix = "run Baton as another user to keep the browser's sandbox";
        return Check::warning(NAME, "root: Chromium runs with --no-sandbox", fix);
    }
    match wanted {
        ChromiumSandbox::Auto => Check::ok(NAME, "not root: Chromium runs in its sandbox"),
        ChromiumSandbox::Off => {
            let fix = "remove browser.sandbox from the settings, unless a container is the sandbox";
            let text = "not root, and browser.sandbox is off: Chromium runs with --no-sandbox";
            Check::warning(NAME, text, fix)
        }
    }
}

/// By which rules browsers are kept from the files of this machine.
fn confinement(wanted: Confine) -> Check {
    const NAME: &str = "confinement";
    let path = inherited().remove("PATH");
    let available = launch::available(path.as_deref());
    let holds = match wanted {
        Confine::Off => {
            let fix = "remove browser.confinement from the settings, unless you meant it";
            let text = "off: whoever drives a browser has every file of this user";
            return Check::warning(NAME, text, fix);
        }
        Confine::Auto => available.first().copied(),
        Confine::Landlock => Some(Confinement::Landlock),
        Confine::Bubblewrap => Some(Confinement::Bubblewrap),
    };
    match holds.filter(|rules| available.contains(rules)) {
        Some(rules) => {
            Check::ok(NAME, format!("{rules}: browsers see the files of their session alone"))
        }
        None if wanted == Confine::Auto => {
            let fix = "a kernel with Landlock (Linux 5.13), or: apt-get install bubblewrap";
            let text = "none: whoever drives a browser has every file of this user";
            Check::warning(NAME, text, fix)
        }
        None => {
            let text = "what browser.confinement wants is not here: no browser starts";
            Check::broken(NAME, text)
        }
    }
}

/// What sandboxes are made with; who makes none does not need it.
#[cfg(target_os = "linux")]
fn sandboxes() -> Check {
    let path = inherited().remove("PATH").unwrap_or_default();
    match baton_sandbox::local::Tools::find(OsStr::new(&path)) {
        Ok(_) => Check::ok("sandboxes", made_with(&path)),
        Err(error) => {
            let text = error.to_string();
            let (found, fix) = text.split_once('\n').unwrap_or((&text, ""));
            Check::warning("sandboxes", found, fix.trim())
        }
    }
}

#[cfg(target_os = "linux")]
fn made_with(path: &str) -> &'static str {
    let mut folders = std::env::split_paths(path);
    let has_display =
        folders.any(|folder| ["Xtigervnc", "Xvnc"].iter().any(|name| folder.join(name).is_file()));
    if has_display {
        "bubblewrap, slirp4netns and nftables are here, and Xtigervnc for displays"
    } else {
        "bubblewrap, slirp4netns and nftables are here; displays (VNC) need tigervnc-standalone-server"
    }
}

#[cfg(not(target_os = "linux"))]
fn sandboxes() -> Check {
    Check::warning("sandboxes", "sandboxes need Linux", "make them at a node on Linux")
}

fn node(found: anyhow::Result<Option<local::LocalNode>>) -> Check {
    match found {
        Ok(Some(node)) => Check::ok("node", format!("runs at {}", node.client.base())),
        Ok(None) => Check::ok("node", "none runs; the first command that needs one starts it"),
        Err(error) => Check::broken("node", whole_text(&error)),
    }
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
