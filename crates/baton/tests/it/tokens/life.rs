//! Tokens end, keys change, and providers are down for a while; sessions move on.

use super::story::{Story, allow, told};
use crate::two_nodes::{baton, said};
use baton_playground::tools::ProviderSettings;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Waits until the clock says so; nothing else is waited for.
async fn until_over(begun: SystemTime, seconds: u64) {
    while begun.elapsed().unwrap() < Duration::from_secs(seconds) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_about_to_end_is_replaced_before() {
    let settings = ProviderSettings { lifetime: 3, said: 3, ..ProviderSettings::default() };
    let story = Story::begin(&settings).await;
    let begun = SystemTime::now();
    story.push("one").success();
    until_over(begun, 3).await;
    story.push("two").success();
    assert!(story.provider.asked("POST /token").unwrap() >= 2);
    assert_eq!(story.noted(), Vec::<String>::new(), "no token was shown that had ended");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_ended_too_early_is_thrown_away_and_another_one_got() {
    // The provider says an hour, and means three seconds.
    let settings = ProviderSettings { lifetime: 3, ..ProviderSettings::default() };
    let story = Story::begin(&settings).await;
    let begun = SystemTime::now();
    story.save("one");
    until_over(begun, 4).await;
    baton(&story.laptop, &["sync", "run"]).success();
    assert_eq!(story.at_the_cloud(), ["one"]);
    assert_eq!(story.noted().first().unwrap(), "expired");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_with_another_key_is_followed() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    story.push("one").success();
    // The cloud knows the first key only, and the laptop has a token that was signed with it.
    story.provider.stop().await.unwrap();
    let second = ProviderSettings { key: "second".to_owned(), ..ProviderSettings::default() };
    story.provider.start_again(&second).await.unwrap();
    story.push("two").success();
    // A cloud that begins anew knows the second key only.
    story.cloud.keep_address().unwrap();
    story.cloud.stop_node().await.unwrap();
    story.cloud.start_node().await.unwrap();
    story.push("three").success();
    let mut there = story.at_the_cloud();
    there.sort();
    assert_eq!(there, ["one", "three", "two"]);
    assert_eq!(story.noted().first().unwrap(), "unknown_key", "the old token was refused");
    assert_eq!(story.provider.asked("POST /token").unwrap(), 2);
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_is_down_is_named_and_asked_again_later() {
    let settings = ProviderSettings { lifetime: 2, said: 2, ..ProviderSettings::default() };
    let mut story = Story::begin(&settings).await;
    story.push("one").success();
    story.provider.stop().await.unwrap();
    let begun = SystemTime::now();
    story.save("two");
    until_over(begun, 2).await;
    let run = told(&baton(&story.laptop, &["sync", "run"]).failure());
    let expected = format!(
        "expected a token for peer cloud, found none: the provider {} does not answer",
        story.provider.issuer()
    );
    assert!(run.contains(&expected), "{run}");
    // It is back, and nobody types anything but the same again.
    story.provider.start_again(&settings).await.unwrap();
    baton(&story.laptop, &["sync", "run"]).success();
    let mut there = story.at_the_cloud();
    there.sort();
    assert_eq!(there, ["one", "two"]);
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_check_a_token_says_so_and_takes_it_later() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    story.push("one").success();
    // The cloud begins anew while the provider is down: it knows no key.
    story.provider.stop().await.unwrap();
    story.cloud.keep_address().unwrap();
    story.cloud.stop_node().await.unwrap();
    allow(&story.cloud, story.provider.issuer(), "");
    story.cloud.start_node().await.unwrap();
    story.save("two");
    let run = told(&baton(&story.laptop, &["sync", "run"]).failure());
    assert!(run.contains("the token cannot be checked: the provider"), "{run}");
    assert_eq!(story.noted().first().unwrap(), "no_keys");
    story.provider.start_again(&ProviderSettings::default()).await.unwrap();
    baton(&story.laptop, &["sync", "run"]).success();
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_moves_many_sessions_at_once_asks_for_one_token() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    for name in ["one", "two", "three", "four"] {
        story.save(name);
    }
    // Restarted, the laptop has no token.
    story.laptop.stop_node().await.unwrap();
    story.laptop.start_node().await.unwrap();
    let before = story.provider.asked("POST /token").unwrap();
    let client = story.laptop.client().unwrap();
    let pushed = ["one", "two", "three", "four"].map(|name| client.push_session("cloud", name));
    for moved in futures_util::future::join_all(pushed).await {
        moved.unwrap();
    }
    assert_eq!(story.provider.asked("POST /token").unwrap(), before + 1);
    let listed: Value = said(&baton(&story.cloud, &["sessions", "list"]).success());
    assert_eq!(listed["items"].as_array().unwrap().len(), 4);
    story.end().await;
}
