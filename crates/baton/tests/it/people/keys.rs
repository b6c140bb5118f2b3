//! A person at the node's page with a keyboard alone: a story that Playwright tells in a real Chromium.

use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// A page with a field. It is called after what becomes of that.
const SHOP: &str = r#"<!doctype html><html lang="en"><title>The till</title><h1>The till</h1>
<input onfocus="document.title = 'At the field'" oninput="document.title = `Has ${this.value}.`">
<script>if (location.search === '?anew') document.title = 'The till, anew'</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_needs_no_mouse() {
    let site = Site::start(Router::new().route("/", get(async || Html(SHOP)))).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    test_node.open("shop", [address.clone()]).await.unwrap();

    let data = test_node.data().path().to_owned();
    let story = Story {
        text: include_str!("keys.mjs"),
        variables: &[("DATA", data.as_os_str()), ("SITE", address.as_str().as_ref())],
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("nobody knows how to {what}")).await;
    insta::assert_snapshot!(seen, @"
    signed in with a key that was pasted, after one that is none
    resumed in the list, with the focus at its name
    captured in the list, with the focus where it was
    closed in the list, with the focus at its name
    a session, with the focus at its name
    a question that is left by Escape, or by its button, and leads back to where it was asked
    rolled back to the first picture of the history
    captured, and what came of it put away, with the focus at the name of the session
    closed, with the focus at what resumes it
    resumed, with the focus at what captures it
    the picture taken over, with the focus in it
    out of the picture, to the address, and back
    a word written there, and given back
    exported, with the focus where it was asked
    a file put, and fetched
    a file that was removed elsewhere
    imported under another name, with the focus at it
    signed out, and at the key again
    ");
    test_node.clear().await.unwrap();
}
