//! A screen of a browser that the test plays, which sends what no picture is, and titles that are none.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_browser::cdp::{Connection, FrameWriter, Transport};
use baton_browser::keeper::{KeeperLink, Welcome};
use baton_browser::screen::{Screen, ScreenState, Viewing};
use baton_session::SessionId;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_mins(1);

/// The browser's end of the line; it answers each call with nothing.
#[derive(Clone)]
struct Played(Arc<Mutex<FrameWriter>>);

impl Played {
    async fn start() -> (Self, Arc<Screen>) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        let (reader, writer) = tokio::io::split(theirs);
        let (mut reader, writer) = Transport::nul(reader, writer).split();
        let played = Self(Arc::new(Mutex::new(writer)));
        let answers = played.clone();
        tokio::spawn(async move {
            while let Ok(Some(frame)) = reader.next().await {
                let call: Value = serde_json::from_slice(&frame).unwrap();
                let mut answer = json!({ "id": call["id"], "result": {} });
                answer["sessionId"] = call["sessionId"].clone();
                answers.send(answer).await;
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
        self.0.lock().await.send(serde_json::to_vec(&message).unwrap()).await.unwrap();
    }

    /// Shows a picture, or what is none.
    async fn show(&self, params: Value) {
        let method = "Page.screencastFrame";
        self.send(json!({ "method": method, "sessionId": "S", "params": params })).await;
    }

    async fn attach(&self, title: &str) {
        let info =
            json!({ "targetId": "T", "type": "page", "url": "https://a.test/", "title": title });
        let params = json!({ "sessionId": "S", "targetInfo": info });
        self.send(json!({ "method": "Target.attachedToTarget", "params": params })).await;
    }
}

async fn until(viewing: &Viewing, holds: impl FnMut(&ScreenState) -> bool) -> ScreenState {
    let mut state = viewing.state();
    let seen = timeout(LIMIT, state.wait_for(holds)).await.expect("it is seen").unwrap();
    seen.clone()
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
