//! Sites with certificates of one's own: trusted by the sessions that were told so, wherever they go, and
//! by nobody else.

use crate::test_nodes::test_node;
use crate::tls_site::{Authority, Identity, TlsSite};
use crate::two_nodes::{baton, introduce, said};
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use baton_playground::{Page, TestNode};
use baton_session::SessionId;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A site that knows its user by a cookie.
pub(crate) fn pages() -> Router {
    Router::new().route("/", get(home)).route("/login", get(login))
}

async fn home(headers: HeaderMap) -> Html<&'static str> {
    let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Html(if cookie.contains("sid=ada") { "<title>Ada</title>" } else { "<title>nobody</title>" })
}

async fn login() -> impl IntoResponse {
    let cookie = "sid=ada; Secure; HttpOnly; Max-Age=86400; Path=/";
    ([(SET_COOKIE, cookie)], Html("<title>welcome</title>"))
}

/// A file of a test node with this text.
pub(crate) fn file(test_node: &TestNode, name: &str, text: &str) -> PathBuf {
    let path = test_node.folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Opens a session at an address, by the command line.
fn open(test_node: &TestNode, name: &str, url: &Url, more: &[&str]) -> Value {
    let words = [&["open", url.as_str(), "--name", name], more].concat();
    said(&baton(test_node, &words).success())
}

fn id(view: &Value) -> SessionId {
    view["id"].as_str().unwrap().parse().unwrap()
}

/// Goes to an address in the only tab of a session, and says what is there: a title, or that the browser
/// refused.
async fn visit(test_node: &TestNode, id: SessionId, url: &Url) -> String {
    let page = Page::attach(&test_node.keeper_socket(id), "").await.unwrap();
    let to = serde_json::json!({ "url": url });
    // A busy machine takes its time to show that it trusts nobody.
    let answer = page.session().call_within(LIMIT, "Page.navigate", to).await.unwrap();
    if let Some(error) = answer["errorText"].as_str() {
        return error.to_owned();
    }
    page.wait_for("document.readyState === 'complete'").await.unwrap();
    page.evaluate("document.title").await.unwrap()
}

const LIMIT: Duration = Duration::from_mins(1);
const REFUSED: &str = "net::ERR_CERT_AUTHORITY_INVALID";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_authority_of_ones_own_is_trusted_over_a_crash_and_on_another_node() {
    let authority = Authority::new("Staging CA");
    let site = TlsSite::start(authority.sign(&["shop.localhost"]), pages()).await;
    let stranger = Authority::new("Stranger").sign(&["bank.localhost"]);
    let stranger = TlsSite::start(stranger, pages()).await;
    let (home, login) = (site.url("shop.localhost", "/"), site.url("shop.localhost", "/login"));
    let elsewhere = stranger.url("bank.localhost", "/");
    let (mut test_node, other) = (test_node().await, test_node().await);
    let ca = file(&test_node, "ca.pem", &authority.pem);

    // A session that was told nothing refuses it, as a browser should.
    let plain = id(&open(&test_node, "plain", &home, &[]));
    assert_eq!(visit(&test_node, plain, &home).await, REFUSED);

    let opened = open(&test_node, "shop", &home, &["--ca", ca.to_str().unwrap()]);
    assert_eq!(opened["certificates"][0]["subject"], "CN=Staging CA");
    assert_eq!(opened["certificates"][0]["authority"], true);
    let shop = id(&opened);
    assert_eq!(visit(&test_node, shop, &login).await, "welcome");
    assert_eq!(visit(&test_node, shop, &home).await, "Ada");
    assert_eq!(visit(&test_node, shop, &elsewhere).await, REFUSED);
    assert_eq!(visit(&test_node, shop, &home).await, "Ada");
    said(&baton(&test_node, &["sessions", "capture", "shop"]).success());

    // Whom it trusts is as safe as what it holds.
    test_node.kill_everybody(&[shop, plain]).await.unwrap();
    test_node.start_node().await.unwrap();
    test_node.take_files_away(shop).unwrap();
    let resumed = said(&baton(&test_node, &["sessions", "resume", "shop"]).success());
    let lines = resumed["receipt"]["items"].as_array().unwrap().iter();
    let lines: Vec<&str> = lines
        .filter(|line| line["kind"] == "environment" && line["outcome"] == "restored")
        .filter_map(|line| line["where"].as_str()?.strip_prefix("certificate "))
        .collect();
    assert!(matches!(lines[..], [line] if line.ends_with("CN=Staging CA")), "{lines:?}");
    assert_eq!(visit(&test_node, shop, &home).await, "Ada");
    assert_eq!(visit(&test_node, shop, &elsewhere).await, REFUSED);

    // Another node gets it with the session, by the network and as a file.
    introduce(&test_node, "first", &other);
    said(&baton(&test_node, &["save", "shop"]).success());
    let exported = test_node.folder().join("shop.json");
    let to = exported.to_str().unwrap();
    baton(&test_node, &["export", "shop", "--format", "session", "-o", to]).success();
    baton(&test_node, &["sessions", "close", "shop"]).success();
    baton(&other, &["sync", "run"]).success();
    baton(&other, &["import", to, "--name", "by-file"]).success();
    for name in ["shop", "by-file"] {
        let there = said(&baton(&other, &["sessions", "resume", name]).success());
        assert_eq!(there["certificates"][0]["subject"], "CN=Staging CA", "{name}");
        assert_eq!(visit(&other, id(&there), &home).await, "Ada", "{name}");
        assert_eq!(visit(&other, id(&there), &elsewhere).await, REFUSED, "{name}");
        baton(&other, &["sessions", "close", name]).success();
    }

    // The log says who let a browser trust whom.
    let audit = said(&baton(&test_node, &["audit"]).success());
    let entries = audit["items"].as_array().unwrap().iter();
    let trusts: Vec<&Value> =
        entries.filter_map(|entry| entry["detail"]["trusts"].get(0)).collect();
    assert!(matches!(trusts[..], [one] if one.as_str().unwrap().ends_with("CN=Staging CA")));
    test_node.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_signed_for_itself_is_trusted_for_its_own_names_alone() {
    let alone = Identity::alone(&["dev.localhost"]);
    let pem = alone.pem.clone();
    let site = TlsSite::start(alone, pages()).await;
    let (named, other_name) = (site.url("dev.localhost", "/"), site.url("shop.localhost", "/"));
    let test_node = test_node().await;
    let ca = file(&test_node, "dev.pem", &pem);
    let opened = open(&test_node, "dev", &named, &["--ca", ca.to_str().unwrap()]);
    let [certificate] = &opened["certificates"].as_array().unwrap()[..] else { panic!("{opened}") };
    assert_eq!(
        (&certificate["authority"], &certificate["names"][0]),
        (&false.into(), &"dev.localhost".into())
    );
    assert_eq!(visit(&test_node, id(&opened), &named).await, "nobody");
    assert_eq!(
        visit(&test_node, id(&opened), &other_name).await,
        "net::ERR_CERT_COMMON_NAME_INVALID"
    );
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_holds_nothing_to_trust_opens_no_session() {
    let test_node = test_node().await;
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let text = Authority::new("Staging CA").pem + &key;
    let both = file(&test_node, "both.pem", &text);
    let refused = baton(&test_node, &["open", "--name", "shop", "--ca", both.to_str().unwrap()]);
    let error = said(&refused.code(2))["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("both.pem: expected certificates alone, found a private key"));
    let gone = test_node.folder().join("gone.pem");
    baton(&test_node, &["open", "--name", "shop", "--ca", gone.to_str().unwrap()]).code(3);
    assert_eq!(
        said(&baton(&test_node, &["sessions", "list"]).success())["items"],
        serde_json::json!([])
    );
    test_node.clear().await.unwrap();
}
