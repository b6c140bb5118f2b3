//! Settings of a node, of the extension for VS Code, and variables of the environment.

use super::{Finding, codes, report, root};
use baton_server::config::Settings;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What looks like a setting and is none, and what it is.
const SETTINGS_ELSEWHERE: &[(&str, &str)] = &[
    ("[redacted]", "what stands in the place of a secret"),
    ("debug.key", "a file of the data folder"),
    ("node.id", "a file of the data folder"),
    ("node.json", "a file of the data folder"),
    ("node.lock", "a file of the data folder"),
    ("node.log", "a file of the data folder"),
    ("server.json", "what a registry of MCP servers lists"),
    ("sync.checksum", "a field of session files"),
    ("sync.conflicts", "a field of session files"),
    ("sync.deleted", "a field of session files"),
    ("sync.lastModified", "a field of session files"),
    ("sync.lastSyncedTo", "a field of session files"),
    ("sync.vector", "a field of session files"),
    ("sync.version", "a field of session files"),
];

/// A key that is no setting anywhere, so that the program says which ones are.
const NO_KEY: &str = "no_such_key";

/// All settings, with the tables in which they stand, as `server.tls.key`.
///
/// Whoever sets what is not there is told what is; so the program itself lists them.
fn settings() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Tables with what has to stand above them, when that is a list of tables.
    let mut left = vec![(String::new(), String::new())];
    while let Some((above, table)) = left.pop() {
        for key in keys(&format!("{above}{NO_KEY} = 1\n")) {
            let name = if table.is_empty() { key } else { format!("{table}.{key}") };
            let heads = [format!("[{name}]\n"), format!("[[{name}]]\n")];
            // A list of tables has to stand above the tables in it.
            let lists: String = above
                .lines()
                .filter(|line| line.starts_with("[["))
                .fold(String::new(), |text, line| text + line + "\n");
            for head in heads {
                let above = format!("{lists}{head}");
                if !keys(&format!("{above}{NO_KEY} = 1\n")).is_empty() {
                    left.push((above, name.clone()));
                }
            }
            found.insert(name);
        }
    }
    assert!(found.contains("gateway.agents.prompt") && found.contains("server.tls.key"));
    found
}

/// The keys of which the program says that it expects them, where [`NO_KEY`] stands.
fn keys(text: &str) -> Vec<String> {
    let Err(error) = Settings::parse(Path::new("baton.toml"), text) else { return Vec::new() };
    let error = error.to_string();
    let unknown = format!("unknown field `{NO_KEY}`, expected ");
    let Some((_, expected)) = error.split_once(&unknown) else { return Vec::new() };
    expected.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

#[test]
fn every_setting_that_a_page_names_is_one() {
    let settings = settings();
    let is_known = |name: &str| settings.contains(name);
    let is_somewhere = |key: &str| {
        let below = format!(".{key}");
        is_known(key) || settings.iter().any(|name| name.ends_with(&below))
    };
    let table = Regex::new(r"^\[\[?([a-z][A-Za-z_.]*)\]\]?(?: ([A-Za-z_]+))?").unwrap();
    let line = Regex::new(r"^([A-Za-z_.]+) = \S").unwrap();
    let dotted = Regex::new(r"^([a-z]+)\.[A-Za-z_.]+$").unwrap();
    let mut findings: Vec<Finding> = Vec::new();
    for code in codes().iter().filter(|code| code.page.starts_with("docs/") || code.is_span()) {
        let text = code.text.trim();
        if code.info.as_deref() == Some("toml") {
            let why = Settings::parse(Path::new("baton.toml"), text).err();
            findings.extend(why.map(|why| code.finding("a block of settings", &why.to_string())));
        } else if !code.is_span() {
        } else if let Some(found) = table.captures(text) {
            let key = found.get(2).map(|key| format!(".{}", key.as_str())).unwrap_or_default();
            if !is_known(&format!("{}{key}", &found[1])) {
                findings.push(code.finding(text, "there is no such setting"));
            }
        } else if let Some(found) = line.captures(text) {
            if !is_somewhere(&found[1]) {
                findings.push(code.finding(text, "there is no such setting"));
            }
        } else if dotted.captures(text).is_some_and(|found| is_known(&found[1])) && !is_known(text)
        {
            findings.push(code.finding(text, "there is no such setting"));
        }
    }
    report(findings, SETTINGS_ELSEWHERE);
}

#[test]
fn the_reference_names_every_setting() {
    let page = std::fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (file, _) = rest.split_once("```").unwrap();
    for setting in settings() {
        let key = setting.rsplit('.').next().unwrap();
        let is_named = Regex::new(&format!(r"(?m)(?:^|[\[.\s]){key}(?: = |\]|\.)")).unwrap();
        assert!(is_named.is_match(file), "the file in configuration.md says nothing of {setting}");
    }
}

#[test]
fn every_setting_of_the_extension_that_a_page_names_is_one() {
    let manifest = std::fs::read(root().join("extensions/vscode/package.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let settings = &manifest["contributes"]["configuration"]["properties"];
    let page = codes().into_iter().filter(|code| code.page == "docs/guide/vscode.md");
    let named: Vec<_> =
        page.filter(|code| code.is_span() && code.text.starts_with("baton.")).collect();
    assert!(!named.is_empty() && settings.is_object());
    let missing = named.iter().filter(|code| settings.get(&code.text).is_none());
    let findings =
        missing.map(|code| code.finding(&code.text, "the extension has no such setting"));
    report(findings.collect(), &[]);
}

#[test]
fn every_variable_that_a_page_names_is_read_or_set_by_that_page() {
    let variable = Regex::new(r"\b(?:BATON|FEDERATION|HIVE)_[A-Z_]+\b").unwrap();
    let read: BTreeSet<String> = sources()
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let (text, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            let quoted = variable.find_iter(text).filter(|name| {
                text[..name.start()].ends_with('"') && text[name.end()..].starts_with('"')
            });
            quoted.map(|name| name.as_str().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert!(read.contains("BATON_DATA"));
    let codes = codes();
    let sets = |page: &str, name: &str| {
        let setting = format!("{name}=");
        codes.iter().any(|code| code.page == page && code.text.contains(&setting))
    };
    let mut findings: Vec<Finding> = Vec::new();
    for code in &codes {
        let named = variable.find_iter(&code.text).map(|name| name.as_str());
        let missing = named.filter(|name| !read.contains(*name) && !sets(&code.page, name));
        findings.extend(missing.map(|name| code.finding(name, "nobody reads or sets this")));
    }
    report(findings, &[]);
}

/// The sources of the crates, without their tests.
fn sources() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found
}
