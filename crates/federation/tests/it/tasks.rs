//! Tasks: who gets one, who may do what with it, and what waits for what.

use crate::fixture::{Place, add, claim, complete, held, name, update};
use baton_federation::{Kind, Operation, Priority, TaskStatus};

/// Numbers, ids and times that differ from run to run.
fn tidy(text: &str, ids: &[&str]) -> String {
    let mut text = text.to_owned();
    for (index, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("task-{}", index + 1));
    }
    match text.split_once("seen at ") {
        Some((before, after)) => format!("{before}seen at TIME{}", &after[27..]),
        None => text,
    }
}

fn with_priority(description: &str, word: &str) -> Operation {
    let Operation::AddTask { agent, assigned_to, blocked_by, description, .. } = add(description)
    else {
        unreachable!()
    };
    let priority = Priority::from(word.to_owned());
    Operation::AddTask { description, priority, agent, assigned_to, blocked_by }
}

#[test]
fn a_task_goes_from_hand_to_hand() {
    let place = Place::new();
    let id = place.add("write the docs");
    let first = place.claim("kimi", &id);
    assert_eq!(place.claim("kimi", &id), first, "whoever has it keeps it");
    place.done(&Operation::StartTask(held("kimi", &id, Some(first))));
    place.done(&Operation::ReleaseTask(held("kimi", &id, None)));
    let second = place.claim("codex", &id);
    assert!(second > first);
    let task = place.done(&complete("codex", &id, Some(second))).task.unwrap();
    assert_eq!((task.status, task.assigned_to.as_deref()), (TaskStatus::Completed, Some("codex")));
    assert!(task.completed_at.is_some());
    place.done(&complete("codex", &id, Some(second)));
}

#[test]
fn the_best_that_is_free_is_urgent_then_old() {
    let place = Place::new();
    place.add("first");
    place.done(&with_priority("strange", "as you like"));
    place.done(&with_priority("low", "low"));
    place.done(&with_priority("urgent", "urgent"));
    place.done(&with_priority("high", "high"));
    let got = (0..5).map(|_| place.done(&claim("kimi", None)).task.unwrap().description);
    assert_eq!(got.collect::<Vec<_>>(), ["urgent", "high", "first", "strange", "low"]);
    insta::assert_snapshot!(
        place.refused(&claim("codex", None)),
        @"expected a task that is free, found none: 5 held, 0 blocked, 0 for other agents"
    );
}

