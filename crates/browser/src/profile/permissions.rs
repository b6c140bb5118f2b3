//! What sites may do by the settings of a profile.
//!
//! The one idea: a permission over CDP ends with the client that gave it, and with any other that gave one.
//! What is in the browser's settings holds until a person decides otherwise, so there it is read, and written
//! before the browser starts.

use super::ProfileError;
use super::formats::Instant;
use super::preferences::Preferences;
use baton_session::permission::{NAMES, Setting, chromium_name, origin_of};
use baton_session::{Permission, permission};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use url::Url;

/// How Chromium writes a decision (`ContentSetting`).
const ALLOW: u64 = 1;
const BLOCK: u64 = 2;

const EXCEPTIONS: [&str; 3] = ["profile", "content_settings", "exceptions"];
const DEFAULTS: [&str; 2] = ["profile", "default_content_setting_values"];

/// The permissions of a profile, sorted; none when the browser has written no settings yet. What was
/// decided for a while, or for more than one origin at once, is the profile's own. Blocks on the disk.
pub fn read(profile: &Path) -> Result<Option<Vec<Permission>>, ProfileError> {
    Ok(Preferences::load(profile)?.as_ref().map(found))
}

/// Those of the profile in this folder, one of several in a user data dir. Blocks on the disk.
pub(super) fn read_in(folder: &Path) -> Result<Option<Vec<Permission>>, ProfileError> {
    Ok(Preferences::load_in(folder)?.as_ref().map(found))
}

fn found(preferences: &Preferences) -> Vec<Permission> {
    let (found, left) = newest(preferences);
    if left > 0 {
        tracing::warn!(left, "a profile has more permissions than a state; the newest are kept");
    }
    found
}

/// Whether every site may know the place of the browser that has no permission of its own. Blocks on
/// the disk.
pub(super) fn tells_place(profile: &Path) -> Result<bool, ProfileError> {
    Ok(Preferences::load(profile)?.as_ref().is_some_and(is_place_told))
}

/// Gives a profile, on which no browser runs, exactly these permissions; what [`read`] leaves to the
/// profile stays. With `everywhere`, every site may know the place of the browser that has no
/// permission of its own. A file that says all this already is not written. Blocks on the disk.
pub fn write(
    profile: &Path,
    wanted: &[Permission],
    everywhere: bool,
    now: Instant,
) -> Result<(), ProfileError> {
    let before = Preferences::load(profile)?.unwrap_or_default();
    let mut preferences = before.clone();
    let wanted: BTreeMap<_, _> = wanted.iter().map(|one| (one.key(), one)).collect();
    let mut missing = wanted.clone();
    let (read, _) = newest(&before);
    let read: BTreeSet<_> = read.iter().map(Permission::key).collect();
    for StoredPermission { chromium, pattern, permission } in listed(&before) {
        match wanted.get(&permission.key()) {
            Some(wanted) if wanted.setting == permission.setting => {
                missing.remove(&wanted.key());
            }
            None if !read.contains(&permission.key()) => {}
            Some(_) | None => forget(&mut preferences, chromium, pattern),
        }
    }
    for permission in missing.into_values() {
        set(&mut preferences, permission, now);
    }
    tell_place(&mut preferences, everywhere);
    if preferences == before { Ok(()) } else { preferences.save(profile) }
}

/// The permissions, sorted, and how many are too many and left out.
fn newest(preferences: &Preferences) -> (Vec<Permission>, usize) {
    let mut found: Vec<Permission> = listed(preferences).map(|one| one.permission).collect();
    found.sort_by(|a, b| a.key().cmp(&b.key()));
    let left = permission::bound(&mut found);
    (found, left)
}

/// A permission, and where it is.
struct StoredPermission<'a> {
    chromium: &'static str,
    pattern: &'a str,
    permission: Permission,
}

