//! Reads the localStorage of a profile at rest.
//!
//! The format is that of `components/services/storage/dom_storage` in Chromium: a row `_<storage
//! key>\0<entry key>` for each entry, and a row `META:<storage key>` with a protocol buffer
//! (`LocalStorageAreaWriteMetaData`: field 1 is the instant of the last change).

use super::{Area, Instant, Unreadable, leveldb};
use baton_session::{StorageKey, Text};
use std::collections::BTreeMap;
use std::path::Path;

const META: &[u8] = b"META:";

/// Every area of the database in `folder`.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<StorageKey, Area>, Unreadable> {
    let mut areas: BTreeMap<StorageKey, Area> = BTreeMap::new();
    if !folder.exists() {
        return Ok(areas);
    }
    leveldb::read(folder, |key, value| {
        if let Some(name) = key.strip_prefix(META) {
            let changed = last_modified(value).and_then(Instant::from_chromium);
            if let Some(area) = storage_key(name) {
                areas.entry(area).or_default().changed = changed;
            }
        } else if let Some((area, key, value)) = entry(key, value) {
            areas.entry(area).or_default().entries.0.insert(key, value);
        }
    })?;
    Ok(areas)
}

fn entry(key: &[u8], value: &[u8]) -> Option<(StorageKey, Text, Text)> {
    let key = key.strip_prefix(b"_")?;
    let end = key.iter().position(|byte| *byte == 0)?;
    Some((storage_key(&key[..end])?, text(&key[end + 1..])?, text(value)?))
}

/// First-party keys are written without their trailing slash.
fn storage_key(name: &[u8]) -> Option<StorageKey> {
    let name = std::str::from_utf8(name).ok()?;
    Some(if name.contains('^') { StorageKey::new(name) } else { StorageKey::first_party(name) })
}

/// One byte tells how the others are to be read: 1 for Latin-1, 0 for UTF-16.
fn text(bytes: &[u8]) -> Option<Text> {
    let (kind, rest) = bytes.split_first()?;
    match kind {
        1 => Some(Text::from(rest.iter().map(|byte| char::from(*byte)).collect::<String>())),
        0 => {
            let (pairs, odd) = rest.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
            odd.is_empty().then(|| Text::from_utf16(&units))
        }
        _ => None,
    }
}

/// Field 1 of a protocol buffer, a varint; it is written first.
fn last_modified(bytes: &[u8]) -> Option<i64> {
    let (tag, rest) = bytes.split_first()?;
    if *tag != 0x08 {
        return None;
    }
    let mut value = 0_i64;
    for (at, byte) in rest.iter().take(9).enumerate() {
        value |= i64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
