//! What a doctor finds of the browser: it is started as a node starts it, on a profile that is thrown away.

use super::Check;
use crate::cli::serve::inherited;
use baton_browser::keeper::{self, BrowserSpec, KeeperError, KeeperSpec, Ready, Role};
use baton_browser::launch::{self, ChromiumSandbox, LaunchOptions};
use baton_server::Config;
use baton_session::SessionId;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

const NAME: &str = "browser";
/// How long the browser may take to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Whether a browser is there, speaks under the rules that the settings want, and which one it is.
pub(super) async fn starts(config: &Config) -> Check {
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
pub(super) fn sandbox(wanted: ChromiumSandbox) -> Check {
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
