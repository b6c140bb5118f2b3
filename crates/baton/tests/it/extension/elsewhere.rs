//! Where a tab goes next is nobody's business.

use super::scene::Scene;
use super::talker;
use crate::notes::eventually;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_leaves_its_service_is_told_of_no_longer() {
    let (service, bank) = (talker::start().await, talker::start().await);
    let scene = Scene::open(&service).await;
    let shop = scene.pages.to_string();
    let tab = scene.browser.open(&shop).await;
    let token = scene.tab(&shop).await;
    talker::say(&tab, "in the shop").await;
    scene.hears_line(&token, "in the shop", 1).await;

    tab.goto(bank.url("/?private-address").unwrap().as_str()).await;
    tab.wait_for("location.search === '?private-address' && document.readyState === 'complete'")
        .await;
    talker::say(&tab, "private-line").await;
    eventually("no tab is listed", async || scene.tabs().is_empty()).await;
    let gone = scene.fails(&["debug", "network", &token]);
    assert!(gone.contains(&format!("expected a tab with the token {token}, found none")), "{gone}");
    let popup = scene.browser.popup().await;
    popup.wait_for("document.body.innerText.includes('No tab is looked at')").await;
    scene.browser.close_tab(popup).await;

    // Who comes back is somebody else, and brings nothing along.
    talker::say(&tab, "private-line").await;
    tab.goto(&shop).await;
    let again = scene.tab(&shop).await;
    assert_ne!(again, token);
    talker::say(&tab, "in the shop again").await;
    scene.hears_line(&again, "in the shop again", 1).await;
    let said = [
        scene.asks(&["debug", "network", &again, "--bodies"]).to_string(),
        scene.asks(&["debug", "console", &again]).to_string(),
        scene.says(&["debug", "har", &again]),
        scene.test_node.log(),
    ];
    for text in said {
        assert!(!text.contains("private"), "{text}");
    }
    scene.clear().await;
}
