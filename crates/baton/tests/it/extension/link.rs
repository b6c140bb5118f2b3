//! The link between a browser and its node lives on, whichever of its ends is replaced.

use super::scene::Scene;
use super::talker;
use crate::notes::eventually;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_is_there_again_when_its_node_is() {
    let service = talker::start().await;
    let mut scene = Scene::open(&service).await;
    let at = scene.pages.to_string();
    let tab = scene.browser.open(&at).await;
    let token = scene.tab(&at).await;
    talker::say(&tab, "before").await;
    scene.hears_line(&token, "before", 1).await;
    for way in ["asked to end", "killed"] {
        scene.stop_node(way == "killed").await;
        talker::say(&tab, &format!("while it is {way}")).await;
        scene.test_node.start_node().await.unwrap();
        // The same tab, by the grant that it got from the node before; what that one kept is gone, and so
        // much is said.
        assert_eq!(scene.tab(&at).await, token);
        scene.hears_line(&token, &format!("while it is {way}"), 1).await;
        assert_eq!(scene.gaps(&token)[0], "restarted");
        talker::say(&tab, &format!("after it was {way}")).await;
        scene.hears_line(&token, &format!("after it was {way}"), 1).await;
        scene.hears_request(&token, "after").await;
    }
    assert_eq!(scene.tabs().len(), 1);
    scene.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_is_told_on_when_the_extensions_worker_was_stopped() {
    let service = talker::start().await;
    let scene = Scene::open(&service).await;
    let at = scene.pages.to_string();
    let tab = scene.browser.open(&at).await;
    let token = scene.tab(&at).await;
    talker::say(&tab, "before").await;
    scene.hears_line(&token, "before", 1).await;
    let before = scene.gaps(&token).len();
    scene.browser.stop_worker().await;
    talker::say(&tab, "while it sleeps").await;
    scene.hears_line(&token, "while it sleeps", 1).await;
    talker::say(&tab, "after the sleep").await;
    scene.hears_line(&token, "after the sleep", 1).await;
    scene.hears_request(&token, "after").await;
    // Nobody knows what happened while nobody was there.
    eventually("what may be missing is marked", async || {
        scene.gaps(&token)[before..].iter().any(|gap| gap == "events_lost")
    })
    .await;
    for line in ["before", "while it sleeps", "after the sleep"] {
        scene.hears_line(&token, line, 1).await;
    }
    assert_eq!(scene.tabs().len(), 1);
    scene.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_is_told_on_when_the_network_was_cut() {
    let service = talker::start().await;
    let (scene, wire) = Scene::open_by_wire(&service).await;
    let at = scene.pages.to_string();
    let tab = scene.browser.open(&at).await;
    let token = scene.tab(&at).await;
    talker::say(&tab, "before").await;
    scene.hears_line(&token, "before", 1).await;
    wire.cut();
    eventually("it is marked that the browser is away", async || {
        scene.gaps(&token).last().is_some_and(|gap| gap == "disconnected")
    })
    .await;
    talker::say(&tab, "while it is cut").await;
    wire.mend();
    // Nothing is lost: what happened meanwhile waited at the browser.
    assert_eq!(scene.tab(&at).await, token);
    scene.hears_line(&token, "while it is cut", 1).await;
    talker::say(&tab, "after it was cut").await;
    scene.hears_line(&token, "after it was cut", 1).await;
    scene.hears_line(&token, "before", 1).await;
    scene.clear().await;
}
