//! Pages that a service worker may answer, which stand still until they have their own.

use super::*;

const FILL: &str = "Debugger.evaluateOnCallFrame";
const RESUME: &str = "Debugger.resume";

#[test]
fn a_page_that_a_worker_answers_stands_still_until_it_has_its_own_and_the_next_one_has_none() {
    let (mut story, notes) = Story::with_storage_at_a_worker();
    story.shows("P", "PAGE", SHOP);
    // It stops at what its site wrote: nothing is in the way of that.
    story.stands_still("P", "checkout");
    assert_eq!((story.was_asked(FILL), story.was_asked(RESUME)), (false, true));
    story.sent.clear();
    story.stands_still("P", "stopP");
    let fill = story.asked(FILL);
    assert!(fill["params"]["expression"].as_str().unwrap().contains(r#"["user","Ada"]"#));
    assert!(!story.was_asked(RESUME), "it waits until it has that");
    story.browser(json!({"id": fill["id"], "sessionId": "P", "result": {}}));
    let said: Vec<_> = story.sent.iter().map(|frame| frame["method"].clone()).collect();
    assert_eq!(said, [RESUME, "Debugger.disable", "Debugger.disable"]);
    let handed = HandedOver::read(&std::fs::read_to_string(notes.path().join("handed")).unwrap());
    assert!(handed.has(&StorageKey::new(SHOP)));
    // It signs out and comes again before its debugger is gone.
    story.sent.clear();
    story.shows("P", "PAGE", SHOP);
    story.stands_still("P", "stopP");
    assert_eq!((story.was_asked(FILL), story.was_asked(RESUME)), (false, true));
}

#[test]
fn pages_stop_at_the_sites_of_workers_alone_and_no_more_once_all_is_handed_over() {
    let (mut story, _notes) = Story::with_storage();
    story.browser(attached("R", "THIRD", true));
    assert!(!story.was_asked("Debugger.enable"), "no worker is known");
    let (mut story, _notes) = Story::with_storage_at_a_worker();
    story.browser(attached("R", "THIRD", true));
    story.asked("Debugger.enable");
    let added = story.asked(ADD);
    let source = added["params"]["source"].as_str().unwrap();
    assert!(source.contains("[\"https://shop.test\"]") && source.contains("debugger"), "{source}");
    story.browser(json!({"id": added["id"], "sessionId": "R", "result": {"identifier": "7"}}));
    story.shows("P", "PAGE", "https://news.test/");
    story.stands_still("P", "stopP");
    assert!(!story.was_asked(FILL), "nothing is of that site");
    // The network answers as well, or alone: what counts is what is shown.
    story.answered_in("R", "THIRD", "1", "https://shop.test/inbox", 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["1".to_owned()], false));
    story.shows("R", "THIRD", "https://shop.test/inbox");
    story.stands_still("R", "stopR");
    story.reply_to(FILL, &json!({}));
    assert_eq!(story.asked(REMOVE)["params"], json!({"identifier": "7"}));
    story.sent.clear();
    story.browser(attached("S", "FOURTH", true));
    assert!(!story.was_asked("Debugger.enable"));
}

#[test]
fn a_page_that_only_begins_stops_as_well_whatever_the_network_answers_meanwhile() {
    let (mut story, _notes) = Story::with_storage_at_a_worker();
    story.browser(attached("R", "THIRD", true));
    story.sent.clear();
    story.answered_in("R", "THIRD", "1", "https://shop.test/inbox", 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["1".to_owned()], false));
    story.shows("R", "THIRD", "https://shop.test/inbox");
    story.stands_still("R", "stopR");
    let fill = story.asked(FILL);
    assert!(fill["params"]["expression"].as_str().unwrap().contains(r#"["user","Ada"]"#));
    // One at which the browser sets no script does not stop: it is given its own as where no worker is.
    let (mut story, _notes) = Story::with_storage_at_a_worker();
    story.browser(attached("R", "THIRD", true));
    let error = json!({"code": -32000, "message": "Not attached to an active page"});
    let added = story.asked(ADD)["id"].clone();
    story.browser(json!({"id": added, "sessionId": "R", "error": error}));
    story.sent.clear();
    story.answered_in("R", "THIRD", "1", "https://shop.test/inbox", 200);
    assert!(story.was_asked(ADD) && story.gone_on().is_empty());
}

#[test]
fn what_a_page_that_stands_still_does_not_get_is_the_next_ones() {
    let (mut story, notes) = Story::with_storage_at_a_worker();
    let handed = || {
        let notes = std::fs::read_to_string(notes.path().join("handed")).unwrap();
        HandedOver::read(&notes).areas
    };
    let stop = |story: &mut Story, session: &str, page: &str| {
        story.shows(session, page, SHOP);
        story.stands_still(session, &format!("stop{session}"));
        story.asked(FILL)["id"].clone()
    };
    let fill = stop(&mut story, "P", "PAGE");
    assert_eq!(handed().len(), 1);
    // It was let go before it was done.
    let error = json!({"code": -32000, "message": "Can only perform operation while paused."});
    story.browser(json!({"id": fill, "sessionId": "P", "error": error}));
    assert!(story.was_asked(RESUME) && handed().is_empty());
    // A page that ends while it stands still did nothing with it.
    stop(&mut story, "Q", "OTHER");
    story.browser(json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "Q"}}));
    assert!(handed().is_empty());
    // One that does not answer goes on, and what it may have had is nobody else's.
    let fill = stop(&mut story, "P", "PAGE");
    story.sent.clear();
    assert!(story.mux.waits(WaitingKind::Documents));
    let actions = story.mux.lose_patience(WaitingKind::Documents);
    story.note(actions);
    assert!(story.was_asked(RESUME) && !story.mux.waits(WaitingKind::Documents));
    story.browser(json!({"id": fill, "sessionId": "P", "result": {}}));
    assert_eq!(handed().len(), 1);
}