#[test]
fn what_waits_cannot_be_taken_and_nothing_waits_for_itself() {
    let place = Place::new();
    let (one, two) = (place.add("one"), place.add("two"));
    let block = |task: &str, on: &str| Operation::BlockTask {
        agent: None,
        task: task.to_owned(),
        on: vec![on.to_owned()],
    };
    place.done(&block(&two, &one));
    let said = [
        place.refused(&claim("kimi", Some(&two))),
        place.refused(&block(&one, &two)),
        place.refused(&block(&one, &one)),
        place.refused(&block(&one, "task-nosuch")),
    ];
    insta::assert_snapshot!(tidy(&said.join("\n"), &[&one, &two]), @"
    expected task-2 to wait for nothing, but it waits for task-1
    task-1 cannot wait for task-2: task-2 waits for task-1 already
    task-1 cannot wait for task-1: task-1 waits for task-1 already
    expected a task of the board, found task-nosuch
    baton federation task list shows them
    ");
    place.claim("kimi", &one);
    place.done(&complete("kimi", &one, None));
    place.claim("kimi", &two);
}

#[test]
fn only_the_holder_acts_and_a_late_one_is_told() {
    let place = Place::new();
    let id = place.add("write the docs");
    let early = place.refused(&complete("kimi", &id, None));
    let first = place.claim("kimi", &id);
    let said = [
        early,
        place.refused(&claim("codex", Some(&id))),
        place.refused(&complete("codex", &id, None)),
        place.refused(&Operation::ReleaseTask(held("codex", &id, None))),
    ];
    place.done(&Operation::ReleaseTask(held("kimi", &id, Some(first))));
    // Kimi is not seen for as long as its claim lasts, and codex takes the task.
    let take = |agent: &str| {
        let done = place.impatient().write(&claim(agent, Some(&id))).unwrap();
        done.task.unwrap().fence().unwrap()
    };
    let (first, second) = (take("kimi"), take("codex"));
    assert!(second > first);
    let late = place.refused(&complete("kimi", &id, Some(first)));
    place.done(&complete("codex", &id, Some(second)));
    let done = place.refused(&complete("kimi", &id, None));
    let error = place.board.write(&complete("kimi", &id, None)).unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    let done = done.split(" at ").next().unwrap().to_owned();
    let said = [&said[..], &[late, done]].concat().join("\n");
    insta::assert_snapshot!(tidy(&said, &[&id]), @"
    expected kimi to hold task-1, but nobody holds it
    claim it first
    expected task-1 to be free, but kimi holds it with the number 1, seen at TIME
    it can be taken when kimi was silent for 900 s
    expected codex to hold task-1, but kimi holds it with the number 1
    expected codex to hold task-1, but kimi holds it with the number 1
    expected the claim of kimi on task-1 with the number 2, but codex has it now with the number 3
    stop working on it
    expected task-1 to be open, but codex completed it
    ");
}

#[test]
fn a_task_for_one_agent_is_not_for_another() {
    let place = Place::new();
    place.done(&update("claude", "looking around"));
    let for_claude = |assigned_to: &str| Operation::AddTask {
        description: "review".to_owned(),
        priority: Priority::High,
        agent: Some(name("kimi")),
        assigned_to: Some(name(assigned_to)),
        blocked_by: Vec::new(),
    };
    let id = place.done(&for_claude("claude")).task.unwrap().id;
    let said = [
        place.refused(&for_claude("clade")),
        place.refused(&claim("kimi", Some(&id))),
        place.refused(&claim("kimi", None)),
    ];
    insta::assert_snapshot!(tidy(&said.join("\n"), &[&id]), @"
    expected an agent of the board, found clade; there are claude, kimi
    expected task-1 to be for kimi, but it is for claude
    expected a task that is free, found none: 0 held, 0 blocked, 1 for other agents
    ");
    assert_eq!(place.done(&claim("claude", None)).task.unwrap().id, id);
}

#[test]
fn every_operation_of_an_agent_keeps_its_claims() {
    let place = Place::new();
    let id = place.add("long work");
    place.claim("kimi", &id);
    let before = place.raw()["tasks"][0]["claim"]["seen"].clone();
    place.done(&Operation::Heartbeat { agent: name("kimi") });
    let claim = place.raw()["tasks"][0]["claim"].clone();
    assert!(claim["seen"].as_str() > before.as_str() && claim["lease_seconds"] == 900);
    let own: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("agents/kimi-state.json")).unwrap())
            .unwrap();
    assert_eq!((&own["agent"], &own["claims"][0]["task"]), (&"kimi".into(), &id.clone().into()));
    assert_eq!(own["claims"][0]["fence"], claim["fence"]);
}

#[test]
fn what_is_said_has_bounds() {
    let place = Place::new();
    let long = "x".repeat(4097);
    let router =
        Operation::SetRouter { agent: None, version: None, accuracy: Some(f64::NAN), tier: None };
    let said = [
        place.refused(&add(&long)),
        place.refused(&add("  ")),
        place.refused(&update("kimi", &long)),
        place.refused(&router),
        "../kimi".parse::<baton_federation::AgentName>().unwrap_err().to_string(),
        "".parse::<baton_federation::AgentName>().unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    expected the text of a task of at most 4096 bytes, found 4097
    expected the text of a task, found an empty text
    expected a text of an agent of at most 4096 bytes, found 4097
    expected an accuracy from 0 to 1, found NaN
    expected the name of an agent, 1 to 64 of A-Z a-z 0-9 . _ -, found "../kimi"
    expected the name of an agent, 1 to 64 of A-Z a-z 0-9 . _ -, found ""
    "#);
    assert!(!place.board.folder().exists(), "nothing was made");
}
