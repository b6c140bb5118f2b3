//! The page at any node of a cluster: signed in at one, let in at all, and ended everywhere.

use crate::cluster::{MASTER_KEY, Pair, choices, done_by, next_text, open, watch};
use crate::fixture::{Folder, LIMIT, Node, one_line, problem, until};
use baton_api::{
    CreateKey, ErrorCode, LiveAccess, PAGE_HEADER, PageSession, PageTicket, PageView, Scope,
};
use baton_playground::Nats;
use baton_runtime::keys::KeySecret;
use baton_server::config::Choices;
use baton_session::Owner;
use baton_store::{PageLimits, SignedInPage};
use baton_testing::skip;
use futures_util::future::join;
use jiff::SignedDuration;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

/// What the balancer is called.
const HOST: &str = "shop.test";
/// The promise is a second; a busy machine has some more.
const SOON: Duration = Duration::from_secs(4);

/// A node behind the balancer, with a bus or without.
async fn start(database: &str, name: &str, nats: Option<&Nats>) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = Folder::new();
    let choices = Choices {
        bus_servers: nats.map(|nats| vec![nats.url().parse().unwrap()]),
        bus_credentials: nats.map(Nats::credentials),
        public_url: Some(format!("http://{HOST}").parse().unwrap()),
        ..choices(database, name, listener.local_addr().unwrap().port())
    };
    let mut config = folder.config_with(choices).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    folder.start_at(config, listener).await
}

async fn connected(node: &Node) {
    let is_connected = async || {
        let nodes = node.admin().list_nodes().await.unwrap().items;
        let bus = nodes.into_iter().find_map(|node| node.bus);
        bus.is_some_and(|bus| bus.is_connected).then_some(())
    };
    until("the bus is connected", is_connected).await;
}

/// A page that is signed in: both halves of what opens the nodes.
struct Page {
    cookie: String,
    value: String,
}

impl Page {
    async fn enter(node: &Node, ticket: &PageTicket) -> Self {
        let answer = redeem(node, ticket).await;
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let session: PageSession = answer.json().await.unwrap();
        Self { cookie, value: session.value }
    }

    fn request(&self, node: &Node, method: Method, path: &str) -> RequestBuilder {
        let request = node.request(method, path).header("host", HOST);
        request.header("cookie", &self.cookie).header(PAGE_HEADER, &self.value)
    }

    async fn status(&self, node: &Node) -> u16 {
        self.request(node, Method::GET, "/sessions").send().await.unwrap().status().as_u16()
    }

    /// Events of a node, from when it tells them.
    async fn follow(&self, node: &Node) -> Response {
        let stream = self.request(node, Method::GET, "/events").send().await.unwrap();
        assert_eq!(stream.status(), 200);
        stream
    }

    async fn leave(&self, node: &Node) {
        let left = self.request(node, Method::DELETE, "/page/session").send().await.unwrap();
        assert_eq!(left.status(), 204);
    }
}

async fn redeem(node: &Node, ticket: &PageTicket) -> Response {
    let code = ticket.url.fragment().unwrap().strip_prefix("code=").unwrap();
    let call = node.request(Method::POST, "/page/session").header("host", HOST);
    call.json(&json!({ "code": code })).send().await.unwrap()
}

