//! A page that never rests: it writes a number everywhere ten times a second.

use axum::Router;
use axum::response::Html;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use futures_util::stream;
use serde::Deserialize;
use std::convert::Infallible;
use std::time::Duration;

/// The numbers that stood in a cookie, localStorage and IndexedDB when the page was loaded.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Numbers {
    cookie: u64,
    local: u64,
    database: u64,
}

impl Numbers {
    /// The oldest of the three.
    pub fn least(&self) -> u64 {
        self.cookie.min(self.local).min(self.database)
    }
}

/// The site of the writer page, with an endless stream of events beside it.
pub async fn start_site() -> Site {
    let ticks = || async {
        let ticks = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((Ok::<_, Infallible>(Event::default().data("tick")), ()))
        });
        Sse::new(ticks)
    };
    let pages = Router::new()
        .route("/writer", get(|| async { Html(include_str!("pages/writer.html")) }))
        .route("/events", get(ticks));
    Site::start(pages).await.unwrap()
}

/// The writer page of a session, once it writes.
pub async fn attach(test_node: &TestNode, id: SessionId, site: &Site) -> Page {
    let url = site.url("/writer").unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("window.written > 0").await.unwrap();
    page
}

/// The last number that stands in all three places.
pub async fn written(page: &Page) -> u64 {
    page.evaluate("window.written").await.unwrap()
}

/// What the page found when it was loaded.
pub async fn found(page: &Page) -> Numbers {
    page.evaluate("window.found").await.unwrap()
}
