//! What a doctor looks at. Each look is a line; none changes anything.

use super::{Check, Context, Status, database, keepers};
use crate::cli::failure::whole_text;
use crate::cli::serve::{NodeArgs, inherited};
use crate::local;
use baton_browser::launch;
use baton_node::config::TlsFiles;
use baton_node::{DataFolder, inspect};
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Every look, in the order in which things are needed.
pub(super) async fn all(args: NodeArgs, context: &Context) -> Vec<Check> {
    let data = &context.data;
    let mut checks = vec![user(), folder(data), private("master key", &data.key())];
    checks.push(private("admin key", &data.admin_key()));
    checks.extend(inside(data));
    match args.config(data) {
        Ok(config) => {
            checks.insert(0, browser(config.browser.as_deref()).await);
            let node = local::find(data).await;
            checks.push(self::node(node));
            let (found, look) = database::all(&config).await;
            checks.extend(found);
            checks.extend(config.exposure.tls.iter().map(certificate));
            checks.extend(keepers::all(data, look.as_ref()).await);
        }
        Err(error) => {
            checks.push(Check::broken("settings", whole_text(&error)));
            checks.extend(keepers::all(data, None).await);
        }
    }
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

/// Folders inside, which hold sockets and profiles.
fn inside(data: &DataFolder) -> Vec<Check> {
    let open = |path: &Path| mode(path).is_ok_and(|mode| mode & 0o077 != 0);
    let folders = [data.run(), data.sessions()].into_iter().filter(|path| open(path));
    let checks = folders.map(|path| {
        let path = path.display();
        let text = format!("others can look into {path}\nrun: chmod 700 {path}");
        Check::broken("data folder", text)
    });
    checks.collect()
}

/// A file with secrets in it.
pub(super) fn private(name: &'static str, path: &Path) -> Check {
    let shown = path.display();
    match mode(path) {
        Ok(mode) if mode & 0o077 != 0 => {
            let mode = mode & 0o777;
            let text = format!("others can use {shown}: mode {mode:o}\nrun: chmod 600 {shown}");
            Check::broken(name, text)
        }
        Ok(_) if is_linked(path) => {
            let fix = "give each folder a key of its own, unless you meant to share it";
            Check::warning(name, format!("{shown} is a link: another folder may share it"), fix)
        }
        Ok(_) => Check::ok(name, shown.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::ok(name, format!("{shown}, made at the first start"))
        }
        Err(error) => Check::broken(name, format!("{shown}: {error}")),
    }
}

fn mode(path: &Path) -> std::io::Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode())
}

fn is_linked(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink() || found.nlink() > 1)
}

fn node(found: anyhow::Result<Option<local::Found>>) -> Check {
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
