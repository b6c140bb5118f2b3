//! One version: what is given to people says the workspace's.

use crate::repository::{files, report, root};

/// What repeats it: manifests of other worlds, and their locks.
const REPEATED: [&str; 10] = [
    "extensions/chrome/manifest.json",
    "extensions/chrome/package.json",
    "extensions/chrome/package-lock.json",
    "extensions/plugin/.claude-plugin/plugin.json",
    "extensions/plugin/.codex-plugin/plugin.json",
    "extensions/plugin/.cursor-plugin/plugin.json",
    "extensions/vscode/package.json",
    "extensions/vscode/package-lock.json",
    "extensions/web/package.json",
    "extensions/web/package-lock.json",
];

fn version() -> String {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&text).unwrap();
    manifest["workspace"]["package"]["version"].as_str().unwrap().to_owned()
}

#[test]
fn every_manifest_of_another_world_says_the_same_version() {
    let expected = format!("\"version\": \"{}\"", version());
    let mut findings = Vec::new();
    for path in REPEATED {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        // The first one is its own; others are of what it depends on.
        let found = text.lines().find(|line| line.trim_start().starts_with("\"version\""));
        let found = found.map_or("none", |line| line.trim().trim_end_matches(','));
        if found != expected {
            findings.push(format!("{path}: expected {expected}, found {found}"));
        }
    }
    report("a version is not that of workspace.package", &findings);
}

#[test]
fn every_crate_takes_the_version_of_the_workspace() {
    let mut findings = Vec::new();
    for manifest in files("/Cargo.toml") {
        let parsed: toml::Table = toml::from_str(&manifest.text).unwrap();
        let own = parsed.get("package").and_then(|package| package.get("version"));
        let is_inherited = own.is_some_and(toml::Value::is_table);
        if !is_inherited && manifest.package() != "fuzz" {
            findings.push(format!("{} must say `version.workspace = true`", manifest.path));
        }
    }
    report("a crate has a version of its own", &findings);
}

#[test]
fn crates_that_are_published_ask_for_that_version_of_each_other() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&text).unwrap();
    let mut findings = Vec::new();
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let asked = dependency.get("version").filter(|_| name.starts_with("baton-"));
        let asked = asked.and_then(toml::Value::as_str);
        if asked.is_some_and(|asked| asked != version()) {
            findings.push(format!("{name}: expected {}, found {asked:?}", version()));
        }
    }
    report("a crate asks for another version of ours", &findings);
}
