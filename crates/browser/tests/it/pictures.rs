//! A screen of a browser that the test plays, which sends what no picture is, pictures that come late, and titles that
//! are none, and is asked for pictures only while somebody looks. A page of it asks whether it may be left, and a hand in
//! it lets go.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_browser::cdp::{Connection, FrameWriter, Transport};
use baton_browser::keeper::{KeeperLink, Welcome};
use baton_browser::screen::{
    Key, KeyEvent, KeyOutcome, Screen, ScreenFrame, ScreenState, TabAddress, Viewing, Wish,
};
use baton_session::SessionId;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_mins(1);

/// The browser's end of the line; it answers each call with nothing, and one that leads elsewhere not at all.
#[derive(Clone)]
struct Played {
    writer: Arc<Mutex<FrameWriter>>,
    /// The calls that it was asked, oldest first.
    calls: watch::Sender<Vec<Value>>,
}

impl Played {
    async fn start() -> (Self, Arc<Screen>) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        let (reader, writer) = tokio::io::split(theirs);
        let (mut reader, writer) = Transport::nul(reader, writer).split();
        let (writer, calls) = (Arc::new(Mutex::new(writer)), watch::Sender::default());
        let played = Self { writer, calls };
        let answers = played.clone();
        tokio::spawn(async move {
            while let Ok(Some(frame)) = reader.next().await {
                let call: Value = serde_json::from_slice(&frame).unwrap();
                // It asks the page first.
                let is_left_open = call["method"] == "Page.navigate";
                let mut answer = json!({ "id": call["id"], "result": {} });
                answer["sessionId"] = call["sessionId"].clone();
                answers.calls.send_modify(|calls| calls.push(call));
                if !is_left_open {
                    answers.send(answer).await;
                }
            }
        });
        let welcome = Welcome {
            session: SessionId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]),
            pid: 1,
            browser_pid: None,
            browser_version: "Chrome/1".to_owned(),
            attached: false,
            confinement: None,
            fenced: false,
        };
        let screen = Screen::start(KeeperLink { connection, events, welcome }).await.unwrap();
        (played, Arc::new(screen))
    }

    async fn send(&self, mut message: Value) {
        if message["sessionId"].is_null() {
            message.as_object_mut().unwrap().remove("sessionId");
        }
        self.writer.lock().await.send(serde_json::to_vec(&message).unwrap()).await.unwrap();
    }

    /// Shows a picture, or what is none.
    async fn show(&self, params: Value) {
        let method = "Page.screencastFrame";
        self.send(json!({ "method": method, "sessionId": "S", "params": params })).await;
    }

    async fn attach(&self, title: &str) {
        self.attach_as("S", "T", title).await;
    }

    async fn attach_as(&self, session: &str, target: &str, title: &str) {
        let info =
            json!({ "targetId": target, "type": "page", "url": "https://a.test/", "title": title });
        let params = json!({ "sessionId": session, "targetInfo": info });
        self.send(json!({ "method": "Target.attachedToTarget", "params": params })).await;
    }

    /// Says whether a tab is drawn.
    async fn draw(&self, session: &str, is_drawn: bool) {
        let (method, params) = ("Page.screencastVisibilityChanged", json!({ "visible": is_drawn }));
        self.send(json!({ "method": method, "sessionId": session, "params": params })).await;
    }

    /// The page of the first tab is another one.
    async fn navigate(&self, url: &str) {
        let params = json!({ "frame": { "id": "F", "url": url } });
        let method = "Page.frameNavigated";
        self.send(json!({ "method": method, "sessionId": "S", "params": params })).await;
    }

    /// What of casts it was asked, oldest first, once it is as much as this.
    async fn casts(&self, count: usize) -> Vec<String> {
        let mut calls = self.calls.subscribe();
        let asked = calls.wait_for(|calls| casts_of(calls).len() >= count);
        let asked = timeout(LIMIT, asked).await.expect("it is asked").unwrap();
        casts_of(&asked)
    }
}

