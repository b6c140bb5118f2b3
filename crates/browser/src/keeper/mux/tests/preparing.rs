//! How targets are prepared, and what clients have to wait for meanwhile.

use super::*;
use crate::keeper::mux::waiting::WaitingKind;
use crate::keeper::prelude::TargetKind;

const RUN: &str = "Runtime.runIfWaitingForDebugger";
const LAST: &str = "Runtime.getIsolateId";

/// What an identity needs, in short.
fn identity() -> Vec<PreludeCall> {
    let call = |method: &str, params: Value, targets: &[TargetKind]| PreludeCall {
        method: method.to_owned(),
        params,
        targets: targets.to_vec(),
    };
    let hints = json!({"userAgentMetadata": {
        "brands": [{"brand": "Chromium", "version": "147"}],
        "platform": "macOS",
    }});
    vec![
        call(
            "Emulation.setIdentity",
            hints,
            &[TargetKind::Page, TargetKind::Frame, TargetKind::Worker],
        ),
        call("Emulation.setTouch", json!({}), &[TargetKind::Page, TargetKind::Frame]),
    ]
}

fn attached_to(kind: &str, session: &str, target: &str, waiting: bool) -> Value {
    let mut event = attached(session, target, waiting);
    event["params"]["targetInfo"]["type"] = kind.into();
    event
}

fn detached(session: &str) -> Value {
    json!({"method": "Target.detachedFromTarget", "params": {"sessionId": session}})
}

impl Story {
    /// A keeper with an identity, and the session `P` of a page that runs.
    fn with_a_page() -> Self {
        let mut story = Self::new(identity());
        story.sent.clear();
        story.browser(attached_to("page", "P", "PAGE", true));
        story
    }

    /// What was said on a session since it was asked the last time.
    fn said(&mut self, session: &str) -> Vec<String> {
        let is_of = |frame: &Value| frame["sessionId"] == session;
        let said = self.sent.iter().filter(|frame| is_of(frame));
        let said = said.map(|frame| frame["method"].as_str().unwrap().to_owned()).collect();
        self.sent.retain(|frame| !is_of(frame) || frame["method"] == RUN);
        said
    }

    /// The browser let a target go.
    fn run(&mut self, session: &str) {
        self.answer(session, RUN);
    }

    /// The browser answered what it was asked last in these words.
    fn answer(&mut self, session: &str, method: &str) {
        let is_it = |frame: &Value| frame["method"] == method && frame["sessionId"] == session;
        let at = self.sent.iter().rposition(is_it).unwrap();
        let id = self.sent.remove(at)["id"].clone();
        self.browser(json!({"id": id, "sessionId": session, "result": {}}));
    }

    fn calls_of(&self, session: &str, method: &str) -> usize {
        let is_it = |frame: &&Value| frame["sessionId"] == session && frame["method"] == method;
        self.sent.iter().filter(is_it).count()
    }
}

#[test]
fn each_kind_of_target_hears_what_is_for_it_before_it_runs() {
    let mut story = Story::with_a_page();
    let page = [
        "Emulation.setIdentity",
        "Emulation.setTouch",
        "Fetch.enable",
        "Target.setAutoAttach",
        RUN,
    ];
    assert_eq!(story.said("P"), page);
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    assert_eq!(
        story.said("F"),
        ["Emulation.setIdentity", "Emulation.setTouch", "Target.setAutoAttach", RUN]
    );
    story.browser(on("F", attached_to("worker", "W", "WORKER", true)));
    assert_eq!(story.said("W"), ["Emulation.setIdentity", "Target.setAutoAttach", RUN]);
    story.browser(attached_to("service_worker", "S", "SERVICE", true));
    assert_eq!(story.said("S"), ["Emulation.setIdentity", "Target.setAutoAttach", RUN]);
    story.browser(attached_to("webview", "V", "VIEW", true));
    assert_eq!(story.said("V"), [RUN]);
}

impl Story {
    /// A client with the session `C` of the page, which wishes to hear of what is inside.
    fn with_a_client(client: ClientId, waits: bool) -> Self {
        let mut story = Self::with_a_page();
        story.join(client, Role::Client);
        story.browser(on(&format!("R{client}"), attached("C", "PAGE", false)));
        story.wish(client, "C", waits);
        story.taken(client);
        story
    }

    fn wish(&mut self, client: ClientId, session: &str, waits: bool) {
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": waits, "flatten": true});
        self.client(
            client,
            json!({"id": 7, "sessionId": session, "method": "Target.setAutoAttach", "params": params}),
        );
    }

