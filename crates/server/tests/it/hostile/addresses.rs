//! Addresses that whoever may name one could have this node ask: its own machine, its network, and all the
//! ways to write them. Nothing is asked there.

use crate::fixture::{Node, until};
use baton_api::{CreateKey, Scope};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

/// `PORT` is where this machine waits.
const ADDRESSES: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.0.2:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "https://[64:ff9b::127.0.0.1]:PORT/",
    "https://[2002:7f00:1::]:PORT/",
    "https://[2001:0:7f00:1::]:PORT/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.1:PORT/",
    "http://ada@127.0.0.1:PORT/",
    "http://example.org@127.0.0.1:PORT/",
    "https://ada:hunter2@example.org/",
    "https://10.0.0.7/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[::ffff:10.0.0.7]/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://240.0.0.1/",
    "https://192.0.2.1/",
    "https://198.18.0.1/",
    "https://[2001:db8::1]/",
    "https://[2001:2::1]/",
    "https://[3fff::1]/",
    "ftp://127.0.0.1:PORT/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/",
    "unix:///run/docker.sock",
    "data:text/plain,x",
    "http://8.8.8.8/",
];

async fn register(node: &Node, key: &str, url: &str) -> (u16, Value) {
    let body = json!({ "url": url, "name": "cloud", "authMethod": "apikey" });
    let call = node.request(Method::POST, "/sync/peers").bearer_auth(key).json(&body);
    let answer = call.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

#[tokio::test]
async fn a_key_that_names_peers_reaches_nothing_of_this_machine_or_its_network() {
    let node = Node::start().await;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let (owner, scopes) = (Some("ada".parse().unwrap()), [Scope::Sync].into());
    let request = CreateKey { name: "syncs".to_owned(), owner, scopes, for_node: None };
    let key = node.admin().create_key(&request).await.unwrap().secret;
    let mut taken = Vec::new();
    for address in ADDRESSES {
        let (status, problem) = register(&node, &key, &address.replace("PORT", &port)).await;
        if (status, problem["code"].as_str()) != (403, Some("address_not_allowed")) {
            taken.push(format!("{address}: {status} {problem}"));
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    // It would be heard: whoever manages the machine may name it.
    let (_, problem) =
        register(&node, &node.admin_key(), &format!("http://127.0.0.1:{port}/")).await;
    assert_ne!(problem["code"], "address_not_allowed", "{problem}");
    until("it is asked", async || (asked.load(Ordering::SeqCst) > 0).then_some(())).await;
    node.stop().await;
}
