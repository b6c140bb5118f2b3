//! Bodies that are small enough each, and too many together.

use super::smuggling::head;
use crate::fixture::{Folder, LIMIT, Node, until};
use baton_api::{ErrorCode, OpenSession, Scope};
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What a key may hold, in bytes.
const EACH: usize = 6000;

/// A request of which so many bytes of the body have come, and not the last one.
async fn half(node: &Node, key: &str, bytes: usize) -> TcpStream {
    let address = node.file.url.socket_addrs(|| None).unwrap()[0];
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /sessions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        bytes + 1,
        " ".repeat(bytes)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// How a request with a body of so many bytes is answered.
async fn answered(node: &Node, key: &str, bytes: usize) -> (u16, String) {
    let body = json!({ "name": "-".repeat(bytes) }).to_string();
    let call = node.request(Method::POST, "/sessions").bearer_auth(key);
    let call = call.header("content-type", "application/json").body(body);
    let answer = call.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn what_bodies_hold_at_once_is_bounded_for_each_key_and_given_back() {
    let folder = Folder::new();
    let mut config = folder.config();
    (config.bounds.freight, config.bounds.freight_of_key) = (2 * EACH, EACH);
    let node = folder.start_with(config).await;
    let key = node.admin_key();
    let held = [half(&node, &key, 2500).await, half(&node, &key, 2500).await];
    // There is no room for a third one of this size, though each of them is allowed.
    let refused = until("there is no room", async || {
        let (status, text) = answered(&node, &key, 2500).await;
        (status == 429).then_some(text)
    })
    .await;
    assert!(refused.contains("expected fewer bytes of requests and answers at once"), "{refused}");
    assert_eq!(answered(&node, &key, 100).await.0, 422, "a small one has room");
    let ada = node.as_owner("ada", &[Scope::Drive]).await;
    let opened = ada.open_session(&OpenSession::new("shop".parse().unwrap(), [])).await;
    let why = opened.unwrap_err();
    assert_ne!(why.code(), Some(ErrorCode::TooManyRequests), "another key has its own: {why}");

    for mut stream in held {
        stream.write_all(b"x").await.unwrap();
        let answer = timeout(LIMIT, head(&mut stream)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    until("the room is given back", async || {
        (answered(&node, &key, 2500).await.0 == 422).then_some(())
    })
    .await;
    node.stop().await;
}

#[tokio::test]
async fn whoever_pairs_a_browser_says_little_and_guesses_seldom() {
    let folder = Folder::new();
    let mut config = folder.config();
    config.rates.refused_keys_per_minute = 3;
    let node = folder.start_with(config).await;
    let pair = async |code: &str| {
        let body = json!({ "code": code, "browser_id": "b-1" });
        let call = node.request(Method::POST, "/debug/pair/exchange").json(&body);
        call.send().await.unwrap().status().as_u16()
    };
    assert_eq!(pair(&"A".repeat(600)).await, 413);
    for _ in 0..2 {
        assert_eq!(pair("AAAA-AAAA").await, 401);
    }
    // The allowance is used up, so no code is looked at any more, not even one that counts.
    let looker = node.as_owner("ada", &[Scope::Debug]).await;
    let code = looker.pair_browser().await.unwrap().code;
    assert_eq!(pair(&code).await, 429);
    node.stop().await;
}
