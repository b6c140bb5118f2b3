//! What a doctor looks at in the data folder: who may read what.

use super::Check;
use baton_store::data::DataFolder;
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
