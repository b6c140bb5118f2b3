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

const COMMANDS: [&[&str]; 78] = [
    &[],
    &["open"],
    &["attach"],
    &["sessions", "list"],
    &["sessions", "show"],
    &["sessions", "capture"],
    &["sessions", "resume"],
    &["sessions", "close"],
    &["sessions", "abandon"],
    &["sessions", "delete"],
    &["sessions", "history"],
    &["sessions", "rollback"],
    &["sessions", "diff"],
    &["sessions", "contexts"],
    &["sessions", "keep-context"],
    &["export"],
    &["import"],
    &["save"],
    &["peers", "add"],
    &["peers", "list"],
    &["peers", "confirm"],
    &["peers", "limit"],
    &["peers", "ping"],
    &["peers", "remove"],
    &["sync", "run"],
    &["sync", "status"],
    &["sync", "conflicts"],
    &["sync", "resolve"],
    &["profile", "compile"],
    &["profile", "read"],
    &["debug"],
    &["debug", "list-tabs"],
    &["debug", "network"],
    &["debug", "console"],
    &["debug", "har"],
    &["debug", "pair"],
    &["debug", "on"],
    &["debug", "off"],
    &["proxy"],
    &["cocoons", "add"],
    &["cocoons", "list"],
    &["cocoons", "open"],
    &["cocoons", "remove"],
    &["sandbox", "create"],
    &["sandbox", "list"],
    &["sandbox", "show"],
    &["sandbox", "exec"],
    &["sandbox", "delete"],
    &["mcp"],
    &["mcp", "install"],
    &["mcp", "uninstall"],
    &["skill"],
    &["federation"],
    &["federation", "status"],
    &["federation", "update"],
    &["federation", "task", "add"],
    &["federation", "task", "list"],
    &["federation", "task", "claim"],
    &["federation", "task", "start"],
    &["federation", "task", "done"],
    &["federation", "task", "release"],
    &["federation", "task", "block"],
    &["federation", "sprint"],
    &["federation", "router"],
    &["federation", "close"],
    &["federation", "history"],
    &["federation", "watch"],
    &["federation", "recover"],
    &["keys", "create"],
    &["keys", "list"],
    &["keys", "revoke"],
    &["audit"],
    &["serve"],
    &["backup"],
    &["restore"],
    &["doctor"],
    &["demo"],
    &["completions"],
];

#[test]
fn the_command_line_reference_follows_the_program() {
    let folder = Folder::new();
    let mut page = HEAD.to_owned();
    for command in COMMANDS {
        let run = folder.run(&[command, &["--help"]].concat()).success();
        let help = stdout(&run, &folder.data());
        let title = format!("baton {}", command.join(" "));
        write!(page, "\n## {}\n\n```text\n{}\n```\n", title.trim_end(), help.trim_end()).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == page, "docs/reference/cli.md is old; BATON_UPDATE_DOCS=1 writes it anew");
}
