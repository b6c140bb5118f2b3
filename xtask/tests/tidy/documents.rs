//! Documents: what a page refers to must be there.

use crate::repository::{File, files, report, root};

#[test]
fn every_link_inside_the_repository_leads_somewhere() {
    let mut findings = Vec::new();
    for page in files(".md") {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for link in links(&page) {
            let path = link.split('#').next().unwrap_or_default();
            if !path.is_empty() && !folder.join(path).exists() {
                findings.push(format!("{}: {link}", page.path));
            }
        }
    }
    report("a link leads nowhere", &findings);
}

#[test]
fn everything_in_the_data_folder_is_told() {
    let text_of = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let told = text_of("docs/internals/durability.md");
    let source = text_of("crates/store/src/data/mod.rs");
    let names: Vec<&str> = source
        .split(".join(\"")
        .skip(1)
        .filter_map(|after| after.split_once('"').map(|(name, _)| name))
        .collect();
    assert!(names.len() > 10, "expected the places of the data folder, found {names:?}");
    let is_told = |name: &str| told.lines().any(|line| names_place(line, name));
    let findings: Vec<String> =
        names.into_iter().filter(|name| !is_told(name)).map(str::to_owned).collect();
    report("a place in the data folder that docs/internals/durability.md does not tell", &findings);
}

/// Whether a line of the list of places begins with a path that has this part.
fn names_place(line: &str, name: &str) -> bool {
    let path = line.strip_prefix("  ").and_then(|line| line.split_whitespace().next());
    path.is_some_and(|path| path.split('/').any(|part| part == name))
}

/// Commands that install or run a package by its name in a registry.
const FETCHERS: [&str; 10] = [
    "brew install",
    "cargo binstall",
    "cargo install",
    "npm install",
    "npx",
    "pip install",
    "pipx install",
    "pipx run",
    "uv tool install",
    "uvx",
];

#[test]
fn what_is_installed_by_name_is_our_package() {
    let mut findings = Vec::new();
    for page in files(".md") {
        for line in page.text.lines() {
            for name in fetched(line).filter(|name| is_of_another(name)) {
                findings.push(format!("{}: {name} in {line}", page.path));
            }
        }
    }
    report("ours is baton-browser in every registry; this is somebody else's", &findings);
}

/// The packages that a line fetches: after each fetcher the first word that is no option.
fn fetched(line: &str) -> impl Iterator<Item = &str> {
    let whole =
        |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "-/".contains(c));
    FETCHERS.iter().flat_map(move |fetcher| {
        let found = line.match_indices(fetcher).filter(move |(at, _)| whole(*at));
        let after = found.filter_map(move |(at, _)| line[at + fetcher.len()..].strip_prefix(' '));
        after.filter_map(|after| {
            let end = after.find(['`', '|', ';', '&', '#']).unwrap_or(after.len());
            after[..end].split_whitespace().find(|word| !word.starts_with('-'))
        })
    })
}

/// Whether a word is a name like ours, and not ours.
fn is_of_another(word: &str) -> bool {
    let name = word.split(['@', '=', '<', '>', '[']).next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    is_name && name.starts_with("baton") && name.replace('_', "-") != "baton-browser"
}

/// The targets of `[text](target)` that are no web address.
fn links(page: &File) -> Vec<&str> {
    let mut found = Vec::new();
    for after in page.text.split("](").skip(1) {
        let target = after.split([')', ' ']).next().unwrap_or_default();
        if !target.contains("://") {
            found.push(target);
        }
    }
    found
}
