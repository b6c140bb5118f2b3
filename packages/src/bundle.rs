//! The bundle for desktop programs that speak MCP (MCPB, manifest version 0.3): a zip that they install by a click,
//! with the program, which they start as a server over standard input and output.

use crate::archive::{self, Entry};
use crate::contents::Contents;
use crate::program::Program;
use crate::sums::hexadecimal;
use crate::{VERSION, write};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The program's place in the bundle.
const PROGRAM: &str = "server/baton";
/// The picture's.
const PICTURE: &str = "icon.png";

/// A bundle that was written.
pub(crate) struct Bundle {
    /// Its file.
    pub(crate) path: PathBuf,
    /// Its file's name.
    pub(crate) name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub(crate) sum: String,
}

/// Makes the bundle of a program, where those who install it can run it: on a machine with a C library.
pub(crate) fn package(
    program: &Program,
    contents: &Contents,
    time: u64,
    to: &Path,
) -> Result<Option<Bundle>> {
    let Some(processor) = program.target.npm else { return Ok(None) };
    let mut entries = vec![
        Entry::text("manifest.json", serde_json::to_vec_pretty(&manifest())?),
        Entry::text(PICTURE, &include_bytes!("../../extensions/vscode/icons/baton.png")[..]),
        Entry::program(PROGRAM, program.bytes.clone()),
    ];
    for (name, text) in contents.texts() {
        entries.push(Entry::text(name.clone(), text.clone()));
    }
    let bytes = archive::zip(&entries, time)?;
    let name = format!("baton-{VERSION}-linux-{processor}.mcpb");
    Ok(Some(Bundle { path: write(to, &name, &bytes)?, name, sum: hexadecimal(&bytes) }))
}

/// What a desktop program reads first. The tools are asked of the server: which there are depends on its settings.
fn manifest() -> Value {
    let repository = env!("CARGO_PKG_REPOSITORY");
    json!({
        "manifest_version": "0.3",
        "name": "baton",
        "display_name": "Baton",
        "version": VERSION,
        "description": "Keeps a browser session alive across crashes, machines and agents",
        "author": {"name": "The Baton contributors", "url": repository},
        "repository": {"type": "git", "url": format!("{repository}.git")},
        "homepage": repository,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["browser", "session", "agent", "login"],
        "icon": PICTURE,
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {"command": format!("${{__dirname}}/{PROGRAM}"), "args": ["mcp"], "env": {}},
        },
        "tools_generated": true,
        "compatibility": {"platforms": ["linux"]},
    })
}
