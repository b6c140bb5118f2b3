//! Two nodes that are one: any of them takes any request, and believes nobody but the other.

use crate::fixture::{Folder, LIMIT, Node, one_line, problem, seed_snapshot, state_at};
use axum::Router;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::live::LiveMessage;
use baton_api::{Client, CreateKey, ErrorCode, LiveAccess, NodeList, Scope};
use baton_server::ServeError;
use baton_server::config::{BrowserChoices, Choices, ConfigError};
use baton_server::http::{Place, ROUTES, document};
use baton_session::{NodeId, NodeSecret, SessionId};
use baton_store::{ClusterBeat, ClusterMember, DatabaseUrl, Limits, MasterKey, Store};
use baton_sync::identity::{Identity, load_or_create};
use baton_sync::messages::{BATON_CALLER, sign_forwarded};
use baton_testkit::Peer;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HOST;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};
use url::Url;

pub(crate) const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const ALL: &[Scope] = &[Scope::Read, Scope::Drive, Scope::Reveal, Scope::Watch];

pub(crate) fn choices(database: &str, name: &str, port: u16) -> Choices {
    Choices {
        browser: BrowserChoices::started("/nowhere/chromium".into()),
        database: Some(database.parse().unwrap()),
        cluster: Some("shop".to_owned()),
        node_name: Some(name.to_owned()),
        internal_url: Some(format!("http://127.0.0.1:{port}").parse().unwrap()),
        lease: Some(Duration::from_secs(30)),
        ..Choices::default()
    }
}

/// A node of the cluster that says of itself that it is asked at `internal`, or where it listens.
async fn start(database: &str, name: &str, internal: Option<u16>) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = internal.unwrap_or(listener.local_addr().unwrap().port());
    let folder = Folder::new();
    let mut config = folder.config_with(choices(database, name, port)).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    folder.start_at(config, listener).await
}

pub(crate) async fn open(database: &str) -> Store {
    let config = baton_store::Config {
        database: database.parse::<DatabaseUrl>().unwrap(),
        key: MasterKey::from_base64(MASTER_KEY).unwrap(),
        limits: Limits::default(),
    };
    Store::open(config).await.unwrap()
}

/// Two nodes, of which the first has a session of Ada.
pub(crate) struct Pair {
    database: String,
    pub(crate) store: Store,
    pub(crate) right: Node,
    pub(crate) wrong: Node,
    session: SessionId,
    pub(crate) ada: String,
}

impl Pair {
    pub(crate) async fn start() -> Self {
        Self::start_at(None).await
    }

    /// The same, whose first node says that it is asked at this port.
    async fn start_at(internal: Option<u16>) -> Self {
        let database = baton_postgres::create_database().unwrap();
        let store = open(&database).await;
        let right = start(&database, "right", internal).await;
        let wrong = start(&database, "wrong", None).await;
        let session = right.folder.seed(&store, "ada", "shop").await;
        seed_snapshot(&store, "ada", session, &state_at("https://shop.test/")).await;
        let key = CreateKey {
            name: "ada".to_owned(),
            owner: Some("ada".parse().unwrap()),
            scopes: ALL.iter().copied().collect(),
            for_node: None,
        };
        let ada = right.admin().create_key(&key).await.unwrap().secret;
        Self { database, store, right, wrong, session, ada }
    }

    /// What Ada hears of the node that does not have her session.
    async fn ask(&self, method: Method, path: &str) -> Response {
        self.wrong.request(method, path).bearer_auth(&self.ada).send().await.unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        self.wrong.client(&self.ada)
    }

    pub(crate) async fn stop(self) {
        self.wrong.stop().await;
        self.right.stop().await;
        self.store.close().await;
    }
}

