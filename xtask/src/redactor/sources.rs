//! What the redactor of the extension for Chrome is made of, as one hash: by it is told whether the WebAssembly
//! that is kept is of these sources.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// Where the WebAssembly is kept, from the root of the repository.
pub(crate) const KEPT: &str = "extensions/chrome/redactor/redactor.wasm";
/// Where the hash of its sources is kept.
pub(crate) const KEPT_HASH: &str = "extensions/chrome/redactor/redactor.sha256";
/// What it is made of: folders and files.
const MADE_OF: [&str; 6] = [
    ".cargo/config.toml",
    "crates/redaction/Cargo.toml",
    "crates/redaction/src",
    "extensions/chrome/redactor/Cargo.toml",
    "extensions/chrome/redactor/src",
    "rust-toolchain.toml",
];

/// SHA-256 over the paths and the bytes of all files that it is made of, in the order of their paths, as
/// hexadecimal digits.
pub(crate) fn hash(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    for place in MADE_OF {
        collect(&root.join(place), &mut files)?;
    }
    files.sort();
    let mut all = Sha256::new();
    for file in files {
        let bytes = fs::read(&file)?;
        let path = file.strip_prefix(root).unwrap_or(&file);
        all.update(format!("{} {}\n", path.display(), bytes.len()));
        all.update(bytes);
    }
    Ok(all.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if place.is_file() {
        files.push(place.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(place)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
