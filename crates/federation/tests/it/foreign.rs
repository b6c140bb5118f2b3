//! Programs that only know the file: their changes are respected, and what they drop comes back.

use crate::fixture::{Place, add, claim, name, update};
use baton_federation::{Board, Operation};
use serde_json::{Value, json};

/// The example of the design.
const EXAMPLE: &str = include_str!("example.json");

#[test]
fn the_example_of_the_design_is_a_board_and_stays_one() {
    let place = Place::new();
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    let board: Board = serde_json::from_str(EXAMPLE).unwrap();
    let mut written = serde_json::to_value(&board).unwrap();
    written.as_object_mut().unwrap().retain(|name, _| name != "rev" && name != "fence");
    written["agents"]["ollama"].as_object_mut().unwrap().remove("current_task");
    assert_eq!(written, example, "every field, and no other but ours");

    place.write_raw(&example);
    let now = jiff::Timestamp::now().to_string();
    let mut fresh = example.clone();
    fresh["updated_at"] = json!(now);
    place.write_raw(&fresh);
    place.done(&update("kimi", "more"));
    let raw = place.raw();
    assert_eq!(raw["tasks"], example["tasks"]);
    assert_eq!(raw["agents"]["claude"], example["agents"]["claude"]);
    assert_eq!(raw["agents"]["kimi"]["workspace"], "~/kimi-code-folder/", "not said, so kept");
    assert_eq!(raw["rev"], 1);
    let text = std::fs::read_to_string(place.file()).unwrap();
    assert!(text.starts_with("{\n  \"session_id\": "), "two spaces deep, in order: {text}");
}

#[test]
fn fields_that_we_do_not_know_stay_at_every_level() {
    let place = Place::new();
    let id = place.add("work");
    let mut raw = place.raw();
    raw["colour"] = json!({ "r": 1 });
    raw["router"]["note"] = json!([1, 2]);
    raw["agents"]["pi"] = json!({ "status": "x", "mood": null });
    raw["tasks"][0]["estimate"] = json!("2h");
    raw["tasks"][0]["priority"] = json!("someday");
    place.write_raw(&raw);
    place.claim("kimi", &id);
    let mut now = place.raw();
    now["tasks"][0]["claim"]["stamp"] = json!(true);
    place.write_raw(&now);
    place.done(&Operation::Heartbeat { agent: name("kimi") });
    let found = place.raw();
    assert_eq!(found["colour"], raw["colour"]);
    assert_eq!(found["router"]["note"], raw["router"]["note"]);
    assert_eq!(found["agents"]["pi"]["mood"], Value::Null);
    assert_eq!(
        (&found["tasks"][0]["estimate"], &found["tasks"][0]["priority"]),
        (&json!("2h"), &json!("someday"))
    );
    assert_eq!(found["tasks"][0]["claim"]["stamp"], true);
}

#[test]
fn a_program_that_writes_an_old_version_back_drops_nothing_of_ours() {
    let place = Place::new();
    place.add("one");
    let mut old = place.raw();
    let two = place.add("two");
    let fence = place.claim("kimi", &two);
    old["agents"]["ollama"] = json!({ "status": "available", "last_seen": "2026-02-06T15:30:00Z" });
    place.write_raw(&old);
    // A look shows it repaired, and repairs it.
    let board = place.board.read().unwrap().unwrap();
    assert_eq!(board.task(&two).unwrap().fence(), Some(fence));
    assert_eq!(board.agents["ollama"].status, "available", "and their own change stays");
    assert_eq!(place.raw()["tasks"].as_array().unwrap().len(), 2);

    // So does one that drops our numbers as well.
    old.as_object_mut().unwrap().remove("rev");
    place.write_raw(&old);
    let three = place.add("three");
    let board = place.board.read().unwrap().unwrap();
    assert!([&two, &three].iter().all(|id| board.task(id).is_some()));
    assert!(place.claim("codex", &three) > fence, "numbers only grow");
}

