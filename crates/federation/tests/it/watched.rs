//! Who watches hears of every change, and of nothing else.

use crate::fixture::{Place, add};
use baton_federation::{Operation, WaitOutcome};
use serde_json::json;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn a_watch_tells_of_changes_by_whomever() {
    let place = Place::new();
    place.add("one");
    let mut watch = place.board.watch().unwrap();
    assert_eq!(watch.board().unwrap().tasks.len(), 1);
    assert_eq!(watch.wait(Duration::from_millis(50)).unwrap(), WaitOutcome::Same);
    let tasks = |seen: WaitOutcome| match seen {
        WaitOutcome::Changed(board) => board.map(|board| board.tasks.len()),
        WaitOutcome::Same => panic!("expected a change within {LIMIT:?}"),
    };
    place.done(&add("two"));
    assert_eq!(tasks(watch.wait(LIMIT).unwrap()), Some(2));
    let mut raw = place.raw();
    raw["tasks"].as_array_mut().unwrap().push(json!({ "id": "task-001" }));
    place.write_raw(&raw);
    assert_eq!(tasks(watch.wait(LIMIT).unwrap()), Some(3));
    place.done(&Operation::Close { agent: None });
    assert_eq!(tasks(watch.wait(LIMIT).unwrap()), None);
}
