//! Any order of operations, of writes of another program from any older version, and of kills between
//! any two steps: nothing acknowledged is lost, and each task has one holder.

use super::{World, add, clock, entry, name, pass};
use crate::board::Board;
use crate::error::{FederationError, WriteStep, with_hook};
use crate::operation::{Held, Operation};
use crate::task::TaskStatus;
use crate::write::Done;
use baton_testing::cases;
use jiff::SignedDuration;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const AGENTS: [&str; 3] = ["claude", "codex", "kimi"];

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    /// An operation, perhaps with a disturbance before its n-th step.
    Do(Deed, Option<(usize, Disturbance)>),
    /// Another program writes what it made of an older version.
    Foreign(usize),
    /// A reader looks.
    Read,
    /// Longer than a claim lasts without its holder.
    Pause,
}

#[derive(Debug, Clone)]
enum Disturbance {
    Kill,
    /// Another program writes what it made of an older version.
    Foreign(usize),
    /// It writes, and then we are killed some steps later.
    Both(usize, usize),
}

/// An operation of an agent; tasks are chosen by number.
#[derive(Debug, Clone)]
enum Deed {
    Update(usize),
    Add,
    Claim(usize, Option<usize>),
    Start(usize, usize),
    Complete(usize, usize),
    Release(usize, usize),
}

