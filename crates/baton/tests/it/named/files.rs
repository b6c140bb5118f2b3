//! Files and folders of this repository.

use super::{Finding, codes, report, root};
use regex::Regex;

/// What looks like a file of the repository and is none, and what it is.
const ELSEWHERE: &[(&str, &str)] = &[];

/// The folders of the repository, as the beginnings of paths.
fn folders() -> String {
    let entries = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    let names = names.filter(|name| !name.starts_with('.') && name != "target");
    names.collect::<Vec<_>>().join("|")
}

#[test]
fn every_file_of_the_repository_that_a_page_names_is_there() {
    let path = Regex::new(&format!(r#"(?:^|[\s"'=])((?:{})/[^\s"'`),;:]*)"#, folders())).unwrap();
    let mut findings: Vec<Finding> = Vec::new();
    let mut checked = 0;
    for code in codes() {
        for found in path.captures_iter(&code.text) {
            checked += 1;
            if !root().join(&found[1]).exists() {
                findings.push(code.finding(&found[1], "the repository has no such file"));
            }
        }
    }
    assert!(checked > 5, "expected the files that pages name, found {checked}");
    report(findings, ELSEWHERE);
}
