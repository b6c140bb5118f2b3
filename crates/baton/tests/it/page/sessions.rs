//! Sessions at the page of a node: seen, brought back, compared, rolled back, and shown to nobody else.

use super::telling;
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;

/// A site that signs in whoever comes, and keeps something, and more when they come again. Its icon needs no request.
pub(super) const SHOP: &str = r#"<!doctype html><html lang="en"><title>Ada at the counter</title>
<link rel="icon" sizes="32x32" href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mM4EapNU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAFJqIEynmEEFAAAAAElFTkSuQmCC">
<style>body{margin:0;font:20px system-ui;background:#fdf6ec;color:#40301c}
header{padding:24px 40px;background:#c8552b;color:#fff;font-size:28px}main{padding:40px}</style>
<header>The Corner Shop</header><main><h1>Good morning, Ada</h1><p>Three things are in your basket.</p></main>
<script>localStorage.setItem('basket', 'tea, bread, plums');
const visits = Number(localStorage.getItem('visits')) + 1;
localStorage.setItem('visits', visits);
if (visits > 1) localStorage.setItem('coupon', 'plums for two');
document.cookie = 'session_id=4f1c88ab20e14f0f9d; Max-Age=604800; SameSite=Lax'</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_sessions_and_brings_one_back() {
    let site = Site::start(Router::new().route("/", get(|| async { Html(SHOP) }))).await.unwrap();
    // As often as anybody may ask, a page does not.
    let test_node = test_nodes::build().with("BATON_REQUESTS_PER_MINUTE", "6000");
    let mut test_node = test_nodes::start(test_node).await;
    test_node.keep_address().unwrap();
    let address = site.url("/").unwrap();
    let seen = telling::tell(include_str!("sessions.mjs"), &mut test_node, &address).await;
    insta::assert_snapshot!(seen, @"
    no session, and the first command
    a session that was opened elsewhere
    a code that counts once
    captured, closed and resumed, item by item, on a desktop
    two pictures beside each other, and what changed between them
    two snapshots that are equal
    a snapshot that is gone
    five hundred sites that changed
    rolled back to a picture of the history
    files put and fetched, a session exported, and imported by a drop
    nothing that another port of this host could use
    silence while nobody looks
    what came late, and who drives now
    silence while nothing happens, for hours
    the way by keys alone
    both sizes, light and dark
    a node that restarts, and a page that goes on
    captured, closed and resumed, item by item, on a phone
    a page that goes dark with its key
    signed out
    ");
    test_node.clear().await.unwrap();
}
