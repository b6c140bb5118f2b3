//! What the architecture names is there: files, the functions of its journeys, and the tests that hold its
//! invariants.

use crate::repository::{files, report, root};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The documents that name code.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "docs/internals/invariants.md"];
/// How many words a newcomer reads before the first file, names of code aside.
const WORDS_MAX: usize = 1_500;
/// How many files a reader of each journey opens at most.
const FILES_MAX: [(&str, usize); 5] = [
    ("Capture", 27),
    ("Resume", 30),
    ("Pull", 37),
    ("Sandbox create", 22),
    ("From a page to a model", 22),
];

#[test]
fn the_architecture_is_read_in_ten_minutes() {
    let text = read("ARCHITECTURE.md");
    let prose = text.split('`').step_by(2).flat_map(str::split_whitespace);
    let words = prose.filter(|word| word.contains(char::is_alphabetic)).count();
    assert!(words <= WORDS_MAX, "ARCHITECTURE.md has {words} words, expected {WORDS_MAX} at most");
}

#[test]
fn each_step_of_a_journey_is_a_function_of_its_file() {
    let text = read("ARCHITECTURE.md");
    let journeys = journeys(&text);
    let mut findings = Vec::new();
    for (name, most) in FILES_MAX {
        let Some(steps) = journeys.get(name) else {
            findings.push(format!("{name}: expected a journey, found none"));
            continue;
        };
        let opened: BTreeSet<&str> = steps.iter().map(|step| step.file).collect();
        if opened.len() > most || opened.len() < 3 {
            findings
                .push(format!("{name}: {} files are opened, expected 3 to {most}", opened.len()));
        }
        for Step { functions, file } in steps {
            let Ok(code) = std::fs::read_to_string(root().join(file)) else {
                findings.push(format!("{name}: {file} is not there"));
                continue;
            };
            let missing = functions.iter().filter(|function| !defines(&code, function));
            findings.extend(missing.map(|function| format!("{name}: {file} has no `{function}`")));
        }
    }
    report("a journey leads to what is not there", &findings);
}

#[test]
fn what_the_architecture_names_is_there() {
    let sources = files(".rs");
    let mut findings = Vec::new();
    for document in DOCUMENTS {
        let text = read(document);
        for name in quoted(&text) {
            let is_path = name.starts_with("crates/") || name.starts_with("xtask/");
            if is_path && !root().join(name).exists() {
                findings.push(format!("{document}: {name} is not there"));
            }
            let function = name.rsplit("::").next().unwrap_or_default();
            let is_test = name.contains("::") && function.matches('_').count() > 2;
            if is_test && !sources.iter().any(|source| defines(&source.text, function)) {
                findings.push(format!("{document}: there is no test {name}"));
            }
        }
    }
    report("a document names what is not there", &findings);
}

/// One line of a journey: functions in the order in which they are called, and where they are.
struct Step<'a> {
    functions: Vec<&'a str>,
    file: &'a str,
}

/// The journeys: lists below a heading `### NAME`, each line ``1. `FUNCTION`, `FUNCTION` in `FILE` ``.
fn journeys(text: &str) -> BTreeMap<&str, Vec<Step<'_>>> {
    let mut journeys: BTreeMap<&str, Vec<Step<'_>>> = BTreeMap::new();
    let mut name = None;
    let step = Regex::new(r"^\d+\. (.*) in `([^`]+)`").unwrap();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            name = heading.strip_prefix("## ");
        }
        if let (Some(name), Some(found)) = (name, step.captures(line)) {
            let functions = quoted(found.get(1).unwrap().as_str()).collect();
            let file = found.get(2).unwrap().as_str();
            journeys.entry(name).or_default().push(Step { functions, file });
        }
    }
    journeys
}

fn read(document: &str) -> String {
    std::fs::read_to_string(root().join(document)).unwrap()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a function of this name, with or without the type that has it, is defined here.
fn defines(code: &str, function: &str) -> bool {
    let name = function.rsplit("::").next().unwrap_or_default();
    ["(", "<"].iter().any(|next| code.contains(&format!("fn {name}{next}")))
}

#[test]
fn a_function_that_went_is_found() {
    let code = "async fn pull<T>(it: T) {}";
    assert!(defines(code, "Peer::pull") && !defines(code, "push"));
    let text = "### Pull\n\n1. `Peer::pull`, `push` in `a.rs`\n";
    let found = &journeys(text)["Pull"][0];
    assert_eq!((found.functions.len(), found.file), (2, "a.rs"));
}
