//! Clients: ids, sessions, coming and going.

use super::*;

#[test]
fn two_clients_with_the_same_ids_get_their_own_replies() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Client);
    story.client(1, json!({"id": 5, "method": "Browser.getVersion"}));
    story.client(2, json!({"id": 5, "method": "Storage.getCookies", "params": {"a": [1]}}));
    let first = story.asked("Browser.getVersion");
    let second = story.asked("Storage.getCookies");
    assert_eq!((&first["sessionId"], &second["sessionId"]), (&json!("R1"), &json!("R2")));
    assert_eq!(second["params"], json!({"a": [1]}));
    story.browser(json!({"id": second["id"], "sessionId": "R2", "result": {"of": 2}}));
    story.browser(json!({"id": first["id"], "sessionId": "R1", "error": {"code": 1}}));
    assert_eq!(story.taken(1), [json!({"id": 5, "error": {"code": 1}})]);
    assert_eq!(story.taken(2), [json!({"id": 5, "result": {"of": 2}})]);
}

#[test]
fn payloads_pass_byte_for_byte() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    let frame = br#"{"id":1,"method":"A.b","params":{"x": "\ud800", "n": 1.50}}"#;
    let actions = story.mux.on_client_message(1, frame);
    let Action::ToBrowser(sent) = &actions[0] else { panic!("{actions:?}") };
    assert!(String::from_utf8_lossy(sent).contains(r#""params":{"x": "\ud800", "n": 1.50}"#));
    let actions = story
        .mux
        .on_browser_message(br#"{"method":"A.c","params":{"x": "\udfff"},"sessionId":"R1"}"#);
    let expected = br#"{"method":"A.c","params":{"x": "\udfff"}}"#.to_vec();
    assert_eq!(actions, [Action::ToClient(1, expected)]);
}

#[test]
fn a_session_belongs_to_the_client_on_whose_session_it_was_announced() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Client);
    story.browser(on("R1", attached("S", "PAGE", false)));
    story.browser(on("S", json!({"method": "Page.loadEventFired", "params": {}})));
    assert_eq!(story.taken(1).len(), 2);
    story.client(2, on("S", json!({"id": 7, "method": "Page.enable"})));
    let refusal =
        json!({"id": 7, "error": {"code": -32001, "message": "Session with given id not found."}});
    assert_eq!(story.taken(2), [refusal]);
    story.client(1, on("S", json!({"id": 7, "method": "Page.enable"})));
    assert_eq!(story.asked("Page.enable")["sessionId"], "S");
}

#[test]
fn a_detached_session_and_its_children_are_forgotten() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.browser(on("R1", attached("S", "PAGE", false)));
    story.browser(on("S", attached("CHILD", "FRAME", false)));
    story.browser(on(
        "R1",
        json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "S"}}),
    ));
    story.taken(1);
    story.client(1, on("CHILD", json!({"id": 1, "method": "Page.enable"})));
    assert_eq!(story.taken(1)[0]["error"]["code"], -32001);
    story.browser(on("S", json!({"method": "Page.late", "params": {}})));
    assert!(story.taken(1).is_empty());
}

#[test]
fn a_client_that_leaves_takes_only_its_own_session_with_it() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Client);
    story.client(1, json!({"id": 1, "method": "Browser.getVersion"}));
    let late = story.asked("Browser.getVersion")["id"].clone();
    let actions = story.mux.leave(1);
    story.note(actions);
    assert_eq!(story.asked("Target.detachFromTarget")["params"], json!({"sessionId": "R1"}));
    story.browser(json!({"id": late, "result": {}}));
    story.browser(on("R2", json!({"method": "A.b", "params": {}})));
    assert!(story.taken(1).is_empty());
    assert_eq!(story.taken(2), [json!({"method": "A.b", "params": {}})]);
}

#[test]
fn a_client_that_leaves_while_it_joins_leaves_no_session() {
    let mut story = Story::new(vec![]);
    let mut actions = story.mux.join(1, Role::Client);
    actions.extend(story.mux.leave(1));
    story.note(actions);
    story.reply_to("Target.attachToBrowserTarget", &json!({"sessionId": "R1"}));
    assert_eq!(story.asked("Target.detachFromTarget")["params"], json!({"sessionId": "R1"}));
    assert!(story.other.is_empty());
}

#[test]
fn a_newer_node_replaces_the_older() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Node);
    let actions = story.mux.join(2, Role::Node);
    assert!(actions.contains(&Action::Disconnect(1, "a newer node connected".to_owned())));
}

#[test]
fn garbage_costs_only_its_sender_the_connection() {
    let mut story = Story::new(vec![]);
    for client in 1..=3 {
        story.join(client, Role::Client);
    }
    for (client, garbage) in [(1, "nonsense"), (2, r#"{"method":"A.b"}"#)] {
        let actions = story.mux.on_client_message(client, garbage.as_bytes());
        story.note(actions);
        assert!(matches!(&story.other.pop(), Some(Action::Disconnect(gone, _)) if *gone == client));
    }
    story.client(3, json!({"id": 1, "method": "Browser.getVersion"}));
    story.asked("Browser.getVersion");
}

#[test]
fn a_client_cannot_close_the_browser_and_the_node_can() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Node);
    story.client(1, json!({"id": 1, "method": "Baton.kill"}));
    assert_eq!(story.taken(1)[0]["error"]["message"], "'Baton.kill' wasn't found");
    story.client(1, json!({"id": 2, "method": "Browser.close"}));
    assert_eq!(story.taken(1), [json!({"id": 2, "result": {}})]);
    assert!(matches!(story.other.pop(), Some(Action::Disconnect(1, _))));
    assert!(story.sent.iter().all(|frame| frame["method"] != "Browser.close"));
    story.client(2, json!({"id": 1, "method": "Baton.status"}));
    assert_eq!(story.taken(2)[0]["result"]["clients"], 1);
    story.client(2, json!({"id": 2, "method": "Baton.close"}));
    assert_eq!(story.other.pop(), Some(Action::Close));
}

/// Found by fuzzing: it was sent away a second time.
#[test]
fn a_client_that_left_is_not_sent_away_when_the_browser_refuses_it() {
    let mut story = Story::new(vec![]);
    let actions = story.mux.join(1, Role::Client);
    story.note(actions);
    let actions = story.mux.leave(1);
    story.note(actions);
    let id = story.asked("Target.attachToBrowserTarget")["id"].clone();
    story.browser(json!({"id": id, "error": {"code": -32000, "message": "no"}}));
    assert_eq!(story.other, []);
}
