//! What guides and references name is there: commands and their flags, settings, addresses of the API,
//! files of this repository. What there is comes from the program itself.

mod addresses;
mod commands;
mod files;
mod settings;

use regex::Regex;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A piece of code in a page: a span in a line, or a block.
struct Code {
    /// The page, below the root of the repository.
    page: String,
    line: usize,
    /// What stands behind the fence of a block; a span has none.
    info: Option<String>,
    text: String,
}

impl Code {
    fn is_span(&self) -> bool {
        self.info.is_none()
    }

    /// The first word behind the fence.
    fn language(&self) -> &str {
        self.info.as_deref().and_then(|info| info.split(' ').next()).unwrap_or_default()
    }

    /// Something in here that is not there.
    fn finding(&self, what: impl Into<String>, why: &str) -> Finding {
        let place = format!("{}:{}", self.page, self.line);
        Finding { place, what: what.into(), why: why.to_owned() }
    }
}

struct Finding {
    place: String,
    what: String,
    why: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All guides, references and decisions, and the first page of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The code of all pages.
fn codes() -> Vec<Code> {
    let found: Vec<Code> = pages().iter().flat_map(|page| codes_of(page)).collect();
    assert!(found.iter().any(Code::is_span) && found.iter().any(|code| !code.is_span()));
    found
}

fn codes_of(page: &Path) -> Vec<Code> {
    let span = Regex::new("`([^`]+)`").unwrap();
    let text = std::fs::read_to_string(page).unwrap();
    let page = page.strip_prefix(root()).unwrap().to_str().unwrap();
    let (mut found, mut block) = (Vec::new(), None::<Code>);
    for (at, line) in text.lines().enumerate() {
        let code = |info: Option<&str>, text: &str| Code {
            page: page.to_owned(),
            line: at + 1,
            info: info.map(ToOwned::to_owned),
            text: text.to_owned(),
        };
        let fence = line.trim_start().strip_prefix("```");
        match (&mut block, fence) {
            (Some(_), Some(_)) => found.extend(block.take()),
            (Some(block), None) => writeln!(block.text, "{line}").unwrap(),
            (None, Some(info)) => block = Some(code(Some(info), "")),
            (None, None) => found.extend(span.captures_iter(line).map(|span| code(None, &span[1]))),
        }
    }
    assert!(block.is_none(), "{page}: a block of code has no end");
    found
}

/// Fails with what is not there, but for what belongs to somebody else: named, with whose it is.
fn report(findings: Vec<Finding>, elsewhere: &[(&str, &str)]) {
    let is_elsewhere = |finding: &Finding| elsewhere.iter().any(|(name, _)| *name == finding.what);
    let (excused, found): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_elsewhere);
    let excused: BTreeSet<String> = excused.into_iter().map(|finding| finding.what).collect();
    let mut text = String::new();
    for Finding { place, what, why } in found {
        writeln!(text, "{place}: {what}: {why}").unwrap();
    }
    for (name, _) in elsewhere.iter().filter(|(name, _)| !excused.contains(*name)) {
        writeln!(text, "{name}: no page names it; take it off the list of what is elsewhere")
            .unwrap();
    }
    assert!(text.is_empty(), "{text}");
}
