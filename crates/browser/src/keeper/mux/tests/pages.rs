//! Pages of the keeper itself: the anchor, hidden pages, the prelude.

use super::*;

#[test]
fn nobody_sees_the_anchor_neither_its_page_nor_its_tab() {
    let mut story = Story::new(vec![]);
    for (client, role) in [(1, Role::Client), (2, Role::Node)] {
        story.join(client, role);
        let root = format!("R{client}");
        story.browser(on(&root, created("TAB", "tab")));
        story.browser(on(&root, created(ANCHOR, "page")));
        story.client(client, json!({"id": 1, "method": "Target.getTargets"}));
        let id = story.asked("Target.getTargets")["id"].clone();
        let infos =
            json!([{"targetId": "TAB"}, {"targetId": ANCHOR}, {"targetId": "P", "title": "t"}]);
        story.browser(json!({"id": id, "result": {"targetInfos": infos}}));
        for method in ["Target.attachToTarget", "Target.closeTarget", "Browser.getWindowForTarget"]
        {
            story
                .client(client, json!({"id": 2, "method": method, "params": {"targetId": ANCHOR}}));
        }
        let got = story.taken(client);
        assert_eq!(
            got[0],
            json!({"id": 1, "result": {"targetInfos": [{"targetId": "P", "title": "t"}]}})
        );
        let refusal = json!({"code": -32602, "message": "No target with given id found"});
        assert!(
            got.len() == 4 && got[1..].iter().all(|reply| reply["error"] == refusal),
            "{got:?}"
        );
    }
}

#[test]
fn parameters_that_could_be_read_in_two_ways_are_refused() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    let twice =
        br#"{"id":1,"method":"Target.closeTarget","params":{"targetId":"P","targetId":"ANCHOR"}}"#;
    let actions = story.mux.on_client_message(1, twice);
    story.note(actions);
    assert_eq!(story.taken(1)[0]["error"]["code"], -32602);
}

#[test]
fn a_lost_anchor_is_made_again_before_anyone_hears_of_the_new_one() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Node);
    story.browser(json!({"method": "Target.targetDestroyed", "params": {"targetId": ANCHOR}}));
    story.browser(on(
        "R1",
        json!({"method": "Target.targetDestroyed", "params": {"targetId": ANCHOR}}),
    ));
    story.announce("TAB2", "ANCHOR2");
    story.browser(on("R1", created("TAB2", "tab")));
    story.browser(on("R1", created("ANCHOR2", "page")));
    story.browser(on("R1", created("OTHER", "page")));
    assert!(story.taken(1).is_empty());
    story.reply_to("Target.createTarget", &json!({"targetId": "ANCHOR2"}));
    assert_eq!(story.taken(1), [created("OTHER", "page")]);
}

#[test]
fn a_hidden_page_of_the_node_is_hidden_from_clients_from_its_first_event_on() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Node);
    let params = json!({"url": "about:blank", "batonHidden": true});
    story.client(2, json!({"id": 1, "method": "Target.createTarget", "params": params}));
    let asked = story.asked("Target.createTarget");
    assert_eq!(asked["params"], json!({"url": "about:blank"}));
    story.announce("TAB2", "H");
    for root in ["R1", "R2"] {
        story.browser(on(root, created("H", "page")));
    }
    story.browser(on("R1", attached("S", "H", true)));
    story.browser(on("S", json!({"method": "Page.frameNavigated", "params": {}})));
    assert_eq!(story.taken(2), [created("H", "page")]);
    story.browser(json!({"id": asked["id"], "result": {"targetId": "H"}}));
    assert!(story.taken(1).is_empty());
    assert_eq!(story.taken(2), [json!({"id": 1, "result": {"targetId": "H"}})]);
    assert_eq!(story.asked("Runtime.runIfWaitingForDebugger")["sessionId"], "S");
    let detach = story.asked("Target.detachFromTarget");
    assert_eq!(
        (&detach["sessionId"], &detach["params"]),
        (&json!("R1"), &json!({"sessionId": "S"}))
    );
    story.browser(on(
        "R1",
        json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "S"}}),
    ));
    story.browser(json!({"method": "Target.targetDestroyed", "params": {"targetId": "H"}}));
    story.browser(on(
        "R1",
        json!({"method": "Target.targetDestroyed", "params": {"targetId": "H"}}),
    ));
    assert!(story.taken(1).is_empty());
}

