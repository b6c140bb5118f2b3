//! What a browser opens by itself when it starts: nothing.
//!
//! The one idea: the tabs of a session have one restorer, which is ours. Chromium has another one, which
//! brings back what its own files name ("continue where you left off") as soon as there is a window, beside
//! the tabs that are there by then. So its files are gone before it starts. What a person chose for the
//! start stays as it is: with nothing to bring back it opens nothing.

use super::error::LaunchError;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Where Chromium notes its windows, in the folder of a profile: twice, in the clear and encrypted
/// (`kSessionsDirectory` and `kEncryptedSessionsDirectory` in `components/sessions/core`).
const FOLDERS: [&str; 2] = ["Sessions", "Sessions_Encrypted"];

/// How the files are called that name what was open, windows of web apps too. Others in the folder name what
/// was closed, which nobody brings back unasked.
const OPEN: [&str; 2] = ["Session_", "Apps_"];

/// Takes away what Chromium would bring back by itself. No browser runs on the profile. What a browser may
/// have put there to lead elsewhere is not followed.
pub(super) fn forget_open_tabs(profile: &Path) -> Result<(), LaunchError> {
    let default = profile.join("Default");
    if !is_folder(&default)? {
        return Ok(());
    }
    FOLDERS.iter().try_for_each(|name| empty(&default.join(name)))
}

fn empty(folder: &Path) -> Result<(), LaunchError> {
    if !is_folder(folder)? {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(LaunchError::file("read", folder))? {
        let entry = entry.map_err(LaunchError::file("read", folder))?;
        let name = entry.file_name();
        let is_open =
            OPEN.iter().any(|begin| name.as_encoded_bytes().starts_with(begin.as_bytes()));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_open && !is_folder {
            let path = entry.path();
            fs::remove_file(&path).map_err(LaunchError::file("remove", path))?;
        }
    }
    Ok(())
}

/// Whether there is a folder, and no link to one.
fn is_folder(path: &Path) -> Result<bool, LaunchError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(LaunchError::file("look at", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_leads_elsewhere_and_what_was_closed_stays() {
        let (folder, person) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let default = folder.path().join("Default");
        forget_open_tabs(folder.path()).unwrap();
        fs::create_dir_all(default.join("Sessions/Session_9")).unwrap();
        for name in ["Session_1", "Apps_2", "Tabs_3"] {
            fs::write(default.join("Sessions").join(name), "").unwrap();
        }
        fs::write(person.path().join("Session_1"), "").unwrap();
        symlink(person.path(), default.join("Sessions_Encrypted")).unwrap();
        forget_open_tabs(folder.path()).unwrap();
        let left = fs::read_dir(default.join("Sessions")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["Session_9", "Tabs_3"]);
        assert!(person.path().join("Session_1").exists());
    }
}