/// What of these calls begins or ends a cast, in which session and how.
fn casts_of(calls: &[Value]) -> Vec<String> {
    let casts = calls.iter().filter_map(|call| {
        let (session, wanted) = (call["sessionId"].as_str()?, &call["params"]);
        match call["method"].as_str()? {
            "Page.stopScreencast" => Some(format!("{session} stop")),
            "Page.startScreencast" => Some(format!(
                "{session} start {} {}x{}",
                wanted["quality"], wanted["maxWidth"], wanted["maxHeight"]
            )),
            _ => None,
        }
    });
    casts.collect()
}

async fn until(viewing: &Viewing, holds: impl FnMut(&ScreenState) -> bool) -> ScreenState {
    let mut state = viewing.state();
    let seen = timeout(LIMIT, state.wait_for(holds)).await.expect("it is seen").unwrap();
    seen.clone()
}

/// The picture of this number.
async fn shown(viewing: &Viewing, number: u64) -> Arc<ScreenFrame> {
    let mut frames = viewing.frames();
    let seen = frames.wait_for(|it| it.as_ref().is_some_and(|it| it.sequence == number));
    let frame = timeout(LIMIT, seen).await.expect("a picture").unwrap().clone();
    frame.unwrap()
}

fn picture(bytes: &[u8]) -> Value {
    let metadata = json!({ "pageScaleFactor": 1, "deviceWidth": 800, "deviceHeight": 600 });
    json!({ "data": STANDARD.encode(bytes), "metadata": metadata, "sessionId": 1 })
}

#[tokio::test]
async fn what_is_no_picture_is_counted_and_shown_to_nobody() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    until(&viewing, |state| state.tabs.len() == 1).await;
    let jpeg = b"\xff\xd8\xff\xe0 and so on";
    let mut huge = vec![0; 50 << 20];
    huge[..jpeg.len()].copy_from_slice(jpeg);
    let mut bad = vec![json!({}), json!([]), json!({ "data": 7 }), picture(b""), picture(&huge)];
    bad.extend([&b"<svg onload=alert(1)>"[..], b"\x89PNG\r\n\x1a\n", b"\xff\xd8"].map(picture));
    let mut changed = |change: fn(&mut Value)| {
        let mut picture = picture(jpeg);
        change(&mut picture);
        bad.push(picture);
    };
    changed(|it| it["data"] = "?? no base64 ??".into());
    changed(|it| it["metadata"] = Value::Null);
    changed(|it| it["metadata"]["deviceWidth"] = 0.into());
    changed(|it| it["metadata"]["deviceHeight"] = (-5).into());
    changed(|it| it["metadata"]["deviceHeight"] = "high".into());
    let count = bad.len() as u64;
    for picture in bad {
        played.show(picture).await;
    }
    until(&viewing, |state| state.bad_frames == count).await;
    assert_eq!(*viewing.frames().borrow(), None);
    // Its line goes on.
    played.show(picture(jpeg)).await;
    let mut frames = viewing.frames();
    let shown = frames.wait_for(Option::is_some);
    let shown = timeout(LIMIT, shown).await.expect("a picture").unwrap().clone().unwrap();
    assert_eq!((shown.sequence, shown.width, shown.jpeg.as_slice()), (1, 800, &jpeg[..]));
}

#[tokio::test]
async fn a_picture_from_before_its_tab_went_on_is_late_and_another_one_is_asked_for() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    viewing.wish(Some(Wish { width: 800, height: 600, quality: 40 }));
    assert_eq!(played.casts(1).await, ["S start 40 800x480"]);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let show = async |taken: Option<f64>| {
        let mut picture = picture(b"\xff\xd8\xff\xe0 and so on");
        picture["metadata"]["timestamp"] = taken.into();
        played.show(picture).await;
    };
    show(None).await;
    assert!(shown(&viewing, 1).await.is_of_them, "it was nowhere else");
    let before = now() - 1.0;
    played.navigate("https://b.test/").await;
    until(&viewing, |state| {
        state.tabs[0].committed.as_ref().and_then(TabAddress::host) == Some("b.test")
    })
    .await;
    assert_eq!(played.casts(3).await[1..3], ["S stop", "S start 40 800x480"]);
    // The browser was still at work on these.
    for (number, taken) in [(2, Some(before)), (3, None)] {
        show(taken).await;
        let late = shown(&viewing, number).await;
        assert!(!late.is_of_them, "{taken:?}");
        assert_eq!(late.addresses[1].host(), Some("b.test"));
    }
    // A page that stands still sends no other one by itself.
    let asked = played.casts(3).await.len();
    played.casts(asked + 2).await;
    show(Some(now())).await;
    assert!(shown(&viewing, 4).await.is_of_them);
    // Another page of the same host is no other place.
    let there = now();
    played.navigate("https://b.test/in").await;
    show(Some(there)).await;
    assert!(shown(&viewing, 5).await.is_of_them);
}