fn deeds() -> impl Strategy<Value = Deed> {
    let agent = 0..AGENTS.len();
    prop_oneof![
        2 => agent.clone().prop_map(Deed::Update),
        3 => Just(Deed::Add),
        4 => (agent.clone(), proptest::option::of(0..6usize)).prop_map(|(a, t)| Deed::Claim(a, t)),
        1 => (agent.clone(), 0..6usize).prop_map(|(a, t)| Deed::Start(a, t)),
        2 => (agent.clone(), 0..6usize).prop_map(|(a, t)| Deed::Complete(a, t)),
        1 => (agent, 0..6usize).prop_map(|(a, t)| Deed::Release(a, t)),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    let disturbance = prop_oneof![
        3 => Just(Disturbance::Kill),
        3 => (0..5usize).prop_map(Disturbance::Foreign),
        2 => (0..5usize, 0..8usize).prop_map(|(age, later)| Disturbance::Both(age, later)),
    ];
    let disturbed = proptest::option::weighted(0.4, (0..9usize, disturbance));
    prop_oneof![
        8 => (deeds(), disturbed).prop_map(|(deed, disturbance)| Event::Do(deed, disturbance)),
        3 => (0..6usize).prop_map(Event::Foreign),
        1 => Just(Event::Read),
        1 => Just(Event::Pause),
    ]
}

/// What another program knows, and wrote last.
#[derive(Default)]
struct Other {
    versions: Vec<Value>,
    written: Option<Value>,
    count: usize,
}

impl Other {
    /// Writes an older version back, with a task and an agent of its own.
    fn write(&mut self, world: &World, age: usize) {
        self.observe(world);
        if self.versions.is_empty() {
            return;
        }
        let index = self.versions.len().saturating_sub(1 + age);
        let mut value = self.versions[index].clone();
        self.count += 1;
        let id = format!("task-{:03}", self.count);
        value["agents"][format!("other-{}", self.count)] = entry("mine");
        let task = json!({ "id": id, "description": "theirs", "assigned_to": "other",
            "status": "in_progress", "priority": "high", "mark": [self.count] });
        value["tasks"].as_array_mut().unwrap().push(task);
        value["updated_at"] = json!(clock().to_string());
        world.write_raw(&value);
        self.written = Some(value);
    }

    fn observe(&mut self, world: &World) {
        if let Some(value) = world.raw()
            && self.versions.last() != Some(&value)
        {
            self.versions.push(value);
        }
    }
}

/// What was acknowledged.
#[derive(Default)]
struct Known {
    tasks: Vec<String>,
    completed: BTreeSet<String>,
    /// Who has a task, with which number, and when it was seen.
    holders: BTreeMap<String, (String, u64, jiff::Timestamp)>,
    /// Tasks of which a killed writer may have changed the holder.
    doubtful: BTreeSet<String>,
    largest: u64,
    /// What an agent may say that it does: what it said last, or to a killed writer since then.
    updates: BTreeMap<String, BTreeSet<Option<String>>>,
    count: usize,
}

impl Known {
    fn operation(&mut self, deed: &Deed) -> Option<Operation> {
        let count = self.tasks.len();
        let task = |index: usize| (count > 0).then(|| self.tasks[index % count].clone());
        let held = |agent: usize, index: usize| {
            let task = task(index)?;
            let fence = self.holders.get(&task).filter(|(holder, ..)| holder == AGENTS[agent]);
            let fence = fence.map(|(_, fence, _)| *fence);
            Some(Held { agent: name(AGENTS[agent]), fence, task })
        };
        Some(match deed {
            Deed::Update(agent) => {
                self.count += 1;
                Operation::UpdateAgent {
                    agent: name(AGENTS[*agent]),
                    status: "active".to_owned(),
                    current_task: Some(format!("work {}", self.count)),
                    workspace: None,
                    model: None,
                }
            }
            Deed::Add => add("ours"),
            Deed::Claim(agent, None) => {
                Operation::ClaimTask { agent: name(AGENTS[*agent]), task: None }
            }
            Deed::Claim(agent, Some(index)) => {
                Operation::ClaimTask { agent: name(AGENTS[*agent]), task: Some(task(*index)?) }
            }
            Deed::Start(agent, index) => Operation::StartTask(held(*agent, *index)?),
            Deed::Complete(agent, index) => Operation::CompleteTask(held(*agent, *index)?),
            Deed::Release(agent, index) => Operation::ReleaseTask(held(*agent, *index)?),
        })
    }

    /// Notes what was acknowledged.
    fn done(&mut self, operation: &Operation, done: &Done) {
        let now = clock();
        if let Some(agent) = operation.agent() {
            for (holder, _, seen) in self.holders.values_mut() {
                if *holder == agent.as_str() {
                    *seen = now;
                }
            }
        }
        let task = done.task.as_ref();
        match operation {
            Operation::UpdateAgent { agent, current_task, .. } => {
                self.updates.insert(agent.to_string(), BTreeSet::from([current_task.clone()]));
            }
            Operation::AddTask { .. } => self.tasks.push(task.unwrap().id.clone()),
            Operation::ClaimTask { agent, .. } => self.claimed(agent.as_str(), task.unwrap(), now),
            Operation::CompleteTask(held) => {
                assert_eq!(task.unwrap().status, TaskStatus::Completed);
                self.completed.insert(held.task.clone());
                self.holders.remove(&held.task);
            }
            Operation::ReleaseTask(held) => drop(self.holders.remove(&held.task)),
            _ => {}
        }
    }

    fn claimed(&mut self, agent: &str, task: &crate::task::Task, now: jiff::Timestamp) {
        let claim = task.claim.as_ref().unwrap();
        assert_eq!(claim.agent, agent, "whoever was told that it has a task has it");
        let is_doubtful = self.doubtful.remove(&task.id);
        if let Some((holder, fence, seen)) = self.holders.get(&task.id) {
            let is_same = holder == agent && *fence == claim.fence;
            let lapsed = now.duration_since(*seen) > SignedDuration::from_mins(15);
            assert!(is_same || lapsed || is_doubtful, "{} has two holders", task.id);
            assert!(is_same || claim.fence > *fence, "numbers only grow");
        }
        assert!(
            !self.completed.contains(&task.id) && !task.is_completed(),
            "nobody gets what is done"
        );
        self.largest = self.largest.max(claim.fence);
        self.holders.insert(task.id.clone(), (agent.to_owned(), claim.fence, now));
    }

    /// Notes what may have happened.
    fn killed(&mut self, operation: &Operation) {
        match operation {
            Operation::UpdateAgent { agent, current_task, .. } => {
                let never = || BTreeSet::from([None]);
                let known = self.updates.entry(agent.to_string()).or_insert_with(never);
                known.insert(current_task.clone());
            }
            Operation::ClaimTask { task: None, .. } => {
                let tasks = self.tasks.iter().chain(self.holders.keys());
                self.doubtful.extend(tasks.cloned());
            }
            Operation::ClaimTask { task: Some(task), .. } => {
                self.doubtful.insert(task.clone());
            }
            Operation::CompleteTask(held) | Operation::ReleaseTask(held) => {
                self.doubtful.insert(held.task.clone());
            }
            _ => {}
        }
    }

    /// All of it is on the board.
    fn check(&self, board: &Board, other: &Other) {
        for id in &self.tasks {
            assert!(board.task(id).is_some(), "{id} was acknowledged and is gone");
        }
        for id in &self.completed {
            assert!(board.task(id).unwrap().is_completed(), "{id} was completed");
        }
        for (id, (holder, fence, _)) in &self.holders {
            let task = board.task(id).unwrap();
            if !self.doubtful.contains(id) {
                assert_eq!(task.holder(), Some(holder.as_str()), "{id} {task:?}");
                assert_eq!(task.fence(), Some(*fence));
            }
        }
        assert!(board.fence >= self.largest);
        for (agent, texts) in &self.updates {
            let found = board.agents.get(agent).and_then(|agent| agent.current_task.clone());
            assert!(texts.contains(&found), "{agent}: {found:?} is not in {texts:?}");
        }
        let Some(written) = &other.written else { return };
        for theirs in written["tasks"].as_array().unwrap() {
            let id = theirs["id"].as_str().unwrap();
            let found =
                board.task(id).unwrap_or_else(|| panic!("{id} of the other program is gone"));
            assert_eq!(found.other.get("mark"), theirs.get("mark"));
        }
        for name in written["agents"].as_object().unwrap().keys() {
            assert!(board.agents.contains_key(name), "{name} of the other program is gone");
        }
    }
}

/// Does an operation, disturbed before one of its steps.
fn disturbed(
    world: &Rc<World>,
    other: &Rc<RefCell<Other>>,
    operation: &Operation,
    disturbance: Option<&(usize, Disturbance)>,
) -> Result<Done, FederationError> {
    let Some((when, disturbance)) = disturbance.cloned() else {
        return world.board.write(operation);
    };
    let (there, theirs) = (Rc::clone(world), Rc::clone(other));
    let mut count = 0;
    let hook = move |_: WriteStep| {
        count += 1;
        let is_now = count == when + 1;
        match disturbance {
            Disturbance::Kill => !is_now,
            Disturbance::Foreign(age) | Disturbance::Both(age, _) if is_now => {
                theirs.borrow_mut().write(&there, age);
                true
            }
            Disturbance::Both(_, later) => count != when + 2 + later,
            Disturbance::Foreign(_) => true,
        }
    };
    with_hook(Box::new(hook), || world.board.write(operation))
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn nothing_acknowledged_is_lost(events in vec(events(), 1..40)) {
        let world = Rc::new(World::new());
        let other = Rc::new(RefCell::new(Other::default()));
        let mut known = Known::default();
        world.board.write(&add("first")).map(|done| known.done(&add("first"), &done)).unwrap();
        for event in &events {
            other.borrow_mut().observe(&world);
            match event {
                Event::Do(deed, disturbance) => {
                    let Some(operation) = known.operation(deed) else { continue };
                    match disturbed(&world, &other, &operation, disturbance.as_ref()) {
                        Ok(done) => known.done(&operation, &done),
                        Err(FederationError::Refused(_)) => {}
                        Err(FederationError::Killed(_)) => known.killed(&operation),
                        Err(error) => panic!("{error}"),
                    }
                }
                Event::Foreign(age) => other.borrow_mut().write(&world, *age),
                Event::Read => drop(world.board.read().unwrap()),
                Event::Pause => pass(SignedDuration::from_mins(20)),
            }
        }
        let board = world.board.read().unwrap().unwrap();
        known.check(&board, &other.borrow());
        let repaired = world.raw();
        prop_assert_eq!(world.board.read().unwrap().unwrap(), board);
        prop_assert_eq!(world.raw(), repaired, "a second repair changes nothing");
    }
}
