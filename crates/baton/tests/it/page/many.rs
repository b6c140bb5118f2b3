//! Long lists at the page of a node, of which few rows are in the page: a story that Playwright tells in a real Chromium.

use super::sessions::SHOP;
use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_goes_through_lists_of_ten_thousand() {
    let site = Site::start(Router::new().route("/", get(async || Html(SHOP)))).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    let data = test_node.data().path().to_owned();
    let story = Story {
        text: include_str!("many.mjs"),
        variables: &[("DATA", data.as_os_str()), ("SITE", address.as_str().as_ref())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("nobody knows how to {what}")).await;
    insta::assert_snapshot!(seen, @"
    ten thousand sessions
    a session with ten thousand of everything
    ten thousand sites that changed
    ten thousand sandboxes
    ");
    test_node.clear().await.unwrap();
}
