//! A service behind the proxy, in a real browser: at a path of the proxy's host, where what its pages mean at
//! their own root is there, and on a host of its own.

mod nginx;
mod vite;

use crate::notes::eventually;
use crate::test_nodes::{build, start};
use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use baton_api::upstream::PutUpstream;
use baton_playground::{Page, Site, TestNode};
use serde_json::json;
use url::Url;

const PAGE: &str = "<title>shop</title><link rel=icon href='data:,'>
    <link rel=stylesheet href=/style.css><script type=module src=/app.js></script>
    <a href=/second>on</a>";

fn typed(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// A shop whose pages know nothing of any proxy.
async fn shop() -> Site {
    let cookie = "__Host-sid=1; Secure; HttpOnly; Path=/";
    let home = async move || ([(header::SET_COOKIE, cookie)], Html(PAGE));
    let cookies = async |headers: HeaderMap| -> String {
        let told = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        told.unwrap_or("none").to_owned()
    };
    let echo = async |body: String| body;
    let pages = Router::new()
        .route("/", get(home))
        .route("/style.css", get(async || typed("text/css", "@import '/more.css';")))
        .route("/more.css", get(async || typed("text/css", "a { color: rgb(1, 2, 3) }")))
        .route("/app.js", get(async || typed("text/javascript", "import '/part.js'; app = 1")))
        .route("/part.js", get(async || typed("text/javascript", "globalThis.app = 0")))
        .route("/api", get(cookies))
        .route("/api", post(echo))
        .route("/second", get(async || Html("<title>second</title>")));
    Site::start(pages).await.unwrap()
}

/// A test node whose node runs with a proxy.
async fn test_node() -> TestNode {
    start(build().with("BATON_PROXY_LISTEN", "127.0.0.1:0")).await
}

/// Puts a service behind the test node's proxy; where its pages are: on a host of its own, and below a path.
async fn put(test_node: &TestNode, upstream: &str) -> [Url; 2] {
    let request: PutUpstream = serde_json::from_value(json!({ "upstream": upstream })).unwrap();
    let client = test_node.client().unwrap();
    let service = client.put_upstream(&"shop".parse().unwrap(), &request).await.unwrap();
    [("shop.localhost", "/"), ("localhost", "/proxy/shop/")].map(|(host, path)| {
        let is_it = |url: &&Url| url.host_str() == Some(host) && url.path() == path;
        service.urls.iter().find(is_it).unwrap().clone()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_below_a_path_finds_what_it_means_at_its_root() {
    let shop = shop().await;
    let test_node = test_node().await;
    let [_, place] = put(&test_node, shop.url("/").unwrap().as_str()).await;

    let id = test_node.open("shop", [place.clone()]).await.unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), place.as_str()).await.unwrap();
    let colour = "getComputedStyle(document.querySelector('a')).color";
    eventually("style and script are there", async || {
        page.evaluate::<bool>(&format!("globalThis.app === 1 && {colour} === 'rgb(1, 2, 3)'"))
            .await
            .is_ok_and(|are_there| are_there)
    })
    .await;
    let said = |call: &str| format!("fetch({call}).then((answer) => answer.text())");
    let cookies = page.evaluate::<String>(&said("'/api'")).await.unwrap();
    assert_eq!(cookies, "__Host-sid=1");
    let echoed = page.evaluate::<String>(&said("'/api', {method: 'POST', body: 'sold'}")).await;
    assert_eq!(echoed.unwrap(), "sold");
    page.evaluate::<bool>("document.querySelector('a').click(); true").await.unwrap();
    let second = place.join("second").unwrap();
    eventually("the link leads on", async || {
        Page::attach(&test_node.keeper_socket(id), second.as_str()).await.is_ok()
    })
    .await;
    test_node.client().unwrap().close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}
