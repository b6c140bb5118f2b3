//! The multiplexer's rules, as stories in which the test plays the browser and the clients.

mod handing_over;
mod own_pages;
mod preparing;

use super::*;
use crate::keeper::hand_over::HandOver;
use serde_json::{Value, json};

const ANCHOR: &str = "ANCHOR";

/// A multiplexer whose browser is played by the test.
struct Story {
    mux: Mux,
    sent: Vec<Value>,
    got: HashMap<ClientId, Vec<Value>>,
    other: Vec<Action>,
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` at the call reads best")]
impl Story {
    /// A started keeper, whose anchor is the pair of targets `TAB` and `ANCHOR`.
    fn new(prelude: Vec<PreludeCall>) -> Self {
        Self::of(prelude, HandOver::default())
    }

    fn of(prelude: Vec<PreludeCall>, hand_over: HandOver) -> Self {
        let setup = Setup {
            browser_pid: Some(9),
            anchor: true,
            headed: false,
            files: None,
            is_theirs: false,
            prelude,
            ledger: None,
            asked: None,
        };
        let mux = Mux::new(setup).handing_over(hand_over);
        let mut story = Self { mux, sent: Vec::new(), got: HashMap::new(), other: Vec::new() };
        let actions = story.mux.start();
        story.note(actions);
        story.announce("TAB", ANCHOR);
        story.reply_to("Browser.getVersion", &json!({"product": "Chrome/1"}));
        story.reply_to("Target.createTarget", &json!({"targetId": ANCHOR}));
        assert_eq!(story.other, [Action::Started("Chrome/1".to_owned())]);
        story.other.clear();
        story
    }

    fn note(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToBrowser(frame) => self.sent.push(serde_json::from_slice(&frame).unwrap()),
                Action::ToClient(client, frame) => {
                    let frame = serde_json::from_slice(&frame).unwrap();
                    self.got.entry(client).or_default().push(frame);
                }
                other => self.other.push(other),
            }
        }
    }

    /// A client with the root session `R<number>`.
    fn join(&mut self, client: ClientId, role: Role) {
        let actions = self.mux.join(client, role);
        self.note(actions);
        let root = format!("R{client}");
        self.reply_to("Target.attachToBrowserTarget", &json!({"sessionId": root}));
        assert_eq!(self.other.pop(), Some(Action::Ready(client)));
    }

    fn client(&mut self, client: ClientId, frame: Value) {
        let actions = self.mux.on_client_message(client, frame.to_string().as_bytes());
        self.note(actions);
    }

    fn browser(&mut self, frame: Value) {
        let actions = self.mux.on_browser_message(frame.to_string().as_bytes());
        self.note(actions);
    }

    /// Takes the last call of `method` that the browser got.
    fn asked(&mut self, method: &str) -> Value {
        let at = self.sent.iter().rposition(|frame| frame["method"] == method);
        self.sent.remove(at.unwrap_or_else(|| panic!("{method} was not sent: {:?}", self.sent)))
    }

    fn reply_to(&mut self, method: &str, result: &Value) {
        let id = self.asked(method)["id"].clone();
        self.browser(json!({"id": id, "result": result}));
    }

    /// A page with its tab, as the keeper's own session hears of it.
    fn announce(&mut self, tab: &str, page: &str) {
        self.browser(created(tab, "tab"));
        self.browser(created(page, "page"));
    }

    fn taken(&mut self, client: ClientId) -> Vec<Value> {
        self.got.remove(&client).unwrap_or_default()
    }
}

fn created(id: &str, kind: &str) -> Value {
    json!({"method": "Target.targetCreated", "params": {"targetInfo": {"targetId": id, "type": kind}}})
}

fn on(session: &str, mut frame: Value) -> Value {
    frame["sessionId"] = session.into();
    frame
}

fn attached(session: &str, target: &str, waiting: bool) -> Value {
    json!({"method": "Target.attachedToTarget", "params": {
        "sessionId": session,
        "targetInfo": {"targetId": target, "type": "page"},
        "waitingForDebugger": waiting,
    }})
}

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
    let call = |method: &str| PreludeCall {
        method: method.to_owned(),
        params: json!({"x": 1}),
        targets: vec![],
    };
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
