//! Tickets, which stand for a key in an address.

use crate::fixture::{Folder, Node, one_line, problem};
use baton_api::{Client, ErrorCode, ListAudit, OpenCdp, Scope};
use baton_net::rates::RateLimits;
use baton_session::AuditOutcome;
use reqwest::Method;

/// A node with a session that is said to have a browser, and somebody who may drive it.
async fn scene(requests_per_minute: u32) -> (Node, Client) {
    let folder = Folder::new();
    let mut config = folder.config();
    config.rates = RateLimits { requests_per_minute, ..RateLimits::default() };
    let node = folder.start_with(config).await;
    let store = node.folder.store().await;
    node.folder.seed_active(&store, "ada", "shop").await;
    let driver = node.as_owner("ada", &[Scope::Drive, Scope::Admin]).await;
    (node, driver)
}

/// The browser's address with a new ticket.
async fn ticketed(driver: &Client, reusable: bool) -> String {
    let url = driver.open_cdp("shop", &OpenCdp { reusable }).await.unwrap().cdp_url;
    format!("{}?{}", url.path(), url.query().unwrap())
}

#[tokio::test]
async fn a_ticket_counts_for_the_key_behind_it() {
    let (node, driver) = scene(3).await;
    let path = ticketed(&driver, true).await;
    let ask = || node.request(Method::GET, &path);
    for _ in 0..2 {
        assert_eq!(problem(ask().send().await.unwrap()).await.code, ErrorCode::InvalidRequest);
    }
    let refused = ask().send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    insta::assert_snapshot!(one_line(&problem(refused).await), @"429 too_many_requests: expected at most 3 requests with one key a minute, found more");
    assert_eq!(
        driver.fetch_session("shop").await.unwrap_err().code(),
        Some(ErrorCode::TooManyRequests)
    );
    node.stop().await;
}

#[tokio::test]
async fn a_ticket_is_not_used_up_by_a_browser_that_does_not_answer() {
    let (node, driver) = scene(1000).await;
    let path = ticketed(&driver, false).await;
    let ask = || node.request(Method::GET, &path);
    let mut codes = Vec::new();
    for _ in 0..2 {
        let ask = ask().header("connection", "Upgrade").header("upgrade", "websocket");
        let ask = ask.header("sec-websocket-version", "13");
        let answer = ask.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==").send().await;
        codes.push(problem(answer.unwrap()).await.code);
    }
    assert!(codes.iter().all(|code| *code != ErrorCode::Unauthenticated), "{codes:?}");
    let log = driver.list_audit(&ListAudit::default()).await.unwrap().items;
    let connects = log.iter().filter(|entry| entry.action == "session.connect");
    let outcomes: Vec<_> = connects.map(|entry| entry.outcome).collect();
    assert_eq!(outcomes, [AuditOutcome::Failed; 2]);
    node.stop().await;
}
