//! The files of the repository, as git lists them: tracked ones, and new ones that are not ignored.

use std::path::Path;
use std::process::Command;

/// One text file of the repository.
pub(crate) struct File {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

/// The crates that a node is made of, by which others wait for the one that is busy.
const OF_A_NODE: [&str; 7] = ["agents", "backup", "server", "proxy", "runtime", "store", "sync"];
/// Those below them with async threads of their own.
const BELOW: [&str; 4] = ["browser", "debug", "egress", "net"];

impl File {
    /// The folder name under `crates/`, or `xtask`, or `bench`.
    pub(crate) fn package(&self) -> &str {
        let mut folders = self.path.split('/');
        match folders.next() {
            Some("crates") => folders.next().unwrap_or_default(),
            other => other.unwrap_or_default(),
        }
    }

    /// Whether it is part of a library or a program, rather than of its tests.
    pub(crate) fn is_source(&self) -> bool {
        self.path.contains("/src/")
    }

    /// Whether it is part of the service: of what runs on the async threads of a node.
    pub(crate) fn is_of_a_node(&self) -> bool {
        self.is_source() && OF_A_NODE.contains(&self.package())
    }

    /// Whether it runs in a node or a keeper, where a panic is to be one of the task that waits.
    pub(crate) fn runs_in_a_node(&self) -> bool {
        self.is_of_a_node() || self.is_source() && BELOW.contains(&self.package())
    }

    /// Its lines with their numbers, without comments and without the items that only tests have.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_of_tests = false;
        let lines = self.text.lines().enumerate().filter(move |(_, line)| {
            is_of_tests |= line.starts_with("#[cfg(test)]");
            let was_of_tests = is_of_tests;
            // An item ends with a line of its own, or is one.
            is_of_tests &=
                !(line.starts_with(['}', ')']) || line.ends_with(';') && !line.starts_with(' '));
            !was_of_tests && !line.trim_start().starts_with("//")
        });
        lines.map(|(index, line)| (index + 1, line))
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every text file whose path ends so.
pub(crate) fn files(ending: &str) -> Vec<File> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git must be installed, and this must be a checkout");
    assert!(listed.status.success(), "git ls-files failed: {listed:?}");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let paths = listed.split('\0').filter(|path| !path.is_empty() && path.ends_with(ending));
    // A file that was deleted and not yet committed is still listed; one that is no text is no source.
    let read = |path: &str| {
        let text = std::fs::read_to_string(root().join(path)).ok()?;
        Some(File { path: path.to_owned(), text })
    };
    let files: Vec<File> = paths.filter_map(read).collect();
    assert!(!files.is_empty(), "expected files that end in {ending}, found none");
    files
}

/// Fails with all `findings`, one a line.
pub(crate) fn report(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}
