//! `docs/reference/cli.md` says what the program says.
//!
//! When a help text was changed, `BATON_UPDATE_DOCS=1 cargo test -p baton reference` writes it anew.

use super::fixture::{Folder, stdout};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Command line

This page is the program's own help; a test keeps them equal.

With `--json` a command writes exactly one JSON document to standard output, and everything else to
standard error. A command that fails writes `{\"error\": {\"code\", \"message\", \"hint\"?,
\"request_id\"?}}` there; `code` is an error code of the [HTTP API](http.md), or `usage`, `conflict`,
`denied`, `not_found` or `failed` when no node was asked.

A command that needs a node finds the one of the data folder, or starts one in the background, which
ends itself after ten minutes without an active session and without a request.
";

/// The commands below one, as its help lists them; and what that says.
fn below(folder: &Folder, command: &[String]) -> (String, Vec<Vec<String>>) {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let help = stdout(&folder.run(&words).success(), &folder.data());
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let names = listed
        .lines()
        .take_while(|line| !line.is_empty())
        // A description that goes on in the next line stands further in.
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let all = names.map(|name| [command, &[name.to_owned()]].concat()).collect();
    (help, all)
}

/// On a terminal of 80 columns no example and no usage is broken where it cannot be typed.
fn is_typed_as_shown(help: &str) {
    let usage = help.lines().filter(|line| line.starts_with("Usage: "));
    let examples = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    for line in usage.chain(examples.take_while(|line| !line.is_empty())) {
        assert!(line.chars().count() <= 80, "wider than 80 columns: {line:?}");
    }
}

#[test]
fn the_command_line_reference_follows_the_program() {
    let folder = Folder::new();
    let mut page = HEAD.to_owned();
    let mut left = vec![Vec::new()];
    while let Some(command) = left.pop() {
        let (help, all) = below(&folder, &command);
        is_typed_as_shown(&help);
        let title = format!("baton {}", command.join(" "));
        write!(page, "\n## {}\n\n```text\n{}\n```\n", title.trim_end(), help.trim_end()).unwrap();
        left.extend(all.into_iter().rev());
    }
    assert!(page.contains("\n## baton url\n") && page.contains("\n## baton sync conflicts\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == page, "docs/reference/cli.md is old; BATON_UPDATE_DOCS=1 writes it anew");
}
