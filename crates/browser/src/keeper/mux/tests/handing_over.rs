//! How sessionStorage is handed over to pages: before their first script, and once.

mod unanswered;
mod workers;

use super::*;
use crate::keeper::hand_over::HandedOver;
use crate::keeper::mux::waiting::WaitingKind;
use baton_session::{StorageKey, Tab};
use tempfile::TempDir;

const ADD: &str = "Page.addScriptToEvaluateOnNewDocument";
const REMOVE: &str = "Page.removeScriptToEvaluateOnNewDocument";
const GO_ON: &str = "Fetch.continueRequest";
const SHOP: &str = "https://shop.test/";

impl Story {
    /// A keeper with something to hand over at two shops, and the sessions `P` and `Q` of two pages.
    fn with_storage() -> (Self, TempDir) {
        let notes = tempfile::tempdir().unwrap();
        let tab = |origin: &str| Tab {
            url: format!("{origin}/"),
            session_storage: [(
                StorageKey::first_party(origin),
                [("user", "Ada")].into_iter().collect(),
            )]
            .into(),
            ..Tab::default()
        };
        let tabs = [tab("https://shop.test"), tab("https://news.test")];
        let hand_over = HandOver::of(&tabs, &notes.path().join("handed"));
        (Self::with_pages(hand_over), notes)
    }

    /// The same, where a service worker answers at the first of the shops.
    fn with_storage_at_a_worker() -> (Self, TempDir) {
        let notes = tempfile::tempdir().unwrap();
        let storage = |user| [(StorageKey::new(SHOP), [("user", user)].into_iter().collect())];
        let tab =
            Tab { url: SHOP.to_owned(), session_storage: storage("Ada").into(), ..Tab::default() };
        let hand_over = HandOver::of(&[tab], &notes.path().join("handed"));
        (Self::with_pages(hand_over.with_workers(&["https://shop.test".to_owned()])), notes)
    }

    fn with_pages(hand_over: HandOver) -> Self {
        let mut story = Self::of(vec![], hand_over);
        for (session, page) in [("P", "PAGE"), ("Q", "OTHER")] {
            story.browser(attached(session, page, true));
            assert_eq!(story.asked("Fetch.enable")["sessionId"], session);
        }
        story.sent.clear();
        story
    }

    /// A page stands still, in a function of this name.
    fn stands_still(&mut self, session: &str, function: &str) {
        let frame = json!({"callFrameId": "at", "functionName": function, "url": ""});
        let params = json!({"callFrames": [frame], "reason": "other"});
        self.browser(on(session, json!({"method": "Debugger.paused", "params": params})));
    }

    /// A keeper with something for a frame, whose page `PAGE` shows a shop, on the session `P`.
    fn with_storage_of_a_frame(key: &str) -> (Self, TempDir) {
        let notes = tempfile::tempdir().unwrap();
        let entries = [("user", "Ada")].into_iter().collect();
        let tab = Tab {
            url: "https://shop.test/".to_owned(),
            session_storage: [(StorageKey::new(key), entries)].into(),
            ..Tab::default()
        };
        let hand_over = HandOver::of(&[tab], &notes.path().join("handed"));
        let mut story = Self::of(vec![], hand_over);
        let attach = story.asked("Target.setAutoAttach");
        assert_eq!(attach["params"]["filter"], json!([{"type": "page"}, {"exclude": true}]));
        story.browser(attached("P", "PAGE", true));
        assert_eq!(story.asked("Target.setAutoAttach")["sessionId"], "P");
        story.shows("P", "PAGE", "https://shop.test/");
        story.sent.clear();
        (story, notes)
    }

    /// The browser has an answer for a document of a page.
    fn answered(&mut self, session: &str, id: &str, url: &str, status: u16) {
        let frame = if session == "P" { "PAGE" } else { "OTHER" };
        self.answered_in(session, frame, id, url, status);
    }

    /// The browser has an answer for a document of a frame.
    fn answered_in(&mut self, session: &str, frame: &str, id: &str, url: &str, status: u16) {
        let params = json!({
            "requestId": id, "frameId": frame, "request": {"url": url}, "responseStatusCode": status,
        });
        self.browser(on(session, json!({"method": "Fetch.requestPaused", "params": params})));
    }

    fn shows(&mut self, session: &str, frame: &str, url: &str) {
        let params = json!({"frame": {"id": frame, "url": url}});
        self.browser(on(session, json!({"method": "Page.frameNavigated", "params": params})));
    }

