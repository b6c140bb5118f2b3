//! What a guest sees of a tab by where that is: nothing at an address that only looks as if it were of a site that was
//! named, and all of it again once the tab is back; and of the address of a page without a title the host alone.

use super::driving::mouse;
use super::guests::{Scene, refusal};
use super::{LIMIT, Viewer};
use crate::test_nodes;
use baton_api::live::{MouseKind, ViewerMessage};
use tokio::time::timeout;

/// Where the tab is that is not where a guest may be.
fn away(viewer: &Viewer) -> Option<&str> {
    viewer.tabs.as_ref()?.away.as_deref()
}

/// What the page is called.
fn title(viewer: &Viewer) -> Option<&str> {
    viewer.tabs.as_ref()?.tabs.first().map(|tab| tab.title.as_str())
}

/// What leads a page there, after it has answered.
fn to(address: &str) -> String {
    format!("setTimeout(() => location = '{address}'), true")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_address_that_begins_as_one_of_the_site_shows_no_other_site() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let mut ada = scene.visit().await;
    let tab = ada.tab().await;
    let page = scene.page().await;
    // What is before the `@` is a name and a password. A part of it alone would lead to the bank.
    let elsewhere = scene.elsewhere("/");
    let behind = elsewhere.as_str().strip_prefix("http://").unwrap();
    let long = format!("http://bank.localhost:{}@{behind}", "0".repeat(2100));
    assert!(page.evaluate::<bool>(&to(&long)).await.unwrap());
    ada.until("to be away", |viewer| away(viewer) == Some("evil.localhost")).await;
    let before = ada.pictures;
    let why = refusal(&mut ada, &mouse(tab, MouseKind::Down, 150.0, 70.0)).await;
    assert!(why.contains("evil.localhost"), "{why}");
    assert_eq!(ada.pictures, before, "no picture of another site");

    // Who watches with a key is told where it is, and not what looks as if it were there.
    let access = scene.client().open_live("shop").await.unwrap();
    let mut bea = Viewer::connect(&access.live_url).await;
    let told = bea.until("the address", |viewer| {
        let mut tabs = viewer.tabs.iter().flat_map(|tabs| &tabs.tabs);
        tabs.any(|tab| tab.url.as_str() == elsewhere.as_str())
    });
    ada.hear_during(told).await;
    drop(bea);
    ada.say(&ViewerMessage::Step { tab, by: -1 }).await;
    ada.until("to be back", |viewer| away(viewer).is_none()).await;
    ada.until("pictures again", |viewer| viewer.pictures > before).await;
    drop((ada, page));
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_stands_still_is_shown_each_time_that_its_tab_is_back() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let mut ada = scene.visit().await;
    let tab = ada.tab().await;
    let page = scene.page().await;
    let still = scene.site.url_on("bank", "/still").unwrap();
    assert!(page.evaluate::<bool>(&to(still.as_str())).await.unwrap());
    ada.until("the page", |viewer| title(viewer) == Some("Still")).await;
    for _ in 0..5 {
        let leave = to(scene.elsewhere("/still").as_str());
        assert!(page.evaluate::<bool>(&leave).await.unwrap());
        ada.until("to be away", |viewer| away(viewer) == Some("evil.localhost")).await;
        let before = ada.pictures;
        ada.say(&ViewerMessage::Step { tab, by: -1 }).await;
        ada.until("to be back", |viewer| away(viewer).is_none()).await;
        // Nothing moves there, and what was drawn elsewhere is not for them.
        ada.until("a picture", |viewer| viewer.pictures > before).await;
    }
    drop((ada, page));
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_a_title_tells_a_guest_no_path() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let mut ada = scene.visit().await;
    ada.until("a page", |viewer| title(viewer) == Some("The <b>bank</b>")).await;
    let page = scene.page().await;
    let untitled = scene.site.url_on("bank", "/untitled?token=secret").unwrap();
    assert!(page.evaluate::<bool>(&to(untitled.as_str())).await.unwrap());
    let heard = async {
        while title(&ada) != Some("bank.localhost") {
            ada.hear().await;
            assert!(!title(&ada).is_some_and(|title| title.contains("token")), "{:?}", ada.tabs);
        }
    };
    timeout(LIMIT, heard).await.expect("the name of the site");
    drop((ada, page));
    scene.test_node.clear().await.unwrap();
}
