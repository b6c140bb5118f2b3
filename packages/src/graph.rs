//! What the program is built of: the crates of its dependency graph, as cargo tells them.

use crate::program::Program;
use crate::root;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

/// The crate of the program.
pub(crate) const PROGRAM: &str = "baton";

/// A crate that is part of the program.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) licence: String,
    /// Who wrote it, where it says so.
    pub(crate) authors: Vec<String>,
    /// Where its sources are on this machine.
    pub(crate) folder: PathBuf,
    /// The SHA-256 of what the registry gives out, in hexadecimal; none for ours.
    pub(crate) checksum: Option<String>,
    /// The crates that it uses and that are part of the program, too.
    pub(crate) uses: BTreeSet<Id>,
}

/// A name with a version.
pub(crate) type Id = (String, String);

/// Reads the graph: what `cargo tree` says is built, with what `cargo metadata` knows of it.
pub(crate) fn read(programs: &[Program]) -> Result<BTreeMap<Id, Package>> {
    let built = built(programs)?;
    let checksums = checksums()?;
    let metadata: Value =
        serde_json::from_slice(&cargo(&["metadata", "--format-version", "1", "--locked"])?)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut ids = BTreeMap::new();
    let mut packages = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let id = (text(&package["name"])?, text(&package["version"])?);
        ids.insert(text(&package["id"])?, id.clone());
        if !built.contains(&id) {
            continue;
        }
        let manifest = PathBuf::from(text(&package["manifest_path"])?);
        let authors = list(&package["authors"]);
        let licence = package["license"].as_str().unwrap_or("NOASSERTION");
        let package = Package {
            name: id.0.clone(),
            version: id.1.clone(),
            // How crates wrote it before SPDX expressions.
            licence: licence.replace('/', " OR "),
            authors: authors.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            folder: manifest.parent().context("expected a manifest in a folder")?.to_owned(),
            checksum: checksums.get(&id).cloned(),
            uses: BTreeSet::new(),
        };
        packages.insert(id, package);
    }
    for node in list(&metadata["resolve"]["nodes"]) {
        let Some(user) = ids.get(&text(&node["id"])?).and_then(|id| packages.get_mut(id)) else {
            continue;
        };
        for used in list(&node["deps"]) {
            let is_normal = list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let id = ids.get(&text(&used["pkg"])?).filter(|id| is_normal && built.contains(*id));
            user.uses.extend(id.cloned());
        }
    }
    let missing: Vec<&Id> = built.iter().filter(|id| !packages.contains_key(*id)).collect();
    ensure!(missing.is_empty(), "expected all crates in cargo's metadata, missing {missing:?}");
    Ok(packages)
}

/// The crates that are linked into the program for one of the targets.
fn built(programs: &[Program]) -> Result<BTreeSet<Id>> {
    let mut built = BTreeSet::new();
    for program in programs {
        let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
        let target = ["tree", "--locked", "--package", PROGRAM, "--target", program.target.triple];
        let lines = String::from_utf8(cargo(&[&target[..], &edges].concat())?)?;
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let mut words = line.split(' ');
            let (name, version) = (words.next(), words.next().and_then(|it| it.strip_prefix('v')));
            let id =
                name.zip(version).with_context(|| format!("expected a crate, found {line}"))?;
            built.insert((id.0.to_owned(), id.1.to_owned()));
        }
    }
    Ok(built)
}

fn checksums() -> Result<BTreeMap<Id, String>> {
    let lock: toml::Table = toml::from_str(&std::fs::read_to_string(root().join("Cargo.lock"))?)?;
    let packages =
        lock.get("package").and_then(toml::Value::as_array).context("expected packages")?;
    let field = |package: &toml::Value, name: &str| {
        package.get(name).and_then(toml::Value::as_str).map(str::to_owned)
    };
    let entry = |package: &toml::Value| {
        let id = (field(package, "name")?, field(package, "version")?);
        Some((id, field(package, "checksum")?))
    };
    Ok(packages.iter().filter_map(entry).collect())
}

fn cargo(args: &[&str]) -> Result<Vec<u8>> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(program).args(args).current_dir(root()).output()?;
    let errors = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "expected cargo {} to succeed:\n{errors}", args.join(" "));
    Ok(done.stdout)
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("expected a text, found {value}"))
}
