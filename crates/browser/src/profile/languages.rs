//! The languages for which a browser asks by the settings of its profile.
//!
//! The one idea: `Accept-Language` and `navigator.languages` come of what a person chose there, not of the language
//! in which the browser speaks to that person. Chromium writes those chosen as `selected_languages`, and beside them
//! as `accept_languages` what it makes of them (`components/language/core/browser/language_prefs.cc`).

use super::ProfileError;
use super::preferences::Preferences;
use baton_session::Identity;
use std::path::Path;

const PLACE: &str = "intl";
const CHOSEN: &str = "selected_languages";
const MADE: &str = "accept_languages";

/// Those of the profile in this folder, one of several in a user data dir; none where its browser has written none.
/// Blocks on the disk.
pub fn read_in(folder: &Path) -> Result<Option<Identity>, ProfileError> {
    let Some(preferences) = Preferences::load_in(folder)? else { return Ok(None) };
    let noted = |name: &str| preferences.object(&[PLACE])?.get(name)?.as_str();
    let listed = |name| Identity::of_languages(noted(name)?.split(','));
    Ok(listed(MADE).or_else(|| listed(CHOSEN)))
}

/// Gives them to a profile on which no browser ran yet. Blocks on the disk.
pub(super) fn write(profile: &Path, languages: &[String]) -> Result<(), ProfileError> {
    let mut preferences = Preferences::load(profile)?.unwrap_or_default();
    if let Some(settings) = preferences.object_mut(&[PLACE]) {
        settings.insert(CHOSEN.to_owned(), languages.join(",").into());
    }
    preferences.save(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn profile(settings: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Default")).unwrap();
        fs::write(folder.path().join("Default/Preferences"), settings).unwrap();
        folder
    }

    fn found(profile: &Path) -> String {
        let found = read_in(&profile.join("Default")).unwrap();
        found.map_or("-".to_owned(), |identity| identity.languages.join(","))
    }

    #[test]
    fn what_pages_are_told_is_read_or_else_what_was_chosen() {
        for (noted, languages) in [
            (r#"{"selected_languages":"de-DE,de,en"}"#, "de-DE,de,en"),
            // An administrator has put one before what was chosen.
            (r#"{"accept_languages":"es,fr","selected_languages":"fr"}"#, "es,fr"),
            (r#"{"accept_languages":"","selected_languages":"fr"}"#, "fr"),
            (r#"{"selected_languages":""}"#, "-"),
            (r#"{"selected_languages":"fr;q=0.9"}"#, "-"),
            (r#"{"selected_languages":["fr"]}"#, "-"),
            ("{}", "-"),
            ("7", "-"),
        ] {
            let folder = profile(&format!(r#"{{"intl":{noted}}}"#));
            assert_eq!(found(folder.path()), languages, "{noted}");
        }
        assert_eq!(found(profile("{}").path()), "-");
        assert_eq!(found(Path::new("/nowhere")), "-");
        read_in(&profile("{").path().join("Default")).unwrap_err();
    }

    #[test]
    fn what_was_written_is_found_and_the_rest_stays() {
        let folder = profile(r#"{"intl":{"charset_default":"UTF-8"},"other":1}"#);
        write(folder.path(), &["de-DE".to_owned(), "de".to_owned()]).unwrap();
        assert_eq!(found(folder.path()), "de-DE,de");
        let text = fs::read_to_string(folder.path().join("Default/Preferences")).unwrap();
        assert!(text.contains("charset_default") && text.contains("other"), "{text}");
        let fresh = tempfile::tempdir().unwrap();
        write(fresh.path(), &["ja-JP".to_owned()]).unwrap();
        assert_eq!(found(fresh.path()), "ja-JP");
    }
}