#[tokio::test]
async fn a_title_of_markup_and_control_characters_is_a_short_text() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    let hostile = "<img src=x onerror=alert(1)>\u{1b}]0;x\u{7}\u{202e}\r\n\u{9b}31m\u{2066}";
    played.attach(&format!("{hostile}{}", "y".repeat(1 << 20))).await;
    let state = until(&viewing, |state| state.tabs.len() == 1).await;
    let title = &state.tabs[0].title;
    assert!(title.starts_with("<img src=x onerror=alert(1)>]0;x31myy"), "{title:?}");
    assert_eq!(title.chars().count(), 200);
}

#[tokio::test]
async fn a_cast_runs_only_while_somebody_looks_and_at_the_quality_that_is_wanted() {
    let (played, screen) = Played::start().await;
    let (one, other) = (screen.join().unwrap(), screen.join().unwrap());
    let wish = |quality| Some(Wish { width: 800, height: 600, quality });
    // Each is seen before the next one, or only the last of them would be.
    played.attach("shop").await;
    played.draw("S", true).await;
    until(&one, |state| state.tabs.iter().any(|tab| tab.is_visible)).await;
    one.wish(wish(40));
    played.casts(1).await;
    other.wish(wish(75));
    played.casts(3).await;
    drop(other);
    played.casts(5).await;
    one.wish(None);
    played.casts(6).await;
    // Nobody looks, also at a tab that comes then.
    played.attach_as("R", "U", "bank").await;
    until(&one, |state| state.tabs.len() == 2).await;
    one.wish(wish(25));
    insta::assert_snapshot!(played.casts(8).await.join("\n"), @r"
    S start 40 800x480
    S stop
    S start 75 800x480
    S stop
    S start 40 800x480
    S stop
    S start 25 800x480
    R start 25 800x480
    ");
}

#[tokio::test]
async fn a_viewer_that_wants_another_size_all_the_time_begins_few_casts_and_none_of_a_hidden_tab() {
    const TIMES: u32 = 2000;
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    played.attach_as("R", "U", "bank").await;
    played.draw("S", true).await;
    let is_drawn = |state: &ScreenState| state.tabs.iter().any(|tab| tab.is_visible);
    until(&viewing, |state| state.tabs.len() == 2 && is_drawn(state)).await;
    let wish = |width| viewing.wish(Some(Wish { width, height: 640, quality: 60 }));
    wish(640);
    played.casts(2).await;
    for number in 0..TIMES {
        wish(800 + 160 * (number % 2));
        tokio::task::yield_now().await;
    }
    wish(1280);
    let casts = |session: &str| -> Vec<String> {
        let casts = casts_of(&played.calls.borrow()).into_iter();
        casts.filter(|cast| cast.starts_with(session)).collect()
    };
    let until_last = async |session: &str| {
        let last = format!("{session} start 60 1280x640");
        let mut calls = played.calls.subscribe();
        let is_last = |calls: &Vec<Value>| casts_of(calls).contains(&last);
        timeout(LIMIT, calls.wait_for(is_last)).await.expect("the newest wish counts").unwrap();
    };
    until_last("S").await;
    let begun = casts("S start").len();
    assert!(begun < TIMES as usize / 4, "{begun} casts");
    assert_eq!(casts("R"), ["R start 60 640x640"], "it is not drawn");
    played.draw("R", true).await;
    until_last("R").await;
    assert_eq!(casts("R").len(), 3, "as the others, once it is drawn");
}

#[tokio::test]
async fn a_picture_of_a_tab_that_is_behind_by_now_is_shown_to_nobody() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    played.attach_as("R", "U", "bank").await;
    let picture_of = |session: &'static str, last: u8| {
        let params = picture(&[0xff, 0xd8, 0xff, last]);
        played.send(json!({
            "method": "Page.screencastFrame", "sessionId": session, "params": params,
        }))
    };
    let tabs = until(&viewing, |state| state.tabs.len() == 2).await.tabs;
    let [shop, bank] = [&tabs[0], &tabs[1]];
    // The bank is opened in front, and then the shop is: what the bank was drawn as comes after that.
    played.draw("S", false).await;
    played.draw("R", true).await;
    picture_of("R", 1).await;
    assert_eq!(shown(&viewing, 1).await.tab, bank.number);
    played.draw("S", true).await;
    picture_of("S", 2).await;
    played.draw("R", false).await;
    picture_of("R", 3).await;
    picture_of("S", 4).await;
    let last = shown(&viewing, 3).await;
    assert_eq!((last.tab, last.jpeg[3]), (shop.number, 4), "no third one is between");
    until(&viewing, |state| state.front == Some(shop.number)).await;
    // Where no tab is said to be in front, it is the one of which there is a picture.
    played.draw("S", false).await;
    picture_of("R", 5).await;
    assert_eq!(shown(&viewing, 4).await.tab, bank.number);
    until(&viewing, |state| state.front == Some(bank.number)).await;
}

