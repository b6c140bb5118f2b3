//! A service whose page says what it is told to.

use super::browser::Tab;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use serde_json::{Value, json};

/// Starts it.
pub(super) async fn start() -> Site {
    let page = "<title>talker</title><link rel=icon href=data:,><script>
        const say = (words) => {
          console.log(words);
          return fetch('said?' + new URLSearchParams({words})).then((it) => it.text());
        }</script>";
    let pages = Router::new()
        .route("/", get(async move || Html(page)))
        .route("/said", get(async || "so it was"));
    Site::start(pages).await.unwrap()
}

/// The page writes words to the console, and sends them to its service; whether that answers or not.
pub(super) async fn say(tab: &Tab, words: &str) {
    tab.wait_for("typeof say === 'function'").await;
    tab.evaluate::<Value>(&format!("say({}).catch(() => null)", json!(words))).await;
}
