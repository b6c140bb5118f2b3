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
