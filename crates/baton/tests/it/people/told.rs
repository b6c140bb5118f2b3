//! What people hear whom the settings name, where a server that speaks as ntfy does tells them.

use super::guests::{Scene, secret};
use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use axum::routing::post;
use baton_playground::Site;
use std::sync::{Arc, Mutex};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_speaks_as_ntfy_does_gets_a_title_a_text_and_the_link_to_click() {
    let heard: Arc<Mutex<Vec<(HeaderMap, String)>>> = Arc::default();
    let inbox = Arc::clone(&heard);
    let topic = post(move |headers: HeaderMap, body: String| async move {
        inbox.lock().unwrap().push((headers, body));
    });
    let receiver = Site::start(Router::new().route("/topic", topic)).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (settings, token) = (folder.path().join("baton.toml"), folder.path().join("token"));
    std::fs::write(&token, "tk_secret\n").unwrap();
    let topic = receiver.url("/topic").unwrap();
    let people = format!("[people]\nntfy = \"{topic}\"\nntfy_token_file = {token:?}\n");
    std::fs::write(&settings, people).unwrap();
    let node = test_nodes::build().with("BATON_CONFIG", settings);
    let scene = Scene::set(test_nodes::start(node).await).await;
    let ask = scene.ask().await;
    let [told] = ask.told.as_slice() else { panic!("{:?}", ask.told) };
    assert_eq!((told.by.as_str(), told.failed.as_deref()), ("ntfy", None));
    let heard = heard.lock().unwrap().clone();
    let [(headers, body)] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!(headers["authorization"], "Bearer tk_secret");
    assert_eq!(headers["title"], "Baton: an agent asks");
    assert_eq!(headers["click"], ask.link.as_str(), "what is clicked opens the link");
    assert!(!headers.contains_key(COOKIE));
    insta::assert_snapshot!(body, @r"
    kimi asks: sign in
    (shop, bank.localhost) The link counts once.
    ");
    assert!(!body.contains(&secret(&ask)), "who is shown the text alone cannot open it");
    scene.test_node.clear().await.unwrap();
}
