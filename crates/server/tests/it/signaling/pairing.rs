//! A person pairs a browser.

use super::{Link, as_extension, browser, pair, ticket};
use crate::fixture::{Node, one_line, problem, until};
use baton_api::{ListAudit, Scope};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn a_code_counts_once_and_buys_a_key_that_may_tell_and_nothing_else() {
    let node = Node::start().await;
    let paired = node.admin().pair_browser().await.unwrap();
    assert_eq!((paired.code.len(), paired.address), (9, node.file.url.clone()));
    // People type as they like.
    let body = json!({"code": paired.code.to_lowercase().replace('-', " "), "browser_id": "b-1"});
    let first = as_extension(&node, "/debug/pair/exchange", None, &body).await;
    assert_eq!(
        (first.status().as_u16(), &first.headers()["cache-control"]),
        (200, &"no-store".parse().unwrap())
    );
    let key = first.json::<serde_json::Value>().await.unwrap()["key"].as_str().unwrap().to_owned();
    let again = problem(as_extension(&node, "/debug/pair/exchange", None, &body).await).await;
    insta::assert_snapshot!(one_line(&again), @"401 unauthenticated: expected a code that pairs a browser, found one that does not count, or no longer");

    for path in ["/sessions", "/debug/tabs", "/keys", "/audit"] {
        let refused = node.request(Method::GET, path).bearer_auth(&key).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{path}");
    }
    // With its key alone it does not look in, and without the scope nobody tells.
    assert!(Link::connect(&node, None, Some(&key)).await.is_err());
    let reader = node.as_owner("local", &[Scope::Read, Scope::Debug]).await;
    let refused = as_extension(
        &node,
        "/debug/connect",
        Some(secrecy::ExposeSecret::expose_secret(reader.key())),
        &json!({"browser_id": "b-1"}),
    )
    .await;
    assert_eq!(refused.status(), 403);
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap();
    assert!(
        log.items
            .iter()
            .any(|entry| entry.action == "key.create" && entry.detail["name"] == "browser b-1")
    );
    node.stop().await;
}

#[tokio::test]
async fn a_browser_that_is_paired_again_or_whose_key_is_revoked_is_sent_away() {
    let node = Node::start().await;
    let old = pair(&node, "b-1").await;
    let mut link = browser(&node, &old).await;
    let new = pair(&node, "b-1").await;
    assert_eq!(link.next().await.unwrap_err(), 4403);
    let refused =
        as_extension(&node, "/debug/connect", Some(&old), &json!({"browser_id": "b-1"})).await;
    assert_eq!(refused.status(), 401);

    let mut link = browser(&node, &new).await;
    // It came again, over another network perhaps: the older connection ends.
    let _again = browser(&node, &new).await;
    assert_eq!(link.next().await.unwrap_err(), 4409);
    node.stop().await;
}

#[tokio::test]
async fn a_ticket_opens_one_connection() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let once = format!("baton.v1, baton.ticket.{}", ticket(&node, &key).await);
    let mut first = Link::connect(&node, Some(&once), None).await.unwrap();
    first.ask(json!({"type": "browser_debug_heartbeat"})).await;
    let mut second = Link::connect(&node, Some(&once), None).await.unwrap();
    assert_eq!(second.next().await.unwrap_err(), 4401);
    for bad in ["baton.v1, baton.ticket.", "baton.ticket.AAAA, baton.v1"] {
        let mut link = Link::connect(&node, Some(bad), None).await.unwrap();
        assert_eq!(link.next().await.unwrap_err(), 4401);
    }
    node.stop().await;
}

#[tokio::test]
async fn codes_cannot_be_tried_one_after_the_other() {
    let node = Node::start().await;
    node.admin().pair_browser().await.unwrap();
    let body = json!({"code": "AAAA-AAAA", "browser_id": "b-1"});
    let stopped = until("codes are no longer looked at", async || {
        let refused = as_extension(&node, "/debug/pair/exchange", None, &body).await;
        (refused.status() == 429).then_some(())
    });
    stopped.await;
    // A page of another origin does not come that far.
    for origin in ["https://evil.test", "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        let request = node.request(Method::POST, "/debug/pair/exchange").header("origin", origin);
        let refused = problem(request.json(&body).send().await.unwrap()).await;
        assert_eq!(refused.code.as_str(), "foreign_origin");
    }
    // And the extension asks for nothing else.
    let request = node.admin_request(Method::GET, "/sessions").header("origin", super::extension());
    assert_eq!(problem(request.send().await.unwrap()).await.code.as_str(), "foreign_origin");
    node.stop().await;
}
