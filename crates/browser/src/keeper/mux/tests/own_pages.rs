//! Pages of the browser's own, and clients that have sessions on them.

use super::*;

fn went(page: &str, url: &str) -> Value {
    let info = json!({"targetId": page, "type": "page", "url": url});
    json!({"method": "Target.targetInfoChanged", "params": {"targetInfo": info}})
}

/// A client with the session `S` on a page of the web.
fn on_a_page() -> Story {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    story.announce("T", "PAGE");
    story.browser(on("R1", attached("S", "PAGE", false)));
    story.taken(1);
    story
}

#[test]
fn what_is_answered_from_a_page_of_the_browsers_own_reaches_no_client() {
    let mut story = on_a_page();
    story.join(2, Role::Node);
    story.browser(on("R2", attached("N", "PAGE", false)));
    story.client(1, on("S", json!({"id": 7, "method": "Runtime.evaluate"})));
    let sent = story.asked("Runtime.evaluate")["id"].clone();
    story.browser(went("PAGE", "chrome://settings/"));
    story.browser(json!({"id": sent, "sessionId": "S", "result": {"secret": 1}}));
    story.browser(on("S", json!({"method": "Runtime.bindingCalled", "params": {}})));
    story.browser(on("R1", went("PAGE", "chrome://settings/passwords")));
    let ended = json!({"method": "Target.detachedFromTarget",
        "params": {"sessionId": "S", "targetId": "PAGE"}});
    assert_eq!(story.taken(1), [ended]);
    let detached = story.asked("Target.detachFromTarget");
    assert_eq!(
        (&detached["sessionId"], &detached["params"]["sessionId"]),
        (&json!("R1"), &json!("S"))
    );
    story.client(1, on("S", json!({"id": 8, "method": "Runtime.evaluate"})));
    assert_eq!(story.taken(1)[0]["error"]["code"], -32001);
    for (id, target) in [(9, "PAGE"), (10, "T")] {
        let params = json!({"targetId": target, "flatten": true});
        story.client(1, json!({"id": id, "method": "Target.attachToTarget", "params": params}));
        assert_eq!(story.taken(1)[0]["error"]["message"], "No target with given id found");
    }
    // The node goes on as it was.
    story.browser(on("N", json!({"method": "Page.loadEventFired", "params": {}})));
    assert_eq!(story.taken(2).len(), 2);
}

#[test]
fn a_page_that_comes_back_to_the_web_is_seen_again() {
    let mut story = on_a_page();
    story.browser(went("PAGE", "devtools://devtools/"));
    story.browser(went("PAGE", "https://shop.test/"));
    story.taken(1);
    story.browser(on("R1", attached("AGAIN", "PAGE", false)));
    story.client(1, on("AGAIN", json!({"id": 8, "method": "Page.enable"})));
    assert_eq!(story.taken(1).len(), 1);
    assert_eq!(story.asked("Page.enable")["sessionId"], "AGAIN");
}

#[test]
fn a_client_hears_nothing_of_a_page_that_began_so_but_its_end() {
    let mut story = Story::new(vec![]);
    story.join(1, Role::Client);
    let info = json!({"targetId": "OWN", "type": "page", "url": "chrome://extensions/"});
    let created = json!({"method": "Target.targetCreated", "params": {"targetInfo": info}});
    story.browser(on("R1", created.clone()));
    story.browser(created.clone());
    story.browser(on("R1", created));
    let params = json!({"sessionId": "S", "targetInfo": info, "waitingForDebugger": true});
    story.browser(on("R1", json!({"method": "Target.attachedToTarget", "params": params})));
    assert!(story.taken(1).is_empty());
    assert_eq!(story.asked("Runtime.runIfWaitingForDebugger")["sessionId"], "S");
    let ended = json!({"method": "Target.targetDestroyed", "params": {"targetId": "OWN"}});
    story.browser(on("R1", ended.clone()));
    assert_eq!(story.taken(1), [ended]);
}

#[test]
fn a_new_tab_is_no_such_page() {
    let mut story = on_a_page();
    for url in ["chrome://newtab/", "about:blank", "chrome-error://chromewebdata/", ""] {
        story.browser(went("PAGE", url));
    }
    assert!(story.taken(1).is_empty());
}
