//! A session that ends while a writer is killed, or while another program writes: it is archived once,
//! and what was acknowledged is in the history.

use super::{World, add, entry};
use crate::error::{FederationError, WriteStep, with_hook};
use crate::operation::Operation;
use serde_json::json;
use std::rc::Rc;

/// More steps than anything takes.
const STEPS: usize = 24;

fn close() -> Operation {
    Operation::Close { agent: None }
}

/// The one session of the history.
fn archived(world: &World) -> crate::board::Board {
    let [archived] =
        world.board.history(9).unwrap().try_into().expect("one session in the history");
    archived.board
}

#[test]
fn a_close_that_is_killed_anywhere_is_done_once_or_not_at_all() {
    let mut ends = Vec::new();
    for when in 0..STEPS {
        let world = World::new();
        let id = world.board.write(&add("one")).unwrap().task.unwrap().id;
        let mut count = 0;
        let hook = move |_: WriteStep| {
            count += 1;
            count != when + 1
        };
        let closed = with_hook(Box::new(hook), || world.board.write(&close()));
        let board = world.board.read().unwrap();
        match board {
            Some(board) => {
                assert!(matches!(closed, Err(FederationError::Killed(_))));
                assert!(board.task(&id).is_some() && world.board.history(9).unwrap().is_empty());
                world.board.write(&close()).unwrap();
            }
            None => assert!(!world.file().exists()),
        }
        assert!(archived(&world).task(&id).is_some());
        ends.push(closed.is_ok());
    }
    assert!(ends.contains(&true) && ends.contains(&false), "{ends:?}");
}

#[test]
fn what_another_program_writes_while_a_session_closes_is_in_the_history() {
    for when in 0..STEPS {
        for kill in [None, Some(1), Some(2)] {
            let world = Rc::new(World::new());
            let id = world.board.write(&add("one")).unwrap().task.unwrap().id;
            let mut old = world.raw().unwrap();
            old["agents"]["other"] = entry("late");
            let there = Rc::clone(&world);
            let mut count = 0;
            let mut written = false;
            let said = Rc::new(std::cell::Cell::new(false));
            let say = Rc::clone(&said);
            let hook = move |_: WriteStep| {
                count += 1;
                if count == when + 1 {
                    there.write_raw(&old);
                    written = true;
                    say.set(true);
                }
                !(written && kill.is_some_and(|kill| count == when + 1 + kill))
            };
            let closed = with_hook(Box::new(hook), || world.board.write(&close()));
            if world.board.read().unwrap().is_some() {
                assert!(closed.is_err(), "a close that was acknowledged stays one");
                world.board.write(&close()).unwrap();
            }
            assert_eq!(world.board.read().unwrap(), None);
            let board = archived(&world);
            assert!(board.task(&id).is_some());
            assert_eq!(board.agents.contains_key("other"), said.get(), "{when} {kill:?}");
        }
    }
}

#[test]
fn a_session_that_another_program_begins_in_any_moment_of_a_write_stands() {
    for when in 0..STEPS {
        let world = Rc::new(World::new());
        let first = world.board.write(&add("one")).unwrap().task.unwrap().id;
        let theirs = json!({ "session_id": "sess-theirs", "created_at": "2031-01-01T00:00:00Z",
            "agents": {}, "tasks": [{ "id": "task-001", "description": "theirs" }] });
        let there = Rc::clone(&world);
        let said = Rc::new(std::cell::Cell::new(false));
        let say = Rc::clone(&said);
        let mut count = 0;
        let hook = move |_: WriteStep| {
            count += 1;
            if count == when + 1 {
                there.write_raw(&theirs);
                say.set(true);
            }
            true
        };
        let done = with_hook(Box::new(hook), || world.board.write(&add("two"))).unwrap();
        let second = done.task.unwrap().id;
        let board = world.board.read().unwrap().unwrap();
        if !said.get() {
            assert_eq!(board.tasks.len(), 2);
            continue;
        }
        assert_eq!((board.session_id.as_str(), board.tasks.len()), ("sess-theirs", 1), "{when}");
        let ours = archived(&world);
        let has = |id: &str| ours.task(id).is_some();
        assert!(has(&first) && has(&second), "{when}: what was acknowledged is in the history");
    }
}
