//! What a doctor looks at. Each look is a line; none changes anything.

use super::{Check, Context, Status};
use crate::cli::failure::whole_text;
use crate::cli::serve::{NodeArgs, inherited};
use crate::local;
use baton_browser::keeper::{self, KeeperError, Role};
use baton_browser::launch;
use baton_node::config::TlsFiles;
use baton_node::{Config, DataFolder, inspect};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every look, in the order in which things are needed.
pub(super) async fn all(args: NodeArgs, context: &Context) -> Vec<Check> {
    let data = &context.data;
    let mut checks = vec![user(), folder(data), private("master key", &data.key())];
    checks.push(private("admin key", &data.admin_key()));
    match args.config(data) {
        Ok(config) => {
            checks.insert(0, browser(config.browser.as_deref()).await);
            let node = local::find(data).await;
            let runs = matches!(node, Ok(Some(_)));
            checks.push(self::node(node));
            checks.push(database(&config, runs).await);
            checks.extend(config.exposure.tls.iter().map(certificate));
        }
        Err(error) => checks.push(Check::broken("settings", whole_text(&error))),
    }
    checks.extend(keepers(data).await);
    checks
}

async fn browser(named: Option<&Path>) -> Check {
    let path = inherited().remove("PATH");
    let program = match launch::find_browser(named, path.as_deref().map(OsStr::new)) {
        Ok(program) => program,
        Err(error) => return Check::broken("browser", error.to_string()),
    };
    match launch::version(&program).await {
        Ok(version) => Check::ok("browser", format!("{version} ({})", program.display())),
        Err(error) => Check::broken("browser", error.to_string()),
    }
}

fn user() -> Check {
    if rustix::process::geteuid().is_root() {
        let fix = "run Baton as another user to keep the browser's sandbox";
        Check::warning("user", "root: Chromium runs with --no-sandbox", fix)
    } else {
        Check::ok("user", "not root: Chromium runs in its sandbox")
    }
}

fn folder(data: &DataFolder) -> Check {
    let path = data.path().display().to_string();
    if !data.path().exists() {
        return Check::ok("data folder", format!("{path}, made at the first start"));
    }
    match data.check() {
        Ok(()) => Check::ok("data folder", path),
        Err(error) => Check::broken("data folder", error.to_string()),
    }
}

fn private(name: &'static str, path: &Path) -> Check {
    match std::fs::metadata(path) {
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let mode = found.permissions().mode() & 0o777;
            let path = path.display();
            let text = format!("others can use {path}: mode {mode:o}\nrun: chmod 600 {path}");
            Check::broken(name, text)
        }
        Ok(_) => Check::ok(name, path.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::ok(name, format!("{}, made at the first start", path.display()))
        }
        Err(error) => Check::broken(name, format!("{}: {error}", path.display())),
    }
}

fn node(found: anyhow::Result<Option<local::Found>>) -> Check {
    match found {
        Ok(Some(node)) => Check::ok("node", format!("runs at {}", node.client.base())),
        Ok(None) => Check::ok("node", "none runs; the first command that needs one starts it"),
        Err(error) => Check::broken("node", whole_text(&error)),
    }
}

/// A running node was asked already; without one the database is opened as a node would.
async fn database(config: &Config, node_runs: bool) -> Check {
    let name = config.database.to_string();
    if node_runs {
        return Check::ok("database", format!("{name}, open in the running node"));
    }
    let missing = !config.data.key().exists() && config.master_key.is_none();
    if missing {
        return Check::ok("database", format!("{name}, made at the first start"));
    }
    match inspect::database(config).await {
        Ok(()) => Check::ok("database", name),
        Err(error) => Check::broken("database", error.to_string()),
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

async fn keepers(data: &DataFolder) -> Vec<Check> {
    let Ok(entries) = std::fs::read_dir(data.run()) else { return Vec::new() };
    let mut checks = Vec::new();
    for socket in entries.flatten().map(|entry| entry.path()) {
        if socket.extension() == Some(OsStr::new("sock")) {
            checks.push(keeper(&socket).await);
        }
    }
    checks
}

async fn keeper(socket: &Path) -> Check {
    match keeper::knock(socket, Role::Client).await {
        Ok((_transport, welcome)) => {
            let (session, pid) = (welcome.session, welcome.pid);
            let browser = welcome.browser_version;
            Check::ok("keeper", format!("process {pid} holds {browser} of session {session}"))
        }
        Err(KeeperError::NotRunning { .. }) => {
            let fix = "nothing: the next start of a node clears it";
            Check::warning("keeper", format!("stale socket {}", socket.display()), fix)
        }
        Err(error) => Check::broken("keeper", error.to_string()),
    }
}
