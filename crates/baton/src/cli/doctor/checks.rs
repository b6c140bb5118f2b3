//! What a doctor looks at. Each look is a line; none changes anything.

use super::files::{folder, inside, private};
use super::{Check, Context, Status, browser, database, keepers};
use crate::cli::failure::whole_text;
use crate::cli::serve::{NodeArgs, inherited};
use crate::local;
use baton_browser::launch::{self, ChromiumSandbox, Confine};
use baton_net::tls::TlsFiles;
use baton_server::inspect;
use baton_session::Confinement;
use std::ffi::OsStr;

/// Every look, in the order in which things are needed.
pub(super) async fn all(args: NodeArgs, context: &Context) -> Vec<Check> {
    let data = &context.data;
    let mut checks = vec![folder(data), private("master key", &data.key())];
    checks.push(private("admin key", &data.admin_key()));
    checks.push(sandboxes());
    checks.extend(inside(data));
    match args.config(data) {
        Ok(config) => {
            let first = [browser::starts(&config).await, confinement(config.confine)];
            checks.splice(0..0, first.into_iter().chain([browser::sandbox(config.sandbox)]));
            let node = local::find(data).await;
            checks.push(self::node(node));
            let (found, look) = database::all(&config).await;
            checks.extend(found);
            checks.extend(config.exposure.tls.iter().map(certificate));
            checks.extend(keepers::all(data, look.as_ref()).await);
        }
        Err(error) => {
            checks.insert(0, browser::sandbox(ChromiumSandbox::Auto));
            checks.push(Check::broken("settings", whole_text(&error)));
            checks.extend(keepers::all(data, None).await);
        }
    }
    checks
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