    /// The browser attached the client, as the keeper asked it.
    fn relayed(&mut self, client: ClientId, kind: &str, session: &str, target: &str) {
        self.browser(on(&format!("R{client}"), attached_to(kind, session, target, false)));
        self.reply_to("Target.attachToTarget", &json!({"sessionId": session}));
    }

    fn let_go(&mut self, client: ClientId, session: &str) {
        self.client(client, json!({"id": 8, "sessionId": session, "method": RUN}));
    }
}

#[test]
fn a_client_is_led_to_a_frame_and_no_frame_of_its_page_is_looked_at_anew() {
    let mut story = Story::with_a_client(1, false);
    assert_eq!(story.calls_of("C", "Target.setAutoAttach"), 0);
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    assert_eq!(story.calls_of("F", RUN), 1, "nobody wants to be waited for");
    assert_eq!(story.asked("Target.attachToTarget")["sessionId"], "R1");
    story.browser(on("R1", attached_to("iframe", "CF", "FRAME", false)));
    let told = story.taken(1);
    assert_eq!(
        (&told[0]["sessionId"], &told[0]["params"]["sessionId"]),
        (&json!("C"), &json!("CF"))
    );
    // It hears of the end where it heard of the beginning.
    story.browser(on("R1", detached("CF")));
    assert_eq!(story.taken(1)[0]["sessionId"], "C");
}

#[test]
fn a_frame_waits_for_each_client_that_wants_it() {
    let mut story = Story::with_a_client(1, true);
    story.join(2, Role::Client);
    story.browser(on("R2", attached("D", "PAGE", false)));
    story.wish(2, "D", true);
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    for (client, session) in [(2, "DF"), (1, "CF")] {
        story.relayed(client, "iframe", session, "FRAME");
        let told = story.taken(client);
        assert_eq!(told.last().unwrap()["params"]["waitingForDebugger"], true);
    }
    story.let_go(1, "CF");
    assert_eq!(story.taken(1)[0]["result"], json!({}));
    assert_eq!(story.calls_of("F", RUN), 0, "the other one has not seen it");
    // Who leaves is waited for no more.
    let actions = story.mux.leave(2);
    story.note(actions);
    assert_eq!(story.calls_of("F", RUN), 1);
}

#[test]
fn who_comes_later_hears_of_what_is_there_before_it_is_answered() {
    let mut story = Story::with_a_page();
    story.run("P");
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    story.browser(on("P", attached_to("worker", "W", "WORKER", true)));
    story.join(1, Role::Client);
    story.browser(on("R1", attached("C", "PAGE", false)));
    story.taken(1);
    let filter = json!([{"type": "worker", "exclude": true}, {}]);
    let params = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "filter": filter});
    story.client(
        1,
        json!({"id": 7, "sessionId": "C", "method": "Target.setAutoAttach", "params": params}),
    );
    assert!(story.taken(1).is_empty());
    story.relayed(1, "iframe", "CF", "FRAME");
    let told = story.taken(1);
    assert_eq!(told.len(), 2, "no worker: {told:?}");
    assert_eq!(told[0]["params"]["waitingForDebugger"], false, "it runs already");
    assert_eq!((&told[1]["id"], &told[1]["result"]), (&json!(7), &json!({})));
    // It may end its own session, which hangs on its root.
    let end = json!({"id": 9, "sessionId": "C", "method": "Target.detachFromTarget", "params": {"sessionId": "CF"}});
    story.client(1, end);
    assert_eq!(story.asked("Target.detachFromTarget")["sessionId"], "R1");
}

#[test]
fn who_asks_twice_is_led_once_and_who_leaves_leaves_nothing() {
    let mut story = Story::with_a_page();
    story.run("P");
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    story.join(1, Role::Client);
    story.browser(on("R1", attached("C", "PAGE", false)));
    let before = story.mux.calls.len();
    for _ in 0..2 {
        story.wish(1, "C", false);
    }
    assert_eq!(story.calls_of("R1", "Target.attachToTarget"), 1);
    let actions = story.mux.leave(1);
    story.note(actions);
    let detaching = 1;
    assert_eq!(story.mux.calls.len(), before + detaching);
}

#[test]
fn a_frame_that_ends_before_a_client_came_is_waited_for_by_nobody() {
    let mut story = Story::with_a_client(1, true);
    story.browser(on("P", attached_to("iframe", "F", "FRAME", true)));
    let id = story.asked("Target.attachToTarget")["id"].clone();
    let gone = json!({"code": -32602, "message": "No target with given id found"});
    story.browser(json!({"id": id, "sessionId": "R1", "error": gone}));
    assert_eq!(story.calls_of("F", RUN), 1);
    assert!(story.taken(1).is_empty());
}

