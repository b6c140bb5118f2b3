//! Resumes a session and carries it to another test node, with the program as people run it.

use age::secrecy::ExposeSecret;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::TestNode;
use serde_json::Value;

/// Resumes a session, and says what the receipt misses.
pub(super) fn resume(test_node: &TestNode, name: &str) -> Vec<String> {
    let (code, said) = baton(test_node, &["sessions", "resume", name]);
    let items = said["receipt"]["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let missed = items.iter().filter(|item| item["outcome"] != "restored");
    let mut lines: Vec<String> = missed.map(|item| format!("receipt: {item}")).collect();
    if code != 0 {
        lines.push(format!("expected the resume to end with 0, found {code}"));
    }
    lines
}

/// Exports a session of one test node, sealed or not, and imports it in another.
pub(super) fn carry(from: &TestNode, to: &TestNode, name: &str, sealed: bool) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, identity) = (place("session"), place("identity"));
    let mine = age::x25519::Identity::generate();
    std::fs::write(&identity, mine.to_string().expose_secret()).unwrap();
    let recipient = mine.to_public().to_string();
    let (mut export, mut import) = (vec!["export", name, "-o", &file], vec!["import", &file]);
    if sealed {
        export.extend(["--to", &recipient]);
        import.extend(["--identity", &identity]);
    }
    for (test_node, args) in [(from, export), (to, import)] {
        let (code, said) = baton(test_node, &args);
        assert_eq!(code, 0, "{args:?} said {said}");
    }
}

/// Runs the program, and gives how it ended and what it said.
fn baton(test_node: &TestNode, args: &[&str]) -> (i32, Value) {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).arg("--json").args(args).assert();
    let output = run.get_output();
    let code = output.status.code().unwrap();
    let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said));
    assert!([0, 6].contains(&code), "{args:?} ended with {code}: {}", said.concat());
    (code, serde_json::from_slice(&output.stdout).unwrap())
}
