//! Looks at this machine: what each found, and which walls around browsers and agents can be built here.

#[cfg(target_os = "linux")]
use anyhow::Context as _;
use baton_browser::launch::{self, ChromiumSandbox, Confine};
#[cfg(target_os = "linux")]
use baton_sandbox::local::{LocalProvider, Tools};
use baton_sandbox::{InitCommand, Network};
#[cfg(target_os = "linux")]
use baton_sandbox::{Limits, Provider as _, SandboxError, SandboxSpec};
use baton_server::Config;
use baton_session::Confinement;
use serde::Serialize;
#[cfg(target_os = "linux")]
use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::ffi::OsStr;

/// One look.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) name: &'static str,
    /// How it is.
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// It works, but should be known.
    Warning,
    /// It does not work.
    Broken,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), fix: None }
    }

    pub(super) fn warning(name: &'static str, found: impl Into<String>, fix: &str) -> Self {
        let (found, fix) = (found.into(), Some(fix.to_owned()));
        Self { name, status: Status::Warning, found, fix }
    }

    /// The first line of an error is what was found, the others are what to do.
    pub(super) fn broken(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        let (found, fix) = match text.split_once('\n') {
            Some((found, fix)) => (found.to_owned(), Some(fix.to_owned())),
            None => (text, None),
        };
        Self { name, status: Status::Broken, found, fix }
    }
}

/// What a container lets a node build around browsers and agents, as lines for its log: each says what was
/// looked at, how it is, and what would mend it.
pub(super) async fn walls(
    config: &Config,
    path: Option<&str>,
) -> impl Iterator<Item = (bool, String)> {
    let init = config.sandbox_init.clone();
    let looks = [
        browser_sandbox(config.sandbox),
        confinement(config.confine, path),
        sandboxes(path, init, config.sandboxes.network.clone()).await,
    ];
    looks.into_iter().map(|Check { name, status, found, fix }| {
        let fix = fix.map(|fix| format!(" ({})", fix.replace('\n', "; ")));
        (status == Status::Ok, format!("{name}: {found}{}", fix.unwrap_or_default()))
    })
}

/// Whether Chromium keeps its pages in a sandbox of its own.
pub(super) fn browser_sandbox(wanted: ChromiumSandbox) -> Check {
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
pub(super) fn confinement(wanted: Confine, path: Option<&str>) -> Check {
    const NAME: &str = "confinement";
    let available = launch::available(path);
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

/// What sandboxes are made with, and whether one starts with this network, whose first process `init` is; who makes
/// none does not need it.
#[cfg(target_os = "linux")]
pub(super) async fn sandboxes(
    path: Option<&str>,
    init: Option<InitCommand>,
    network: Network,
) -> Check {
    let path = path.unwrap_or_default();
    match one_starts(path, init, network).await {
        Ok(()) => Check::ok("sandboxes", made_with(path)),
        Err(error) => {
            let text = error.to_string();
            let (found, fix) = text.split_once('\n').unwrap_or((&text, ""));
            Check::warning("sandboxes", found, fix.trim())
        }
    }
}

/// Makes a sandbox as a node makes it, with its network, and ends it: where the programs are, the system may still
/// refuse what they do.
#[cfg(target_os = "linux")]
async fn one_starts(path: &str, init: Option<InitCommand>, network: Network) -> anyhow::Result<()> {
    let tools = Tools::find(OsStr::new(path))?;
    let name = format!("doctor-{}", std::process::id());
    let init = init.context("this program makes no sandboxes")?;
    let provider = LocalProvider::new(tools, init, &name);
    let spec = SandboxSpec {
        name,
        mounts: Vec::new(),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        network,
        limits: Limits::default(),
    };
    match provider.create(&spec).await {
        Ok(sandbox) => Ok(sandbox.remove().await?),
        Err(SandboxError::NotStarted { reason }) => {
            let first = reason.lines().next().unwrap_or_default();
            // Its namespaces were there.
            let fix = match first.strip_prefix("no network: ") {
                Some(_) if reason.contains("/dev/net/tun") => {
                    "let this user open /dev/net/tun, in a container with --device /dev/net/tun; or have \
                     sandboxes.network = \"none\" in the settings"
                }
                Some(_) => {
                    "let slirp4netns do what it says, or have sandboxes.network = \"none\" in the settings"
                }
                None => "allow this user namespaces of its own",
            };
            anyhow::bail!(
                "bubblewrap, slirp4netns and nftables are here, and no sandbox starts: {first}\n\
                 {fix}; what containers can do: docs/guide/container.md"
            )
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_os = "linux")]
fn made_with(path: &str) -> &'static str {
    let mut folders = std::env::split_paths(path);
    let has_display =
        folders.any(|folder| ["Xtigervnc", "Xvnc"].iter().any(|name| folder.join(name).is_file()));
    if has_display {
        "one starts, with bubblewrap, slirp4netns and nftables; Xtigervnc is here for displays"
    } else {
        "one starts, with bubblewrap, slirp4netns and nftables; displays (VNC) need tigervnc-standalone-server"
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn sandboxes(_: Option<&str>, _: Option<InitCommand>, _: Network) -> Check {
    Check::warning("sandboxes", "sandboxes need Linux", "make them at a node on Linux")
}
