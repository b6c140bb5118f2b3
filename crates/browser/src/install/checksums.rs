//! What was said of a file's contents, and whether they are that.
//!
//! The server of Chrome for Testing sends `x-goog-hash` with CRC-32C and often MD5 of the stored file. That
//! finds what was damaged on the way and on disk; that nobody put another file there, TLS and a SHA-256 that
//! a person has from elsewhere say.

use super::error::InstallError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// What a server says of a file, in base64.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checksums {
    crc32c: Option<String>,
    md5: Option<String>,
}

/// The SHA-256 of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHash([u8; 32]);

/// A text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a SHA-256: 64 digits from 0 to f")]
pub struct NotFileHash;

impl FromStr for FileHash {
    type Err = NotFileHash;

    fn from_str(text: &str) -> Result<Self, NotFileHash> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NotFileHash);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| NotFileHash)?;
        }
        Ok(Self(bytes))
    }
}

impl std::fmt::Display for FileHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FileHash {
    /// That a file has it.
    pub(super) fn check(self, file: &mut impl Read, path: &Path) -> Result<(), InstallError> {
        let mut hash = Sha256::new();
        each_piece(file, path, |piece| hash.update(piece))?;
        let found = Self(hash.finalize().into());
        expect("SHA-256", Some(&self.to_string()), &found.to_string())
    }
}

impl Checksums {
    /// What the headers of an answer say, each kind once.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all("x-goog-hash").iter().filter_map(|value| value.to_str().ok());
        let said: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        let find = |kind: &str| {
            let found = said.iter().find_map(|one| one.strip_prefix(kind)?.strip_prefix('='));
            found.map(ToOwned::to_owned)
        };
        Self { crc32c: find("crc32c"), md5: find("md5") }
    }

    /// That a file is what was said; what nobody said is not looked at.
    pub(super) fn check(&self, file: &mut impl Read, path: &Path) -> Result<(), InstallError> {
        let (mut crc, mut md5) = (0, Md5::new());
        each_piece(file, path, |piece| {
            crc = crc32c::crc32c_append(crc, piece);
            md5.update(piece);
        })?;
        let (crc, md5) = (STANDARD.encode(crc.to_be_bytes()), STANDARD.encode(md5.finalize()));
        expect("CRC-32C", self.crc32c.as_deref(), &crc)?;
        expect("MD5", self.md5.as_deref(), &md5)
    }
}

fn expect(what: &'static str, expected: Option<&str>, found: &str) -> Result<(), InstallError> {
    match expected {
        Some(expected) if expected != found => {
            let (expected, found) = (expected.to_owned(), found.to_owned());
            Err(InstallError::Damaged { what, expected, found })
        }
        _ => Ok(()),
    }
}

fn each_piece(
    file: &mut impl Read,
    path: &Path,
    mut with: impl FnMut(&[u8]),
) -> Result<(), InstallError> {
    let mut buffer = vec![0; 1 << 17];
    loop {
        match file.read(&mut buffer).map_err(InstallError::file("read", path))? {
            0 => return Ok(()),
            length => with(&buffer[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_is_compared_and_the_rest_is_not() {
        let mut headers = HeaderMap::new();
        // CRC-32C and MD5 of the text `browser`, as the storage writes them, in two headers or one.
        let of = |checksums: &Checksums| {
            let checked = checksums.check(&mut "browser".as_bytes(), Path::new("part"));
            checked.map_err(|error| error.to_string().lines().next().unwrap().to_owned())
        };
        assert_eq!(of(&Checksums::of(&headers)), Ok(()));
        let crc = STANDARD.encode(crc32c::crc32c(b"browser").to_be_bytes());
        let both = format!("crc32c={crc},md5=xoIV2G+VvfQ1iKZPZw2h7w==");
        headers.append("x-goog-hash", both.parse().unwrap());
        let wrong = of(&Checksums::of(&headers)).unwrap_err();
        assert!(
            wrong.starts_with("expected a file with the MD5 xoIV2G+VvfQ1iKZPZw2h7w=="),
            "{wrong}"
        );
        let mut headers = HeaderMap::new();
        headers.append("x-goog-hash", "crc32c=AAAAAA==".parse().unwrap());
        let wrong = of(&Checksums::of(&headers)).unwrap_err();
        let expected = format!("expected a file with the CRC-32C AAAAAA==, found {crc}");
        assert!(wrong.starts_with(&expected), "{wrong}");
    }

    #[test]
    fn a_sha_256_is_read_and_compared() {
        // Of the empty text: FIPS 180-4.
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let hash: FileHash = text.to_uppercase().parse().unwrap();
        assert_eq!(hash.to_string(), text);
        assert!(hash.check(&mut "".as_bytes(), Path::new("x")).is_ok());
        assert!(hash.check(&mut "x".as_bytes(), Path::new("x")).is_err());
        for text in ["", "e3b0", &text.replace('e', "g"), &"é".repeat(32)] {
            assert_eq!(text.parse::<FileHash>(), Err(NotFileHash));
        }
    }
}