fn listed(preferences: &Preferences) -> impl Iterator<Item = StoredPermission<'_>> {
    let exceptions = preferences.object(&EXCEPTIONS);
    NAMES.into_iter().flat_map(move |(name, chromium)| {
        let entries = exceptions.and_then(|all| all.get(chromium)?.as_object());
        entries.into_iter().flatten().filter_map(move |(pattern, entry)| {
            Some(StoredPermission {
                chromium,
                pattern,
                permission: read_entry(name, pattern, entry)?,
            })
        })
    })
}

fn read_entry(name: &str, pattern: &str, entry: &Value) -> Option<Permission> {
    let setting = match entry["setting"].as_u64()? {
        ALLOW => Setting::Allow,
        BLOCK => Setting::Deny,
        _ => return None,
    };
    // One that ends by itself: at an instant, or with the browser.
    let ends = entry["session_model"].as_u64().is_some_and(|model| model > 0);
    if ends || !entry["expiration"].is_null() {
        return None;
    }
    let origin = origin_of(pattern.strip_suffix(",*")?)?;
    let changed = entry["last_modified"].as_str().and_then(|at| at.parse().ok());
    let changed = changed.and_then(Instant::from_chromium).map(|at| at.0);
    Some(Permission { name: name.to_owned(), origin, setting, changed })
}

fn forget(preferences: &mut Preferences, chromium: &str, pattern: &str) {
    let [a, b, c] = EXCEPTIONS;
    if let Some(entries) = preferences.object_mut(&[a, b, c, chromium]) {
        entries.remove(pattern);
    }
}

fn set(preferences: &mut Preferences, permission: &Permission, now: Instant) {
    let [a, b, c] = EXCEPTIONS;
    let place = chromium_name(&permission.name).zip(pattern(&permission.origin));
    let Some((chromium, pattern)) = place else { return };
    let Some(entries) = preferences.object_mut(&[a, b, c, chromium]) else { return };
    let changed = permission.changed.map_or(now, Instant).to_chromium();
    let setting = if permission.setting == Setting::Allow { ALLOW } else { BLOCK };
    entries.insert(pattern, json!({ "last_modified": changed.to_string(), "setting": setting }));
}

/// How Chromium writes an origin: with its port, and wherever it is embedded.
fn pattern(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok()?;
    Some(format!("{}://{}:{},*", url.scheme(), url.host_str()?, url.port_or_known_default()?))
}

/// That all sites may is nothing that a person can choose in the browser's own pages: it is ours.
fn tell_place(preferences: &mut Preferences, everywhere: bool) {
    if is_place_told(preferences) == everywhere {
        return;
    }
    if let Some(defaults) = preferences.object_mut(&DEFAULTS) {
        if everywhere {
            defaults.insert("geolocation".to_owned(), ALLOW.into());
        } else {
            defaults.remove("geolocation");
        }
    }
}

fn is_place_told(preferences: &Preferences) -> bool {
    let known = preferences.object(&DEFAULTS).and_then(|all| all.get("geolocation")?.as_u64());
    known == Some(ALLOW)
}

#[cfg(test)]
mod tests {
    // Settings as they should be, and as they should not.

    use super::{read, write};
    use crate::profile::formats::Instant;
    use baton_session::Permission;
    use baton_session::permission::{MAX_PERMISSIONS, Setting};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;

    const NOW: Instant = Instant(1_700_000_000_000_000);

