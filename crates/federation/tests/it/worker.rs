//! An agent in a process of its own, which says what was acknowledged.

use crate::fixture::{add, at, claim, complete, held, random, update};
use baton_federation::{Federation, FederationError, Operation};
use baton_testing::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const FOLDER: &str = "BOARD_FOLDER";
const AGENT: &str = "BOARD_AGENT";
const COUNT: &str = "BOARD_COUNT";

/// The process: this program, with this one test.
pub(crate) struct Worker {
    pub(crate) process: Child,
    pub(crate) said: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    pub(crate) fn start(folder: &Path, agent: &str, count: u64) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "--nocapture", "worker::works"]);
        command.env(FOLDER, folder).env(AGENT, agent).env(COUNT, count.to_string());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, said }
    }

    /// Everything that it says until it ends.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let said: Vec<String> = self.said.by_ref().map_while(Result::ok).collect();
        said.into_iter().filter(|line| line.starts_with("ack ")).collect()
    }

    /// The next acknowledgement.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.said.by_ref().map_while(Result::ok).find(|line| line.starts_with("ack "))
    }
}

#[test]
#[ignore = "the process of an agent; other tests start it"]
fn works() {
    let Some(folder) = std::env::var_os(FOLDER) else { skip!("it is the process of an agent") };
    let agent = std::env::var(AGENT).unwrap();
    let count: u64 = std::env::var(COUNT).unwrap().parse().unwrap();
    let board = at(Path::new(&folder));
    let mut mine: Option<(String, u64)> = None;
    for round in 0..count {
        let said = work(&board, &agent, round, &mut mine);
        if let Some(said) = said {
            // One write, so that a kill leaves a whole line or none.
            std::io::stdout().write_all(format!("ack {said}\n").as_bytes()).unwrap();
        }
    }
}

/// One operation: add, claim, start, then complete or give back, and an update.
fn work(
    board: &Federation,
    agent: &str,
    round: u64,
    mine: &mut Option<(String, u64)>,
) -> Option<String> {
    let (operation, said) = match (round % 5, mine.clone()) {
        (0, _) => (add(&format!("{agent} {round}")), "add".to_owned()),
        (1, None) => (claim(agent, None), "claim".to_owned()),
        (2, Some((id, fence))) => {
            (Operation::StartTask(held(agent, &id, Some(fence))), format!("start {id} {fence}"))
        }
        (3, Some((id, fence))) if random().is_multiple_of(4) => {
            *mine = None;
            (Operation::ReleaseTask(held(agent, &id, Some(fence))), format!("release {id} {fence}"))
        }
        (3, Some((id, fence))) => {
            *mine = None;
            (complete(agent, &id, Some(fence)), format!("complete {id} {fence}"))
        }
        _ => (update(agent, &format!("{round:09}")), format!("update {agent} {round:09}")),
    };
    match board.write(&operation) {
        Ok(done) => Some(match said.as_str() {
            "add" => format!("add {}", done.task.unwrap().id),
            "claim" => {
                let task = done.task.unwrap();
                *mine = Some((task.id.clone(), task.fence().unwrap()));
                format!("claim {} {} {agent}", task.id, task.fence().unwrap())
            }
            _ => said,
        }),
        Err(FederationError::Refused(refusal)) => {
            assert_eq!(said, "claim", "{agent}: {refusal}");
            None
        }
        Err(error) => panic!("{agent}: {error}"),
    }
}

/// What was acknowledged, by whomever.
#[derive(Default)]
pub(crate) struct Acknowledged {
    pub(crate) count: usize,
    added: BTreeSet<String>,
    /// Of each task the claims, by number, with their holders.
    claims: BTreeMap<String, BTreeMap<u64, String>>,
    released: BTreeSet<(String, u64)>,
    completed: BTreeMap<String, u64>,
    updates: BTreeMap<String, String>,
}

impl Acknowledged {
    pub(crate) fn note(&mut self, line: &str) {
        self.count += 1;
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        match words[0] {
            "add" => assert!(self.added.insert(words[1].to_owned()), "an id was given twice"),
            "claim" => {
                let all = self.claims.values().flat_map(BTreeMap::keys);
                assert!(!all.into_iter().any(|one| *one == number(2)), "a number was given twice");
                let of_task = self.claims.entry(words[1].to_owned()).or_default();
                of_task.insert(number(2), words[3].to_owned());
            }
            "release" => drop(self.released.insert((words[1].to_owned(), number(2)))),
            "complete" => {
                let before = self.completed.insert(words[1].to_owned(), number(2));
                assert_eq!(before, None, "{} was completed twice", words[1]);
            }
            "update" => drop(self.updates.insert(words[1].to_owned(), words[2].to_owned())),
            _ => {}
        }
    }

    /// All of it is on the board. `doubtful` when writers were killed: then somebody may have given a
    /// task back and not lived to say so.
    pub(crate) fn check(&self, board: &Federation, doubtful: bool) {
        let board = board.read().unwrap().unwrap();
        for id in &self.added {
            assert!(board.task(id).is_some(), "{id} was acknowledged and is gone");
        }
        for (id, fence) in &self.completed {
            let task = board.task(id).unwrap();
            assert!(task.is_completed() && task.fence() == Some(*fence), "{id} {fence}: {task:?}");
        }
        for (id, claims) in &self.claims {
            let numbers: Vec<u64> = claims.keys().copied().collect();
            for number in &numbers[..numbers.len() - 1] {
                let given_back = self.released.contains(&(id.clone(), *number));
                assert!(given_back || doubtful, "{id} has two holders: {claims:?}");
            }
            let last = numbers[numbers.len() - 1];
            let found = board.task(id).unwrap().fence();
            let given_back = self.released.contains(&(id.clone(), last)) || doubtful;
            assert!(found == Some(last) || given_back, "{id}: {last} is not {found:?}");
        }
        for (agent, text) in &self.updates {
            let found = board.agents[agent].current_task.clone().unwrap_or_default();
            assert!(found == *text || (doubtful && found > *text), "{agent}: {found} {text}");
        }
    }
}
