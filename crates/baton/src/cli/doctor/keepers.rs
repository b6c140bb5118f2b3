//! What a doctor finds of keepers: by their sockets, and by their processes.

use super::{Check, bounded};
use baton_browser::keeper::{self, KeeperError, Role, Welcome};
use baton_server::inspect::Look;
use baton_session::{Confinement, Lifecycle};
use baton_store::data::DataFolder;
use std::ffi::OsStr;
use std::path::Path;

/// The looks. Without a look at the database nobody knows which sessions are active.
pub(super) async fn all(data: &DataFolder, look: Option<&Look>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut answered = Vec::new();
    let mut silent = false;
    for entry in std::fs::read_dir(data.run()).into_iter().flatten().flatten() {
        let socket = entry.path();
        if socket.extension() != Some(OsStr::new("sock")) {
            continue;
        }
        match keeper::knock(&socket, Role::Client).await {
            Ok((_transport, welcome)) => {
                answered.push(welcome.pid);
                checks.push(holds(&welcome, look));
            }
            Err(KeeperError::NotRunning { .. }) => {
                let fix = "nothing: the next start of a node clears it";
                let text = format!("stale socket {}", socket.display());
                checks.push(Check::warning("keeper", text, fix));
            }
            Err(error) => {
                silent = true;
                checks.push(Check::broken("keeper", error.to_string()));
            }
        }
    }
    // One that did not answer is a process too, and nobody knows which.
    if !silent {
        let lost = processes(data).into_iter().filter(|pid| !answered.contains(pid));
        checks.extend(lost.map(unreachable));
    }
    bounded("keeper", checks)
}

fn holds(welcome: &Welcome, look: Option<&Look>) -> Check {
    let Welcome { session, pid, browser_version, .. } = welcome;
    let text = format!("process {pid} holds {browser_version} of session {session}");
    if !welcome.confinement.is_some_and(Confinement::holds) && !welcome.attached {
        let text = format!("{text}, which has every file of its user");
        let fix = format!("baton sessions close {session}, then baton sessions resume {session}");
        return Check::warning("keeper", text, &fix);
    }
    let Some(look) = look else { return Check::ok("keeper", text) };
    match look.sessions.iter().find(|(id, _)| id == session) {
        Some((_, Lifecycle::Active)) => Check::ok("keeper", text),
        Some((_, lifecycle)) => {
            let fix =
                "nothing if it is being opened or resumed; else the next start of a node ends it";
            Check::warning("keeper", format!("{text}, which is {lifecycle}"), fix)
        }
        None => {
            let text = format!("{text}, which this database does not know");
            let fix =
                format!("if no other database is used here, end it with its browser: kill {pid}");
            Check::warning("keeper", text, &fix)
        }
    }
}

fn unreachable(pid: u32) -> Check {
    let text = format!("process {pid} is a keeper of this folder, and no socket leads to it");
    Check::warning("keeper", text, &format!("end it with its browser: kill {pid}"))
}

/// Keepers are this program with the folder and their hidden subcommand as arguments.
fn processes(data: &DataFolder) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_keeper(*pid, data.path())).collect()
}

fn is_keeper(pid: u32, data: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let args: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let ours = [b"--data".as_slice(), data.as_os_str().as_encoded_bytes(), b"keeper"];
    args.windows(3).any(|window| window == ours)
}
