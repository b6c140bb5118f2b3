//! Files of settings in a profile, of which a launch changes a few lines and leaves the rest as it is.

use super::options::LaunchError;
use crate::plain;
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// The largest file of settings that is looked at, in bytes; others stay as they are.
const LARGEST: u64 = 16 << 20;

/// Changes the object `name` in the file at `path`, which is made when there is none. Settings that cannot be
/// read are left to the browser, which makes new ones. No browser runs on the profile.
pub(super) fn change(
    path: &Path,
    name: &str,
    set: impl FnOnce(&mut Map<String, Value>),
) -> Result<(), LaunchError> {
    let text = match plain::read(path, LARGEST) {
        // What is no file of settings, a link for one, gives way to a new one.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => b"{}".to_vec(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => b"{}".to_vec(),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Ok(()),
        read => read.map_err(LaunchError::file("read", path))?,
    };
    let Ok(mut settings) = serde_json::from_slice::<Map<String, Value>>(&text) else {
        return Ok(());
    };
    let object = settings.entry(name).or_insert_with(|| json!({}));
    let Some(object) = object.as_object_mut() else { return Ok(()) };
    let before = object.clone();
    set(object);
    if *object == before {
        return Ok(());
    }
    let text = Value::Object(settings).to_string();
    plain::replace(path, text.as_bytes(), |_| Ok(())).map_err(LaunchError::file("write", path))
}
