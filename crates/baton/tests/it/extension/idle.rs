//! A tab in which nothing happens for a long time.

use super::scene::Scene;
use super::talker;
use baton_testing::rounds;
use std::time::Duration;

/// How many minutes, unless `cargo xtask soak` asks for others.
const MINUTES: u64 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it takes minutes; `cargo xtask soak` runs it"]
async fn a_link_outlives_a_time_in_which_nothing_happens() {
    let service = talker::start().await;
    let scene = Scene::open(&service).await;
    let at = scene.pages.to_string();
    let tab = scene.browser.open(&at).await;
    let token = scene.tab(&at).await;
    talker::say(&tab, "before").await;
    scene.hears_line(&token, "before", 1).await;
    let before = scene.gaps(&token);
    for minute in 1..=rounds(MINUTES) {
        // Time is what this is about.
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(scene.tabs().len(), 1, "the tab is listed after {minute} minutes");
    }
    talker::say(&tab, "after").await;
    scene.hears_line(&token, "after", 1).await;
    scene.hears_request(&token, "after").await;
    assert_eq!(scene.gaps(&token), before, "nothing was missed");
    scene.clear().await;
}