    /// Which documents went on since this was asked the last time.
    fn gone_on(&mut self) -> Vec<String> {
        let gone: Vec<String> = self
            .sent
            .iter()
            .filter(|frame| frame["method"] == GO_ON)
            .map(|frame| frame["params"]["requestId"].as_str().unwrap().to_owned())
            .collect();
        self.sent.retain(|frame| frame["method"] != GO_ON);
        gone
    }

    fn was_asked(&self, method: &str) -> bool {
        self.sent.iter().any(|frame| frame["method"] == method)
    }
}

#[test]
fn a_document_waits_for_its_script_and_the_next_one_until_it_is_gone() {
    let (mut story, _notes) = Story::with_storage();
    // Where it only leads elsewhere nothing happens.
    story.answered("P", "1", "https://shop.test/", 302);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["1".to_owned()], false));
    story.answered("P", "2", "https://shop.test/", 200);
    assert_eq!(story.gone_on(), [""; 0]);
    let source = story.sent.last().unwrap()["params"]["source"].as_str().unwrap();
    assert!(source.contains(r#"[["user","Ada"]]"#) && source.contains("https://shop.test"));
    story.reply_to(ADD, &json!({"identifier": "7"}));
    assert_eq!(story.gone_on(), ["2"]);
    // It signs out and comes again at once: before anybody heard that it was shown.
    story.answered("P", "3", "https://shop.test/", 200);
    assert_eq!(story.gone_on(), [""; 0]);
    story.shows("P", "PAGE", "https://shop.test/");
    let removed = story.asked(REMOVE);
    assert_eq!(removed["params"], json!({"identifier": "7"}));
    assert!(!story.was_asked(REMOVE), "once is enough");
    story.browser(json!({"id": removed["id"], "sessionId": "P", "result": {}}));
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["3".to_owned()], false));
    // No other page gets it either.
    story.answered("Q", "4", "https://shop.test/", 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["4".to_owned()], false));
    assert!(!story.was_asked("Fetch.disable"), "there is something left");
    story.answered("Q", "5", "https://news.test/", 200);
    story.reply_to(ADD, &json!({"identifier": "8"}));
    story.shows("Q", "OTHER", "https://news.test/");
    story.reply_to(REMOVE, &json!({}));
    story.answered("P", "6", "https://news.test/", 200);
    assert_eq!(story.asked("Fetch.disable")["sessionId"], "P");
}

#[test]
fn what_a_page_never_showed_is_there_for_the_next_one() {
    let (mut story, _notes) = Story::with_storage();
    story.answered("P", "1", "https://shop.test/", 200);
    story.reply_to(ADD, &json!({"identifier": "7"}));
    // It was led elsewhere before it was shown.
    story.answered("P", "2", "https://else.test/", 200);
    story.reply_to(REMOVE, &json!({}));
    assert_eq!(story.gone_on(), ["1", "2"]);
    story.answered("Q", "3", "https://shop.test/", 200);
    story.browser(json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "Q"}}));
    story.answered("P", "4", "https://shop.test/", 200);
    assert!(story.was_asked(ADD));
}

#[test]
fn a_context_of_a_client_and_a_frame_of_a_page_get_nothing() {
    let (mut story, _notes) = Story::with_storage();
    story.join(1, Role::Client);
    story.client(1, json!({"id": 1, "method": "Target.createBrowserContext"}));
    story.reply_to("Target.createBrowserContext", &json!({"browserContextId": "C"}));
    assert_eq!(story.taken(1), [json!({"id": 1, "result": {"browserContextId": "C"}})]);
    story.sent.clear();
    let mut event = attached("S", "MADE", true);
    event["params"]["targetInfo"]["browserContextId"] = "C".into();
    story.browser(event);
    assert!(!story.was_asked("Fetch.enable"));
    story.answered_in("P", "FRAME", "1", "https://shop.test/", 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["1".to_owned()], false));
}

#[test]
fn a_page_that_a_client_makes_goes_to_its_address_once_it_is_prepared() {
    let (mut story, _notes) = Story::with_storage();
    story.join(1, Role::Client);
    let params = json!({"url": "https://shop.test/"});
    story.client(1, json!({"id": 1, "method": "Target.createTarget", "params": params}));
    assert_eq!(story.asked("Target.createTarget")["params"], json!({"url": "about:blank"}));
}

const ID: &str = "https://id.test/";
const PARTITION: &str = "https://id.test/^0https://shop.test";
const KEY: &str = "Storage.getStorageKey";
const ERROR: &str = "chrome-error://chromewebdata/";

