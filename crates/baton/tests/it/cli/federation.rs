//! `baton federation` as a person, a shell or a program meets it.

use super::fixture::{Folder, stderr, stdout};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A board of its own.
struct Board {
    folder: Folder,
    place: tempfile::TempDir,
}

impl Board {
    fn new() -> Self {
        Self { folder: Folder::new(), place: tempfile::tempdir().unwrap() }
    }

    fn dir(&self) -> PathBuf {
        self.place.path().join("board")
    }

    fn run(&self, args: &[&str]) -> assert_cmd::assert::Assert {
        let dir = self.dir();
        let args = [&["federation"], args].concat();
        self.folder.run_with(&args, &[("FEDERATION_DIR", dir.to_str().unwrap())])
    }

    /// What a run said, without what differs from run to run.
    fn said(&self, args: &[&str], code: i32) -> String {
        let run = self.run(args).code(code);
        let dir = self.dir();
        let text = format!("{}{}", stdout(&run, &dir), stderr(&run, &dir));
        let mut tidy = String::new();
        for word in text.split_inclusive([' ', '\n', ',']) {
            let bare = word.trim_end_matches([' ', '\n', ',']);
            let is_id = bare.starts_with("task-") && bare.len() == 11 && bare != "task-nosuch";
            let is_session = bare.starts_with("sess-") && bare.len() == 20;
            let plain = if is_id {
                "task-******"
            } else if is_session {
                "SESSION"
            } else {
                bare
            };
            tidy.push_str(plain);
            tidy.push_str(&word[bare.len()..]);
        }
        // However long the commands before took.
        for seconds in 1..10 {
            tidy = tidy.replace(&format!(" {seconds} s ago"), " 0 s ago");
        }
        tidy
    }

    fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat()).success();
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    }
}

#[test]
fn a_day_on_the_board() {
    let board = Board::new();
    let mut said = vec![board.said(&["status"], 0)];
    said.push(board.said(&["update", "kimi", "active", "--task", "testing the router"], 0));
    said.push(board.said(&["router", "--set-version", "v3", "--tier", "2"], 0));
    said.push(board.said(&["sprint", "seven days"], 0));
    let id =
        board.json(&["task", "add", "write the docs", "--priority", "high"])["task"]["id"].clone();
    let id = id.as_str().unwrap();
    said.push(board.said(&["task", "add", "publish them", "--after", id], 0));
    said.push(board.said(&["task", "claim", "--as", "kimi"], 0));
    said.push(board.said(&["task", "claim", id, "--as", "kimi"], 0));
    said.push(board.said(&["task", "claim", "--as", "codex"], 3));
    said.push(board.said(&["task", "done", id, "--as", "codex"], 4));
    said.push(board.said(&["task", "done", "task-nosuch", "--as", "codex"], 3));
    said.push(board.said(&["status"], 0));
    said.push(board.said(&["task", "done", id, "--as", "kimi", "--fence", "1"], 0));
    said.push(board.said(&["task", "list"], 0));
    insta::assert_snapshot!(said.concat(), @"
    no active session; the first update or task begins one
    kimi  active
    version   v3
    tier      2
    accuracy  unknown
    to be measured  yes
    sprint seven days
    task-******  pending  publish them
    task-******  claimed, kimi, fence 1  write the docs
    task-******  claimed, kimi, fence 1  write the docs
    error: expected a task that is free, found none: 1 held, 1 blocked, 0 for other agents
    error: expected codex to hold task-******, but kimi holds it with the number 1
    error: expected a task of the board, found task-nosuch
      baton federation task list shows them
    SESSION  sprint seven days  router v3, tier 2, to be measured

    AGENT  STATUS  SEEN     TASK
    kimi   active  0 s ago  testing the router

    TASK         PRIORITY  STATUS                 WHO   TEXT
    task-******  high      claimed                kimi  write the docs
    task-******  normal    waits for task-******        publish them
    task-******  completed, kimi  write the docs
    TASK         PRIORITY  STATUS   TEXT
    task-******  normal    pending  publish them
    ");
}

#[test]
fn what_ended_is_in_the_history() {
    let board = Board::new();
    board.run(&["close"]).code(3);
    board.run(&["task", "add", "write the docs"]).success();
    let archived = board.json(&["sprint", "--end"])["archived"].as_str().unwrap().to_owned();
    assert!(PathBuf::from(&archived).starts_with(board.dir().join("history")));
    assert_eq!(board.json(&["status"]), serde_json::json!({"board": null, "sessions": null}));
    let items = board.json(&["history"])["items"].clone();
    assert_eq!((items.as_array().unwrap().len(), &items[0]["tasks"]), (1, &1.into()));
    let name = items[0]["name"].as_str().unwrap();
    assert_eq!(board.json(&["history", name])["tasks"][0]["description"], "write the docs");
    board.run(&["history", "../../etc/passwd"]).code(3);
}

#[test]
fn a_board_that_cannot_be_read_is_recovered_by_a_word() {
    let board = Board::new();
    board.run(&["task", "add", "write the docs"]).success();
    board.run(&["recover"]).code(4);
    let file = board.dir().join("sessions/active-session.json");
    std::fs::write(&file, "{ \"session_id\": \"sess").unwrap();
    board.run(&["update", "kimi", "active"]).code(1);
    let run = board.run(&["status", "--json"]).code(1);
    let document: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert!(document["error"]["hint"].as_str().unwrap().contains("baton federation recover"));
    board.run(&["recover"]).success();
    assert_eq!(board.json(&["task", "list"])["items"][0]["description"], "write the docs");
}

#[test]
fn a_watch_shows_each_change_until_nobody_reads() {
    let board = Board::new();
    board.run(&["update", "kimi", "active"]).success();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_baton"));
    watch.args(["federation", "watch", "--json", "--dir"]).arg(board.dir());
    let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["agents"]["kimi"]["status"], "active");
    board.run(&["update", "kimi", "idle"]).success();
    assert_eq!(next()["agents"]["kimi"]["status"], "idle");
    board.run(&["close"]).success();
    assert_eq!(next(), Value::Null);
    drop(lines);
    board.run(&["update", "kimi", "active"]).success();
    assert!(watch.wait().unwrap().success(), "it ends with its reader");
}

#[test]
fn nothing_but_the_board_is_touched() {
    let board = Board::new();
    board.run(&["status"]).success();
    assert!(!board.dir().exists(), "a look makes nothing");
    board.run(&["update", "kimi", "active"]).success();
    assert!(!board.folder.data().exists(), "no node is asked or started");
}
