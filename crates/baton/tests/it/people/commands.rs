//! Keys and buttons in the hand of a person: what they press is for the page. It edits there, and neither opens nor
//! closes a tab nor leads elsewhere, as it would in a browser of their own; and a guest pastes what is theirs.

use super::driving::press;
use super::guests::{self, Guest, refusal, secret};
use super::{LIMIT, Scene, Viewer};
use crate::test_nodes;
use baton_api::live::{LiveKey, LiveMouse, LiveTab, LiveTabs, MouseKind, ViewerMessage};
use baton_playground::Page;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::time::timeout;
use url::Url;

const ALT: u8 = 1;
const CTRL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// A key: what it means, where it is, its number, and what is down with it.
type Pressed = (&'static str, &'static str, u16, u8);

/// Keys that do something to a browser.
const KEYS: [Pressed; 14] = [
    ("t", "KeyT", 84, CTRL),
    ("T", "KeyT", 84, CTRL | SHIFT),
    ("n", "KeyN", 78, CTRL),
    ("Tab", "Tab", 9, CTRL),
    ("PageDown", "PageDown", 34, CTRL),
    ("1", "Digit1", 49, CTRL),
    ("9", "Digit9", 57, CTRL),
    ("ArrowLeft", "ArrowLeft", 37, ALT),
    ("o", "KeyO", 79, CTRL),
    ("s", "KeyS", 83, CTRL),
    ("p", "KeyP", 80, CTRL),
    ("F4", "F4", 115, CTRL),
    ("w", "KeyW", 87, CTRL),
    ("W", "KeyW", 87, CTRL | SHIFT),
];

/// The tabs of the browser, by their ids, with their addresses.
async fn tabs(page: &Page) -> BTreeMap<String, String> {
    let browser = page.session().connection().browser();
    let answer = browser.call("Target.getTargets", json!({})).await.unwrap();
    let targets = answer["targetInfos"].as_array().unwrap().iter();
    let pages = targets.filter(|target| target["type"] == "page");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    pages.map(|target| (text(&target["targetId"]), text(&target["url"]))).collect()
}

/// A page in front that was elsewhere before, and one behind it; a third one was closed.
async fn surround(page: &Page, socket: &Path, next: &Url) -> Page {
    page.session().call("Page.navigate", json!({ "url": next.as_str() })).await.unwrap();
    page.wait_for("location.search === '?next' && document.readyState === 'complete'")
        .await
        .unwrap();
    let closed = Page::open(socket, next.as_str()).await.unwrap();
    // It may be gone before it has answered.
    drop(closed.session().call("Page.close", json!({})).await);
    let is_closed = async { while tabs(page).await.len() > 1 {} };
    timeout(LIMIT, is_closed).await.expect("one tab");
    let behind = Page::open(socket, &format!("{next}&behind")).await.unwrap();
    page.session().call("Page.bringToFront", json!({})).await.unwrap();
    behind.wait_for("document.visibilityState === 'hidden'").await.unwrap();
    behind
}

