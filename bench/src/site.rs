//! The pages that are measured.

use anyhow::Result;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;

/// A busy page at `/busy`, one that remembers at `/memory`, one that rests at `/resting`, and one that
/// writes items, or items and cookies, when it is asked to at `/items`, on every host name.
pub async fn start() -> Result<Site> {
    let pages = Router::new()
        // Some tools open the front page of an origin to restore what it keeps.
        .route("/", get(|| async { Html("<title>front</title>") }))
        .route("/busy", get(|| async { Html(include_str!("pages/busy.html")) }))
        .route("/memory", get(|| async { Html(include_str!("pages/memory.html")) }))
        .route("/resting", get(|| async { Html(include_str!("pages/resting.html")) }))
        .route("/items", get(|| async { Html(include_str!("pages/items.html")) }))
        .route("/data", get(|| async { "0123456789".repeat(100) }));
    Site::start(pages).await
}
