//! To take over: who may act, and what is let go.

use super::{LIMIT, Scene, Viewer};
use crate::cdp::Tool;
use crate::damage::Database;
use baton_api::live::{
    LiveDialog, LiveFinger, LiveKey, LiveMouse, LiveTab, LiveTouch, LiveWheel, MouseKind,
    TouchKind, ViewerMessage,
};
use baton_api::{Client, ListAudit, OpenCdp, PassSession, Scope};
use baton_browser::cdp::{self, CdpError};
use baton_playground::Page;
use serde_json::json;
use tokio::time::timeout;

pub(super) fn mouse(tab: u32, kind: MouseKind, x: f64, y: f64) -> ViewerMessage {
    let clicks = u8::from(kind != MouseKind::Move);
    ViewerMessage::Mouse(LiveMouse { tab, kind, x, y, button: 0, clicks, modifiers: 0 })
}

fn key(tab: u32, down: bool, key: &str, code: &str, number: u16) -> ViewerMessage {
    let (key, code) = (key.to_owned(), code.to_owned());
    let pressed = LiveKey { tab, down, again: false, key, code, number, location: 0, modifiers: 0 };
    ViewerMessage::Key(pressed)
}

/// Presses a key, which has a meaning, a place and a number, with others that are down, and lets it up.
pub(super) async fn press(viewer: &mut Viewer, tab: u32, pressed: (&str, &str, u16, u8)) {
    let (key, code, number, modifiers) = pressed;
    for down in [true, false] {
        let (key, code) = (key.to_owned(), code.to_owned());
        let key = LiveKey { tab, down, again: false, key, code, number, location: 0, modifiers };
        viewer.say(&ViewerMessage::Key(key)).await;
    }
}

fn touch(tab: u32, kind: TouchKind, fingers: &[(f64, f64)]) -> ViewerMessage {
    let fingers = fingers.iter().map(|(x, y)| LiveFinger { id: 1, x: *x, y: *y }).collect();
    ViewerMessage::Touch(LiveTouch { tab, kind, fingers, modifiers: 0 })
}

/// What a page asks.
fn dialog(viewer: &Viewer) -> Option<LiveDialog> {
    viewer.tabs.as_ref()?.tabs.iter().find_map(|tab| tab.dialog.clone())
}

async fn type_in(viewer: &mut Viewer, tab: u32, text: &str) {
    for letter in text.chars() {
        for down in [true, false] {
            let code = format!("Key{}", letter.to_uppercase());
            viewer.say(&key(tab, down, &letter.to_string(), &code, 0)).await;
        }
    }
}

impl Scene {
    /// A look into the page, beside everybody.
    pub(super) async fn page(&self) -> Page {
        let socket = self.test_node.keeper_socket(self.id);
        Page::attach(&socket, self.site.url("/").unwrap().as_str()).await.unwrap()
    }

    fn agent(&self, name: &str) -> Client {
        self.client().clone().as_agent(Some(name.parse().unwrap()))
    }

    async fn tool(&self, agent: &Client) -> Tool {
        let access = agent.open_cdp("shop", &OpenCdp::default()).await.unwrap();
        Tool::connect(&access.cdp_url).await
    }
}

