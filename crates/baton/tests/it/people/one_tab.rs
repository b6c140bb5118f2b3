//! A guest has one tab, also where another one at the same site is in front, and where they open others.

use super::guests::{Guest, Scene, secret};
use super::{LIMIT, Viewer};
use crate::test_nodes;
use baton_api::live::{LiveMouse, MouseKind, ViewerMessage};
use baton_playground::Page;
use serde_json::json;
use std::pin::pin;
use tokio::time::timeout;

/// Whether a picture is of a tab.
fn shows(viewer: &Viewer, tab: u32) -> bool {
    viewer.picture.as_ref().is_some_and(|(header, _)| header.tab == tab)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tab_is_in_no_message_and_no_picture_of_a_guest() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    // The other one is in front when the guest comes, so theirs is brought there: once.
    let own = scene.page().await;
    let url = scene.site.url_on("bank", "/?other").unwrap();
    let other = Page::open(&scene.socket(), url.as_str()).await.unwrap();
    let bring_forward = async || {
        other.session().call("Page.bringToFront", json!({})).await.unwrap();
        own.wait_for("document.visibilityState === 'hidden'").await.unwrap();
    };
    bring_forward().await;
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    ada.hear_during(own.wait_for("document.visibilityState === 'visible'")).await.unwrap();

    ada.hear_during(bring_forward()).await;
    let access = scene.test_node.client().unwrap().open_live("shop").await.unwrap();
    let mut bea = Viewer::connect(&access.live_url).await;
    bea.say(&ViewerMessage::Look { width: 1280, height: 800 }).await;
    let drawn = async {
        bea.until("pictures of the other tab", |bea| {
            bea.pictures > 10 && bea.picture.is_some() && !shows(bea, tab)
        })
        .await;
    };
    let hears = async {
        loop {
            ada.hear().await;
            let tabs = &ada.tabs.as_ref().unwrap().tabs;
            assert!(tabs.len() == 1 && tabs[0].number == tab, "{tabs:?}");
            assert!(shows(&ada, tab), "a picture of another tab");
        }
    };
    tokio::select! {
        () = hears => {}
        () = drawn => {}
    }
    assert_eq!(bea.tabs.as_ref().unwrap().tabs.len(), 2);
    let before = ada.pictures;
    ada.say(&ViewerMessage::Front { tab }).await;
    ada.until("their tab again", |ada| {
        ada.pictures > before && ada.tabs.as_ref().is_some_and(|tabs| tabs.front == Some(tab))
    })
    .await;
    assert!(shows(&ada, tab));
    drop((ada, bea, own));
    scene.test_node.clear().await.unwrap();
}

/// Links that open a tab behind the page, where Ctrl is down, and before it.
const LINKS: &str = "document.body.insertAdjacentHTML('beforeend', '\
    <a href=/?behind style=\"position:absolute;left:40px;top:220px;width:300px;height:40px\">behind</a>\
    <a href=/?before target=_blank style=\"position:absolute;left:40px;top:280px;width:300px;height:40px\">before</a>\
    '), true";

/// Hears what comes while something is done: nothing of it is of another tab than theirs.
async fn hear_of_one<T>(ada: &mut Viewer, tab: u32, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = ada.hear() => {
                let tabs = &ada.tabs.as_ref().unwrap().tabs;
                assert!(tabs.len() == 1 && tabs[0].number == tab, "{tabs:?}");
                assert!(shows(ada, tab), "a picture of another tab");
            }
        }
    }
}

/// Waits until the browser has so many tabs.
async fn has_tabs(page: &Page, count: usize) {
    let browser = page.session().connection().browser();
    let opened = async {
        loop {
            let answer = browser.call("Target.getTargets", json!({})).await.unwrap();
            let targets = answer["targetInfos"].as_array().unwrap();
            if targets.iter().filter(|target| target["type"] == "page").count() == count {
                return;
            }
        }
    };
    timeout(LIMIT, opened).await.expect("another tab");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_a_guest_opens_is_none_of_theirs_and_their_own_stays() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let own = scene.page().await;
    assert!(own.evaluate::<bool>(LINKS).await.unwrap());
    let mut ada = scene.visit().await;
    let tab = ada.tab().await;
    ada.until("the tab", |ada| ada.tabs.as_ref().is_some_and(|tabs| tabs.tabs.len() == 1)).await;
    for (count, y, modifiers) in [(2, 240.0, 2), (3, 300.0, 0)] {
        for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
            let (x, button, clicks) = (100.0, 0, u8::from(kind != MouseKind::Move));
            let mouse = LiveMouse { tab, kind, x, y, button, clicks, modifiers };
            ada.say(&ViewerMessage::Mouse(mouse)).await;
        }
        hear_of_one(&mut ada, tab, has_tabs(&own, count)).await;
        // Where another one is in front, it is they who bring theirs back.
        let before = ada.pictures;
        ada.say(&ViewerMessage::Front { tab }).await;
        let is_seen = own.wait_for("document.visibilityState === 'visible'");
        hear_of_one(&mut ada, tab, is_seen).await.unwrap();
        ada.until("their tab", |ada| {
            ada.pictures > before && ada.tabs.as_ref().is_some_and(|tabs| tabs.front == Some(tab))
        })
        .await;
        assert!(shows(&ada, tab));
    }
    drop((ada, own));
    scene.test_node.clear().await.unwrap();
}