/// Presses all that a browser would do something about. The page hears of each key, and nothing becomes of it.
async fn press_all(viewer: &mut Viewer, tab: u32, page: &Page) {
    let hears = "globalThis.pressed = []; \
                 addEventListener('keydown', (event) => pressed.push(event.key)); true";
    assert!(page.evaluate::<bool>(hears).await.unwrap());
    let before = viewer.hear_during(tabs(page)).await;
    assert_eq!(before.len(), 2);
    viewer.click(tab, 700.0, 500.0).await;
    for key in KEYS {
        press(viewer, tab, key).await;
    }
    for button in [3, 4] {
        for kind in [MouseKind::Down, MouseKind::Up] {
            let mouse =
                LiveMouse { tab, kind, x: 700.0, y: 500.0, button, clicks: 1, modifiers: 0 };
            viewer.say(&ViewerMessage::Mouse(mouse)).await;
        }
    }
    press(viewer, tab, ("x", "KeyX", 88, 0)).await;
    viewer.hear_during(page.wait_for("pressed.includes('x')")).await.unwrap();
    // What a browser does about a key after the page was asked, it has begun by then: the page would be left.
    for _ in 0..3 {
        let goes_on = "fetch('/?fetched').then((answer) => answer.ok)";
        assert!(viewer.hear_during(page.evaluate::<bool>(goes_on)).await.unwrap());
    }
    let pressed: Vec<String> = page.evaluate("pressed").await.unwrap();
    let all: Vec<_> = KEYS.iter().map(|(key, ..)| *key).chain(["x"]).collect();
    assert_eq!(pressed, all);
    assert_eq!(viewer.hear_during(tabs(page)).await, before);
    let is_there = "location.search === '?next' && document.visibilityState === 'visible'";
    assert!(page.evaluate::<bool>(is_there).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_who_drives_are_for_the_page_and_not_for_its_browser() {
    let scene = Scene::set().await;
    let page = scene.page().await;
    let socket = scene.test_node.keeper_socket(scene.id);
    let _behind = surround(&page, &socket, &scene.site.url("/?next").unwrap()).await;
    let mut ada = scene.watch(scene.client()).await;
    ada.until("the tab in front", |viewer| {
        let Some(LiveTabs { front: Some(front), tabs, .. }) = &viewer.tabs else { return false };
        let shown = viewer.picture.as_ref().map(|(header, _)| header.tab);
        let is_it = |tab: &LiveTab| tab.number == *front && tab.url.as_str().ends_with("?next");
        shown == Some(*front) && tabs.iter().any(is_it)
    })
    .await;
    let tab = ada.tabs.as_ref().and_then(|tabs| tabs.front).unwrap();
    ada.take_over("ada").await;
    press_all(&mut ada, tab, &page).await;
    // Why a button did nothing is said.
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(ada.refused[0], @r"
    mouse: expected one of the first three buttons of a mouse, or a key, found neither
    the page has buttons of its own that go back and forward
    ");
    drop((ada, page));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_a_guest_are_for_the_page_and_not_for_its_browser() {
    let scene = guests::Scene::set(test_nodes::test_node().await).await;
    let page = scene.page().await;
    let next = scene.site.url_on("bank", "/?next").unwrap();
    let _behind = surround(&page, &scene.socket(), &next).await;
    let mut ada = scene.visit().await;
    let tab = ada.tab().await;
    press_all(&mut ada, tab, &page).await;
    drop((ada, page));
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_edit_do_so_without_a_browser_that_hears_of_them() {
    let scene = Scene::set().await;
    let page = scene.page().await;
    // A form around the field.
    let form = "const [form, field] = [document.createElement('form'), document.getElementById('name')]; \
                form.onsubmit = (event) => { event.preventDefault(); globalThis.sent = field.value }; \
                field.before(form); form.append(field); true";
    assert!(page.evaluate::<bool>(form).await.unwrap());
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    ada.click(tab, 150.0, 120.0).await;
    let all: Pressed = ("a", "KeyA", 65, CTRL);
    let steps: [(&[Pressed], &str); 7] = [
        (
            &[
                ("p", "KeyP", 80, 0),
                ("l", "KeyL", 76, 0),
                ("u", "KeyU", 85, 0),
                ("m", "KeyM", 77, 0),
            ],
            "plum",
        ),
        (
            &[all, ("c", "KeyC", 67, CTRL), ("End", "End", 35, 0), ("v", "KeyV", 86, CTRL)],
            "plumplum",
        ),
        (&[("z", "KeyZ", 90, CTRL)], "plum"),
        (&[all, ("x", "KeyX", 88, CTRL)], ""),
        (&[("Insert", "Insert", 45, SHIFT)], "plum"),
        (&[("Home", "Home", 36, 0), ("Delete", "Delete", 46, 0)], "lum"),
        (&[("ArrowRight", "ArrowRight", 39, 0), ("Backspace", "Backspace", 8, 0)], "um"),
    ];
    for (keys, value) in steps {
        for key in keys {
            press(&mut ada, tab, *key).await;
        }
        let has = format!("document.getElementById('name').value === '{value}'");
        ada.hear_during(page.wait_for(&has)).await.unwrap();
    }
    press(&mut ada, tab, ("Enter", "Enter", 13, 0)).await;
    ada.hear_during(page.wait_for("globalThis.sent === 'um'")).await.unwrap();
    drop((ada, page));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_pastes_nothing_that_the_browser_has_copied() {
    let scene = guests::Scene::set(test_nodes::test_node().await).await;
    let page = scene.page().await;
    // What is cut there is where the agent has what it copies.
    let copies = "document.body.insertAdjacentHTML('beforeend', '<input id=name value=secret \
                  style=\"position:absolute;left:40px;top:220px;width:300px;height:40px\">'); true";
    assert!(page.evaluate::<bool>(copies).await.unwrap());
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    ada.click(tab, 100.0, 240.0).await;
    for key in [("a", "KeyA", 65, CTRL), ("x", "KeyX", 88, CTRL)] {
        press(&mut ada, tab, key).await;
    }
    let has = |value: &str| format!("document.getElementById('name').value === '{value}'");
    ada.hear_during(page.wait_for(&has(""))).await.unwrap();
    let keys: [Pressed; 5] = [
        ("v", "KeyV", 86, CTRL),
        ("V", "KeyV", 86, CTRL | SHIFT),
        ("v", "KeyV", 86, META),
        ("Insert", "Insert", 45, SHIFT),
        ("Paste", "", 0, 0),
    ];
    for (key, code, number, modifiers) in keys {
        let (key, code) = (key.to_owned(), code.to_owned());
        let (down, again, location) = (true, false, 0);
        let pressed = LiveKey { tab, down, again, key, code, number, location, modifiers };
        let why = refusal(&mut ada, &ViewerMessage::Key(pressed)).await;
        assert_eq!(
            why,
            "key: expected what a guest pastes as text, found what pastes from the session's machine"
        );
    }
    for kind in [MouseKind::Down, MouseKind::Up] {
        let (button, clicks) = (1, 1);
        let mouse = LiveMouse { tab, kind, x: 100.0, y: 240.0, button, clicks, modifiers: 0 };
        let why = refusal(&mut ada, &ViewerMessage::Mouse(mouse)).await;
        assert!(why.starts_with("mouse: expected what a guest pastes"), "{why}");
    }
    // What is theirs comes as text.
    ada.say(&ViewerMessage::Text { tab, text: "own".to_owned() }).await;
    ada.hear_during(page.wait_for(&has("own"))).await.unwrap();
    drop((ada, page));
    scene.test_node.clear().await.unwrap();
}
