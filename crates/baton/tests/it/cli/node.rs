//! Commands find the node of their folder, and start one when none runs.

use super::fixture::{Folder, stderr, stdout};

#[test]
fn a_command_that_needs_a_node_starts_one_and_says_so() {
    let folder = Folder::new();
    let run = folder.run(&["sessions", "list"]).success();
    insta::assert_snapshot!(stderr(&run, &folder.data()), @"starting a node in the background, its log is DATA/node.log");
    insta::assert_snapshot!(stdout(&run, &folder.data()), @"no sessions; baton open https://example.org --name NAME opens one");
    let pid = folder.node_pid().unwrap();
    let again = folder.run(&["sessions", "list"]).success();
    assert!(again.get_output().stderr.is_empty(), "the second command finds it");
    assert_eq!(folder.node_pid(), Some(pid));
    folder.stop_node();
}

#[test]
fn commands_at_the_same_time_start_one_node() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        let list = || folder.run(&["--quiet", "sessions", "list"]).success();
        let runs = [scope.spawn(list), scope.spawn(list), scope.spawn(list)];
        for run in runs {
            assert!(run.join().unwrap().get_output().stderr.is_empty());
        }
    });
    let log = std::fs::read_to_string(folder.data().join("node.log")).unwrap();
    assert_eq!(log.matches("the node is ready").count(), 1, "{log}");
    folder.stop_node();
}

#[test]
fn a_second_node_on_one_folder_ends_with_4() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    let run = folder.run(&["serve", "--listen", "127.0.0.1:0"]).code(4);
    let text = stderr(&run, &folder.data());
    assert!(text.contains("error: expected no other node on DATA, found one with process id"));
    folder.stop_node();
}

#[test]
fn what_a_dead_node_left_behind_is_no_node() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    let file = folder.data().join("node.json");
    let left = std::fs::read(&file).unwrap();
    folder.stop_node();
    std::fs::write(&file, left).unwrap();
    folder.run(&["sessions", "list"]).success();
    folder.stop_node();
}

#[test]
fn an_unknown_session_ends_with_3_and_says_what_to_do() {
    let folder = Folder::new();
    let mut answers = Vec::new();
    let verbs: [&[&str]; 9] = [
        &["show"],
        &["capture"],
        &["resume"],
        &["close"],
        &["abandon"],
        &["delete"],
        &["history"],
        &["rollback", "--to", "abcd"],
        &["diff", "abcd", "ef01"],
    ];
    for verb in verbs {
        let mut args = vec!["--quiet", "sessions", verb[0], "nope"];
        args.extend(&verb[1..]);
        let run = folder.run(&args).code(3);
        assert!(run.get_output().stdout.is_empty());
        answers.push(stderr(&run, &folder.data()));
    }
    answers.dedup();
    insta::assert_snapshot!(answers.concat(), @r#"
    error: no session "nope"
      baton sessions list shows the sessions there are
    "#);
    let (code, mut document) = folder.json(&["sessions", "show", "nope"]);
    assert!(document["error"]["request_id"].take().is_string());
    assert_eq!(code, 3);
    insta::assert_json_snapshot!(document, @r#"
    {
      "error": {
        "code": "session_not_found",
        "hint": "baton sessions list shows the sessions there are",
        "message": "no session \"nope\"",
        "request_id": null
      }
    }
    "#);
    folder.stop_node();
}

#[test]
fn a_browser_that_is_missing_ends_with_1() {
    let folder = Folder::new();
    let run = folder.run(&["--quiet", "open", "--name", "shop"]).code(1);
    let text = stderr(&run, &folder.data());
    insta::assert_snapshot!(text, @r"
    error: expected a Chromium program at /nowhere/chromium, found nothing
      baton doctor says what is missing
    ");
    let (code, list) = folder.json(&["sessions", "list"]);
    assert_eq!((code, list), (0, serde_json::json!({ "items": [] })));
    folder.stop_node();
}

#[test]
fn a_node_is_ended_by_a_command_and_where_none_runs_that_is_said() {
    let folder = Folder::new();
    let none = stdout(&folder.run(&["stop"]).success(), &folder.data());
    insta::assert_snapshot!(none, @"no node runs on DATA");
    folder.run(&["--quiet", "sessions", "list"]).success();
    let pid = folder.node_pid().unwrap();
    let ended = stdout(&folder.run(&["--quiet", "stop"]).success(), &folder.data());
    assert_eq!(ended.trim(), "ended the node");
    assert!(!folder.is_held() && folder.node_pid().is_none(), "process {pid} lives");
    // What stands in its file after a crash is nobody.
    folder.run(&["--quiet", "sessions", "list"]).success();
    folder.kill_node();
    assert_eq!(folder.json(&["stop"]), (0, serde_json::json!({"stopped": null})));
}
