//! The licences of all that the program is built of: who gives out a program gives them out with it.

use crate::graph::{self, Package};
use crate::program::Program;
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// The file's name in all packages.
pub(crate) const FILE: &str = "LICENSES-THIRD-PARTY.txt";

/// How the files begin that a crate brings along for this.
const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// Every licence once, with the crates that bring it along.
pub(crate) fn text(programs: &[Program]) -> Result<String> {
    let packages = graph::read(programs)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in packages.values().filter(|package| package.checksum.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        writeln!(list, "{name}: {}", package.licence)?;
        for text in own(package)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    ensure!(!texts.is_empty(), "expected licences in the sources of crates, found none");
    let mut all =
        format!("Baton is built of these crates, under the licences that stand below.\n\n{list}");
    for (text, names) in texts {
        write!(all, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end())?;
    }
    Ok(all)
}

/// The texts in a crate's folder; who wrote it, where it brings none along.
fn own(package: &Package) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for file in fs::read_dir(&package.folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_uppercase();
        if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && file.path().is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(file.path())?).replace("\r\n", "\n"));
        }
    }
    if texts.is_empty() {
        let authors = package.authors.join(", ");
        texts.push(format!("{} brings no text along; by {authors}", package.licence));
    }
    texts.sort();
    Ok(texts)
}