#[tokio::test]
async fn who_leads_a_tab_elsewhere_does_not_wait_while_its_page_asks_whether_it_may_be_left() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    let number = until(&viewing, |state| state.tabs.len() == 1).await.tabs[0].number;
    let tab = viewing.tab(number).unwrap();
    let goes = tokio::spawn(async move { tab.go("https://b.test/").await });
    let mut calls = played.calls.subscribe();
    let is_asked =
        calls.wait_for(|calls| calls.iter().any(|call| call["method"] == "Page.navigate"));
    timeout(LIMIT, is_asked).await.expect("it is asked").unwrap();
    let params = json!({ "type": "beforeunload", "message": "", "url": "https://a.test/" });
    let method = "Page.javascriptDialogOpening";
    played.send(json!({ "method": method, "sessionId": "S", "params": params })).await;
    timeout(LIMIT, goes).await.expect("an end").unwrap().unwrap();
}

/// The keys that went up, or all others of these calls, each in the order of the calls.
fn keys_of(calls: &[Value], up: bool) -> Vec<String> {
    let keys = calls.iter().filter(|call| call["method"] == "Input.dispatchKeyEvent");
    let keys = keys.filter(|call| (call["params"]["type"] == "keyUp") == up);
    keys.map(|call| call["params"]["key"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn no_key_goes_down_that_a_hand_could_not_let_go() {
    let (played, screen) = Played::start().await;
    let viewing = screen.join().unwrap();
    played.attach("shop").await;
    let tab = until(&viewing, |state| state.tabs.len() == 1).await.tabs[0].number;
    let mut hand = viewing.hand();
    // A keyboard on a screen says of no key where it is.
    let mut press = |name: &str, event| {
        let (key, code) = (name.to_owned(), String::new());
        hand.key(tab, Key { event, key, code, number: 0, location: 0, modifiers: 0 })
    };
    let (down, again) = (KeyEvent::Down { again: false }, KeyEvent::Down { again: true });
    for number in 0..32 {
        assert_eq!(press(&format!("Key {number}"), down), KeyOutcome::Sent);
    }
    assert_eq!(press("Key 0", again), KeyOutcome::Sent, "it is down already");
    assert_eq!(press("One more", down), KeyOutcome::Sent);
    assert_eq!(press("Key 2", KeyEvent::Up), KeyOutcome::Sent);
    assert_eq!(press("In its place", down), KeyOutcome::Sent);
    assert_eq!(press("Another", down), KeyOutcome::Sent);
    let mut calls = played.calls.subscribe();
    let made_room = calls.wait_for(|calls| keys_of(calls, true).len() == 3);
    let made_room = timeout(LIMIT, made_room).await.expect("the first come up").unwrap().clone();
    assert_eq!(keys_of(&made_room, true), ["Key 0", "Key 2", "Key 1"]);
    drop(hand);
    let let_go = calls.wait_for(|calls| keys_of(calls, true).len() == 35);
    let calls = timeout(LIMIT, let_go).await.expect("all of them come up").unwrap().clone();
    let all = |up| keys_of(&calls, up).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(all(true), all(false));
    assert_eq!(keys_of(&calls, false).len(), 36);
}
