//! The proxy in front of a service, by a node and by itself.

use crate::notes::LIMIT;
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::upstream::{PutUpstream, UpstreamAccess, UpstreamPages};
use baton_playground::{Site, TestNode};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

async fn shop() -> Site {
    let page = async || Html("<title>shop</title>");
    Site::start(Router::new().route("/", get(page))).await.unwrap()
}

/// Settings that name the site as an upstream service.
fn settings(site: &Site, listen: &str) -> String {
    let upstream = site.url("/").unwrap();
    format!(
        "[proxy]\n{listen}\n[[cocoons]]\nid = \"shop\"\nname = \"The shop\"\nupstream = \"{upstream}\"\n"
    )
}

/// The token in the answer to a navigation, or none.
async fn token(url: &str) -> Option<String> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.get(url).header("sec-fetch-mode", "navigate");
    let answer = request.header("sec-fetch-dest", "document").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let token = answer.headers().get("x-adi-debug-token")?.to_str().unwrap().to_owned();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    assert_eq!(answer.text().await.unwrap(), "<title>shop</title>");
    Some(token)
}

/// A request of the extension to the node.
async fn ask(test_node: &TestNode, path: &str, key: Option<&str>, body: Value) -> Value {
    let client = test_node.client().unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let origin = format!("chrome-extension://{}", baton_server::EXTENSION_ID);
    let request = http.post(client.base().join(path).unwrap()).header("origin", origin);
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    request.json(&body).send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stands_in_front_of_a_service_and_tells_paired_browsers_where() {
    let site = shop().await;
    let test_node = test_nodes::build();
    test_node.data().create().unwrap();
    let file = settings(&site, "listen = \"127.0.0.1:0\"");
    std::fs::write(test_node.data().settings(), file).unwrap();
    let test_node = test_nodes::start(test_node).await;
    let code = test_node.client().unwrap().pair_browser().await.unwrap().code;
    let exchange = json!({"code": code, "browser_id": "b-1"});
    let paired = ask(&test_node, "/debug/pair/exchange", None, exchange).await;
    let key = paired["key"].as_str().unwrap();
    let connection =
        ask(&test_node, "/debug/connect", Some(key), json!({"browser_id": "b-1"})).await;
    let ways = connection["cocoons"].as_array().unwrap();
    assert_eq!((&ways[0]["id"], &ways[0]["name"]), (&json!("shop"), &json!("The shop")));
    let origins: Vec<&str> = ways.iter().map(|way| way["origin"].as_str().unwrap()).collect();
    let port = origins[0].rsplit(':').next().unwrap();
    assert_eq!(origins[0], format!("http://shop.localhost:{port}"));
    let paths: Vec<_> = ways.iter().map(|way| way["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/", "/proxy/shop/", "/proxy/shop/"]);
    for url in [format!("http://127.0.0.1:{port}/proxy/shop/")] {
        let one = token(&url).await.unwrap();
        assert_ne!(token(&url).await.unwrap(), one, "each page has a token of its own");
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_named_while_the_node_runs_stays_over_a_restart_and_may_ask_for_a_key() {
    let site = shop().await;
    let mut test_node = test_nodes::build();
    test_node.data().create().unwrap();
    std::fs::write(test_node.data().settings(), "[proxy]\nlisten = \"127.0.0.1:0\"\n").unwrap();
    test_node = test_nodes::start(test_node).await;
    let upstream = site.url("/").unwrap().to_string();
    let run = |arguments: &[&str]| {
        let mut baton = std::process::Command::new(env!("CARGO_BIN_EXE_baton"));
        let baton = baton.arg("--data").arg(test_node.data().path()).arg("--json").args(arguments);
        let output = baton.output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let added = run(&["cocoons", "add", "shop", &upstream]);
    let url: url::Url = added["urls"][1].as_str().unwrap().parse().unwrap();
    assert!(url.path() == "/proxy/shop/" && token(url.as_str()).await.is_some());
    let secret = run(&["cocoons", "add", "shop", &upstream, "--with-key", "--no-debug"]);
    assert_eq!(secret["access"], json!("key"));
    let http = reqwest::Client::builder().no_proxy();
    let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
    assert_eq!(http.get(url.clone()).send().await.unwrap().status(), 401);

    let client = test_node.client().unwrap();
    client.put_upstream(&"shop".parse().unwrap(), &named(&upstream, "ada")).await.unwrap_err();
    test_node.kill_node().await.unwrap();
    test_node.start_node().await.unwrap();
    let list = test_node.client().unwrap().list_upstreams().await.unwrap();
    let again = list.items[0].urls[1].clone();
    let id = "shop".parse().unwrap();
    let ticket = test_node.client().unwrap().enter_upstream(&id).await.unwrap();
    // The host name of the upstream service is this machine for browsers, and needs a resolver elsewhere.
    let mut enter = again.clone();
    enter.set_path("/proxy/shop/.baton/enter");
    enter.set_query(ticket.url.query());
    let entered = http.get(enter.clone()).send().await.unwrap();
    let pass = entered.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let page = http.get(again).header("cookie", pass).send().await.unwrap();
    assert_eq!(page.text().await.unwrap(), "<title>shop</title>");
    assert_eq!(http.get(enter).send().await.unwrap().status(), 401, "a ticket counts once");
    test_node.client().unwrap().delete_upstream(&id, None).await.unwrap();
    assert!(test_node.client().unwrap().list_upstreams().await.unwrap().items.is_empty());
    test_node.clear().await.unwrap();
}

fn named(upstream: &str, owner: &str) -> PutUpstream {
    PutUpstream {
        name: None,
        upstream: upstream.to_owned(),
        owner: Some(owner.parse().unwrap()),
        access: UpstreamAccess::Key,
        browser_debug: UpstreamPages::default(),
    }
}

#[tokio::test]
async fn a_proxy_runs_by_itself_with_the_settings_of_a_file() {
    let site = shop().await;
    let test_node = test_nodes::build();
    let data = test_node.data().path().to_owned();
    let baton = || {
        let mut baton = Command::new(env!("CARGO_BIN_EXE_baton"));
        baton.arg("--data").arg(&data).args(["proxy", "--listen", "127.0.0.1:0"]);
        baton.stderr(Stdio::piped()).kill_on_drop(true);
        baton
    };
    let none = baton().output().await.unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("expected cocoons in the settings"));

    test_node.data().create().unwrap();
    std::fs::write(test_node.data().settings(), settings(&site, "")).unwrap();
    let mut proxy = baton().spawn().unwrap();
    let mut said = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let line = timeout(LIMIT, said.next_line()).await.unwrap().unwrap().unwrap();
    let port = line.split("localhost:").nth(1).unwrap().split('/').next().unwrap().to_owned();
    assert!(token(&format!("http://127.0.0.1:{port}/proxy/shop/")).await.is_some());
    proxy.start_kill().unwrap();
    test_node.clear().await.unwrap();
}
