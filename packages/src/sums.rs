//! `SHA256SUMS`: what `sha256sum --check` reads, one line for each file that is given to people.

use crate::write as write_file;
use anyhow::Result;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The file's name.
const FILE: &str = "SHA256SUMS";

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the sums of all files in a folder.
pub(crate) fn write(folder: &Path) -> Result<PathBuf> {
    let mut lines = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        if file.path().is_file() && name != FILE {
            lines.push((hexadecimal(&fs::read(file.path())?), name));
        }
    }
    lines.sort_by(|(_, one), (_, other)| one.cmp(other));
    let text = lines.iter().fold(String::new(), |mut text, (sum, name)| {
        let _ = writeln!(text, "{sum}  {name}");
        text
    });
    write_file(folder, FILE, text.as_bytes())
}
