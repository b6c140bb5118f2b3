//! A session from its beginning to its end at the page of a node: opened by keys, given out as a file, and deleted.

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
async fn a_person_opens_a_session_and_deletes_it() {
    let site = Site::start(Router::new().route("/", get(async || Html(SHOP)))).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    let data = test_node.data().path().to_owned();
    let story = Story {
        text: include_str!("opened.mjs"),
        variables: &[("DATA", data.as_os_str()), ("SITE", address.as_str().as_ref())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("nobody knows how to {what}")).await;
    insta::assert_snapshot!(seen, @"
    left by keys, with a name that is none
    a session that was opened by keys alone
    a storageState, with the login in it
    a file that was put elsewhere, and removed there
    ten thousand snapshots of one session
    a session that is deleted
    ");
    test_node.clear().await.unwrap();
}
