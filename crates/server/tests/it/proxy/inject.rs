//! Tokens: real navigations to pages get one, and nothing else does.

use super::{Stand, secret, service, upstream_at};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::routing::{any, get};
use baton_api::debug::EpochMs;
use baton_debug::token::{PageToken, UsedNonces};
use jiff::Timestamp;
use reqwest::Response;

const TOKEN: &str = "x-adi-debug-token";

async fn navigate(stand: &Stand, place: &str) -> Response {
    let call =
        stand.get(place).header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
    call.header("if-none-match", "\"1\"").header("if-modified-since", "x").send().await.unwrap()
}

/// Answers with a page that caches keep, and with a token of its own.
async fn page(headers: HeaderMap) -> impl IntoResponse {
    let asked = format!("{:?} {:?}", headers.get("if-none-match"), headers.get(TOKEN));
    let ours = [
        ("content-type", "text/html; charset=utf-8"),
        ("etag", "\"1\""),
        ("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("cache-control", "max-age=600"),
        (TOKEN, "hostile"),
    ];
    (ours, asked)
}

async fn stand() -> Stand {
    let router = Router::new().route("/", any(page)).route("/health", get(page)).route(
        "/data",
        get(async || ([("content-type", "application/json"), (TOKEN, "hostile")], "{}")),
    );
    let mut shop = upstream_at("shop", service(router).await);
    shop.browser_debug.exclude_paths = vec!["/health".to_owned()];
    Stand::of([shop]).await
}

#[tokio::test]
async fn a_navigation_to_a_page_gets_a_token_that_counts() {
    let stand = stand().await;
    let answer = navigate(&stand, "shop/?secret=1").await;
    let token = answer.headers()[TOKEN].to_str().unwrap().to_owned();
    let now = EpochMs::new(u64::try_from(Timestamp::now().as_millisecond()).unwrap());
    let mut used = UsedNonces::default();
    let page = PageToken::take(&secret(), &mut used, &token, now).unwrap();
    assert_eq!(
        (page.cocoon.as_str(), page.owner.as_str(), page.path.as_str()),
        ("shop", "ada", "/")
    );
    let other = navigate(&stand, "shop/").await;
    assert_ne!(other.headers()[TOKEN].to_str().unwrap(), token);

    assert_eq!(answer.headers()["cache-control"], "no-store");
    for gone in ["etag", "last-modified"] {
        assert!(!answer.headers().contains_key(gone), "{gone}");
    }
    assert_eq!(answer.text().await.unwrap(), "None None", "no 304 can come");
    stand.stop().await;
}

#[tokio::test]
async fn nothing_else_gets_one_and_no_cocoon_gives_its_own() {
    let stand = stand().await;
    assert!(!navigate(&stand, "shop/data").await.headers().contains_key(TOKEN), "no page");
    assert!(!navigate(&stand, "shop/health").await.headers().contains_key(TOKEN), "excluded");
    let fetched =
        stand.get("shop/").header("sec-fetch-mode", "cors").header("sec-fetch-dest", "empty");
    let fetched =
        fetched.header("if-none-match", "\"1\"").header(TOKEN, "forged").send().await.unwrap();
    assert!(!fetched.headers().contains_key(TOKEN), "a script reads what it fetches");
    assert_eq!(fetched.headers()["etag"], "\"1\"", "caches work as ever");
    assert_eq!(fetched.text().await.unwrap(), "Some(\"\\\"1\\\"\") None");
    let bare = stand.get("shop/").header("accept", "text/html").send().await.unwrap();
    assert!(!bare.headers().contains_key(TOKEN), "not marked");
    stand.stop().await;
}

#[tokio::test]
async fn a_change_of_a_cocoon_counts_at_once() {
    let stand = stand().await;
    let id = "shop".parse().unwrap();
    let mut shop = (*stand.services.fetch(&id).unwrap()).clone();
    shop.browser_debug.enabled = false;
    stand.services.insert(shop);
    let answer = navigate(&stand, "shop/").await;
    assert!(!answer.headers().contains_key(TOKEN));
    assert_eq!(answer.headers()["etag"], "\"1\"");
    stand.services.remove(&id);
    assert_eq!(navigate(&stand, "shop/").await.status(), 404);
    stand.stop().await;
}