pub(crate) fn done_by(response: &Response) -> &str {
    response.headers()["x-baton-node"].to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_answers_for_a_session_of_another_one() {
    let pair = Pair::start().await;
    let (right, wrong) = (pair.right.id().to_string(), pair.wrong.id().to_string());
    for path in ["/sessions/shop".to_owned(), format!("/sessions/{}?reveal=true", pair.session)] {
        let answer = pair.ask(Method::GET, &path).await;
        assert_eq!((answer.status().as_u16(), done_by(&answer)), (200, right.as_str()), "{path}");
        assert!(answer.headers().get("signature").is_none(), "what is between nodes stays there");
    }
    // What the database says, any node says.
    for path in ["state", "history", "logins", "preview"] {
        let answer = pair.ask(Method::GET, &format!("/sessions/shop/{path}")).await;
        assert_eq!((answer.status().as_u16(), done_by(&answer)), (200, wrong.as_str()), "{path}");
    }
    // A refusal is that of the session's node, whole.
    let refused = pair.ask(Method::POST, "/sessions/shop/capture").await;
    assert_eq!(done_by(&refused), right);
    assert_eq!(problem(refused).await.code, ErrorCode::WrongState);
    // No session, or that of another owner: any node knows.
    let missing = pair.client().fetch_session("other").await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::SessionNotFound));
    let stranger = pair.right.as_owner("eve", ALL).await;
    let eve = pair.wrong.client(secrecy::ExposeSecret::expose_secret(stranger.key()));
    let missing = eve.fetch_session(&pair.session.to_string()).await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::SessionNotFound));
    let none = pair.wrong.request(Method::GET, "/sessions/shop").send().await.unwrap();
    assert_eq!(problem(none).await.code, ErrorCode::Unauthenticated);
    // It is deleted where it is, once.
    let deleted = pair.ask(Method::DELETE, "/sessions/shop").await;
    assert_eq!((deleted.status().as_u16(), done_by(&deleted)), (204, right.as_str()));
    let missing = pair.right.client(&pair.ada).fetch_session("shop").await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::SessionNotFound));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_may_not_is_refused_through_any_node() {
    let pair = Pair::start().await;
    let reader = pair.right.as_owner("ada", &[Scope::Read]).await;
    let key = secrecy::ExposeSecret::expose_secret(reader.key()).to_owned();
    let reader = pair.wrong.client(&key);
    reader.fetch_session("shop").await.unwrap();
    let refused = reader.capture_session("shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    pair.stop().await;
}

/// A WebSocket to watch a session at.
pub(crate) async fn watch(url: &Url) -> Response {
    let mut url = url.clone();
    url.set_scheme("http").unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(url).header("connection", "Upgrade").header("upgrade", "websocket");
    let request = request.header("sec-websocket-version", "13");
    request.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==").send().await.unwrap()
}

/// The next short text in a frame of its own: two bytes precede it (RFC 6455, section 5.2).
pub(crate) async fn next_text(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    loop {
        let mut head = [0; 2];
        timeout(LIMIT, stream.read_exact(&mut head)).await.unwrap().unwrap();
        let mut payload = vec![0; usize::from(head[1])];
        timeout(LIMIT, stream.read_exact(&mut payload)).await.unwrap().unwrap();
        if head[0] == 0x81 {
            return payload;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_through_another_node_names_that_one_and_ends_with_its_key() {
    let pair = Pair::start().await;
    let opened = pair.ask(Method::POST, "/sessions/shop/live").await;
    assert_eq!(done_by(&opened), pair.right.id().to_string());
    let access: LiveAccess = opened.json().await.unwrap();
    let port = pair.wrong.file.url.port();
    assert_eq!(access.live_url.port(), port, "the client asked there: {}", access.live_url);
    let answer = watch(&access.live_url).await;
    assert_eq!((answer.status().as_u16(), done_by(&answer)), (101, &*pair.right.id().to_string()));
    let mut stream = answer.upgrade().await.unwrap();
    // It has no browser, and is told so, before or after who drives.
    let told = async |stream: &mut _| {
        serde_json::from_slice::<LiveMessage>(&next_text(stream).await).unwrap()
    };
    while told(&mut stream).await != (LiveMessage::Gone {}) {}
    // A ticket counts once, whichever way it comes.
    let again = watch(&access.live_url).await;
    assert_eq!(again.status().as_u16(), 401);
    // The key is revoked at the node that does not have the session.
    pair.wrong.admin().revoke_key("ada", Some(&"ada".parse().unwrap())).await.unwrap();
    let revoked = Instant::now();
    let mut rest = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut rest)).await.unwrap().ok();
    // The promise is a second; a busy machine has some more.
    assert!(revoked.elapsed() < Duration::from_secs(4), "{:?}", revoked.elapsed());
    pair.stop().await;
}

/// What one node says to another in the name of Ada.
struct Forwarded {
    to: NodeId,
    identity: Identity,
    path: String,
    at: Timestamp,
}

impl Forwarded {
    /// One of the wrong node to the right one.
    async fn of(pair: &Pair) -> Self {
        let identity = load_or_create(&pair.store, &pair.wrong.folder.data).await.unwrap();
        assert_eq!(identity.node(), pair.wrong.id());
        let (to, path) = (pair.right.id(), "/sessions/shop".to_owned());
        Self { to, identity, path, at: Timestamp::now() }
    }

    fn header(&self) -> String {
        let scopes: Vec<&str> = ALL.iter().map(|scope| scope.as_str()).collect();
        let caller = json!({
            "owner": "ada", "key": "k", "actor": "ada (k)", "scopes": scopes, "agent": null,
        });
        let passing = json!({
            "to": self.to, "caller": caller, "here": "ws://127.0.0.1:1/", "address": null,
            "page": null,
        });
        URL_SAFE_NO_PAD.encode(passing.to_string())
    }

    /// The headers of the request to this node.
    fn signed(&self, node: &Node) -> reqwest::header::HeaderMap {
        let url = node.file.url.join(&self.path).unwrap();
        let host = format!("127.0.0.1:{}", url.port().unwrap());
        let request = http::Request::get(url.as_str()).header(HOST, host);
        let request = request.header(BATON_CALLER, self.header()).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        sign_forwarded(&self.identity, &mut parts, None, self.at).unwrap();
        parts.headers
    }

    async fn send(&self, node: &Node) -> (u16, String) {
        send(node, &self.path, self.signed(node)).await
    }
}

async fn send(node: &Node, path: &str, headers: reqwest::header::HeaderMap) -> (u16, String) {
    let answer = node.request(Method::GET, path).headers(headers).send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    (status, body["code"].as_str().unwrap_or("fine").to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_passed_on_is_believed_from_a_living_node_of_the_cluster_alone() {
    let pair = Pair::start().await;
    let own = pair.wrong.folder.seed(&pair.store, "ada", "own").await;
    let fine = || (200, "fine".to_owned());
    let refused = |status, code: ErrorCode| (status, code.as_str().to_owned());
    let (untrusted, misdirected) =
        (refused(403, ErrorCode::Untrusted), refused(421, ErrorCode::Misdirected));
    let forwarded = async || Forwarded::of(&pair).await;
    let (node, path) = (&pair.right, "/sessions/shop");

    let headers = forwarded().await.signed(node);
    assert_eq!(send(node, path, headers.clone()).await, fine());
    assert_eq!(send(node, path, headers).await, untrusted, "it came before");

    let mut headers = forwarded().await.signed(node);
    let text = URL_SAFE_NO_PAD.decode(&headers[BATON_CALLER]).unwrap();
    let text = String::from_utf8(text).unwrap().replace("\"ada\"", "\"eve\"");
    headers.insert(BATON_CALLER, URL_SAFE_NO_PAD.encode(text).parse().unwrap());
    assert_eq!(send(node, path, headers).await, untrusted, "another caller");
    let mut headers = forwarded().await.signed(node);
    headers.remove("signature");
    assert_eq!(send(node, path, headers).await, untrusted, "no signature");
    let headers = forwarded().await.signed(node);
    assert_eq!(send(node, "/sessions/shop/export", headers).await, untrusted, "another path");
    let mut headers = forwarded().await.signed(node);
    headers.insert(BATON_CALLER, "e30".parse().unwrap());
    assert_eq!(send(node, path, headers).await, untrusted, "a header of another form");

    for seconds in [-60, 60] {
        let at = Timestamp::now() + SignedDuration::from_secs(seconds);
        let late = Forwarded { at, ..forwarded().await };
        assert_eq!(late.send(node).await, untrusted, "signed {seconds} s from now");
    }
    let other = Forwarded { to: pair.wrong.id(), ..forwarded().await };
    assert_eq!(other.send(node).await, misdirected, "for another node");
    let stranger = Forwarded { identity: Peer::new(9).identity, ..forwarded().await };
    assert_eq!(stranger.send(node).await, untrusted, "of no node of the cluster");
    let theirs = Forwarded { path: format!("/sessions/{own}"), ..forwarded().await };
    assert_eq!(theirs.send(node).await, misdirected, "about a session of another node");
    for path in ["/sessions/shop/state", "/sessions", "/keys"] {
        let any = Forwarded { path: path.to_owned(), ..forwarded().await };
        assert_eq!(any.send(node).await, misdirected, "{path} is answered anywhere");
    }
    // One that has left is no node of the cluster any more.
    let gone = forwarded().await;
    let right = pair.right;
    pair.wrong.stop().await;
    let is_gone = || async {
        let found = gone.send(&right).await;
        (found == untrusted).then_some(())
    };
    crate::fixture::until("the one that left is believed no more", is_gone).await;
    right.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_leads_elsewhere_is_found_out() {
    // Another node of the cluster answers there, and then something that is no node at all.
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = elsewhere.local_addr().unwrap().port();
    let pair = Pair::start_at(Some(port)).await;
    let folder = Folder::new();
    let mut config = folder.config_with(choices(&pair.database, "third", port)).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    let third = folder.start_at(config, elsewhere).await;
    let refused = pair.ask(Method::GET, "/sessions/shop").await;
    let refused = problem(refused).await;
    assert_eq!(refused.code, ErrorCode::NodeUnreachable);
    let expected =
        format!("expected an answer of node {}, found one of node {}", pair.right.id(), third.id());
    assert!(refused.detail.ends_with(&expected), "{}", refused.detail);
    third.stop().await;

    let elsewhere = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let site = Router::new().route("/sessions/{id}", get(async || "a session"));
    let site = tokio::spawn(async move { axum::serve(elsewhere, site).await.unwrap() });
    let refused = problem(pair.ask(Method::GET, "/sessions/shop").await).await;
    assert_eq!(refused.code, ErrorCode::NodeUnreachable);
    assert!(refused.detail.contains("no signature"), "{}", refused.detail);
    site.abort();
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_does_not_answer_is_said_to_be_that() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let pair = Pair::start_at(Some(port)).await;
    let refused = pair.ask(Method::POST, "/sessions/shop/capture").await;
    assert_eq!(refused.headers()["retry-after"], "5");
    let refused = problem(refused).await;
    let text = format!("{}\n{}", one_line(&refused), refused.hint.unwrap());
    let text = text.replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r"
    503 node_unreachable: expected node right, which has the session, to answer at http://127.0.0.1:PORT/, found: Connection refused (os error 111)
    ask again in some seconds; once the node is gone for the length of a lease, baton sessions resume brings the session back on another one
    ");
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nodes_that_are_one_are_listed_for_an_admin() {
    let pair = Pair::start().await;
    let list: NodeList = pair.wrong.admin().list_nodes().await.unwrap();
    assert_eq!(list.cluster.as_deref(), Some("shop"));
    let names: Vec<_> =
        list.items.iter().map(|node| (&*node.name, node.is_this, node.is_there)).collect();
    assert_eq!(names, [("right", false, true), ("wrong", true, true)]);
    let one = pair.wrong.admin().fetch_node("right").await.unwrap();
    assert_eq!((one.node_id, one.version.as_str()), (pair.right.id(), env!("CARGO_PKG_VERSION")));
    assert!(one.clock_ahead_ms.abs() < 5_000, "{}", one.clock_ahead_ms);
    let missing = pair.wrong.admin().fetch_node("third").await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::NodeNotFound));
    let forbidden = pair.client().list_nodes().await.unwrap_err();
    assert_eq!(forbidden.code(), Some(ErrorCode::Forbidden));
    // One that ends in order is listed no more.
    let (wrong, right) = (pair.wrong, pair.right);
    right.stop().await;
    let left = wrong.admin().list_nodes().await.unwrap();
    assert_eq!(left.items.iter().map(|node| &*node.name).collect::<Vec<_>>(), ["wrong"]);
    wrong.stop().await;
    // And a node that is one by itself says so.
    let alone = Node::start().await;
    let list = alone.admin().list_nodes().await.unwrap();
    assert_eq!(list, NodeList { cluster: None, items: Vec::new() });
    let answer = alone.request(Method::GET, "/health").send().await.unwrap();
    assert!(answer.headers().get("x-baton-node").is_none());
    alone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_start_of_a_node_that_goes_on_is_refused() {
    let database = baton_postgres::create_database().unwrap();
    let store = open(&database).await;
    // The identity is known, and another start of it says that it is there.
    let node = start(&database, "first", None).await;
    let folder = node.stop().await;
    let id = folder.data.node_id().unwrap().unwrap();
    let first = ClusterMember {
        cluster: "shop".to_owned(),
        node: id,
        name: "first".to_owned(),
        internal_url: "http://127.0.0.1:1/".to_owned(),
        key: NodeSecret::from_seed(&[7; 32]).key(),
        version: "1.0.0".to_owned(),
        start: "another".to_owned(),
        lease: Duration::from_secs(30),
        labels: BTreeSet::new(),
    };
    assert_eq!(store.enter_cluster(&first, None).await.unwrap(), None);
    let beating = {
        let (store, first) = (store.clone(), first.clone());
        tokio::spawn(async move {
            while store.beat_cluster(&first, ClusterBeat::default()).await.unwrap() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut choices = choices(&database, "second", listener.local_addr().unwrap().port());
    choices.lease = Some(Duration::from_secs(4));
    let mut config = folder.config_with(choices).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    let ending = tokio_util::sync::CancellationToken::new();
    let refused = timeout(LIMIT, baton_server::serve(config, listener, ending)).await.unwrap();
    let Err(error @ ServeError::Cluster(_)) = refused else { panic!("{refused:?}") };
    let expected = format!("expected to be the only node {id} of the cluster shop");
    assert!(error.to_string().starts_with(&expected), "{error}");
    beating.abort();
    store.close().await;
}

#[test]
fn a_cluster_needs_a_database_and_an_address() {
    let folder = Folder::new();
    let refused = |choices: Choices| folder.config_with(choices).map(drop).unwrap_err();
    let cluster = || Choices { cluster: Some("shop".to_owned()), ..Choices::default() };
    let told: Vec<String> = [
        cluster(),
        Choices { database: Some("/tmp/baton.db".parse().unwrap()), ..cluster() },
        Choices { database: Some("postgres://a@b/c".parse().unwrap()), ..cluster() },
    ]
    .map(|choices| {
        let error = refused(choices);
        assert!(matches!(error, ConfigError::HalfCluster { .. }), "{error}");
        error.to_string()
    })
    .into();
    insta::assert_snapshot!(told.join("\n"), @r#"
    cluster.name: expected storage.database_url to name a PostgreSQL that all its nodes share, found none
    set storage.database_url = "postgres://user@host/database", or BATON_DATABASE_URL
    cluster.name: expected storage.database_url to name a PostgreSQL that all its nodes share, found none
    set storage.database_url = "postgres://user@host/database", or BATON_DATABASE_URL
    cluster.name: expected node.internalUrl to say where the other nodes ask this one, found none
    set node.internalUrl = "http://10.0.0.7:7420", or BATON_INTERNAL_URL
    "#);
}

#[test]
fn every_route_that_names_a_session_a_sandbox_or_a_node_says_where_it_is_answered() {
    let document = serde_json::to_value(document()).unwrap();
    // A new session names none, and is made at a node with room; one of the protocol is named in a header; who signs in,
    // and the browser of a person, brings what a node gave out.
    let others = [
        "POST /sessions",
        "POST /v1/chat/completions",
        "GET /mcp",
        "POST /mcp",
        "DELETE /mcp",
        "POST /page/session",
        "GET /page/oidc/callback",
        "POST /debug/pair/exchange",
        "GET /api/signaling/ws",
    ];
    let mut expected: BTreeSet<String> = others.into_iter().map(str::to_owned).collect();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let prefixes = ["/sessions/{id}", "/nodes/{id}", "/api/sandboxes", "/asked", "/debug/tabs"];
        if prefixes.iter().any(|prefix| path.starts_with(prefix)) {
            let methods = operations.as_object().unwrap().keys();
            expected.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
        }
    }
    let found: Vec<String> =
        ROUTES.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
    assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(found.len(), expected.len(), "each is there once");
    assert!(ROUTES.iter().any(|(_, _, place)| *place == Place::Anywhere));
}