impl Story {
    /// A frame of the page is shown in a process of its own.
    fn moves_out(&mut self, session: &str, frame: &str) {
        let mut event = attached(session, frame, true);
        event["params"]["targetInfo"]["type"] = "iframe".into();
        self.browser(on("P", event));
    }

    /// The browser answers every call of a method.
    fn reply_to_all(&mut self, method: &str, result: &Value) -> Vec<Value> {
        let mut sessions = Vec::new();
        while self.was_asked(method) {
            let call = self.asked(method);
            sessions.push(call["sessionId"].clone());
            self.browser(
                json!({"id": call["id"], "sessionId": call["sessionId"], "result": result}),
            );
        }
        sessions
    }
}

#[test]
fn a_frame_of_another_site_gets_its_own_where_it_ends_up() {
    let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
    story.answered("P", "0", ID, 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["0".to_owned()], false));
    story.answered_in("P", "FRAME", "1", ID, 200);
    let source = story.sent.last().unwrap()["params"]["source"].as_str().unwrap();
    assert!(
        source.contains("(self !== self.top) === true")
            && source.contains(ID.trim_end_matches('/'))
    );
    assert_eq!(story.gone_on(), [""; 0]);
    story.reply_to(ADD, &json!({"identifier": "7"}));
    assert_eq!(story.gone_on(), ["1"]);
    // It is shown in a process of its own.
    story.moves_out("F", "FRAME");
    let said: Vec<_> = story.sent.iter().map(|frame| frame["method"].as_str().unwrap()).collect();
    let run = "Runtime.runIfWaitingForDebugger";
    assert_eq!(said, ["Page.enable", "Fetch.enable", ADD, "Target.setAutoAttach", run]);
    assert!(story.sent.iter().all(|frame| frame["sessionId"] == "F"));
    story.reply_to(ADD, &json!({"identifier": "8"}));
    let swapped =
        json!({"method": "Page.frameDetached", "params": {"frameId": "FRAME", "reason": "swap"}});
    story.browser(on("P", swapped));
    assert!(!story.was_asked(REMOVE));
    // It has it; another one of the same storage waits until that is sure, and so does its own next document.
    story.answered_in("P", "SECOND", "2", ID, 200);
    story.shows("F", "FRAME", ID);
    story.answered_in("F", "FRAME", "3", "https://id.test/again", 200);
    let mut sessions = story.reply_to_all(REMOVE, &json!({}));
    sessions.sort_by_key(ToString::to_string);
    assert_eq!((sessions, story.gone_on()), (vec![json!("F"), json!("P")], vec![]));
    let asked = story.asked(KEY);
    assert_eq!(
        (&asked["sessionId"], &asked["params"]),
        (&json!("F"), &json!({"frameId": "FRAME"}))
    );
    let key = json!({"storageKey": PARTITION});
    story.browser(json!({"id": asked["id"], "sessionId": "F", "result": key}));
    assert_eq!(
        (story.gone_on(), story.was_asked(ADD)),
        (vec!["2".to_owned(), "3".to_owned()], false)
    );
}

#[test]
fn a_frame_without_storage_leaves_it_to_the_next_one() {
    let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
    for (frame, code, message) in [
        (
            "BOXED",
            -32000,
            "Frame corresponds to an opaque origin and its storage key cannot be serialized",
        ),
        ("GONE", -32602, "Frame tree node for given frame not found"),
    ] {
        story.answered_in("P", frame, "1", ID, 200);
        story.reply_to(ADD, &json!({"identifier": "7"}));
        story.shows("P", frame, ID);
        story.reply_to(REMOVE, &json!({}));
        let id = story.asked(KEY)["id"].clone();
        let error = json!({"code": code, "message": message});
        story.browser(json!({"id": id, "sessionId": "P", "error": error}));
    }
    story.answered_in("P", "LATE", "2", ID, 200);
    assert!(!story.was_asked(ADD), "the one that is gone had it");
}

#[test]
fn what_a_frame_may_have_had_is_no_other_frames_when_its_page_goes_on() {
    for leave in ["navigated", "detached"] {
        let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
        story.answered_in("P", "FRAME", "1", ID, 200);
        story.reply_to(ADD, &json!({"identifier": "7"}));
        story.answered_in("P", "SECOND", "2", ID, 200);
        assert_eq!(story.gone_on(), ["1"]);
        if leave == "navigated" {
            story.shows("P", "PAGE", "https://shop.test/2");
            assert_eq!(story.gone_on(), ["2"]);
        } else {
            for frame in ["SECOND", "FRAME"] {
                let params = json!({"frameId": frame, "reason": "remove"});
                story.browser(on("P", json!({"method": "Page.frameDetached", "params": params})));
            }
        }
        story.reply_to(REMOVE, &json!({}));
        story.answered_in("P", "THIRD", "3", ID, 200);
        assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["3".to_owned()], false));
    }
}

