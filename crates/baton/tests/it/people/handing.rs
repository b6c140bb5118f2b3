//! A person at the node's page hands sessions over: a story that Playwright tells in a real Chromium.

use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::PassSession;
use baton_playground::Site;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

const SHOP: &str = r#"<!doctype html><html lang="en"><title>The till</title><h1>The till</h1>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_hands_a_session_over() {
    let site = Site::start(Router::new().route("/", get(async || Html(SHOP)))).await.unwrap();
    let test_node = test_nodes::test_node().await;
    test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let kimi = PassSession { to: Some("kimi".parse().unwrap()), reason: None };
    test_node.client().unwrap().pass_session("shop", &kimi).await.unwrap();

    let data = test_node.data().path().to_owned();
    let story = Story {
        text: include_str!("handing.mjs"),
        variables: &[("DATA", data.as_os_str())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("nobody knows how to {what}")).await;
    insta::assert_snapshot!(seen, @"
    who drives, and who may be meant, in both sizes, light and dark
    left by keys, with nothing done
    what is wrong, at its field
    what the node refuses, with all that was typed
    codex drives, for the reason that was typed
    a person hands on to another agent than the one before
    nobody drives, and then who comes
    handed over in the list
    no button for who may only read
    what can be done in the list, on a phone
    handed over on a phone
    ");
    test_node.clear().await.unwrap();
}
