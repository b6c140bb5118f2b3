//! Settings as they should be, and as they should not.

use super::instant::Instant;
use super::permissions::{read, write};
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
    let told: Vec<_> = found.iter().map(|one| (one.place(), one.setting, one.changed)).collect();
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
    assert_eq!(fs::read_dir(folder.path().join("Default")).unwrap().count(), 1, "no draft stays");
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
    for damaged in ["", "{", "[]", "null", "7", "\0\0\0", lone, &SETTINGS[..300], &deep, &large] {
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
            *way[..=path].iter().fold(&mut settings, |here, next| &mut here[*next]) = odd.clone();
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