#[test]
fn an_agent_that_was_seen_later_says_what_it_does() {
    let place = Place::new();
    place.add("one");
    let mut old = place.raw();
    place.done(&update("kimi", "ours"));
    place.done(&update("codex", "ours"));
    let entry =
        |seen: &str| json!({ "status": "idle", "current_task": "theirs", "last_seen": seen });
    old["agents"]["kimi"] = entry("2100-01-01T00:00:00Z");
    old["agents"]["codex"] = entry("2000-01-01T00:00:00Z");
    place.write_raw(&old);
    let board = place.board.read().unwrap().unwrap();
    let says = |name: &str| board.agents[name].current_task.clone().unwrap();
    assert_eq!((says("kimi").as_str(), says("codex").as_str()), ("theirs", "ours"));
}

#[test]
fn a_program_that_writes_whole_seconds_and_drops_our_number_is_heard_within_one_second() {
    let place = Place::new();
    place.done(&update("kimi", "ours"));
    let mut theirs = place.raw();
    theirs.as_object_mut().unwrap().remove("rev");
    let seen = format!("{}Z", &theirs["agents"]["kimi"]["last_seen"].as_str().unwrap()[..19]);
    theirs["agents"]["kimi"] =
        json!({ "status": "idle", "current_task": "theirs", "last_seen": seen });
    place.write_raw(&theirs);
    let board = place.board.read().unwrap().unwrap();
    assert_eq!(board.agents["kimi"].current_task.as_deref(), Some("theirs"));
    // What we say after that stands again.
    place.done(&update("kimi", "ours again"));
    let board = place.board.read().unwrap().unwrap();
    assert_eq!(board.agents["kimi"].current_task.as_deref(), Some("ours again"));
}

#[test]
fn a_board_behind_the_mark_that_some_editors_write_is_one() {
    let place = Place::new();
    let id = place.add("one");
    let text = std::fs::read(place.file()).unwrap();
    std::fs::write(place.file(), [b"\xef\xbb\xbf", text.as_slice()].concat()).unwrap();
    assert!(place.board.read().unwrap().unwrap().task(&id).is_some());
    place.claim("kimi", &id);
    assert_eq!(place.raw()["tasks"][0]["assigned_to"], "kimi");
}

#[test]
fn a_board_that_is_taken_away_comes_back() {
    let place = Place::new();
    let id = place.add("one");
    place.claim("kimi", &id);
    let before = place.board.read().unwrap().unwrap();
    std::fs::remove_file(place.file()).unwrap();
    let after = place.board.read().unwrap().unwrap();
    assert_eq!((&after.tasks, &after.agents), (&before.tasks, &before.agents));
}

#[test]
fn a_task_of_another_program_that_we_claimed_comes_back_with_the_claim() {
    let place = Place::new();
    place.add("ours");
    let old = place.raw();
    let mut theirs = old.clone();
    let task = json!({ "id": "task-001", "description": "theirs", "status": "pending", "priority": "urgent", "size": "x".repeat(100_000) });
    theirs["tasks"].as_array_mut().unwrap().push(task);
    place.write_raw(&theirs);
    assert_eq!(place.done(&claim("kimi", None)).task.unwrap().id, "task-001");
    place.write_raw(&old);
    let board = place.board.read().unwrap().unwrap();
    let task = board.task("task-001").unwrap();
    assert_eq!(
        (task.holder(), task.other["size"].as_str().unwrap().len()),
        (Some("kimi"), 100_000)
    );
    place.done(&add("and on it goes"));
}

#[test]
fn the_log_keeps_a_thousand_operations_and_a_torn_line_is_cut() {
    let place = Place::in_memory();
    place.add("one");
    let old = place.raw();
    for _ in 0..2_010 {
        place.done(&Operation::Heartbeat { agent: name("kimi") });
    }
    let log = std::fs::read_to_string(place.path("agents/.baton-log.jsonl")).unwrap();
    let lines = log.lines().count();
    assert!((1_000..1_020).contains(&lines), "{lines}");
    let id = place.add("the last");
    std::fs::write(
        place.path("agents/.baton-log.jsonl"),
        format!("{}{{\"rev\": 99", read_log(&place)),
    )
    .unwrap();
    place.write_raw(&old);
    assert!(place.board.read().unwrap().unwrap().task(&id).is_some());
    place.add("after the torn line");
    assert!(read_log(&place).lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

fn read_log(place: &Place) -> String {
    std::fs::read_to_string(place.path("agents/.baton-log.jsonl")).unwrap()
}
