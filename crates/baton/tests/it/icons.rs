//! The icon of a site: captured with a session, kept over its death, gone when another site is in front.

use crate::test_nodes::test_node;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::get;
use baton_api::ErrorCode;
use baton_playground::{Page, Site};

/// A red pixel, as an address.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
/// What a PNG begins with.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

async fn start_site() -> Site {
    let page = format!("<!doctype html><title>shop</title><link rel=icon href='{PIXEL}'>");
    let bare = "<!doctype html><title>bare</title><link rel=icon href='/icon.svg'>";
    let svg = ([(CONTENT_TYPE, "image/svg+xml")], "<svg xmlns='http://www.w3.org/2000/svg'/>");
    let pages = Router::new()
        .route("/", get(Html(page)))
        .route("/bare", get(Html(bare)))
        .route("/icon.svg", get(svg));
    Site::start(pages).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_shows_the_icon_of_the_site_in_front_also_after_its_death() {
    let site = start_site().await;
    let mut test_node = test_node().await;
    let shop = site.url_on("shop", "/").unwrap();
    let id = test_node.open("shop", [shop.clone()]).await.unwrap();
    let client = test_node.client().unwrap().clone();
    client.capture_session("shop").await.unwrap();
    let icon = client.fetch_icon("shop").await.unwrap();
    assert!(icon.starts_with(PNG));

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    assert_eq!(client.fetch_icon("shop").await.unwrap(), icon, "it lies beside the snapshot");
    let receipt = client.resume_session("shop").await.unwrap().session.receipt.unwrap();
    assert_eq!((receipt.rejected, receipt.not_portable), (0, 0), "{receipt:?}");
    client.capture_session("shop").await.unwrap();
    assert_eq!(client.fetch_icon("shop").await.unwrap(), icon);

    let page = Page::attach(&test_node.keeper_socket(id), shop.as_str()).await.unwrap();
    let elsewhere = site.url_on("bare", "/bare").unwrap();
    let go = format!("location.href = '{elsewhere}'; true");
    assert!(page.evaluate::<bool>(&go).await.unwrap());
    page.wait_for(&format!(
        "location.href === '{elsewhere}' && document.readyState === 'complete'"
    ))
    .await
    .unwrap();
    client.capture_session("shop").await.unwrap();
    let none = client.fetch_icon("shop").await.unwrap_err();
    assert_eq!(none.code(), Some(ErrorCode::NoSnapshot), "no icon of a site that is not in front");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}