#[test]
fn a_frame_that_is_refused_leaves_its_own_to_the_next_one() {
    let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
    story.answered_in("P", "FRAME", "1", ID, 200);
    story.reply_to(ADD, &json!({"identifier": "7"}));
    story.answered_in("P", "SECOND", "2", ID, 200);
    assert_eq!(story.gone_on(), ["1"]);
    // It may not be in a frame (X-Frame-Options), and the browser says so in its place.
    story.shows("P", "FRAME", ERROR);
    assert!(!story.was_asked(KEY), "an error has no storage");
    story.reply_to(REMOVE, &json!({}));
    assert!(story.was_asked(ADD));
    story.reply_to(ADD, &json!({"identifier": "8"}));
    assert_eq!(story.gone_on(), ["2"]);
    // What is shown, and fails later, had it.
    story.shows("P", "SECOND", ID);
    story.shows("P", "SECOND", ERROR);
    story.reply_to(REMOVE, &json!({}));
    let id = story.asked(KEY)["id"].clone();
    let key = json!({"storageKey": PARTITION});
    story.browser(json!({"id": id, "sessionId": "P", "result": key}));
    story.answered_in("P", "THIRD", "3", ID, 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["3".to_owned()], false));
}

#[test]
fn a_frame_that_is_refused_for_ever_fills_no_notes() {
    let (mut story, notes) = Story::with_storage_of_a_frame(PARTITION);
    let mut handed = 0;
    for _ in 0..1_000 {
        story.answered_in("P", "FRAME", "1", ID, 200);
        if story.was_asked(ADD) {
            handed += 1;
            story.reply_to(ADD, &json!({"identifier": "7"}));
            story.shows("P", "FRAME", ERROR);
            story.reply_to(REMOVE, &json!({}));
        }
        assert_eq!(story.gone_on(), ["1"]);
    }
    assert_eq!(handed, 17);
    let notes = std::fs::read_to_string(notes.path().join("handed")).unwrap();
    assert!(notes.len() < 4 << 10, "{}", notes.len());
    assert!(HandedOver::read(&notes).areas.is_empty(), "no document had it, so it is not gone");
}

#[test]
fn a_frame_that_comes_back_to_the_site_around_it_waits_for_its_next_document() {
    let (mut story, _notes) = Story::with_storage_of_a_frame("https://m.shop.test/");
    story.moves_out("F", "FRAME");
    story.shows("F", "FRAME", ID);
    story.answered_in("F", "FRAME", "1", "https://m.shop.test/", 200);
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["1".to_owned()], false));
    story.answered_in("P", "FRAME", "2", "https://m.shop.test/", 200);
    assert_eq!(story.asked(ADD)["sessionId"], "P");
}

#[test]
fn what_never_came_to_a_frame_goes_to_its_next_document() {
    let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
    story.answered_in("P", "FRAME", "1", ID, 200);
    // It goes on before its script is there.
    story.answered_in("P", "FRAME", "2", ID, 200);
    story.reply_to(ADD, &json!({"identifier": "7"}));
    story.gone_on();
    assert!(!story.was_asked(ADD), "not while the first script is there");
    story.reply_to(REMOVE, &json!({}));
    assert!(story.was_asked(ADD));
}

#[test]
fn a_frame_that_ends_before_it_says_what_it_has_holds_no_other() {
    let (mut story, _notes) = Story::with_storage_of_a_frame(PARTITION);
    story.answered_in("P", "FRAME", "1", ID, 200);
    story.reply_to(ADD, &json!({"identifier": "7"}));
    story.moves_out("F", "FRAME");
    story.reply_to(ADD, &json!({"identifier": "8"}));
    story.shows("F", "FRAME", ID);
    story.answered_in("P", "SECOND", "2", ID, 200);
    story.reply_to_all(REMOVE, &json!({}));
    story.gone_on();
    assert!(story.was_asked(KEY));
    let ended = json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "F"}});
    story.browser(on("P", ended));
    assert_eq!((story.gone_on(), story.was_asked(ADD)), (vec!["2".to_owned()], false));
}
