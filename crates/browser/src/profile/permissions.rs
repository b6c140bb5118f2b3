//! What sites may do by the settings of a profile.
//!
//! The one idea: a permission over CDP ends with whoever gave it, and with anybody else who gave one.
//! What stands in the browser's settings holds until somebody decides otherwise, so there it is read,
//! and written before the browser starts.

use super::ProfileError;
use super::instant::Instant;
use super::preferences::Preferences;
use baton_session::Permission;
use baton_session::permission::{self, NAMES, Setting, chromium_name, origin_of};
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
    for Listed { chromium, pattern, permission } in listed(&before) {
        match wanted.get(&permission.key()) {
            Some(wanted) if wanted.setting == permission.setting => {
                missing.remove(&wanted.key());
            }
            None if !read.contains(&permission.key()) => {}
            Some(_) | None => forget(&mut preferences, chromium, pattern),
        }
    }
    for permission in missing.into_values() {
        put(&mut preferences, permission, now);
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

/// A permission, and where it stands.
struct Listed<'a> {
    chromium: &'static str,
    pattern: &'a str,
    permission: Permission,
}

fn listed(preferences: &Preferences) -> impl Iterator<Item = Listed<'_>> {
    let exceptions = preferences.object(&EXCEPTIONS);
    NAMES.into_iter().flat_map(move |(name, chromium)| {
        let entries = exceptions.and_then(|all| all.get(chromium)?.as_object());
        entries.into_iter().flatten().filter_map(move |(pattern, entry)| {
            Some(Listed { chromium, pattern, permission: read_entry(name, pattern, entry)? })
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

fn put(preferences: &mut Preferences, permission: &Permission, now: Instant) {
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
