//! The text of a file: without the mark at its start, and in UTF-8.

use super::cookies_txt;
use super::error::ImportError;
use super::form::Form;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// How some files begin that are no text.
const MAGIC: [(&[u8], Form); 8] = [
    (b"SQLite format 3\0", Form::Sqlite),
    (b"age-encryption.org/", Form::Age),
    (b"PK\x03\x04", Form::Archive),
    (b"\x1f\x8b", Form::Archive),
    (b"\x28\xb5\x2f\xfd", Form::Archive),
    (b"BZh", Form::Archive),
    (b"\xfd7zXZ\0", Form::Archive),
    (b"7z\xbc\xaf", Form::Archive),
];

/// The text of a file that may be [read](super::read). What it is otherwise is the error.
pub fn text(file: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    let text = decode(file)?;
    match serde_json::from_str::<IgnoredAny>(&text) {
        Err(source) if !cookies_txt::is_cookies_txt(&text) => {
            Err(ImportError::of_text(&text, source))
        }
        _ => Ok(text),
    }
}

fn decode(file: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    if let Some((_, form)) = MAGIC.iter().find(|(start, _)| file.starts_with(start)) {
        return Err(ImportError::Other { form: *form });
    }
    // PowerShell writes UTF-16, with a mark or without one.
    match file {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        [first, 0, ..] if first.is_ascii_graphic() => return utf16(file, u16::from_le_bytes),
        [0, second, ..] if second.is_ascii_graphic() => return utf16(file, u16::from_be_bytes),
        _ => {}
    }
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let error = match std::str::from_utf8(file) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    if file.contains(&0) {
        return Err(ImportError::Other { form: Form::Bytes });
    }
    let lossy = String::from_utf8_lossy(file);
    if cookies_txt::is_cookies_txt(&lossy) {
        // A line of it costs itself only.
        return Ok(Cow::Owned(lossy.into_owned()));
    }
    Err(ImportError::Encoding { at: error.valid_up_to() })
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, ImportError> {
    let pairs = bytes.chunks(2).map(|pair| match pair {
        [one, other] => unit([*one, *other]),
        // Half of a code unit: what was cut off there is no text.
        _ => 0xd800,
    });
    let mut at = 0;
    let text: Result<String, _> = char::decode_utf16(pairs)
        .inspect(|found| at += found.as_ref().map_or(0, |found| 2 * found.len_utf16()))
        .collect();
    text.map(Cow::Owned).map_err(|_| ImportError::Encoding { at })
}
