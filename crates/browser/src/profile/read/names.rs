//! What people call their profiles.

use crate::profile::preferences::Preferences;
use std::collections::BTreeMap;
use std::path::Path;

/// The name of each profile of a user data dir, by its folder, as the browser shows it. None where
/// the browser has noted none, or what it noted cannot be read: a name is for people only.
pub fn names(user_data: &Path) -> BTreeMap<String, String> {
    let noted = Preferences::load_of_all(user_data).ok().flatten().unwrap_or_default();
    let profiles = noted.object(&["profile", "info_cache"]).into_iter().flatten();
    let named = profiles.filter_map(|(folder, noted)| {
        let name = noted.get("name")?.as_str().filter(|name| !name.trim().is_empty())?;
        Some((folder.clone(), name.to_owned()))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::names;
    use std::fs;

    #[test]
    fn a_profile_is_called_as_its_browser_shows_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(names(folder.path()).is_empty());
        let noted = r#"{"profile":{"info_cache":{"Default":{"name":"Ada"},"Profile 1":{"name":" "},
            "Profile 2":{"name":7},"Profile 3":[]}}}"#;
        fs::write(folder.path().join("Local State"), noted).unwrap();
        let found = names(folder.path());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("Default".into(), "Ada".into())]);
        fs::write(folder.path().join("Local State"), "{").unwrap();
        assert!(names(folder.path()).is_empty());
    }
}
