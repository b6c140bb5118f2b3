//! What sites wish for and a person allows: seen by all who watch, answered by who drives, and a guest is asked at the
//! sites of their ask only.

use super::guests;
use super::{LIMIT, Scene, Viewer};
use crate::test_nodes;
use baton_api::ListAudit;
use baton_api::live::{LivePermission, ViewerMessage};
use baton_playground::Page;
use serde_json::json;
use std::time::Instant;

fn wish(viewer: &Viewer) -> Option<LivePermission> {
    let tabs = viewer.tabs.as_ref()?;
    tabs.tabs.iter().find_map(|tab| tab.permission.clone())
}

/// What a page says that it may.
async fn ask_in(page: &Page) {
    page.wait_for("typeof batonWish === 'function'").await.unwrap();
    let asks =
        "Notification.requestPermission().then((state) => { globalThis.told = state }), true";
    assert!(page.evaluate::<bool>(asks).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_who_drives_allows_is_kept_and_comes_back_with_the_session() {
    let scene = Scene::set().await;
    let mut bea = scene.watch(scene.client()).await;
    bea.tab().await;
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    let address = scene.site.url("/").unwrap();
    let socket = scene.test_node.keeper_socket(scene.id);
    let page = Page::attach(&socket, address.as_str()).await.unwrap();
    ask_in(&page).await;
    bea.until("the question", |viewer| wish(viewer).is_some()).await;
    ada.until("the question", |viewer| wish(viewer).is_some()).await;
    let asked = wish(&ada).unwrap();
    let origin = address.origin().ascii_serialization();
    assert_eq!(
        (asked.origin, asked.within, asked.names),
        (origin, None, vec!["notifications".to_owned()])
    );
    let permit = |question| ViewerMessage::Permit { tab, question, allow: true };
    bea.say(&permit(asked.question)).await;
    bea.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    assert!(bea.refused[0].starts_with("permit: "), "{:?}", bea.refused);
    // A question that is over is not answered in the place of this one.
    ada.say(&permit(asked.question + 1)).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(ada.refused[0], @"permit: expected a question that stands, found one that is over");
    ada.say(&permit(asked.question)).await;
    page.wait_for("globalThis.told === 'granted'").await.unwrap();
    bea.until("no question", |viewer| wish(viewer).is_none()).await;
    ada.say(&ViewerMessage::GiveBack {}).await;
    ada.until("to watch", |it| it.driver.as_ref().is_some_and(|it| !it.own && it.agent.is_none()))
        .await;
    drop((ada, bea, page));
    let log = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
    let entry = log.iter().find(|entry| entry.action == "session.permit").unwrap();
    assert_eq!(entry.detail["wishes"], json!(["notifications"]));
    assert_eq!(entry.detail["allow"], true);
    scene.client().close_session("shop").await.unwrap();
    scene.client().resume_session("shop").await.unwrap();
    let page =
        Page::attach(&scene.test_node.keeper_socket(scene.id), address.as_str()).await.unwrap();
    page.wait_for("Notification.permission === 'granted'").await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_is_asked_at_the_sites_of_their_ask_only() {
    let scene = guests::Scene::set(test_nodes::test_node().await).await;
    let mut ada = scene.visit().await;
    let tab = ada.tab().await;
    let page = scene.page().await;
    // A frame of somebody else is refused at once, and nothing of it is told.
    let framed = format!(
        "new Promise((resolve) => {{
            const frame = document.createElement('iframe');
            frame.allow = 'geolocation';
            onmessage = (event) => resolve(event.data);
            frame.src = '{}';
            document.body.append(frame);
        }}).then((state) => {{ globalThis.framed = state }}), true",
        scene.elsewhere("/frame")
    );
    page.wait_for("typeof batonWish === 'function'").await.unwrap();
    let begun = Instant::now();
    assert!(page.evaluate::<bool>(&framed).await.unwrap());
    let heard = async {
        loop {
            ada.hear().await;
            assert_eq!(wish(&ada), None, "a frame of another site");
        }
    };
    tokio::select! {
        () = heard => {}
        refused = page.wait_for("globalThis.framed === 'code 1'") => refused.unwrap(),
    }
    assert!(begun.elapsed() < LIMIT / 2, "{:?}", begun.elapsed());
    ask_in(&page).await;
    ada.until("the question", |viewer| wish(viewer).is_some()).await;
    let asked = wish(&ada).unwrap();
    assert!(asked.origin.starts_with("http://bank.localhost:"), "{asked:?}");
    ada.say(&ViewerMessage::Permit { tab, question: asked.question, allow: false }).await;
    page.wait_for("globalThis.told === 'denied'").await.unwrap();
    scene.test_node.clear().await.unwrap();
}