#[test]
fn the_first_request_of_a_page_gets_the_hints_that_it_should_have() {
    let mut story = Story::with_a_page();
    let headers = json!({"Accept": "text/html", "sec-ch-ua-platform": "\"Linux\""});
    let paused =
        json!({"requestId": "1", "request": {"url": "http://a.test/", "headers": headers}});
    story.browser(on("P", json!({"method": "Fetch.requestPaused", "params": paused})));
    let call = story.asked("Fetch.continueRequest");
    let platform = json!({"name": "sec-ch-ua-platform", "value": "\"macOS\""});
    assert!(call["params"]["headers"].as_array().unwrap().contains(&platform), "{call}");
    assert_eq!(story.asked("Fetch.disable")["sessionId"], "P");
    // Right already, as of a page that another one opened.
    let paused = json!({"requestId": "2", "request": {"headers": {"sec-ch-ua-mobile": "?0"}}});
    story.browser(on("P", json!({"method": "Fetch.requestPaused", "params": paused})));
    assert_eq!(story.asked("Fetch.continueRequest")["params"], json!({"requestId": "2"}));
}

#[test]
fn a_page_that_a_client_makes_goes_to_its_address_when_it_is_prepared() {
    let mut story = Story::with_a_page();
    story.join(1, Role::Client);
    let make = |id: u64, url: &str| json!({"id": id, "method": "Target.createTarget", "params": {"url": url}});
    story.client(1, make(1, "http://a.test/"));
    let sent = story.asked("Target.createTarget");
    assert_eq!(sent["params"]["url"], "about:blank");
    // This client lets new pages wait.
    story.browser(on("R1", attached("C", "NEW", true)));
    story.browser(json!({"id": sent["id"], "sessionId": "R1", "result": {"targetId": "NEW"}}));
    story.browser(attached_to("page", "N", "NEW", true));
    assert_eq!(story.calls_of("N", "Page.navigate"), 0);
    story.client(1, json!({"id": 2, "sessionId": "C", "method": RUN}));
    assert_eq!(story.calls_of("N", "Page.navigate"), 0);
    story.run("N");
    assert_eq!(story.asked("Page.navigate")["params"], json!({"url": "http://a.test/"}));
    story.client(1, make(3, "about:blank"));
    let sent = story.asked("Target.createTarget");
    story.browser(json!({"id": sent["id"], "sessionId": "R1", "result": {"targetId": "OTHER"}}));
    story.browser(attached_to("page", "O", "OTHER", true));
    story.run("O");
    assert_eq!(story.calls_of("O", "Page.navigate"), 0);
}

#[test]
fn a_page_is_sent_nowhere_before_it_is_prepared() {
    let mut story = Story::with_a_page();
    story.join(1, Role::Client);
    story.browser(on("R1", attached("C", "PAGE", false)));
    let call =
        |id: u64, method: &str| json!({"id": id, "sessionId": "C", "method": method, "params": {}});
    story.client(1, call(1, "Page.enable"));
    story.client(1, call(2, "Page.navigate"));
    story.client(1, call(3, "Page.getFrameTree"));
    assert_eq!(story.said("C"), ["Page.enable"]);
    story.run("P");
    assert_eq!(story.said("C"), ["Page.navigate", "Page.getFrameTree"]);

    // So is one that is there already, as the first one of a browser is, and one that is told something else.
    story.browser(attached_to("page", "N", "NEW", false));
    story.browser(on("R1", attached("E", "NEW", false)));
    let go = |id: u64| json!({"id": id, "sessionId": "E", "method": "Page.navigate", "params": {}});
    story.client(1, go(5));
    assert_eq!(story.said("E"), [""; 0]);
    story.answer("N", LAST);
    assert_eq!(story.said("E"), ["Page.navigate"]);
    let other = identity().split_off(1);
    let actions = story.mux.change_prelude(other);
    story.note(actions);
    story.client(1, go(6));
    assert_eq!(story.said("E"), [""; 0]);
    story.answer("N", LAST);
    assert_eq!(story.said("E"), ["Page.navigate"]);

    // Whoever waits too long goes on.
    story.browser(attached_to("page", "Q", "OTHER", true));
    story.browser(on("R1", attached("D", "OTHER", false)));
    story.client(1, json!({"id": 4, "sessionId": "D", "method": "Page.reload", "params": {}}));
    assert!(story.mux.waits(WaitingKind::Calls));
    let actions = story.mux.lose_patience(WaitingKind::Calls);
    story.note(actions);
    assert_eq!(story.said("D"), ["Page.reload"]);
    assert!(!story.mux.waits(WaitingKind::Calls));
    story.client(1, json!({"id": 7, "sessionId": "D", "method": "Page.reload", "params": {}}));
    assert_eq!(story.said("D"), ["Page.reload"], "once, and not each time");
}
