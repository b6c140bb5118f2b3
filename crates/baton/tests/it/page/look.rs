//! Network and console at the page of a node: live while one looks, and not asked for while nobody does.

use super::telling;
use crate::test_nodes;
use axum::Router;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;

/// A site that asks and tells all the time, and has a secret.
const STALL: &str = r#"<!doctype html><html lang="en"><title>The stall</title><h1>The stall</h1>
<script>let number = 0
setInterval(async () => {
  number += 1
  await fetch(`/stock?number=${number}`, { headers: { Authorization: 'Bearer geheim-4f1c88ab20e14f0f9d' } })
  if (number % 4 === 0) await fetch('/sold-out')
  if (number % 4 === 1) console.warn(`only ${number} <b>plums</b> are left`)
  else console.log(`number ${number}`)
}, 400)
function settle() { console.error(new Error('the till does not open')) }
settle()</script>"#;

/// Another tab of it.
const OTHER: &str = r#"<!doctype html><html lang="en"><title>The back room</title>
<script>console.info('all is quiet in the back room')</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_looks_into_what_tabs_do() {
    let site = Router::new()
        .route("/", get(async || Html(STALL)))
        .route("/back", get(async || Html(OTHER)))
        .route("/stock", get(async || "tea, bread, plums"))
        .route("/sold-out", get(async || (StatusCode::NOT_FOUND, "none is left")));
    let site = Site::start(site).await.unwrap();
    let mut test_node = test_nodes::test_node().await;
    test_node.keep_address().unwrap();
    let address = site.url("/").unwrap();
    let seen = telling::tell(include_str!("look.mjs"), &mut test_node, &address).await;
    insta::assert_snapshot!(seen, @"
    a key that may not look
    recorded from now on, and requests as they come
    all of one request but its secrets, and back by a key
    lines of the console, from a level on
    another tab, and back
    an archive without secrets
    silence while nobody looks
    a node that restarts, and what comes goes on
    a request that is found, read and left by keys alone
    and a line of the console
    out again, with the focus at what leads in
    ten thousand requests
    ten thousand lines of the console
    a tab that is gone
    ");
    test_node.clear().await.unwrap();
}
