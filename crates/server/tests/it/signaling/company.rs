//! Bad company: what nobody may tell, and what nobody understands.

use super::{Link, browser, offer, page_token, pair};
use crate::fixture::Node;
use baton_api::debug::EpochMs;
use baton_debug::token::{DebugSecret, Nonce, PageToken};
use futures_util::SinkExt;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn a_tab_is_taken_by_a_good_token_only() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut link = browser(&node, &key).await;
    let good = page_token(&node, "local");
    let (token, grant, _) = link.offer(&good, 1).await;
    let page = |nonce| {
        let (service, owner) = ("shop".parse().unwrap(), "local".parse().unwrap());
        PageToken::new(service, owner, "/", Nonce::new([nonce; 16]))
    };
    let forged = page(1).sign(&DebugSecret::from_bytes([9; 32]), super::now()).unwrap();
    let secret = DebugSecret::load_or_create(&node.folder.data.debug_key(), [0; 32]).unwrap();
    let expired = page(2).sign(&secret, EpochMs::new(super::now().get() - 120_000)).unwrap();
    let mut told = Vec::new();
    for (what, by) in [
        ("used", good.clone()),
        ("forged", forged),
        ("expired", expired),
        ("truncated", good[..good.len() / 2].to_owned()),
        ("changed", good.replace('.', "A.")),
        ("oversized", "A".repeat(5_000)),
        ("empty", String::new()),
        ("of somebody else", page_token(&node, "ada")),
    ] {
        let refused = link.ask(offer(&by, 1)).await;
        assert_eq!(
            (&refused["type"], &refused["code"]),
            (&json!("browser_debug_error"), &json!("untrusted"))
        );
        let message = refused["message"].as_str().unwrap();
        assert!(by.is_empty() || !message.contains(&by[..by.len().min(12)]), "{message}");
        told.push(format!("{what}: {message}"));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    used: expected a token for the first time, found one that was used already
    forged: expected a token that this node's proxy signed, found another one
    expired: expected a token that still counts, found one whose time has passed
    truncated: expected a token of two parts with a dot between them, found a part of one
    changed: expected a token that this node's proxy signed, found another one
    oversized: expected a token of at most 4096 bytes, found a longer one
    empty: expected a token of two parts with a dot between them, found a part of one
    of somebody else: expected a token that this node's proxy signed, found another one
    ");
    // A grant is for the browser that got it.
    let other = pair(&node, "b-2").await;
    let mut other = browser(&node, &other).await;
    let refused = other.ask(offer(&grant, 1)).await;
    assert_eq!(refused["code"], "untrusted");
    let event = json!({"type": "browser_debug_tab_closed", "token": token});
    assert_eq!(other.ask(event).await["code"], "tab_gone");
    assert_eq!(node.admin().list_tabs().await.unwrap().items.len(), 1);
    // And of her tabs nobody else hears.
    let ada = node.as_owner("ada", &[baton_api::Scope::Debug]).await;
    assert!(ada.list_tabs().await.unwrap().items.is_empty());
    node.stop().await;
}

#[tokio::test]
async fn garbage_is_answered_and_after_a_while_sent_away() {
    let node = Node::start().await;
    let key = pair(&node, "b-1").await;
    let mut link = browser(&node, &key).await;
    let (token, ..) = link.offer(&page_token(&node, "local"), 1).await;
    for bad in [
        json!({}),
        json!([]),
        json!({"type": "browser_debug_list_tabs"}),
        json!({"type": "browser_debug_network_event", "token": token, "event": "request", "data": {}}),
        json!({"type": "browser_debug_console_event", "token": "x", "entry": {}}),
        json!({"type": "browser_debug_console_event", "token": token, "entry":
            {"timestamp": 12.5, "level": "log", "message": "", "args": []}}),
    ] {
        let answer = link.ask(bad).await;
        assert_eq!(answer["code"], "invalid_message", "{answer}");
    }
    link.write(&token, 1, "still here").await;
    link.0.send(Message::binary(vec![0; 8])).await.unwrap();
    assert!(link.next().await.is_ok());
    let ended = loop {
        if link.0.send(Message::text("{")).await.is_err() {
            break link.next().await;
        }
        if let Err(code) = link.next().await {
            break Err(code);
        }
    };
    assert_eq!(ended.unwrap_err(), 1008);

    let mut flood = browser(&node, &key).await;
    let long = "x".repeat(baton_api::debug::MAX_MESSAGE_BYTES + 1);
    // The relay may be gone before it has all of it.
    let _ = flood.0.send(Message::text(long)).await;
    let code = flood.next().await.unwrap_err();
    assert!([1009, 0].contains(&code), "{code}");
    let mut client = Link::client(&node, &node.admin_key()).await;
    let bomb = json!({
        "type": "browser_debug_get_network", "request_id": "q", "token": token,
        "filters": {"url_pattern": "(a{1000}){1000}"},
    });
    assert_eq!(client.ask(bomb).await["code"], "invalid_filter");
    node.stop().await;
}
