//! What Chromium's files have in common: instants as Chromium counts them and a disk notes them, and protocol
//! buffers, as far as profiles have some: with numbers only, beside the areas of DOM storage, and lists of
//! texts (<https://protobuf.dev/programming-guides/encoding/>).

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub i64);

/// From 1601, where Chromium begins to count (`base::Time`), to 1970.
const BETWEEN: i64 = 11_644_473_600_000_000;

impl Instant {
    /// From microseconds as Chromium counts them.
    pub(crate) fn from_chromium(micros: i64) -> Option<Self> {
        (micros > 0).then(|| Self(micros.saturating_sub(BETWEEN)))
    }

    /// In microseconds as Chromium counts them.
    pub(crate) fn to_chromium(self) -> i64 {
        self.0.saturating_add(BETWEEN)
    }
}

/// How deep folders are looked into.
const DEPTH: usize = 6;

/// When a file, or the newest one of a folder, was written; none when it is not there.
pub(super) fn written(path: &Path) -> Option<Instant> {
    newest(path, 0)
}

/// The newest instant below a path, but for locks and logs, which tell of no change.
fn newest(path: &Path, depth: usize) -> Option<Instant> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if depth > DEPTH
        || matches!(&*name, "LOCK" | "LOG" | "LOG.old")
        || name.starts_with("QuotaManager")
    {
        return None;
    }
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_dir() {
        let entries = fs::read_dir(path).ok()?.flatten();
        return entries.filter_map(|entry| newest(&entry.path(), depth + 1)).max();
    }
    let written = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Instant(i64::try_from(written.as_micros()).unwrap_or(i64::MAX)))
}

/// The first field, a number; it is written first.
pub(super) fn first_number(bytes: &[u8]) -> Option<i64> {
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

/// The fields that are texts or messages, with their numbers; none when it is no such thing.
pub(super) fn texts(mut bytes: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    const NUMBER: u64 = 0;
    const LONG: u64 = 1;
    const TEXT: u64 = 2;
    const SHORT: u64 = 5;
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let length = match tag & 7 {
            NUMBER => {
                varint(&mut bytes)?;
                continue;
            }
            LONG => 8,
            SHORT => 4,
            TEXT => usize::try_from(varint(&mut bytes)?).ok()?,
            _ => return None,
        };
        let (text, rest) = bytes.split_at_checked(length)?;
        if tag & 7 == TEXT {
            texts.push((tag >> 3, text));
        }
        bytes = rest;
    }
    Some(texts)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// These numbers, none of them negative, as the fields 1, 2 and so on.
pub(super) fn numbers(numbers: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (field, number) in (1_u8..).zip(numbers) {
        bytes.push(field << 3);
        let mut left = number.unsigned_abs();
        while left >= 0x80 {
            bytes.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        bytes.push(left.to_le_bytes()[0]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_between_numbers() {
        let bytes = [&[0x0a, 2][..], b"ab", &[0x20, 0x80, 1, 0x29], &[0; 8], &[0x1a, 1], b"c"];
        let bytes = bytes.concat();
        assert_eq!(texts(&bytes), Some(vec![(1, &b"ab"[..]), (3, b"c")]));
        for cut in [1, 3, 5, 6, 9, bytes.len() - 1] {
            assert_eq!(texts(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(texts(&[0x0b]), None);
    }

    #[test]
    fn numbers_are_read_back() {
        for number in [0, 1, 127, 128, 13_439_798_636_538_781, i64::MAX] {
            assert_eq!(first_number(&numbers(&[number, 7])), Some(number));
        }
        for bytes in [&[][..], &[0x08], &[0x10, 1], &[0x08, 0x80]] {
            assert_eq!(first_number(bytes), None);
        }
    }
}
