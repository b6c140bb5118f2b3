//! How often somebody may ask.

use crate::fixture::{Folder, Node, one_line, problem};
use baton_api::{ErrorCode, ListSessions, Scope};
use baton_net::rates::RateLimits;
use reqwest::{Method, Response};

async fn limited(requests_per_minute: u32, refused_keys_per_minute: u32, proxy: bool) -> Node {
    let folder = Folder::new();
    let mut config = folder.config();
    config.rates = RateLimits { requests_per_minute, refused_keys_per_minute };
    config.exposure.behind_proxy = proxy;
    folder.start_with(config).await
}

/// How long a refusal says to wait, in seconds.
fn retry_after(response: &Response) -> u64 {
    response.headers()["retry-after"].to_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_ask_again() {
    let node = limited(3, 60, false).await;
    let reader = node.as_owner("ada", &[Scope::Read]).await;
    for _ in 0..3 {
        assert!(reader.list_sessions(&ListSessions::default()).await.is_ok());
    }
    let refused = reader.list_sessions(&ListSessions::default()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::TooManyRequests));
    let asked = node.admin().list_keys(None).await;
    assert!(asked.is_ok(), "another key has an allowance of its own");
    assert!(node.admin().list_keys(None).await.is_ok());
    let call = || node.admin_request(Method::GET, "/keys").send();
    let response = call().await.unwrap();
    let wait = retry_after(&response);
    assert!((1..=20).contains(&wait), "{wait}");
    insta::assert_snapshot!(one_line(&problem(response).await), @"429 too_many_requests: expected at most 3 requests with one key a minute, found more");
    for _ in 0..10 {
        assert!(reader.health().await.is_ok(), "health needs no key");
    }
    node.stop().await;
}

#[tokio::test]
async fn an_address_whose_keys_are_refused_is_told_so_and_shuts_nobody_out() {
    let node = limited(100, 2, false).await;
    let call = || node.request(Method::GET, "/sessions").bearer_auth("guess").send();
    for _ in 0..2 {
        assert_eq!(problem(call().await.unwrap()).await.code, ErrorCode::Unauthenticated);
    }
    let response = call().await.unwrap();
    assert!((1..=30).contains(&retry_after(&response)));
    insta::assert_snapshot!(one_line(&problem(response).await), @"429 too_many_requests: expected at most 2 requests without a good key a minute, found more");
    let forged = node.request(Method::GET, "/sessions").header("x-forwarded-for", "192.0.2.9");
    assert_eq!(forged.send().await.unwrap().status(), 429, "only a proxy's word counts");
    assert!(node.admin().list_sessions(&ListSessions::default()).await.is_ok());
    node.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_the_caller_is_the_one_whom_the_proxy_names() {
    let node = limited(100, 1, true).await;
    let status = |forwarded: &'static str| {
        let call = node.request(Method::GET, "/sessions").header("x-forwarded-for", forwarded);
        async move { call.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(status("192.0.2.1").await, 401);
    assert_eq!(status("192.0.2.1").await, 429);
    assert_eq!(status("192.0.2.7, 192.0.2.1").await, 429, "the last one is the proxy's own word");
    assert_eq!(status("192.0.2.1:4711").await, 429, "some proxies write the port as well");
    assert_eq!(status("192.0.2.2").await, 401);
    node.stop().await;
}
