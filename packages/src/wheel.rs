//! The wheel (the binary distribution format of `PyPA`, PEP 427; tags of PEP 600): a zip with the program as a
//! script, the module that speaks to the board, and a record of all.

use crate::archive::{self, Entry};
use crate::contents::Contents;
use crate::program::Program;
use crate::registry;
use crate::{VERSION, write};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The package's name, as its files have it.
const NAME: &str = "baton_browser";
/// Who uses the board from Python.
const BOARD: &str = include_str!("../../extensions/python/federation_sync.py");
/// `baton-browser` is a script of its own that starts `baton`: two programs would be twice as large, and
/// `pipx run` wants one that is called like the package.
const ENTRY_POINTS: &str = "[console_scripts]\nbaton-browser = baton_browser:main\n";

/// Makes the wheel of a program, where wheels have its target.
pub(crate) fn package(
    program: &Program,
    contents: &Contents,
    time: u64,
    to: &Path,
) -> Result<Option<PathBuf>> {
    let Some(platform) = program.target.wheel else { return Ok(None) };
    let tag = format!("py3-none-{platform}");
    let information = format!("{NAME}-{VERSION}.dist-info");
    let of = |file: &str| format!("{information}/{file}");
    let mut entries = vec![
        Entry::text("federation_sync.py", BOARD),
        Entry::text(format!("{NAME}/__init__.py"), include_str!("../wheel/__init__.py")),
        Entry::text(format!("{NAME}/__main__.py"), include_str!("../wheel/__main__.py")),
        Entry::program(format!("{NAME}-{VERSION}.data/scripts/baton"), program.bytes.clone()),
        Entry::text(of("entry_points.txt"), ENTRY_POINTS),
        Entry::text(of("METADATA"), metadata(contents)?),
        Entry::text(of("WHEEL"), wheel(&tag)),
    ];
    for (name, text) in &contents.licences {
        entries.push(Entry::text(of(&format!("licenses/{name}")), text.clone()));
    }
    // It comes last, as those who read an archive from its end like it.
    entries.push(Entry::text(of("RECORD"), record(&entries, &of("RECORD"))?));
    let name = format!("{NAME}-{VERSION}-{tag}.whl");
    Ok(Some(write(to, &name, &archive::zip(&entries, time)?)?))
}

fn metadata(contents: &Contents) -> Result<String> {
    let mut metadata = format!(
        "Metadata-Version: 2.4\nName: baton-browser\nVersion: {VERSION}\n\
         Summary: Keeps a browser session alive across crashes, machines and agents\n\
         License-Expression: {}\n",
        env!("CARGO_PKG_LICENSE")
    );
    for name in contents.licences.keys() {
        writeln!(metadata, "License-File: {name}")?;
    }
    write!(
        metadata,
        "Project-URL: Repository, {}\nRequires-Python: >=3.10\n\
         Classifier: Operating System :: POSIX :: Linux\nClassifier: Programming Language :: Rust\n\
         Description-Content-Type: text/markdown\n\n{}\n\
         <!-- mcp-name: {} -->\n",
        env!("CARGO_PKG_REPOSITORY"),
        String::from_utf8_lossy(&contents.readme.1),
        registry::NAME
    )?;
    Ok(metadata)
}

fn wheel(tag: &str) -> String {
    format!(
        "Wheel-Version: 1.0\nGenerator: baton-packages {VERSION}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    )
}

/// Each file with its SHA-256 and its size; the record itself has none.
fn record(entries: &[Entry], own: &str) -> Result<String> {
    let mut record = String::new();
    for Entry { path, bytes, .. } in entries {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        writeln!(record, "{path},sha256={sum},{}", bytes.len())?;
    }
    writeln!(record, "{own},,")?;
    Ok(record)
}
