//! Clients subscribe to the board: those of the newest protocol by a stream, older ones once.

use super::handshake::{ready, within};
use super::{ask, message, with_a_session};
use crate::fixture::Node;
use baton_api::{ChangeFederation, Scope};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until a change is told.
const LIMIT: Duration = Duration::from_mins(1);
const BOARD: &str = "baton://federation";

/// The next message on a stream.
async fn next(stream: &mut Response, read: &mut String) -> Option<Value> {
    timeout(LIMIT, told(stream, read)).await.expect("something is told")
}

async fn told(stream: &mut Response, read: &mut String) -> Option<Value> {
    loop {
        while let Some(end) = read.find('\n') {
            let line: String = read.drain(..=end).collect();
            let data = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty());
            if let Some(message) = data.and_then(|data| serde_json::from_str(data).ok()) {
                return Some(message);
            }
        }
        read.push_str(std::str::from_utf8(&stream.chunk().await.unwrap()?).unwrap());
    }
}

/// Somebody does something.
async fn work(node: &Node, status: &str) {
    let change = ChangeFederation::UpdateAgent {
        agent: Some("kimi".parse().unwrap()),
        status: status.to_owned(),
        current_task: None,
        workspace: None,
        model: None,
    };
    node.admin().change_federation(&change).await.unwrap();
}

#[tokio::test]
async fn the_board_is_a_resource() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let listed = ask(&node, &key, "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], BOARD);
    work(&node, "active").await;
    let read = ask(&node, &key, "resources/read", json!({"uri": BOARD})).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    let view: Value = serde_json::from_str(text).unwrap();
    assert_eq!(view["board"]["agents"]["kimi"]["status"], "active");
    assert_eq!(view["sessions"], json!([]));

    // It is the machine's user's, and nobody else's.
    let name = "bob".to_owned();
    let bob = baton_api::CreateKey {
        name,
        owner: Some("bob".parse().unwrap()),
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let bob = node.admin().create_key(&bob).await.unwrap();
    let listed = ask(&node, &bob.secret, "resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"], json!([]));
    let refused = ask(&node, &bob.secret, "resources/read", json!({"uri": BOARD})).await;
    insta::assert_snapshot!(refused["error"]["message"].as_str().unwrap(), @"expected a board of yours at this node, found none");
    node.stop().await;
}

#[tokio::test]
async fn a_client_of_the_newest_protocol_listens_on_a_stream() {
    let node = Node::start().await;
    let key = node.admin_key();
    let wanted =
        json!({"notifications": {"resourceSubscriptions": [BOARD, "baton://sessions/shop"]}});
    let stream = message(&node, &key, "subscriptions/listen", wanted, &json!({}));
    let (mut stream, mut read) = (stream.send().await.unwrap(), String::new());
    let accepted = next(&mut stream, &mut read).await.unwrap();
    insta::assert_snapshot!(accepted, @r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"resourceSubscriptions":["baton://federation"]}}}"#);
    // What changed before the node looked, and each change from then on.
    for status in [None, Some("active"), Some("idle")] {
        if let Some(status) = status {
            work(&node, status).await;
        }
        let updated = next(&mut stream, &mut read).await.unwrap();
        assert_eq!(updated["method"], "notifications/resources/updated");
        assert_eq!(updated["params"]["uri"], BOARD);
    }
    let (_, last) = tokio::join!(node.stop(), next(&mut stream, &mut read));
    assert!(last.is_none_or(|last| last["result"].is_object()), "it ends with the node");
}

#[tokio::test]
async fn a_client_of_an_older_protocol_subscribes_and_unsubscribes() {
    let node = Node::start().await;
    let session = ready(&node).await;
    let listen = within(&node, Method::GET, &session);
    let (mut stream, mut read) = (listen.send().await.unwrap(), String::new());
    let say = async |method: &str, uri: &str| {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"uri": uri}});
        super::answer(within(&node, Method::POST, &session).json(&request).send().await.unwrap())
            .await
    };
    let refused = say("resources/subscribe", "baton://sessions/shop").await;
    insta::assert_snapshot!(refused["error"]["message"].as_str().unwrap(), @"expected baton://federation, the only resource that can be subscribed to");
    assert_eq!(say("resources/subscribe", BOARD).await["result"], json!({}));
    work(&node, "active").await;
    let updated = next(&mut stream, &mut read).await.unwrap();
    assert_eq!(
        (&updated["method"], &updated["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(BOARD))
    );
    assert_eq!(say("resources/unsubscribe", BOARD).await["result"], json!({}));
    node.stop().await;
}
