//! localStorage in a `LevelDB` (`components/services/storage/dom_storage/leveldb` in Chromium): a row
//! `_<storage key>\0<entry key>` for each entry, and for each storage key the rows `META:<storage key>`
//! and `METAACCESS:<storage key>`, protocol buffers with the instants of its last change and use.

use super::{Areas, decode_text, encode_text};
use crate::profile::instant::Instant;
use crate::profile::leveldb::Rows;
use crate::profile::protobuf;
use baton_session::{StorageKey, Text};

const META: &[u8] = b"META:";
const ACCESS: &[u8] = b"METAACCESS:";
/// The only version that there has been.
const VERSION: (&[u8], &[u8]) = (b"VERSION", b"1");

/// The areas in the rows of a database, and how many entries could not be understood.
pub(super) fn decode(rows: &Rows) -> (Areas, usize) {
    let (mut areas, mut strange) = (Areas::new(), 0);
    for (key, value) in rows {
        if let Some(name) = key.strip_prefix(META) {
            if let Some(area) = storage_key(name) {
                let changed = protobuf::first_number(value).and_then(Instant::from_chromium);
                areas.entry(area).or_default().changed = changed;
            }
        } else if key.starts_with(b"_") {
            match entry(key, value) {
                Some((area, key, value)) => {
                    areas.entry(area).or_default().entries.0.insert(key, value);
                }
                None => strange += 1,
            }
        }
    }
    (areas, strange)
}

/// The version of a database; none when it says none.
pub(super) fn version(rows: &Rows) -> Option<&[u8]> {
    rows.get(VERSION.0).map(Vec::as_slice)
}

/// Whether a version is the one that we know.
pub(super) fn is_known(version: &[u8]) -> bool {
    version == VERSION.1
}

/// The rows of a database with these areas, which are said to be used at `now`.
pub(super) fn encode(areas: &Areas, now: Instant) -> Rows {
    let mut rows = Rows::new();
    rows.insert(VERSION.0.to_vec(), VERSION.1.to_vec());
    for (key, area) in areas {
        let name = name(key);
        let mut size = 0;
        for (entry, value) in &area.entries.0 {
            let (entry, value) = (encode_text(entry), encode_text(value));
            size += entry.len() + value.len();
            rows.insert([b"_", name, b"\0", &entry].concat(), value);
        }
        let changed = area.changed.unwrap_or(now).to_chromium();
        let meta = protobuf::numbers(&[changed, i64::try_from(size).unwrap_or(i64::MAX)]);
        rows.insert([META, name].concat(), meta);
        rows.insert([ACCESS, name].concat(), protobuf::numbers(&[now.to_chromium()]));
    }
    rows
}

fn entry(key: &[u8], value: &[u8]) -> Option<(StorageKey, Text, Text)> {
    let key = key.strip_prefix(b"_")?;
    let end = key.iter().position(|byte| *byte == 0)?;
    Some((storage_key(&key[..end])?, decode_text(&key[end + 1..])?, decode_text(value)?))
}

fn storage_key(name: &[u8]) -> Option<StorageKey> {
    let name = std::str::from_utf8(name).ok()?;
    Some(if name.contains('^') { StorageKey::new(name) } else { StorageKey::first_party(name) })
}

/// First-party keys are written without their trailing slash.
fn name(key: &StorageKey) -> &[u8] {
    let name = if key.is_first_party() { key.origin() } else { key.as_str() };
    name.as_bytes()
}
