//! Sites with certificates of one's own: trusted by the sessions that were told so, wherever they go, and
//! by nobody else.

use crate::houses::house;
use crate::tls_site::{Authority, Identity, TlsSite};
use crate::two_nodes::{baton, introduce, said};
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use baton_playground::{House, Page};
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

/// A file of a house with this text.
pub(crate) fn file(house: &House, name: &str, text: &str) -> PathBuf {
    let path = house.folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Opens a session at an address, by the command line.
fn open(house: &House, name: &str, url: &Url, more: &[&str]) -> Value {
    let words = [&["open", url.as_str(), "--name", name], more].concat();
    said(&baton(house, &words).success())
}

fn id(view: &Value) -> SessionId {
    view["id"].as_str().unwrap().parse().unwrap()
}

/// Goes to an address in the only tab of a session, and says what is there: a title, or that the browser
/// refused.
async fn visit(house: &House, id: SessionId, url: &Url) -> String {
    let page = Page::attach(&house.keeper_socket(id), "").await.unwrap();
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
    let (mut house, other) = (house().await, house().await);
    let ca = file(&house, "ca.pem", &authority.pem);

    // A session that was told nothing refuses it, as a browser should.
    let plain = id(&open(&house, "plain", &home, &[]));
    assert_eq!(visit(&house, plain, &home).await, REFUSED);

    let opened = open(&house, "shop", &home, &["--ca", ca.to_str().unwrap()]);
    assert_eq!(opened["certificates"][0]["subject"], "CN=Staging CA");
    assert_eq!(opened["certificates"][0]["authority"], true);
    let shop = id(&opened);
    assert_eq!(visit(&house, shop, &login).await, "welcome");
    assert_eq!(visit(&house, shop, &home).await, "Ada");
    assert_eq!(visit(&house, shop, &elsewhere).await, REFUSED);
    assert_eq!(visit(&house, shop, &home).await, "Ada");
    said(&baton(&house, &["sessions", "capture", "shop"]).success());

    // Whom it trusts is as safe as what it holds.
    house.kill_everybody(&[shop, plain]).await.unwrap();
    house.start_node().await.unwrap();
    house.take_files_away(shop).unwrap();
    let resumed = said(&baton(&house, &["sessions", "resume", "shop"]).success());
    let lines = resumed["receipt"]["items"].as_array().unwrap().iter();
    let lines: Vec<&str> = lines
        .filter(|line| line["kind"] == "environment" && line["outcome"] == "restored")
        .filter_map(|line| line["where"].as_str()?.strip_prefix("certificate "))
        .collect();
    assert!(matches!(lines[..], [line] if line.ends_with("CN=Staging CA")), "{lines:?}");
    assert_eq!(visit(&house, shop, &home).await, "Ada");
    assert_eq!(visit(&house, shop, &elsewhere).await, REFUSED);

    // Another node gets it with the session, by the network and as a file.
    introduce(&house, "first", &other);
    said(&baton(&house, &["save", "shop"]).success());
    let exported = house.folder().join("shop.json");
    let to = exported.to_str().unwrap();
    baton(&house, &["export", "shop", "--format", "session", "-o", to]).success();
    baton(&house, &["sessions", "close", "shop"]).success();
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
    let audit = said(&baton(&house, &["audit"]).success());
    let entries = audit["items"].as_array().unwrap().iter();
    let trusts: Vec<&Value> =
        entries.filter_map(|entry| entry["detail"]["trusts"].get(0)).collect();
    assert!(matches!(trusts[..], [one] if one.as_str().unwrap().ends_with("CN=Staging CA")));
    house.clear().await.unwrap();
    other.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_signed_for_itself_is_trusted_for_its_own_names_alone() {
    let alone = Identity::alone(&["dev.localhost"]);
    let pem = alone.pem.clone();
    let site = TlsSite::start(alone, pages()).await;
    let (named, other_name) = (site.url("dev.localhost", "/"), site.url("shop.localhost", "/"));
    let house = house().await;
    let ca = file(&house, "dev.pem", &pem);
    let opened = open(&house, "dev", &named, &["--ca", ca.to_str().unwrap()]);
    let [certificate] = &opened["certificates"].as_array().unwrap()[..] else { panic!("{opened}") };
    assert_eq!(
        (&certificate["authority"], &certificate["names"][0]),
        (&false.into(), &"dev.localhost".into())
    );
    assert_eq!(visit(&house, id(&opened), &named).await, "nobody");
    assert_eq!(visit(&house, id(&opened), &other_name).await, "net::ERR_CERT_COMMON_NAME_INVALID");
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_holds_nothing_to_trust_opens_no_session() {
    let house = house().await;
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let text = Authority::new("Staging CA").pem + &key;
    let both = file(&house, "both.pem", &text);
    let refused = baton(&house, &["open", "--name", "shop", "--ca", both.to_str().unwrap()]);
    let error = said(&refused.code(2))["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("both.pem: expected certificates alone, found a private key"));
    let gone = house.folder().join("gone.pem");
    baton(&house, &["open", "--name", "shop", "--ca", gone.to_str().unwrap()]).code(3);
    assert_eq!(
        said(&baton(&house, &["sessions", "list"]).success())["items"],
        serde_json::json!([])
    );
    house.clear().await.unwrap();
}
