//! The demo: it ends signed in, and leaves nothing behind whatever way it ends.

use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn demo(folder: &Path) -> Command {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_baton"));
    demo.args(["demo", "--json"]).env("TMPDIR", folder);
    demo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    demo
}

fn is_empty(folder: &Path) -> bool {
    folder.read_dir().unwrap().next().is_none()
}

#[test]
fn the_demo_ends_signed_in_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let done = demo(folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{told}");
    let story: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(story["after"]["who"], "Signed in as Ada");
    assert_eq!(story["before"], story["after"]);
    assert_eq!(story["resume"]["receipt"]["rejected"], 0, "{story}");
    assert_eq!(story["second"]["shown"], story["before"], "at the second node");
    assert_eq!(story["second"]["resume"]["receipt"]["rejected"], 0, "{story}");
    let said = story["handed_in"]["said"].as_str().unwrap_or_default();
    assert_eq!(said, "The page says “Signed in as Ada”.\n", "{story}");
    assert_eq!(story["handed_in"]["browser_session"]["shrunk"], false, "{story}");
    assert_eq!(story["steps"].as_array().unwrap().len(), 19, "{story}");
    assert!(is_empty(folder.path()));
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    // Now a keeper and its browser run; and now others start at the second node.
    for step in ["open a session in a browser", "pull the session"] {
        let folder = tempfile::tempdir().unwrap();
        let mut running = demo(folder.path()).spawn().unwrap();
        let told = BufReader::new(running.stderr.take().unwrap());
        let mut lines = told.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains(step)), "{step}");
        baton_playground::victims::ask_to_end(running.id()).unwrap();
        let last = lines.last().unwrap_or_default();
        let done = running.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{last}");
        let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(answer["error"]["message"], "interrupted");
        assert!(is_empty(folder.path()), "{step}");
    }
}