#[test]
fn the_hidden_pages_of_a_node_that_leaves_are_closed() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Node);
    let make =
        json!({"id": 1, "method": "Target.createTarget", "params": {"url": "", "hidden": true}});
    story.client(1, make.clone());
    story.reply_to("Target.createTarget", &json!({"targetId": "H1"}));
    story.client(1, make);
    let actions = story.mux.leave(1);
    story.note(actions);
    assert_eq!(story.asked("Target.closeTarget")["params"], json!({"targetId": "H1"}));
    story.reply_to("Target.createTarget", &json!({"targetId": "H2"}));
    assert_eq!(story.asked("Target.closeTarget")["params"], json!({"targetId": "H2"}));
}

#[test]
fn while_a_hidden_page_never_comes_the_held_frames_stay_bounded() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.join(2, Role::Node);
    let params = json!({"hidden": true});
    story.client(2, json!({"id": 1, "method": "Target.createTarget", "params": params}));
    for number in 0..=HELD {
        story.browser(on("R1", json!({"method": "A.b", "params": {"n": number}})));
    }
    let got = story.taken(1);
    assert_eq!((got.len(), &got[HELD]["params"]["n"]), (HELD + 1, &json!(HELD)));
}

#[test]
fn the_prelude_is_said_to_every_page_before_it_runs() {
    let call = |method: &str| PreludeCall { method: method.to_owned(), params: json!({"x": 1}) };
    let mut story = Story::new(vec![call("Browser.setPermission"), call("Emulation.set")]);
    assert_eq!(story.asked("Browser.setPermission").get("sessionId"), None);
    let attach = story.asked("Target.setAutoAttach");
    assert_eq!(attach.get("sessionId"), None);
    assert_eq!(attach["params"]["filter"], json!([{"type": "page"}, {"exclude": true}]));
    story.sent.clear();
    story.browser(attached("S", "PAGE", true));
    let methods: Vec<_> =
        story.sent.iter().map(|frame| frame["method"].as_str().unwrap()).collect();
    let expected = ["Emulation.set", "Runtime.runIfWaitingForDebugger"];
    assert_eq!(methods, expected);
    assert!(story.sent.iter().all(|frame| frame["sessionId"] == "S"));
}

#[test]
fn the_prelude_can_be_set_and_taken_away_while_pages_are_open() {
    let mut story = Story::new(vec![]);
    assert!(story.sent.iter().all(|frame| frame["method"] != "Target.setAutoAttach"));
    story.join(1, Role::Node);
    let set = |prelude: Value| json!({"id": 1, "method": "Baton.setPrelude", "params": {"prelude": prelude}});
    story.client(1, set(json!([{"method": "Emulation.a"}])));
    story.asked("Target.setAutoAttach");
    story.browser(attached("S", "PAGE", false));
    assert_eq!(story.asked("Emulation.a")["sessionId"], "S");
    story.client(1, set(json!([{"method": "Emulation.b"}])));
    assert_eq!(story.asked("Emulation.b")["sessionId"], "S");
    story.client(1, set(json!([])));
    let last = story.sent.last().unwrap();
    assert_eq!(
        (&last["method"], &last["params"]["autoAttach"]),
        (&json!("Target.setAutoAttach"), &json!(false))
    );
    story.client(1, set(json!("nonsense")));
    assert_eq!(story.taken(1)[3]["error"]["code"], -32602);
}

#[test]
fn the_first_page_of_a_headed_browser_gets_a_window_that_people_see() {
    let mut story = Story::new(vec![]);
    story.mux.setup.headed = true;
    story.join(1, Role::Client);
    let make = json!({"id": 1, "method": "Target.createTarget", "params": {"url": "about:blank"}});
    story.client(1, make.clone());
    assert_eq!(story.asked("Target.createTarget")["params"]["newWindow"], true);
    story.announce("TAB2", "PAGE");
    story.client(1, make);
    assert_eq!(story.asked("Target.createTarget")["params"], json!({"url": "about:blank"}));
}
