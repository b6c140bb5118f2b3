//! Sessions end once: by a word, by rest, or because another one took their place.

use crate::fixture::{Place, add, name, update};
use baton_federation::{Operation, Options};
use jiff::SignedDuration;
use serde_json::json;

fn history(place: &Place) -> Vec<String> {
    place.board.history(100).unwrap().into_iter().map(|archived| archived.name).collect()
}

#[test]
fn a_closed_session_is_archived_under_the_time_of_its_beginning() {
    let place = Place::new();
    let id = place.add("one");
    place.claim("kimi", &id);
    let raw = place.raw();
    let began = raw["created_at"].as_str().unwrap();
    let expected = format!("{}Z", began[..19].replace(':', "-"));
    let done = place.done(&Operation::Close { agent: None });
    assert_eq!((done.board, history(&place)), (None, vec![expected.clone()]));
    assert_eq!(done.archived.unwrap(), place.path("history").join(format!("{expected}.json")));
    assert!(!place.file().exists());
    assert_eq!(place.board.read().unwrap(), None);
    let archived = place.board.archived(&expected).unwrap().board;
    assert_eq!((archived.status.as_str(), archived.tasks.len()), ("closed", 1));
    assert_eq!(place.board.archived(&archived.session_id).unwrap().name, expected);
    insta::assert_snapshot!(place.refused(&Operation::Close { agent: None }), @"
    expected an active session, found none
    the first update or task begins one
    ");
    // The next one has another name, and numbers go on.
    let id = place.add("two");
    assert!(place.claim("kimi", &id) > 1);
    place.done(&Operation::Close { agent: None });
    assert_eq!(history(&place).len(), 2);
}

#[test]
fn a_closed_session_that_is_written_back_is_closed_again() {
    let place = Place::new();
    place.add("one");
    let mut old = place.raw();
    place.done(&Operation::Close { agent: None });
    old["agents"]["ollama"] = json!({ "status": "late" });
    place.write_raw(&old);
    assert_eq!(place.board.read().unwrap(), None);
    let [archived] = place.board.history(9).unwrap().try_into().unwrap();
    assert_eq!(archived.board.agents["ollama"].status, "late", "what it said is in the history");

    // And over a session that is active: that one comes back.
    let id = place.add("two");
    place.write_raw(&old);
    let board = place.board.read().unwrap().unwrap();
    assert!(board.task(&id).is_some() && board.tasks.len() == 1);
    assert_eq!(history(&place).len(), 1);
}

#[test]
fn a_session_that_rests_for_a_day_is_archived_once() {
    let place = Place::new();
    place.add("one");
    let options = Options { archive_after: SignedDuration::ZERO, ..Options::default() };
    let tired = place.board.clone().with_options(options);
    assert_eq!(tired.read().unwrap(), None);
    assert_eq!(tired.read().unwrap(), None);
    let [archived] = place.board.history(9).unwrap().try_into().unwrap();
    assert_eq!(archived.board.closed_because.as_deref(), Some("inactive"));
    place.add("two");
    let done = tired.write(&add("three")).unwrap();
    assert!(done.archived.is_some());
    assert_eq!(done.board.unwrap().tasks.len(), 1, "in a session of its own");
    assert_eq!(history(&place).len(), 2);
}

#[test]
fn a_session_that_another_program_begins_takes_the_place_of_ours() {
    let place = Place::new();
    place.add("ours");
    let fence = place.done(&crate::fixture::claim("kimi", None)).task.unwrap().fence().unwrap();
    let before = place.raw();
    place.write_raw(&json!({
        "session_id": "sess-20300101-theirs", "created_at": "2030-01-01T00:00:00Z",
        "agents": {}, "tasks": [{ "id": "task-001", "description": "theirs" }],
    }));
    let board = place.board.read().unwrap().unwrap();
    assert_eq!(board.session_id, "sess-20300101-theirs");
    let [archived] = place.board.history(9).unwrap().try_into().unwrap();
    assert_eq!(archived.board.session_id, before["session_id"].as_str().unwrap());
    assert_eq!(archived.board.closed_because.as_deref(), Some("replaced"));
    assert_eq!(archived.board.tasks.len(), 1);
    assert!(place.claim("kimi", "task-001") > fence, "numbers only grow");
    place.done(&Operation::Close { agent: None });
    assert_eq!(history(&place).len(), 2);
}

#[test]
fn a_program_may_close_a_session_by_its_status() {
    let place = Place::new();
    place.add("one");
    let mut raw = place.raw();
    raw["status"] = json!("closed");
    place.write_raw(&raw);
    assert_eq!((place.board.read().unwrap(), place.board.read().unwrap()), (None, None));
    assert_eq!(history(&place).len(), 1);
    assert!(!place.file().exists());
}

#[test]
fn a_sprint_and_a_new_router_are_to_be_measured() {
    let place = Place::new();
    let router = |version: Option<&str>, accuracy: Option<f64>| Operation::SetRouter {
        agent: Some(name("kimi")),
        version: version.map(ToOwned::to_owned),
        accuracy,
        tier: None,
    };
    let pending = |operation: &Operation| place.done(operation).board.unwrap().router.pending_eval;
    assert!(pending(&router(Some("v3"), Some(0.357))));
    assert!(!pending(&router(None, Some(0.4))), "it was measured");
    assert!(!pending(&router(Some("v3"), None)), "the same version");
    assert!(pending(&router(Some("v4"), None)));
    place.done(&router(None, Some(0.5)));
    let sprint = |name: &str| Operation::SetSprint { agent: None, sprint: name.to_owned() };
    assert!(pending(&sprint("seven days")));
    assert!(place.done(&Operation::EndSprint { agent: None }).archived.is_some());
    let [archived] = place.board.history(9).unwrap().try_into().unwrap();
    assert_eq!(archived.board.closed_because.as_deref(), Some("sprint ended"));
    place.done(&update("kimi", "anew"));
    assert_eq!(place.raw().get("sprint"), None);
}
