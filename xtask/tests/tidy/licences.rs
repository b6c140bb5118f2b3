//! Licences and bans of everything that is built, by the lists of `deny.toml`.

use crate::repository::{report, root};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::process::Command;

/// The parts of `deny.toml` that are checked here.
#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
}

impl Deny {
    fn fetch() -> Self {
        toml::from_str(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap()
    }

    /// Whether a package may come in under its licence.
    fn allows(&self, package: &Package) -> Result<bool, spdx::ParseError> {
        let expression = spdx::Expression::parse_mode(&package.licence, spdx::ParseMode::LAX)?;
        let exceptions = self.licenses.exceptions.iter().filter(|one| one.name == package.name);
        let allowed: Vec<spdx::Licensee> = exceptions
            .flat_map(|exception| &exception.allow)
            .chain(&self.licenses.allow)
            .map(|licence| spdx::Licensee::parse(licence).unwrap())
            .collect();
        Ok(expression.evaluate(|requirement| allowed.iter().any(|one| one.satisfies(requirement))))
    }
}

/// One package of the dependency graph.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    licence: String,
}

/// Everything that some feature of ours on some platform builds. `Cargo.lock` alone would not do:
/// it also lists what no feature ever turns on.
fn packages() -> BTreeSet<Package> {
    let tree = Command::new(std::env::var_os("CARGO").unwrap())
        .args(["tree", "--locked", "--workspace", "--all-features", "--target", "all"])
        .args(["--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "cargo tree failed: {errors}");
    let lines = String::from_utf8(tree.stdout).unwrap();
    lines.lines().filter(|line| !line.is_empty()).map(package).collect()
}

/// Reads `name v1.2.3 (…)|licence`; ` (*)` at the end marks a package that was listed before.
fn package(line: &str) -> Package {
    let line = line.strip_suffix(" (*)").unwrap_or(line);
    let (package, licence) = line.rsplit_once('|').unwrap();
    let name = package.split(' ').next().unwrap();
    Package { name: name.to_owned(), licence: licence.to_owned() }
}

#[test]
fn every_licence_is_allowed() {
    let deny = Deny::fetch();
    let mut findings = Vec::new();
    for package in packages() {
        match deny.allows(&package) {
            Ok(true) => {}
            Ok(false) => findings.push(format!("{}: {}", package.name, package.licence)),
            Err(error) => findings.push(format!("{}: {error}", package.name)),
        }
    }
    report("a licence is not in deny.toml", &findings);
}

#[test]
fn no_banned_package_is_built() {
    let deny = Deny::fetch();
    let packages = packages();
    let banned = deny.bans.deny.iter().map(|ban| ban.name.as_str());
    let findings: Vec<String> = banned
        .filter(|ban| packages.iter().any(|package| package.name == *ban))
        .map(ToOwned::to_owned)
        .collect();
    report("a package that deny.toml bans is built", &findings);
}