    /// Settings as Chromium leaves them, shortened.
    const SETTINGS: &str = r#"{
    "browser": {"window_placement": {"top": 1.5}},
    "profile": {
        "default_content_setting_values": {"cookies": 4},
        "content_settings": {"exceptions": {
            "site_engagement": {"https://app.test:443,*": {"setting": {"rawScore": 4.5}}},
            "notifications": {
                "https://app.test:443,*": {"last_modified": "13439775079691353", "setting": 2},
                "https://once.test:443,*": {"session_model": 3, "setting": 1},
                "https://short.test:443,*": {"expiration": "13439775079691353", "setting": 1},
                "https://[*.]wide.test:443,*": {"setting": 1},
                "[*.]any.test,*": {"setting": 1},
                "chrome://settings/,*": {"setting": 1},
                "https://in.test:443,https://app.test:443": {"setting": 1},
                "https://odd.test:443,*": {"setting": 99},
                "https://none.test:443,*": "x"
            },
            "media_stream_camera": {"http://localhost:8080,*": {"setting": 1}},
            "geolocation": []
        }}
    }
}"#;

    fn profile(settings: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Default")).unwrap();
        fs::write(file(folder.path()), settings).unwrap();
        folder
    }

    fn file(profile: &Path) -> std::path::PathBuf {
        profile.join("Default/Preferences")
    }

    fn permission(name: &str, origin: &str, setting: Setting) -> Permission {
        let (name, origin) = (name.to_owned(), origin.to_owned());
        Permission { name, origin, setting, changed: Some(NOW.0) }
    }

    fn all(profile: &Path) -> Value {
        serde_json::from_slice(&fs::read(file(profile)).unwrap()).unwrap()
    }

    #[test]
    fn permissions_of_one_origin_are_read_and_nothing_else() {
        let folder = profile(SETTINGS);
        let found = read(folder.path()).unwrap().unwrap();
        let told: Vec<_> =
            found.iter().map(|one| (one.place(), one.setting, one.changed)).collect();
        assert_eq!(
            told,
            [
                ("camera http://localhost:8080".to_owned(), Setting::Allow, None),
                (
                    "notifications https://app.test".to_owned(),
                    Setting::Deny,
                    Some(1_795_301_479_691_353)
                ),
            ]
        );
        assert_eq!(read(tempfile::tempdir().unwrap().path()).unwrap(), None);
    }

    #[test]
    fn what_is_written_is_read_again_and_what_else_is_there_stays() {
        let folder = profile(SETTINGS);
        let wanted = [
            permission("geolocation", "https://app.test", Setting::Allow),
            permission("notifications", "https://app.test", Setting::Allow),
        ];
        write(folder.path(), &wanted, true, NOW).unwrap();
        assert_eq!(read(folder.path()).unwrap().unwrap(), wanted);
        let mut expected: Value = serde_json::from_str(SETTINGS).unwrap();
        let profile = &mut expected["profile"];
        profile["default_content_setting_values"]["geolocation"] = json!(1);
        let exceptions = &mut profile["content_settings"]["exceptions"];
        let entry = json!({"last_modified": "13344473600000000", "setting": 1});
        exceptions["notifications"]["https://app.test:443,*"] = entry.clone();
        exceptions["geolocation"] = json!({"https://app.test:443,*": entry});
        exceptions["media_stream_camera"] = json!({});
        assert_eq!(all(folder.path()), expected);
        write(folder.path(), &wanted, false, NOW).unwrap();
        assert_eq!(
            all(folder.path())["profile"]["default_content_setting_values"],
            json!({"cookies": 4})
        );
        assert_eq!(
            fs::read_dir(folder.path().join("Default")).unwrap().count(),
            1,
            "no draft stays"
        );
    }

    #[test]
    fn a_file_that_says_all_already_is_not_written() {
        let folder = profile(SETTINGS);
        let found = read(folder.path()).unwrap().unwrap();
        write(folder.path(), &found, false, NOW).unwrap();
        assert_eq!(fs::read_to_string(file(folder.path())).unwrap(), SETTINGS);
        let empty = tempfile::tempdir().unwrap();
        write(empty.path(), &[], false, NOW).unwrap();
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
        write(empty.path(), &found, false, NOW).unwrap();
        let told = |all: Vec<Permission>| all.into_iter().map(|one| (one.name, one.setting));
        let again = read(empty.path()).unwrap().unwrap();
        assert!(told(again).eq(told(found)));
    }

    #[test]
    fn what_a_state_has_no_room_for_stays_in_the_profile() {
        let entry = |at: usize| {
            let changed = Instant(NOW.0 + i64::try_from(at).unwrap()).to_chromium().to_string();
            (format!("https://a{at}.test:443,*"), json!({"last_modified": changed, "setting": 1}))
        };
        let entries: serde_json::Map<_, _> = (0..MAX_PERMISSIONS + 2).map(entry).collect();
        let cameras = json!({ "media_stream_camera": entries });
        let settings = json!({"profile": {"content_settings": {"exceptions": cameras}}});
        let folder = profile(&settings.to_string());
        let mut found = read(folder.path()).unwrap().unwrap();
        assert_eq!(found.len(), MAX_PERMISSIONS);
        write(folder.path(), &found, false, NOW).unwrap();
        assert_eq!(all(folder.path()), settings);
        // One that is read and no longer wanted goes; one that is not read can be decided all the same.
        let gone = found.pop().unwrap();
        found.push(permission("camera", "https://a0.test", Setting::Deny));
        write(folder.path(), &found, false, NOW).unwrap();
        let exceptions = &all(folder.path())["profile"]["content_settings"]["exceptions"];
        let cameras = exceptions["media_stream_camera"].as_object().unwrap();
        assert!(!cameras.contains_key(&format!("{}:443,*", gone.origin)));
        assert_eq!(cameras["https://a0.test:443,*"]["setting"], 2);
        assert_eq!(cameras["https://a1.test:443,*"], entry(1).1);
    }

    #[test]
    fn damaged_settings_are_told_and_left_as_they_are() {
        let wanted = [permission("camera", "https://app.test", Setting::Allow)];
        let lone = r#"{"a": "\ud800"}"#;
        let (deep, large) = ("[".repeat(9000), " ".repeat((16 << 20) + 1));
        for damaged in ["", "{", "[]", "null", "7", "\0\0\0", lone, &SETTINGS[..300], &deep, &large]
        {
            let folder = profile(damaged);
            let shown = &damaged[..damaged.len().min(20)];
            assert!(read(folder.path()).is_err(), "{shown:?} was read");
            assert!(write(folder.path(), &wanted, true, NOW).is_err(), "{shown:?} was written");
            assert_eq!(fs::read_to_string(file(folder.path())).unwrap(), damaged);
        }
    }

    #[test]
    fn whatever_stands_in_the_way_costs_itself_only() {
        let wanted = [permission("camera", "https://app.test", Setting::Allow)];
        let odd = [json!(null), json!(7), json!("x"), json!([1]), json!({"a": {"setting": -1}})];
        for odd in odd {
            for path in 0..4 {
                let mut settings = json!({"kept": odd});
                let way = ["profile", "content_settings", "exceptions", "media_stream_camera"];
                *way[..=path].iter().fold(&mut settings, |here, next| &mut here[*next]) =
                    odd.clone();
                let folder = profile(&settings.to_string());
                assert_eq!(read(folder.path()).unwrap().unwrap(), []);
                write(folder.path(), &wanted, true, NOW).unwrap();
                assert_eq!(read(folder.path()).unwrap().unwrap(), wanted);
                assert_eq!(all(folder.path())["kept"], odd);
            }
        }
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_it_panic() {
        let wanted = [permission("notifications", "https://app.test", Setting::Allow)];
        for at in (0..SETTINGS.len()).step_by(7) {
            let mut changed = SETTINGS.as_bytes().to_vec();
            changed[at] = changed[at].wrapping_add(7);
            for bytes in [&changed[..], &SETTINGS.as_bytes()[..at]] {
                let folder = profile("");
                fs::write(file(folder.path()), bytes).unwrap();
                let is_readable = read(folder.path()).is_ok();
                assert_eq!(write(folder.path(), &wanted, false, NOW).is_ok(), is_readable);
                if !is_readable {
                    assert_eq!(fs::read(file(folder.path())).unwrap(), bytes);
                }
            }
        }
    }
}
