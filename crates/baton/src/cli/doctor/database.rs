//! What a doctor looks at in the database, and where it does not agree with the folder.

use super::files::private;
use super::{Check, Status, bounded};
use crate::output::counted;
use baton_server::Config;
use baton_server::inspect::{self, Look};
use baton_store::data::DataFolder;
use std::collections::HashSet;
use std::path::Path;

/// The looks, and what was found, for those who come after.
pub(super) async fn all(config: &Config) -> (Vec<Check>, Option<Look>) {
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
