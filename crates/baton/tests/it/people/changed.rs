//! What a guest's work changed is told, however often the session is captured meanwhile and however it ends.

use super::Viewer;
use super::driving::mouse;
use super::guests::{Guest, Scene, secret};
use crate::mcp::{VERSION, bridge, call};
use crate::test_nodes;
use baton_api::AskState;
use baton_api::live::MouseKind;
use serde_json::json;

/// Presses the button of the page.
pub(super) async fn sign_in(ada: &mut Viewer, tab: u32) {
    for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
        ada.say(&mouse(tab, kind, 150.0, 70.0)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_guest_changed_is_told_however_often_it_was_captured_and_however_it_ended() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    for (is_done, state) in [(true, AskState::Done), (false, AskState::Declined)] {
        let ask = scene.ask().await;
        let mut guest = Guest::at(&scene, &ask);
        guest.open(&secret(&ask)).await;
        let mut ada = guest.watch().await;
        let tab = ada.tab().await;
        sign_in(&mut ada, tab).await;
        let page = scene.page().await;
        page.wait_for("document.cookie.includes('in=ada')").await.unwrap();
        drop(ada);
        for _ in 0..12 {
            scene.client().capture_session("shop").await.unwrap();
        }
        assert_eq!(guest.post("asked/end", json!({ "done": is_done })).await.status(), 200);
        let view = scene.end(&ask).await;
        assert_eq!(view.state, state);
        let outcome = view.outcome.unwrap();
        assert_eq!(
            outcome.changed,
            "1 cookie and 1 entry of local storage at bank.localhost are new; ends in 14 days"
        );
        assert!(outcome.snapshot.is_some());
        let forget = "document.cookie = 'in=; max-age=0'; localStorage.clear(); true";
        assert!(page.evaluate::<bool>(forget).await.unwrap());
    }
    scene.test_node.clear().await.unwrap();
}

/// Lets the button of the page keep a key that no script can read, as sites do that bind a login to a device.
const KEEPS_A_KEY: &str = "document.querySelector('button').onclick = async () => {
    const how = { name: 'AES-GCM', length: 256 };
    const key = await crypto.subtle.generateKey(how, false, ['encrypt']);
    const opening = indexedDB.open('keys', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('own').put(key, 'mine');
    opening.onsuccess = () => {
        opening.result.close();
        globalThis.isKept = true;
    };
}, true";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_is_bound_to_the_device_is_told_to_be_in_no_snapshot() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let page = scene.page().await;
    assert!(page.evaluate::<bool>(KEEPS_A_KEY).await.unwrap());
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    sign_in(&mut ada, tab).await;
    ada.hear_during(page.wait_for("globalThis.isKept === true")).await.unwrap();
    drop(ada);
    assert_eq!(guest.post("asked/end", json!({ "done": true })).await.status(), 200);
    let outcome = scene.end(&ask).await.outcome.unwrap();
    assert_eq!(outcome.changed, "1 database at bank.localhost is new");
    let [bound] = outcome.bound.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(bound.reason, "1 record holds a value that no script can read");
    let place = &bound.place;
    assert!(place.starts_with("http://bank.localhost:") && place.ends_with(" keys"), "{place}");
    // The model hears it in the same words.
    let kimi = bridge(&scene.test_node, &["--as", "kimi"]);
    kimi.initialize(json!({}), VERSION).await.unwrap();
    let asked = json!({ "sessionId": "shop", "ask": ask.view.id });
    let told = call(&kimi, "session_ask_person", asked).await;
    let left = format!("not in it: {place}: {}", bound.reason);
    assert_eq!(told.lines().last(), Some(left.as_str()), "{told}");
    kimi.close().await.unwrap();
    scene.test_node.clear().await.unwrap();
}
