//! A tab that a browser tells one node of a cluster is looked into at any of them.

use super::{Link, as_extension, browser, console, page_token_of, pair, ticket};
use crate::cluster::{Pair, done_by};
use crate::mcp::call;
use baton_api::debug::{NetworkFilters, PairedBrowser, TabToken};
use baton_api::{CreateKey, ErrorCode, Scope};
use baton_debug::token::DebugSecret;
use baton_store::Store;
use serde_json::json;
use std::time::Duration;

/// What the header of a page brings, whichever node of the cluster its proxy is.
fn page_token(store: &Store, owner: &str) -> String {
    page_token_of(&DebugSecret::from_bytes(*store.shared_secret("debug tokens")), owner)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tab_did_is_asked_where_its_browser_tells_it() {
    let nodes = Pair::start().await;
    let key = pair(&nodes.right, "b-1").await;
    let mut link = browser(&nodes.right, &key).await;
    let (token, ..) = link.offer(&page_token(&nodes.store, "local"), 1).await;
    link.write(&token, 1, "only three plums are left").await;
    let other = pair(&nodes.wrong, "b-1").await;
    let mut near = browser(&nodes.wrong, &other).await;
    let (own, ..) = near.offer(&page_token(&nodes.store, "local"), 1).await;

    let client = nodes.wrong.admin();
    let tabs = client.list_tabs().await.unwrap();
    let listed: Vec<_> = tabs.items.iter().map(|tab| tab.token.to_string()).collect();
    assert_eq!(listed, [own.clone(), token.clone()]);
    assert!(tabs.missing.is_empty(), "{:?}", tabs.missing);
    assert_eq!(console(&nodes.wrong, &token).await.0, ["only three plums are left"]);
    assert_eq!(console(&nodes.wrong, &own).await.0, [""; 0]);
    let parsed: TabToken = token.parse().unwrap();
    let filters = NetworkFilters::default();
    let found = client.get_network(&parsed, &filters, Duration::ZERO).await.unwrap();
    assert!(found.requests.is_empty());
    let path = format!("debug/tabs/{token}/har");
    let archive = nodes.wrong.admin_request(reqwest::Method::GET, &path).send().await.unwrap();
    assert_eq!(archive.status(), 200);
    assert_eq!(done_by(&archive), nodes.right.id().to_string());

    // Models hear the same.
    let admin = nodes.wrong.admin_key();
    let listed = call(&nodes.wrong, &admin, "browser_debug_list_tabs", json!({})).await;
    assert!(listed.contains(&token) && listed.contains(&own), "{listed}");
    let told = call(&nodes.wrong, &admin, "browser_debug_get_console", json!({"token": token}));
    let told = told.await;
    assert!(told.contains("only three plums are left"), "{told}");
    // So do programs that ask over a WebSocket, of the same node all the while.
    let mut program = Link::client(&nodes.wrong, &nodes.wrong.admin_key()).await;
    let tabs = program.ask(json!({"type": "browser_debug_list_tabs"})).await;
    let tokens: Vec<_> = tabs["tabs"].as_array().unwrap().iter().map(|tab| &tab["token"]).collect();
    assert_eq!(tokens, [&json!(token), &json!(own)]);
    let question = |what: &str, token: &str| {
        let filters = json!({"limit": 5});
        json!({"type": format!("browser_debug_get_{what}"), "request_id": "q-1", "token": token, "filters": filters})
    };
    let told = program.ask(question("console", &token)).await;
    assert_eq!(told["type"], "browser_debug_console_data", "{told}");
    assert_eq!(told["entries"][0]["message"], "only three plums are left", "{told}");
    assert_eq!(told["request_id"], "q-1");
    let told = program.ask(question("network", &token)).await;
    assert_eq!(
        (&told["type"], &told["requests"]),
        (&json!("browser_debug_network_data"), &json!([]))
    );
    let (name, owner, scopes) =
        ("program".to_owned(), Some("ada".parse().unwrap()), [Scope::Debug].into());
    let key = CreateKey { name, owner, scopes, for_node: None };
    let key = client.create_key(&key).await.unwrap();
    let mut stranger = Link::client(&nodes.wrong, &key.secret).await;
    let gone = stranger.ask(question("console", &token)).await;
    assert_eq!(gone["code"], "tab_gone", "{gone}");
    // A tab of somebody else is none, wherever it is.
    let ada = nodes.wrong.as_owner("ada", &[Scope::Debug]).await;
    assert!(ada.list_tabs().await.unwrap().items.is_empty());
    let foreign = ada.get_network(&parsed, &filters, Duration::ZERO).await.unwrap_err();
    assert_eq!(foreign.code(), Some(ErrorCode::TabGone));
    drop((link, near));
    nodes.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_paired_and_connected_by_whichever_node_it_reaches() {
    let nodes = Pair::start().await;
    // A person has the code of one node, and the balancer leads their browser to another one, each time.
    let code = nodes.right.admin().pair_browser().await.unwrap().code;
    assert_eq!((code.len(), code.matches('-').count()), ("K7QM-2XPD-4T".len(), 2));
    let body = json!({"code": code.to_lowercase(), "browser_id": "b-1"});
    let paired = as_extension(&nodes.wrong, "/debug/pair/exchange", None, &body).await;
    assert_eq!(done_by(&paired), nodes.right.id().to_string());
    let PairedBrowser { key, signaling_url } = paired.json().await.unwrap();
    assert_eq!(signaling_url.port(), nodes.wrong.file.url.port(), "it stays where it came");
    let ticket = ticket(&nodes.right, &key).await;
    let protocols = format!("baton.v1, baton.ticket.{ticket}");
    let mut link = Link::connect(&nodes.wrong, Some(&protocols), None).await.unwrap();
    let (token, ..) = link.offer(&page_token(&nodes.store, "local"), 1).await;
    link.write(&token, 1, "by way of another node").await;
    for node in [&nodes.wrong, &nodes.right] {
        assert_eq!(console(node, &token).await.0, ["by way of another node"]);
    }
    // Both count once, at all nodes together; what nobody gave out is refused as it is at one node.
    let again = as_extension(&nodes.wrong, "/debug/pair/exchange", None, &body).await;
    assert_eq!(again.status(), 401);
    let again = Link::connect(&nodes.right, Some(&protocols), None).await.unwrap().next().await;
    let forged = protocols.replace(&ticket[..4], "AAAA");
    let forged = Link::connect(&nodes.wrong, Some(&forged), None).await.unwrap().next().await;
    assert_eq!((again.unwrap_err(), forged.unwrap_err()), (4401, 4401));
    drop(link);
    nodes.stop().await;
}
