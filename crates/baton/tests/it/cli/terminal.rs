//! What a person sees at 80 columns, on a terminal and in a pipe: whatever answers the question is there.

use super::fixture::Folder;
use baton_testing::skip;
use std::path::Path;
use std::process::Command;

/// The width of the terminal.
const COLUMNS: usize = 80;

/// What a command writes to a terminal of that width, without its colours.
fn on_a_terminal(folder: &Folder, args: &str) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_baton"));
    let line = format!("stty cols {COLUMNS} rows 40; exec {} {args}", program.display());
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    terminal.env("BATON_DATA", folder.data()).env("TERM", "xterm").env_remove("NO_COLOR");
    let done = terminal.output().ok()?;
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{args}: {said}");
    let colours = regex::Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").unwrap();
    assert!(colours.is_match(&said), "a terminal is shown colours: {said:?}");
    Some(colours.replace_all(&said, "").replace("\r\n", "\n"))
}

fn in_a_pipe(folder: &Folder, args: &str) -> String {
    let words: Vec<&str> = args.split(' ').collect();
    let run = folder.run(&words).success();
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

/// Every word of a table, also those that go on in the next line of their cell.
fn holds_all(said: &str, words: &[&str]) {
    for line in said.lines() {
        assert!(line.chars().count() <= COLUMNS, "wider than the terminal: {line:?}\n{said}");
    }
    for word in words {
        let bare: String = said.split_whitespace().collect();
        let wanted: String = word.split_whitespace().collect();
        let is_there = said.contains(word) || bare.contains(&wanted);
        assert!(is_there, "expected {word:?} in\n{said}");
    }
    assert!(!said.contains('…'), "something is cut:\n{said}");
}

#[test]
fn nothing_that_answers_the_question_is_cut_at_80_columns() {
    let folder = Folder::new();
    let name = "a-key-of-a-program-with-quite-a-long-name";
    let scopes = ["debug", "drive", "read"];
    let mut create = vec!["--quiet", "keys", "create", "--name", name];
    create.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
    folder.run(&create).success();
    folder.run(&["open", "https://example.org", "--name", "never-opened"]).failure();
    let why = ["session.open", "failed", "browser_unavailable"];
    for (args, words) in [("keys list", &scopes[..]), ("audit", &why[..])] {
        holds_all(&in_a_pipe(&folder, args), words);
        let Some(said) = on_a_terminal(&folder, args) else { skip!("no program `script`") };
        holds_all(&said, words);
    }
    folder.stop_node();
}
