//! What a doctor finds in the data folder: who may read what, the database, and the keepers.
//!
//! Keepers are found by their sockets, and by their processes.

use super::bounded;
use crate::cli::looks::{Check, Status};
use crate::output::counted;
use baton_browser::keeper::{self, KeeperError, Role, Welcome};
use baton_server::Config;
use baton_server::inspect::{self, Look};
use baton_session::{Confinement, Lifecycle};
use baton_store::data::DataFolder;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The data folder itself.
pub(super) fn folder(data: &DataFolder) -> Check {
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
pub(super) fn inside(data: &DataFolder) -> Vec<Check> {
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

/// The looks, and what was found, for those who come after.
pub(super) async fn database(config: &Config) -> (Vec<Check>, Option<Look>) {
    let name = config.database.to_string();
    let look = match inspect::database(config).await {
        Ok(Some(look)) => look,
        Ok(None) => {
            let made = if inspect::database_file(config).is_some() { "made" } else { "filled" };
            let text = format!("{name}, {made} at the first start");
            return (vec![Check::ok("database", text)], None);
        }
        Err(error) => return (vec![Check::broken("database", error.to_string())], None),
    };
    let mut checks = vec![version(&name, &look)];
    let open = inspect::database_file(config).map(|file| private("database", &file));
    checks.extend(open.filter(|check| check.status == Status::Broken));
    checks.push(Check::ok(
        "contents",
        format!(
            "{}, {}, {}",
            counted(look.contents.sessions, "session"),
            counted(look.contents.snapshots, "snapshot"),
            counted(look.contents.parts, "part"),
        ),
    ));
    checks.extend(parts(&look));
    checks.extend(look.place.as_deref().and_then(|place| place_of(&config.data, place)));
    checks.extend(bounded("profile", profiles(&config.data, &look)));
    (checks, Some(look))
}

fn version(name: &str, look: &Look) -> Check {
    let (found, known) = (look.contents.version, look.known);
    if found == 0 || found == known {
        return Check::ok("database", name);
    }
    let text = format!("{name} is of version {found}, this program of {known}");
    Check::warning("database", text, "nothing: the next start of a node brings it up to date")
}

fn parts(look: &Look) -> Vec<Check> {
    let mut checks = Vec::new();
    if look.missing_parts > 0 {
        let text = format!(
            "{} parts that snapshots name are not there\nbaton restore brings back a backup; a \
             resume names what it could not read in its receipt",
            look.missing_parts
        );
        checks.push(Check::broken("parts", text));
    }
    if look.unnamed_parts > 0 {
        let text = format!("{} parts that no snapshot names", look.unnamed_parts);
        let fix = "nothing: they go when a session is deleted or its snapshots are pruned";
        checks.push(Check::warning("parts", text, fix));
    }
    checks
}

/// The node has said in the database where it runs: another place is the original of a copy, or
/// where this folder was before.
fn place_of(data: &DataFolder, place: &str) -> Option<Check> {
    let folder = folder_of(place);
    if !inspect::is_twin(data, folder).unwrap_or(false) {
        return None;
    }
    let text = format!(
        "{} has the same node id: one of the two is a copy\nrun no node on the copy; to copy a \
         node, use baton backup and baton restore",
        folder.display()
    );
    Some(Check::broken("node", text))
}

/// The folder in `host:folder (number)`.
fn folder_of(place: &str) -> &Path {
    let folder = place.split_once(":/").map_or(place, |(host, _)| &place[host.len() + 1..]);
    Path::new(folder.rsplit_once(" (").map_or(folder, |(folder, _)| folder))
}

fn profiles(data: &DataFolder, look: &Look) -> Vec<Check> {
    let known: HashSet<_> = look.sessions.iter().map(|(id, _)| *id).collect();
    let lost = data.session_folders().into_iter().filter(|id| !known.contains(id));
    let checks = lost.map(|id| {
        let folder = data.session(id);
        let text = format!("{} belongs to no session", folder.display());
        let fix = "remove the folder, unless a node uses this data folder with another database";
        Check::warning("profile", text, fix)
    });
    checks.collect()
}

/// The looks. Without a look at the database doctor does not know which sessions are active.
pub(super) async fn keepers(data: &DataFolder, look: Option<&Look>) -> Vec<Check> {
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
    // A keeper that did not answer is a process too, and doctor does not know which.
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

#[cfg(test)]
mod tests {
    use super::folder_of;
    use std::path::Path;

    #[test]
    fn the_folder_of_a_place_is_read() {
        for place in ["host:/srv/baton (42)", "/srv/baton (42)", "/srv/baton"] {
            assert_eq!(folder_of(place), Path::new("/srv/baton"), "{place}");
        }
        assert_eq!(folder_of("a-b.c:/srv/a:/b (1) (42)"), Path::new("/srv/a:/b (1)"));
    }
}
