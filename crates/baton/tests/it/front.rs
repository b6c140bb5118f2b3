//! The proxy in front of a service, by a node and by itself.

use crate::houses;
use crate::notes::LIMIT;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{House, Site};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

async fn shop() -> Site {
    let page = async || Html("<title>shop</title>");
    Site::start(Router::new().route("/", get(page))).await.unwrap()
}

/// Settings that name the site as a cocoon.
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
async fn ask(house: &House, path: &str, key: Option<&str>, body: Value) -> Value {
    let client = house.client().unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let origin = format!("chrome-extension://{}", baton_node::debug::EXTENSION_ID);
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
    let house = houses::build();
    house.data().create().unwrap();
    let file = settings(&site, "listen = \"127.0.0.1:0\"");
    std::fs::write(house.data().settings(), file).unwrap();
    let house = houses::start(house).await;
    let code = house.client().unwrap().pair_browser().await.unwrap().code;
    let exchange = json!({"code": code, "browser_id": "b-1"});
    let paired = ask(&house, "/debug/pair/exchange", None, exchange).await;
    let key = paired["key"].as_str().unwrap();
    let connection = ask(&house, "/debug/connect", Some(key), json!({"browser_id": "b-1"})).await;
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
    house.clear().await.unwrap();
}

#[tokio::test]
async fn a_proxy_runs_by_itself_with_the_settings_of_a_file() {
    let site = shop().await;
    let house = houses::build();
    let data = house.data().path().to_owned();
    let baton = || {
        let mut baton = Command::new(env!("CARGO_BIN_EXE_baton"));
        baton.arg("--data").arg(&data).args(["proxy", "--listen", "127.0.0.1:0"]);
        baton.stderr(Stdio::piped()).kill_on_drop(true);
        baton
    };
    let none = baton().output().await.unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("expected cocoons in the settings"));

    house.data().create().unwrap();
    std::fs::write(house.data().settings(), settings(&site, "")).unwrap();
    let mut proxy = baton().spawn().unwrap();
    let mut said = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let line = timeout(LIMIT, said.next_line()).await.unwrap().unwrap().unwrap();
    let port = line.split("localhost:").nth(1).unwrap().split('/').next().unwrap().to_owned();
    assert!(token(&format!("http://127.0.0.1:{port}/proxy/shop/")).await.is_some());
    proxy.start_kill().unwrap();
    house.clear().await.unwrap();
}
