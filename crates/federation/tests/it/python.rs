//! A program that follows the old rule writes into the board while others work on it.

use crate::fixture::{add, at};
use crate::worker::{Acknowledged, Worker};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_program_with_the_old_rule_loses_nothing_of_others() {
    let home = tempfile::tempdir().unwrap();
    let board = at(&home.path().join(".federation"));
    board.write(&add("there before it starts")).unwrap();
    let end = home.path().join("end");
    let mut program = Command::new("python3");
    program.arg("-c").arg(include_str!("federation_sync.py")).arg(&end);
    let program = program.env("HOME", home.path()).stdout(Stdio::piped()).spawn();
    let mut program = program.expect("python3 must be installed");
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "ready");

    let mut workers: Vec<Worker> =
        (0..6).map(|n| Worker::start(board.folder(), &format!("agent-{n}"), 60)).collect();
    let mut acknowledged = Acknowledged::default();
    for worker in &mut workers {
        worker.rest().iter().for_each(|line| acknowledged.note(line));
        assert!(worker.process.wait().unwrap().success());
    }
    std::fs::write(&end, "").unwrap();
    let count: u64 = said.next().unwrap().unwrap().parse().unwrap();
    assert!(program.wait().unwrap().success());

    assert!(acknowledged.count > 300 && count > 5, "{} {count}", acknowledged.count);
    acknowledged.check(&board, false);
    let board = board.read().unwrap().unwrap();
    let ollama = &board.agents["ollama"];
    assert_eq!((ollama.status.as_str(), ollama.current_task.as_deref()), ("done", Some("the end")));
}
