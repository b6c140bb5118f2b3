//! The tools that move files into a sandbox and out of it: they run in it, with its rights.

use super::InitError;
use std::fs::File;
use std::io::{BufReader, Write, stdin, stdout};
use std::path::{Path, PathBuf};

/// How much is read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// Runs a tool.
pub(super) fn run(verb: &str, path: &Path) -> Result<(), InitError> {
    match verb {
        "read" => read(path),
        "write" => write(path),
        "pack" => pack(path),
        "unpack" => unpack(path),
        _ => return Err(InitError::NoTool),
    }
    .map_err(InitError::file(path))
}

fn read(path: &Path) -> std::io::Result<()> {
    std::io::copy(&mut File::open(path)?, &mut stdout().lock()).map(drop)
}

/// Writes a file whole or not at all; its folders are made.
fn write(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = beside(path);
    let written = File::create(&beside)
        .and_then(|mut file| std::io::copy(&mut stdin().lock(), &mut file))
        .and_then(|_| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    PathBuf::from(name)
}

fn pack(path: &Path) -> std::io::Result<()> {
    let mut archive = tar::Builder::new(std::io::BufWriter::new(stdout().lock()));
    archive.follow_symlinks(false);
    archive.append_dir_all(".", path)?;
    archive.into_inner()?.flush()
}

fn unpack(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path)?;
    tar::Archive::new(BufReader::with_capacity(CHUNK, stdin().lock())).unpack(path)
}
