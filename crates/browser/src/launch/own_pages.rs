//! Pages of the browser's own, which nobody opens in a browser without windows.
//!
//! The one idea: the browser itself refuses them. A page that a client drives becomes one of them also by what no
//! call of the client says: extensions, that of PDFs among them, and the page of a new tab open them by a script.
//! And a script that the client left for new documents runs in them before anybody hears of it. Nobody sees an
//! address bar there, so no person misses them.

use super::options::LaunchError;
use super::{is_folder, settings};
use serde_json::json;
use std::path::Path;
use std::{fs, io};

/// What is refused, as patterns of Chromium's policy `URLBlocklist`, and what is not. With `devtools://*` among them
/// a tab that has been nowhere answers nobody who speaks CDP.
const REFUSED: [&str; 2] = ["chrome://*", "chrome-untrusted://*"];
const ALLOWED: [&str; 3] =
    ["chrome://newtab", "chrome://new-tab-page", "chrome://new-tab-page-third-party"];
/// Where the policy stands when no administrator of the machine says anything else
/// (`components/policy/core/common/policy_pref_names.h`).
const LISTS: [(&str, &[&str]); 2] = [("url_blocklist", &REFUSED), ("url_allowlist", &ALLOWED)];

/// Has the next browser on `profile` refuse them, or refuse them no more.
pub(super) fn refuse(profile: &Path, are_refused: bool) -> Result<(), LaunchError> {
    let folder = profile.join("Default");
    fs::create_dir_all(&folder).map_err(LaunchError::file("create", &folder))?;
    if !is_folder(&folder)? {
        let found = io::Error::new(io::ErrorKind::NotADirectory, "expected a folder, found a link");
        return Err(LaunchError::file("write to", folder)(found));
    }
    settings::change(&folder.join("Preferences"), "policy", |policy| {
        for (name, list) in LISTS {
            if are_refused {
                policy.insert(name.to_owned(), json!(list));
            } else {
                policy.remove(name);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::refuse;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_person_set_stays_and_the_lists_go_when_windows_come() {
        let profile = tempfile::tempdir().unwrap();
        let path = profile.path().join("Default/Preferences");
        let read = || fs::read_to_string(&path).unwrap();
        refuse(profile.path(), true).unwrap();
        insta::assert_snapshot!(read(), @r#"{"policy":{"url_allowlist":["chrome://newtab","chrome://new-tab-page","chrome://new-tab-page-third-party"],"url_blocklist":["chrome://*","chrome-untrusted://*"]}}"#);
        fs::write(&path, r#"{"a":1,"policy":{"b":2,"url_blocklist":["chrome://*"]}}"#).unwrap();
        refuse(profile.path(), false).unwrap();
        assert_eq!(read(), r#"{"a":1,"policy":{"b":2}}"#);
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_not_followed() {
        let (profile, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), profile.path().join("Default")).unwrap();
        refuse(profile.path(), true).unwrap_err();
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }
}
