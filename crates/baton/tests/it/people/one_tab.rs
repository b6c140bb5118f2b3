//! A guest has one tab, also where another one at the same site is in front.

use super::Viewer;
use super::guests::{Guest, Scene, secret};
use crate::test_nodes;
use baton_api::live::ViewerMessage;
use baton_playground::Page;
use serde_json::json;

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