/// Reads a stream to its end, and says how long that took.
async fn end(mut stream: Response) -> Duration {
    let begun = Instant::now();
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(LIMIT, end).await.expect("the stream ends");
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_counts_once_in_the_cluster_and_both_halves_open_every_node() {
    let database = baton_postgres::create_database().unwrap();
    let (one, two) = (start(&database, "one", None).await, start(&database, "two", None).await);
    let ticket = one.admin().open_page().await.unwrap();
    let page = Page::enter(&two, &ticket).await;
    for node in [&one, &two] {
        let again = problem(redeem(node, &ticket).await).await;
        assert_eq!(again.code, ErrorCode::Unauthenticated);
        assert!(one_line(&again).ends_with("found one that does not count, or no longer"));
    }
    let other = Page::enter(&one, &two.admin().open_page().await.unwrap()).await;
    for node in [&one, &two] {
        assert_eq!(page.status(node).await, 200);
        let view = page.request(node, Method::GET, "/page/session").send().await.unwrap();
        let view: PageView = view.json().await.unwrap();
        assert_eq!((view.owner.as_str(), view.node_id), ("local", node.id()));
        let left = view.ends_at.duration_since(jiff::Timestamp::now());
        assert!(left > SignedDuration::from_mins(719) && left <= SignedDuration::from_hours(12));
        // Neither half does alone, nor one with that of another page.
        let bare = || node.request(Method::GET, "/sessions").header("host", HOST);
        for wrong in [
            bare().header("cookie", &page.cookie),
            bare().header(PAGE_HEADER, &page.value),
            bare().header("cookie", &page.cookie).header(PAGE_HEADER, &other.value),
            bare().header("cookie", &other.cookie).header(PAGE_HEADER, &page.value),
        ] {
            assert_eq!(wrong.send().await.unwrap().status(), 401);
        }
    }
    // One that is signed in with a key asks no other node.
    let own = one.admin_key();
    let call = two.request(Method::POST, "/page/session").header("host", HOST);
    assert_eq!(call.bearer_auth(&own).json(&json!({})).send().await.unwrap().status(), 200);
    // The node that gave a code out, and has ended, took it along; pages stay.
    let lost = one.admin().open_page().await.unwrap();
    one.stop().await;
    let refused = problem(redeem(&two, &lost).await).await;
    assert_eq!(refused.code, ErrorCode::Unauthenticated);
    assert_eq!((page.status(&two).await, other.status(&two).await), (200, 200));
    two.stop().await;
}

/// Signs out and revokes at one node, and looks how soon that counts at the other.
async fn ends_everywhere(database: &str, nats: Option<&Nats>) {
    let (one, two) = (start(database, "one", nats).await, start(database, "two", nats).await);
    if nats.is_some() {
        join(connected(&one), connected(&two)).await;
    }
    let page = Page::enter(&one, &one.admin().open_page().await.unwrap()).await;
    let stays = Page::enter(&one, &one.admin().open_page().await.unwrap()).await;
    let (there, here) = (page.follow(&two).await, page.follow(&one).await);
    let mut kept = stays.follow(&two).await;
    page.leave(&one).await;
    for stream in [there, here] {
        let took = end(stream).await;
        assert!(took < SOON, "{took:?}");
    }
    for node in [&one, &two] {
        assert_eq!((page.status(node).await, stays.status(node).await), (401, 200));
    }
    let more = timeout(Duration::from_millis(100), kept.chunk()).await;
    assert!(!matches!(more, Ok(Ok(None) | Err(_))), "the other page goes on: {more:?}");

    let scopes = [Scope::Read].into();
    let request = CreateKey { name: "page".to_owned(), owner: None, scopes, for_node: None };
    let key = one.admin().create_key(&request).await.unwrap();
    let ticket = one.client(&key.secret).open_page().await.unwrap();
    let page = Page::enter(&two, &ticket).await;
    let there = page.follow(&two).await;
    one.admin().revoke_key(&key.key.id, None).await.unwrap();
    let took = end(there).await;
    assert!(took < SOON, "{took:?}");
    assert_eq!((page.status(&one).await, page.status(&two).await), (401, 401));
    two.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_signed_out_at_one_node_ends_at_the_other_by_the_bus() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let nats = Nats::start(program, None).await.unwrap();
    ends_everywhere(&baton_postgres::create_database().unwrap(), Some(&nats)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_signed_out_at_one_node_ends_at_the_other_without_a_bus() {
    ends_everywhere(&baton_postgres::create_database().unwrap(), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_ends_at_every_node_when_its_time_is_over() {
    let database = baton_postgres::create_database().unwrap();
    let (one, two) = (start(&database, "one", None).await, start(&database, "two", None).await);
    let store = open(&database).await;
    let hash = |text: &str| -> [u8; 32] { Sha256::digest(text.as_bytes()).into() };
    let page = Page {
        cookie: format!("baton_page_{}={}", "v".repeat(8), "c".repeat(43)),
        value: "v".repeat(43),
    };
    let key_hash = KeySecret::parse(one.admin_key().trim()).unwrap().hash();
    let key_id = store.find_key(key_hash).await.unwrap().unwrap().key.id;
    let lasts = SignedDuration::from_secs(3);
    let row = SignedInPage {
        cookie_hash: hash(&"c".repeat(43)),
        value_hash: hash(&page.value),
        key_hash,
        key_id,
        owner: Owner::local(),
        person: None,
        ends_at: store.database_now().await.unwrap() + lasts,
    };
    let signed_in = Instant::now();
    let limits = PageLimits { of_a_key: 9, in_all: 9 };
    store.create_page("shop", &row, limits).await.unwrap();
    let streams = (page.follow(&one).await, page.follow(&two).await);
    join(end(streams.0), end(streams.1)).await;
    let took = signed_in.elapsed();
    let lasts = Duration::try_from(lasts).unwrap();
    // Two clocks count.
    assert!(took + Duration::from_millis(200) > lasts && took < lasts + SOON, "{took:?}");
    assert_eq!((page.status(&one).await, page.status(&two).await), (401, 401));
    store.close().await;
    two.stop().await;
    one.stop().await;
}

/// A page of Ada's that is signed in at the node which does not have her session.
async fn sign_in(pair: &Pair) -> Box<dyn Fn(&Node, Method, &str) -> RequestBuilder> {
    let own_name = |node: &Node| {
        let id = node.id().to_string().replace('-', "");
        format!("baton-{}.localhost:{}", &id[id.len() - 12..], node.file.url.port().unwrap())
    };
    let request = pair.wrong.request(Method::POST, "/page/session").bearer_auth(&pair.ada);
    let request = request.header("host", own_name(&pair.wrong)).json(&json!({}));
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let PageSession { value, .. } = answer.json().await.unwrap();
    Box::new(move |node, method, path| {
        let request = node.request(method, path).header("host", own_name(node));
        request.header("cookie", &cookie).header(PAGE_HEADER, &value)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_watches_by_way_of_any_node_until_it_is_signed_out_at_one() {
    let pair = Pair::start().await;
    let page = sign_in(&pair).await;
    let mut streams = Vec::new();
    // Asked for at either node, and connected to at either.
    for (asked, connected) in [
        (&pair.wrong, &pair.right),
        (&pair.wrong, &pair.wrong),
        (&pair.right, &pair.wrong),
        (&pair.right, &pair.right),
    ] {
        let opened = page(asked, Method::POST, "/sessions/shop/live").send().await.unwrap();
        assert_eq!(opened.status(), 200, "{}", opened.text().await.unwrap());
        let mut url = opened.json::<LiveAccess>().await.unwrap().live_url;
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(connected.file.url.port()).unwrap();
        let answer = watch(&url).await;
        assert_eq!(
            (answer.status().as_u16(), done_by(&answer)),
            (101, &*pair.right.id().to_string())
        );
        streams.push(answer.upgrade().await.unwrap());
    }
    for stream in &mut streams {
        next_text(stream).await;
    }
    // What a page was given that is signed out meanwhile opens nothing for long.
    let late = page(&pair.wrong, Method::POST, "/sessions/shop/live").send().await.unwrap();
    let mut late = late.json::<LiveAccess>().await.unwrap().live_url;
    late.set_host(Some("127.0.0.1")).unwrap();
    let left = page(&pair.wrong, Method::DELETE, "/page/session").send().await.unwrap();
    assert_eq!(left.status(), 204);
    let signed_out = Instant::now();
    for mut stream in streams {
        timeout(LIMIT, stream.read_to_end(&mut Vec::new())).await.unwrap().ok();
    }
    // The promise is a second; a busy machine has some more.
    assert!(signed_out.elapsed() < Duration::from_secs(4), "{:?}", signed_out.elapsed());
    let answer = watch(&late).await;
    if answer.status() == 101 {
        let mut stream = answer.upgrade().await.unwrap();
        timeout(LIMIT, stream.read_to_end(&mut Vec::new())).await.unwrap().ok();
    }
    for node in [&pair.right, &pair.wrong] {
        let refused = page(node, Method::POST, "/sessions/shop/live").send().await.unwrap();
        assert_eq!(refused.status(), 401);
    }
    pair.stop().await;
}
