//! The page: where it lives, what opens the node to it, and how that ends. Without a browser.

use crate::fixture::{Folder, LIMIT, Node, one_line, problem, seed_snapshot, state_at};
use baton_api::{
    CreateKey, CreatedKey, ErrorCode, ListAudit, LoginList, PAGE_HEADER, PageSession, PageTicket,
    PageView, Scope,
};
use baton_net::rates::RateLimits;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::json;
use tokio::time::timeout;

/// A page that is signed in: the name of its host, and both halves of what opens the node.
struct Page {
    name: String,
    cookie: String,
    value: String,
}

impl Page {
    /// Signs in with the code of a ticket.
    async fn enter(node: &Node, ticket: &PageTicket) -> Self {
        let answer = redeem(node, ticket).await;
        assert_eq!(answer.status(), 200);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        for wanted in ["; Path=/;", "; HttpOnly", "; SameSite=Strict"] {
            assert!(cookie.contains(wanted), "{cookie}");
        }
        assert!(!cookie.contains("Domain"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let session: PageSession = answer.json().await.unwrap();
        let name = ticket.url.host_str().unwrap().to_owned();
        Self { name, cookie, value: session.value }
    }

    /// Where it is; a node that starts again has another port.
    fn host(&self, node: &Node) -> String {
        format!("{}:{}", self.name, node.file.url.port().unwrap())
    }

    /// A request as the page makes it.
    fn request(&self, node: &Node, method: Method, path: &str) -> RequestBuilder {
        let request = node.request(method, path).header("host", self.host(node));
        request.header("cookie", &self.cookie).header(PAGE_HEADER, &self.value)
    }

    async fn status(&self, node: &Node, method: Method, path: &str) -> u16 {
        self.request(node, method, path).send().await.unwrap().status().as_u16()
    }
}

fn host(ticket: &PageTicket) -> String {
    format!("{}:{}", ticket.url.host_str().unwrap(), ticket.url.port().unwrap())
}

async fn redeem(node: &Node, ticket: &PageTicket) -> Response {
    let code = ticket.url.fragment().unwrap().strip_prefix("code=").unwrap();
    let call = node.request(Method::POST, "/page/session").header("host", host(ticket));
    call.json(&json!({ "code": code })).send().await.unwrap()
}

async fn key(node: &Node, scopes: &[Scope]) -> CreatedKey {
    let scopes = scopes.iter().copied().collect();
    let request = CreateKey { name: "page".into(), owner: None, scopes, for_node: None };
    node.admin().create_key(&request).await.unwrap()
}

#[tokio::test]
async fn it_lives_under_a_name_of_its_own_and_is_kept_to_it() {
    let node = Node::start().await;
    let plain = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .unwrap();
    let elsewhere = plain.get(node.file.url.clone()).send().await.unwrap();
    assert_eq!(elsewhere.status(), 307);
    let place: url::Url = elsewhere.headers()["location"].to_str().unwrap().parse().unwrap();
    let name = place.host_str().unwrap();
    assert!(name.starts_with("baton-") && name.ends_with(".localhost"), "{place}");
    assert_eq!(place.port(), node.file.url.port());

    let host = format!("{name}:{}", place.port().unwrap());
    let get = |path: &str| node.request(Method::GET, path).header("host", &host).send();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page/page.js", "text/javascript; charset=utf-8"),
        ("/page/display.js", "text/javascript; charset=utf-8"),
        ("/page/page.css", "text/css; charset=utf-8"),
        ("/page/icon.svg", "image/svg+xml"),
    ] {
        let answer = get(path).await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap()),
            (200, kind)
        );
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        for wanted in [
            "default-src 'none';",
            "script-src 'self';",
            "style-src 'self';",
            "img-src 'self' blob:;",
            "connect-src 'self';",
            "frame-ancestors 'none';",
            "base-uri 'none';",
            "form-action 'none'",
        ] {
            assert!(policy.contains(wanted), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    let page = get("/").await.unwrap().text().await.unwrap();
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("javascript:"));
    assert_eq!(problem(get("/page/other.js").await.unwrap()).await.code, ErrorCode::RouteNotFound);
    node.stop().await;
}

#[tokio::test]
async fn a_code_signs_it_in_once_and_both_halves_open_the_node() {
    let node = Node::start().await;
    let ticket = node.admin().open_page().await.unwrap();
    assert!(ticket.url.fragment().unwrap().len() >= "code=".len() + 43, "256 bits");
    let page = Page::enter(&node, &ticket).await;
    let again = redeem(&node, &ticket).await;
    insta::assert_snapshot!(one_line(&problem(again).await), @"401 unauthenticated: expected a code that signs the page in, found one that does not count, or no longer");

    assert_eq!(page.status(&node, Method::GET, "/sessions").await, 200);
    let view: PageView = page
        .request(&node, Method::GET, "/page/session")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!((view.owner.as_str(), view.node_id), ("local", node.id()));
    // Neither half does alone, nor one with the other of another page.
    let other = Page::enter(&node, &node.admin().open_page().await.unwrap()).await;
    let host = page.host(&node);
    let bare = || node.request(Method::GET, "/sessions").header("host", &host);
    let wrong = [
        bare().header("cookie", &page.cookie),
        bare().header(PAGE_HEADER, &page.value),
        bare().header("cookie", &page.cookie).header(PAGE_HEADER, &other.value),
        bare().header("cookie", &other.cookie).header(PAGE_HEADER, &page.value),
        bare().header("cookie", &page.cookie).header(PAGE_HEADER, ""),
        bare().header("cookie", &page.cookie).header("authorization", &page.value),
    ];
    for call in wrong {
        assert_eq!(call.send().await.unwrap().status(), 401);
    }
    // Pages of one browser are signed in beside each other.
    let cookies = format!("{}; {}", other.cookie, page.cookie);
    for value in [&page.value, &other.value] {
        let call = bare().header("cookie", &cookies).header(PAGE_HEADER, value);
        assert_eq!(call.send().await.unwrap().status(), 200);
    }
    // Another program of this host is another origin, though the browser shows it the cookie.
    let (name, port) = (&page.name, node.file.url.port().unwrap() ^ 1);
    let foreign = page
        .request(&node, Method::GET, "/sessions")
        .header("origin", format!("http://{name}:{port}"));
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    let own =
        page.request(&node, Method::GET, "/sessions").header("origin", format!("http://{host}"));
    assert_eq!(own.send().await.unwrap().status(), 200);
    node.stop().await;
}

#[tokio::test]
async fn it_is_signed_in_under_its_own_name_only() {
    let node = Node::start().await;
    let call = node.admin_request(Method::POST, "/page/session").json(&json!({}));
    let refused = problem(call.send().await.unwrap()).await;
    insta::assert_snapshot!(one_line(&refused), @"422 invalid_request: expected a host name under which the page lives, found an address");
    let host = host(&node.admin().open_page().await.unwrap());
    let call = node.admin_request(Method::POST, "/page/session").header("host", &host);
    assert_eq!(call.json(&json!({})).send().await.unwrap().status(), 200);
    let call = node.request(Method::POST, "/page/session").header("host", &host);
    let call = call.bearer_auth(format!("baton_{}", "A".repeat(43))).json(&json!({}));
    assert_eq!(call.send().await.unwrap().status(), 401);
    node.stop().await;
}

#[tokio::test]
async fn signing_in_again_and_again_counts_as_other_requests_of_its_key_do() {
    let folder = Folder::new();
    let mut config = folder.config();
    config.rates = RateLimits { requests_per_minute: 4, ..RateLimits::default() };
    let node = folder.start_with(config).await;
    // To ask for an address is a request itself.
    let ticket = node.admin().open_page().await.unwrap();
    let host = host(&ticket);
    let sign_in = async || {
        let call = node.admin_request(Method::POST, "/page/session").header("host", &host);
        call.json(&json!({})).send().await.unwrap()
    };
    for _ in 0..3 {
        assert_eq!(sign_in().await.status(), 200);
    }
    let refused = sign_in().await;
    assert!(refused.headers().contains_key("retry-after"));
    insta::assert_snapshot!(one_line(&problem(refused).await), @"429 too_many_requests: expected at most 4 requests with one key a minute, found more");
    for _ in 0..2 {
        let refused = redeem(&node, &ticket).await;
        assert_eq!(refused.status(), 429, "a code that is refused so still counts");
    }
    node.stop().await;
}

#[tokio::test]
async fn it_may_what_its_key_may_and_outlives_a_restart_but_not_its_key() {
    let node = Node::start().await;
    let key = key(&node, &[Scope::Read]).await;
    let ticket = node.client(&key.secret).open_page().await.unwrap();
    let page = Page::enter(&node, &ticket).await;
    let refused = page.request(&node, Method::POST, "/sessions/any/capture").send().await.unwrap();
    insta::assert_snapshot!(one_line(&problem(refused).await), @"403 forbidden: expected a key with the scope drive, found one with read");
    let node = node.stop().await.start().await;
    assert_eq!(page.status(&node, Method::GET, "/sessions").await, 200);

    let mut stream = page.request(&node, Method::GET, "/events").send().await.unwrap();
    node.admin().revoke_key(&key.key.id, None).await.unwrap();
    assert_eq!(page.status(&node, Method::GET, "/sessions").await, 401);
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(LIMIT, end).await.expect("the stream ends with the key");
    node.stop().await;
}

#[tokio::test]
async fn signing_out_ends_what_it_has_open_at_once_and_is_noted() {
    let node = Node::start().await;
    let page = Page::enter(&node, &node.admin().open_page().await.unwrap()).await;
    let mut stream = page.request(&node, Method::GET, "/events").send().await.unwrap();
    let ended = page.request(&node, Method::DELETE, "/page/session").send().await.unwrap();
    assert_eq!(ended.status(), 204);
    assert!(ended.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(LIMIT, end).await.expect("the stream ends");
    assert_eq!(page.status(&node, Method::GET, "/sessions").await, 401);
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let of_page = log.iter().filter(|entry| entry.action.starts_with("page."));
    let of_page: Vec<_> =
        of_page.map(|entry| (entry.action.as_str(), entry.actor.as_str())).collect();
    assert_eq!(of_page.len(), 2, "{of_page:?}");
    assert_eq!((of_page[0].0, of_page[1].0), ("page.sign_out", "page.sign_in"));
    assert!(of_page.iter().all(|(_, actor)| actor.starts_with("local-admin (key_")), "{of_page:?}");
    node.stop().await;
}

#[tokio::test]
async fn a_snapshot_is_told_to_whoever_asks_for_it_and_shown_by_its_name() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    let first = seed_snapshot(&store, "local", id, &state_at("https://shop.test/")).await;
    let others = folder.seed(&store, "bob", "other").await;
    store.close().await;
    let node = folder.start().await;
    let of = |path: String| node.admin_request(Method::GET, &path).send();
    let picture = of(format!("/sessions/shop/preview?snapshot={first}")).await.unwrap();
    assert_eq!(picture.bytes().await.unwrap().as_ref(), b"\x89PNG");
    let missing = of("/sessions/shop/preview?snapshot=0000".to_owned()).await.unwrap();
    let missing = problem(missing).await;
    assert_eq!(missing.code, ErrorCode::NoSnapshot);
    let logins: LoginList =
        of("/sessions/shop/logins".to_owned()).await.unwrap().json().await.unwrap();
    assert_eq!((logins.snapshot, logins.items.len()), (Some(first), 0));

    let mut events =
        node.admin_request(Method::GET, "/events?snapshots=true").send().await.unwrap();
    // A second node of the database is not heard; this one's own writes are.
    let import = node.admin_request(Method::POST, "/sessions/import");
    let made =
        import.json(&json!({ "name": "new", "file": { "cookies": [] } })).send().await.unwrap();
    let made: serde_json::Value = made.json().await.unwrap();
    let mut told = String::new();
    let hears = async {
        while !told.contains("event: snapshots") {
            told += std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap();
        }
    };
    timeout(LIMIT, hears).await.expect("what was written is told");
    assert!(told.contains(made["id"].as_str().unwrap()), "{told}");
    assert!(!told.contains(&others.to_string()), "{told}");
    node.stop().await;
}