/// Why a call that acts is refused.
async fn refused(tool: &Tool) -> Option<String> {
    let params = json!({ "type": "mouseMoved", "x": 1, "y": 1 });
    match tool.page.call("Input.dispatchMouseEvent", params).await {
        Err(CdpError::Protocol { message, .. }) => Some(message),
        Err(error) => panic!("expected an answer, found {error}"),
        Ok(_) => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_waits_while_a_person_drives_and_goes_on_in_the_same_tab() {
    let scene = Scene::set().await;
    let kimi = scene.agent("kimi");
    let tool = scene.tool(&kimi).await;
    assert_eq!(refused(&tool).await, None);
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.until("who drives", |it| it.driver.as_ref().is_some_and(|it| it.agent.is_some())).await;
    assert_eq!(ada.driver.as_ref().unwrap().agent.as_ref().unwrap().as_str(), "kimi");
    ada.take_over("ada").await;
    // What acts is refused with who drives, as soon as the agent's line has heard of it.
    let waits = async {
        loop {
            if let Some(why) = refused(&tool).await {
                return why;
            }
        }
    };
    let why = timeout(LIMIT, waits).await.unwrap();
    insta::assert_snapshot!(why, @"Input.dispatchMouseEvent: ada has taken over and drives this session until it is given back; calls that read go on");
    let looks = tool.page.call("Page.captureScreenshot", json!({})).await.unwrap();
    assert!(looks["data"].as_str().is_some_and(|data| data.len() > 100), "what reads goes on");
    let reads = json!({ "expression": "document.title", "throwOnSideEffect": true });
    let title = tool.page.call("Runtime.evaluate", reads).await.unwrap();
    assert_eq!(title["result"]["value"], "at the <b>counter</b>");
    // Another person is told who has it.
    let mut bea = scene.watch(scene.client()).await;
    bea.tab().await;
    let (name, reason) = ("bea".parse().unwrap(), None);
    bea.say(&ViewerMessage::TakeOver { name, reason }).await;
    bea.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    assert!(bea.refused[0].contains("ada"), "{:?}", bea.refused);
    // The person clicks and types, with a key, an input method and the clipboard.
    let page = scene.page().await;
    ada.say(&mouse(tab, MouseKind::Move, 150.0, 120.0)).await;
    ada.say(&mouse(tab, MouseKind::Down, 150.0, 120.0)).await;
    ada.say(&mouse(tab, MouseKind::Up, 150.0, 120.0)).await;
    type_in(&mut ada, tab, "ada").await;
    let (composing, written) = ("´".to_owned(), "é".to_owned());
    ada.say(&ViewerMessage::Compose { tab, text: composing }).await;
    ada.say(&ViewerMessage::Text { tab, text: written }).await;
    ada.say(&ViewerMessage::Text { tab, text: " 漢字".to_owned() }).await;
    page.wait_for("document.getElementById('name').value === 'adaé 漢字'").await.unwrap();
    // It is given back, and the agent goes on.
    ada.say(&ViewerMessage::GiveBack {}).await;
    ada.until("to watch", |viewer| viewer.driver.as_ref().is_some_and(|it| !it.own)).await;
    let goes_on = async { while refused(&tool).await.is_some() {} };
    timeout(LIMIT, goes_on).await.unwrap();
    assert_eq!(tool.evaluate("document.getElementById('name').value").await, "adaé 漢字");
    // The log has it once the pass is answered, which is after the turn is known.
    let client = scene.client();
    let logged = async || {
        let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
        let passed = log.iter().rev().filter(|entry| entry.action == "session.pass");
        passed.map(|entry| entry.detail["to"].clone()).collect::<Vec<_>>()
    };
    let both = async { while logged().await.len() < 2 {} };
    timeout(LIMIT, both).await.unwrap();
    assert_eq!(logged().await, [json!("ada"), json!("kimi")]);
    drop((ada, bea));
    scene.strike().await;
}

/// Takes over as `ada`, and drags without letting go.
async fn begin_to_drag(ada: &mut Viewer, tab: u32) {
    ada.take_over("ada").await;
    ada.say(&mouse(tab, MouseKind::Move, 150.0, 320.0)).await;
    ada.say(&mouse(tab, MouseKind::Down, 150.0, 320.0)).await;
    ada.say(&mouse(tab, MouseKind::Move, 300.0, 500.0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_vanishes_in_a_drag_lets_go_and_gives_back() {
    let scene = Scene::set().await;
    let kimi = scene.agent("kimi");
    let tool = scene.tool(&kimi).await;
    let page = scene.page().await;
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    begin_to_drag(&mut ada, tab).await;
    ada.say(&key(tab, true, "Shift", "ShiftLeft", 16)).await;
    page.wait_for("seen.includes('mousedown') && seen.includes('keydown:Shift')").await.unwrap();
    let held: bool =
        page.evaluate("seen.includes('mouseup') || seen.includes('keyup:Shift')").await.unwrap();
    assert!(!held, "they are down");
    let mut changes = scene.client().follow_changes().await.unwrap();
    drop(ada);
    page.wait_for("seen.includes('mouseup') && seen.includes('keyup:Shift')").await.unwrap();
    let is_back = async || {
        let view = scene.client().fetch_session("shop").await.unwrap();
        view.session.agent.is_some_and(|driver| driver.agent.as_str() == "kimi")
    };
    let given_back = async {
        while !is_back().await {
            changes.next().await.unwrap();
        }
    };
    timeout(LIMIT, given_back).await.unwrap();
    let goes_on = async { while refused(&tool).await.is_some() {} };
    timeout(LIMIT, goes_on).await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whose_line_falls_silent_in_a_drag_lets_go_and_nobody_waits_for_them() {
    let scene = Scene::set().await;
    let kimi = scene.agent("kimi");
    let tool = scene.tool(&kimi).await;
    let page = scene.page().await;
    let mut bea = scene.watch(scene.client()).await;
    bea.tab().await;
    let mut ada = scene.watch(scene.client()).await;
    let begins = async {
        let tab = ada.tab().await;
        begin_to_drag(&mut ada, tab).await;
        page.wait_for("seen.includes('mousedown')").await.unwrap();
    };
    bea.hear_during(begins).await;
    let drives = |viewer: &Viewer, name: &str| {
        let agent = viewer.driver.as_ref().and_then(|driver| driver.agent.as_ref());
        agent.is_some_and(|agent| agent.as_str() == name)
    };
    bea.until("that ada drives", |viewer| drives(viewer, "ada")).await;
    assert!(!page.evaluate::<bool>("seen.includes('mouseup')").await.unwrap(), "it is down");
    ada.fall_silent();
    let before = bea.pictures;
    bea.hear_during(page.wait_for("seen.includes('mouseup')")).await.unwrap();
    assert!(bea.pictures > before + 10, "pictures all the time: {}", bea.pictures - before);
    bea.until("that kimi drives", |viewer| drives(viewer, "kimi")).await;
    let goes_on = async { while refused(&tool).await.is_some() {} };
    timeout(LIMIT, goes_on).await.unwrap();
    let client = scene.client();
    let why = async || {
        let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
        let ended = log.into_iter().find(|entry| entry.action == "session.watch_end");
        ended.map(|entry| entry.detail["why"].clone())
    };
    let noted = async { while why().await.is_none() {} };
    timeout(LIMIT, noted).await.unwrap();
    assert_eq!(why().await.unwrap(), "the viewer said nothing for 10 s");
    drop((ada, bea));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_people_who_take_over_at_once_one_drives_and_the_others_are_told_who() {
    let scene = Scene::set().await;
    let mut people = Vec::new();
    for name in ["ada", "bea", "cleo"] {
        let mut viewer = scene.watch(scene.client()).await;
        viewer.tab().await;
        people.push((name, viewer));
    }
    for (name, viewer) in &mut people {
        let (name, reason) = (name.parse().unwrap(), None);
        viewer.say(&ViewerMessage::TakeOver { name, reason }).await;
    }
    let owns = |viewer: &Viewer| viewer.driver.as_ref().is_some_and(|driver| driver.own);
    for (_, viewer) in &mut people {
        viewer.until("an answer", |it| owns(it) || !it.refused.is_empty()).await;
    }
    let drivers: Vec<_> =
        people.iter().filter(|(_, viewer)| owns(viewer)).map(|(name, _)| *name).collect();
    let [driver] = drivers.as_slice() else { panic!("expected one driver, found {drivers:?}") };
    let view = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(view.session.agent.unwrap().agent.as_str(), *driver);
    for (name, viewer) in people.iter().filter(|(name, _)| name != driver) {
        assert!(viewer.refused[0].contains(driver), "{name}: {:?}", viewer.refused);
    }
    drop(people);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_addresses_and_questions_are_a_persons_who_drives() {
    let scene = Scene::set().await;
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    let page = scene.page().await;
    let asked =
        page.evaluate::<bool>("setTimeout(() => (window.answer = prompt('Who?', 'x')), 0), true");
    assert!(asked.await.unwrap());
    ada.until("a question", |viewer| dialog(viewer).is_some()).await;
    let found = dialog(&ada).unwrap();
    assert_eq!((found.kind.as_str(), found.message.as_str()), ("prompt", "Who?"));
    let answer = |question| {
        let text = Some("Ada".to_owned());
        ViewerMessage::Answer { tab, question, accept: true, text }
    };
    // An answer to another question is none to this one.
    ada.say(&answer(found.question + 1)).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(ada.refused[0], @"answer: expected a question that stands, found one that is over");
    ada.refused.clear();
    ada.say(&answer(found.question)).await;
    page.wait_for("window.answer === 'Ada'").await.unwrap();
    ada.until("no question", |viewer| dialog(viewer).is_none()).await;
    // A page of the browser's own is not for it.
    let go = |url: &str| ViewerMessage::Go { tab, url: url.to_owned() };
    ada.say(&go("chrome://settings")).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    assert!(ada.refused[0].contains("a page of the browser's own"), "{:?}", ada.refused);
    let other = scene.site.url("/?other").unwrap();
    ada.say(&go(other.as_str())).await;
    let shows = |viewer: &Viewer, end: &str| {
        let tabs = viewer.tabs.as_ref().unwrap();
        tabs.tabs.iter().any(|tab| tab.url.as_str().ends_with(end))
    };
    ada.until("the other page", |viewer| shows(viewer, "/?other")).await;
    ada.say(&ViewerMessage::Step { tab, by: -1 }).await;
    ada.until("the first page", |viewer| !shows(viewer, "/?other")).await;
    // A new tab comes to the front, and into the picture.
    ada.say(&ViewerMessage::OpenTab { url: other.to_string() }).await;
    ada.until("another tab", |it| it.picture.as_ref().is_some_and(|(it, _)| it.tab != tab)).await;
    ada.say(&ViewerMessage::Front { tab }).await;
    ada.until("the first tab", |it| it.picture.as_ref().is_some_and(|(it, _)| it.tab == tab)).await;
    ada.say(&ViewerMessage::CloseTab { tab }).await;
    ada.until("one tab", |viewer| viewer.tabs.as_ref().unwrap().tabs.len() == 1).await;
    drop(ada);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_holds_while_the_database_does_not_answer_and_its_agent_keeps_its_line() {
    let scene = Scene::set().await;
    let tool = scene.tool(&scene.agent("kimi")).await;
    let mut others = Vec::new();
    for name in ["one", "two"] {
        let (client, key) = scene.key(name, &[Scope::Read, Scope::Drive]).await;
        let client = client.as_agent(Some("kimi".parse().unwrap()));
        others.push((scene.tool(&client).await, key));
    }
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let waits = async { while refused(&tool).await.is_none() {} };
    timeout(LIMIT, waits).await.unwrap();
    let database = Database::Sqlite(scene.test_node.data().database());
    // Every line looks anew whose turn it is when a key is revoked.
    let look_anew = async |(other, key): (Tool, String)| {
        scene.client().revoke_key(&key, None).await.unwrap();
        timeout(LIMIT, other.connection.closed()).await.unwrap();
    };
    database.take_away("session_agents");
    look_anew(others.pop().unwrap()).await;
    for _ in 0..3 {
        let why = refused(&tool).await.expect("a person drives");
        assert!(why.contains("ada has taken over"), "{why}");
    }
    // Their turn ends, which is written nowhere.
    ada.say(&ViewerMessage::GiveBack {}).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    assert!(ada.refused[0].starts_with("give_back: "), "{:?}", ada.refused);
    database.bring_back("session_agents");
    look_anew(others.pop().unwrap()).await;
    // It is given back a while later, to an agent that was not thrown out.
    let goes_on = async { while refused(&tool).await.is_some() {} };
    timeout(LIMIT, goes_on).await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_agent_comes_in_under_the_name_of_the_person_who_drives() {
    let scene = Scene::set().await;
    let name_of_ada = scene.agent("ada");
    let access = name_of_ada.open_cdp("shop", &OpenCdp { reusable: true }).await.unwrap();
    let connects = async || cdp::connect(access.cdp_url.as_str()).await.is_ok();
    name_of_ada.pass_session("shop", &PassSession { to: None, reason: None }).await.unwrap();
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let refused = name_of_ada.open_cdp("shop", &OpenCdp::default()).await.unwrap_err();
    let why =
        "expected agent to be one that is not the person who has taken the session over, found ada";
    assert!(refused.to_string().contains(why), "{refused}");
    assert!(!connects().await, "with a ticket of before");
    ada.say(&ViewerMessage::GiveBack {}).await;
    ada.until("to watch", |it| it.driver.as_ref().is_some_and(|it| !it.own && it.agent.is_none()))
        .await;
    assert!(connects().await);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tap_clicks_fingers_are_let_go_and_a_wheel_scrolls() {
    let scene = Scene::set().await;
    let page = scene.page().await;
    let tells = "for (const type of ['click', 'touchstart', 'touchend', 'touchcancel']) \
                 addEventListener(type, tell); document.body.style.height = '5000px'; true";
    assert!(page.evaluate::<bool>(tells).await.unwrap());
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    ada.say(&touch(tab, TouchKind::Start, &[(150.0, 320.0)])).await;
    ada.say(&touch(tab, TouchKind::End, &[])).await;
    ada.hear_during(page.wait_for("seen.includes('click')")).await.unwrap();
    let order: Vec<String> =
        page.evaluate("seen.filter((type) => /^touch|^click/.test(type))").await.unwrap();
    assert_eq!(order, ["touchstart", "touchend", "click"]);
    // Who vanishes has no finger down any more.
    assert!(page.evaluate::<bool>("seen.length = 0, true").await.unwrap());
    ada.say(&touch(tab, TouchKind::Start, &[(150.0, 320.0)])).await;
    ada.hear_during(page.wait_for("seen.includes('touchstart')")).await.unwrap();
    assert!(!page.evaluate::<bool>("seen.includes('touchcancel')").await.unwrap(), "it is down");
    drop(ada);
    page.wait_for("seen.includes('touchcancel')").await.unwrap();
    assert!(!page.evaluate::<bool>("seen.includes('click')").await.unwrap());
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    // How far a page goes the browser may learn a frame later than the page.
    let wheel = LiveWheel { tab, x: 150.0, y: 200.0, right: 0.0, down: 120.0, modifiers: 0 };
    let is_down = "new Promise((done) => requestAnimationFrame(() => done(scrollY > 0)))";
    let scrolls = async {
        while !page.evaluate::<bool>(is_down).await.unwrap() {
            ada.say(&ViewerMessage::Wheel(wheel)).await;
        }
    };
    timeout(LIMIT, scrolls).await.expect("the wheel scrolls");
    drop(ada);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_goes_forward_again_and_loads_a_page_anew() {
    let scene = Scene::set().await;
    let page = scene.page().await;
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    let shows_other = |viewer: &Viewer| {
        let ends = |tab: &LiveTab| tab.url.as_str().ends_with("/?other");
        viewer.tabs.as_ref().is_some_and(|tabs| tabs.tabs.iter().any(ends))
    };
    let url = scene.site.url("/?other").unwrap().to_string();
    ada.say(&ViewerMessage::Go { tab, url }).await;
    ada.until("the other page", shows_other).await;
    ada.say(&ViewerMessage::Step { tab, by: -1 }).await;
    ada.until("the first page", |viewer| !shows_other(viewer)).await;
    ada.say(&ViewerMessage::Step { tab, by: 1 }).await;
    ada.until("the other page again", shows_other).await;
    ada.hear_during(page.wait_for("location.search === '?other'")).await.unwrap();
    assert!(page.evaluate::<bool>("globalThis.mark = true").await.unwrap());
    ada.say(&ViewerMessage::Reload { tab }).await;
    let is_new = "globalThis.mark === undefined && location.search === '?other'";
    ada.hear_during(page.wait_for(is_new)).await.unwrap();
    assert_eq!(ada.refused, [""; 0]);
    drop(ada);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_may_not_be_left_at_once_asks_who_drives() {
    let scene = Scene::set().await;
    let page = scene.page().await;
    let stays = "onbeforeunload = (event) => event.preventDefault(), true";
    assert!(page.evaluate::<bool>(stays).await.unwrap());
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    // Before somebody has done something in it, a page may not ask.
    ada.click(tab, 150.0, 320.0).await;
    ada.hear_during(page.wait_for("seen.includes('mouseup')")).await.unwrap();
    let url = scene.site.url("/?other").unwrap().to_string();
    // That it asks once more shows that it has stayed.
    for leaves in [false, true] {
        ada.say(&ViewerMessage::Go { tab, url: url.clone() }).await;
        ada.until("a question", |viewer| dialog(viewer).is_some()).await;
        let LiveDialog { question, kind, .. } = dialog(&ada).unwrap();
        assert_eq!(kind, "beforeunload");
        ada.say(&ViewerMessage::Answer { tab, question, accept: leaves, text: None }).await;
        ada.until("no question", |viewer| dialog(viewer).is_none()).await;
        let is_at =
            if leaves { "location.search === '?other'" } else { "seen.includes('mouseup')" };
        ada.hear_during(page.wait_for(is_at)).await.unwrap();
    }
    assert_eq!(ada.refused, [""; 0]);
    drop(ada);
    scene.strike().await;
}
