//! A node is registered without a key of it, as an agent does, and a person does the rest.

use super::pair::{logged_in, registration, save, seed, start};
use crate::fixture::{Folder, Node, one_line};
use axum::extract::State;
use axum::http::Uri;
use axum::{Json, Router};
use baton_api::sync::{ConfirmPeer, NodeIdentity, PeerStatus, PeerView, RegisterPeer};
use baton_api::{ClientError, CreateKey, ErrorCode, ListAudit, Scope};
use baton_server::config::Choices;
use baton_session::peer::PeerState;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use url::Url;

/// The node `cloud` with the session `shop`, and a node that has registered it without a key.
async fn two() -> (Node, Node) {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    seed(&cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&cloud, "shop").await;
    let pending = laptop.admin().register_peer(&keyless(&cloud).await).await.unwrap();
    assert_eq!((pending.state, pending.has_key), (PeerState::Pending, false));
    (cloud, laptop)
}

#[tokio::test]
async fn a_node_that_is_not_called_so_says_what_to_set_there() {
    let folder = Folder::new();
    let mut config = folder.config();
    config.exposure.behind_proxy = true;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let cloud = folder.start_at(config, listener).await;
    let laptop = start(Choices::default()).await;
    let mut request = keyless(&cloud).await;
    let port = cloud.file.url.port().unwrap();
    // Another name of this machine, which the node does not know to be its own.
    request.url = format!("http://127.0.0.2:{port}").parse().unwrap();
    let refused = laptop.admin().register_peer(&request).await.unwrap_err();
    let ClientError::Problem(problem) = refused else { panic!("{refused}") };
    let told = format!("{}\n{}", one_line(&problem), problem.hint.unwrap_or_default());
    insta::assert_snapshot!(told.replace(&port.to_string(), "PORT"), @r#"
    502 peer_refused: peer 127.0.0.2 refused: expected the header Host to name localhost:PORT, found "127.0.0.2:PORT"
    set node.publicUrl or server.allowed_hosts there to name 127.0.0.2
    "#);
    laptop.stop().await;
    cloud.stop().await;
}

/// What registers `cloud` without a key.
async fn keyless(cloud: &Node) -> RegisterPeer {
    RegisterPeer { api_key: None, ..registration(cloud, cloud, "cloud").await }
}

/// What a node says of itself to anybody.
async fn health_of(node: &Node) -> Value {
    serde_json::to_value(node.admin().health().await.unwrap()).unwrap()
}

async fn confirmation(of: &Node) -> ConfirmPeer {
    ConfirmPeer { fingerprint: of.admin().list_peers().await.unwrap().fingerprint }
}

/// The first line of a refusal.
fn first(error: &ClientError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// How the last such action ended, and with which code.
async fn noted(node: &Node, action: &str) -> (String, Value) {
    let audit = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let entry = audit.into_iter().find(|entry| entry.action == action).unwrap();
    (entry.outcome.as_str().to_owned(), entry.detail["code"].clone())
}

async fn stop(nodes: [Node; 2]) {
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test]
async fn whoever_asks_hears_who_a_node_is_and_nothing_else_of_it() {
    let node = start(Choices::default()).await;
    let health = node.request(reqwest::Method::GET, "/health").send().await.unwrap();
    let health: Value = health.json().await.unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(names(&health), set(&["status", "version", "node_id", "identity"]));
    let shown = set(&["nodeId", "nodeType", "key", "sealKey", "sealSignature"]);
    assert_eq!(names(&health["identity"]), shown);
    let identity: NodeIdentity = serde_json::from_value(health["identity"].clone()).unwrap();
    let own = node.admin().list_peers().await.unwrap();
    assert_eq!((&identity, identity.key.fingerprint()), (&own.this.identity(), own.fingerprint));
    node.stop().await;
}

#[tokio::test]
async fn a_person_gives_the_key_and_confirms_in_whatever_order() {
    for confirms_first in [true, false] {
        let (cloud, laptop) = two().await;
        let (admin, mut refused) = (laptop.admin(), Vec::new());
        let pull = async || admin.pull_session("cloud", "shop").await;
        let give_key =
            async || admin.register_peer(&registration(&laptop, &cloud, "cloud").await).await;
        refused.push(pull().await.unwrap_err());
        if confirms_first {
            let peer = admin.confirm_peer("cloud", &confirmation(&cloud).await).await.unwrap();
            assert_eq!((peer.state, peer.has_key), (PeerState::Confirmed, false));
            refused.push(pull().await.unwrap_err());
            assert_eq!(give_key().await.unwrap().state, PeerState::Confirmed);
        } else {
            let peer = give_key().await.unwrap();
            assert_eq!((peer.state, peer.has_key), (PeerState::Pending, true));
            refused.push(pull().await.unwrap_err());
            admin.confirm_peer("cloud", &confirmation(&cloud).await).await.unwrap();
        }
        let expected = if confirms_first {
            ["to be confirmed, found it pending", "an API key of peer cloud, found none"]
        } else {
            ["to be confirmed, found it pending", "to be confirmed, found it pending"]
        };
        for (refused, expected) in refused.iter().zip(expected) {
            assert!(first(refused).contains(expected), "{refused}");
        }
        pull().await.unwrap();
        let peers = admin.list_peers().await.unwrap().items;
        let [peer] = peers.as_slice() else { panic!("{peers:?}") };
        assert_eq!((peer.state, peer.has_key), (PeerState::Confirmed, true));
        stop([cloud, laptop]).await;
    }
}

#[tokio::test]
async fn a_fingerprint_that_comes_with_the_key_confirms_at_once() {
    let (cloud, laptop) = two().await;
    let fingerprint = Some(confirmation(&cloud).await.fingerprint);
    let request = RegisterPeer { fingerprint, ..registration(&laptop, &cloud, "berlin").await };
    let peer = laptop.admin().register_peer(&request).await.unwrap();
    assert_eq!((peer.state, peer.name.as_str()), (PeerState::Confirmed, "berlin"));
    laptop.admin().pull_session("berlin", "shop").await.unwrap();
    stop([cloud, laptop]).await;
}

#[tokio::test]
async fn nobody_changes_a_peer_without_a_key_of_it() {
    let (cloud, laptop) = two().await;
    let before = laptop.admin().list_peers().await.unwrap().items;
    let other = RegisterPeer { name: "other".to_owned(), ..keyless(&cloud).await };
    for request in [keyless(&cloud).await, other] {
        let refused = laptop.admin().register_peer(&request).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::Conflict), "{refused}");
    }
    assert_eq!(laptop.admin().list_peers().await.unwrap().items, before);
    stop([cloud, laptop]).await;
}

#[tokio::test]
async fn another_node_at_the_address_of_a_pending_one_hears_no_key() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    let thief = start(Choices::default()).await;
    let between = Between::start([("/health", health_of(&cloud).await)]).await;
    let request = RegisterPeer { url: between.url.clone(), ..keyless(&cloud).await };
    laptop.admin().register_peer(&request).await.unwrap();
    between.answer("/health", health_of(&thief).await);
    let keyed = RegisterPeer { api_key: Some("baton_s3cret".to_owned()), ..request };
    for request in [keyed.clone(), RegisterPeer { name: "another".to_owned(), ..keyed }] {
        let refused = laptop.admin().register_peer(&request).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::Untrusted), "{refused}");
    }
    assert_eq!(between.heard(), ["/health", "/health", "/health"]);
    assert_eq!(one(&laptop).await.node_id, cloud.id());
    stop([cloud, thief]).await;
    laptop.stop().await;
}

#[tokio::test]
async fn who_is_one_node_without_a_key_and_another_one_with_it_is_refused() {
    let (cloud, thief) = (start(Choices::default()).await, start(Choices::default()).await);
    let laptop = start(Choices::default()).await;
    // Somebody in between says what the cloud says, until there is a key to be had.
    let health = health_of(&cloud).await;
    let card = serde_json::to_value(thief.admin().list_peers().await.unwrap().this).unwrap();
    let between = Between::start([("/health", health), ("/sync/card", card)]).await;
    let request = RegisterPeer { url: between.url.clone(), ..keyless(&cloud).await };
    let pending = laptop.admin().register_peer(&request).await.unwrap();
    assert_eq!(pending.node_id, cloud.id());
    let keyed = RegisterPeer { api_key: Some("baton_s3cret".to_owned()), ..request };
    let refused = laptop.admin().register_peer(&keyed).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Untrusted));
    assert_eq!(
        first(&refused),
        format!("expected node {}, which was registered, found {}", cloud.id(), thief.id())
    );
    assert_eq!(noted(&laptop, "peer.register").await, ("failed".to_owned(), "untrusted".into()));
    let left = one(&laptop).await;
    assert_eq!((left.node_id, left.has_key), (cloud.id(), false));
    stop([cloud, thief]).await;
    laptop.stop().await;
}

#[tokio::test]
async fn a_pending_peer_is_not_asked_and_gets_nothing_for_a_key() {
    let (cloud, laptop) = two().await;
    // It is the laptop that the cloud's agent has registered, and nobody has confirmed.
    let between = Between::start([("/health", health_of(&laptop).await)]).await;
    let at = RegisterPeer { url: between.url.clone(), ..keyless(&laptop).await };
    let at = RegisterPeer { name: "laptop".to_owned(), ..at };
    cloud.admin().register_peer(&at).await.unwrap();
    let fingerprint = Some(confirmation(&cloud).await.fingerprint);
    let name = "for the laptop".to_owned();
    let key = CreateKey { name, owner: None, scopes: [Scope::Sync].into(), for_node: None };
    let api_key = Some(cloud.admin().create_key(&key).await.unwrap().secret);
    let request = registration(&laptop, &cloud, "cloud").await;
    let request = RegisterPeer { fingerprint, api_key, ..request };
    laptop.admin().register_peer(&request).await.unwrap();
    let refused = laptop.admin().pull_session("cloud", "shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PendingThere), "{refused}");
    assert_eq!(noted(&cloud, "peer.admit").await, ("failed".to_owned(), "pending_there".into()));
    // The node starts again, and has seen nothing lately.
    let cloud = cloud.stop().await.start().await;
    assert_eq!(one(&cloud).await.status, PeerStatus::Unknown);
    assert_eq!(between.heard(), ["/health"], "it was asked once, when it was registered");
    cloud.admin().confirm_peer("laptop", &confirmation(&laptop).await).await.unwrap();
    assert_eq!(one(&cloud).await.status, PeerStatus::Online);
    stop([cloud, laptop]).await;
}

/// The only peer of a node.
async fn one(node: &Node) -> PeerView {
    let mut peers = node.admin().list_peers().await.unwrap().items;
    assert_eq!(peers.len(), 1, "{peers:?}");
    peers.remove(0)
}

/// Something that answers in the place of a node.
struct Between {
    url: Url,
    script: Script,
    task: AbortHandle,
}

#[derive(Clone, Default)]
struct Script(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    /// By path.
    answers: HashMap<String, Value>,
    heard: Vec<String>,
}

impl Between {
    async fn start<const N: usize>(answers: [(&str, Value); N]) -> Self {
        let script = Script::default();
        let pages = Router::new().fallback(answer).with_state(script.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, pages).await });
        let between = Self { url, script, task: task.abort_handle() };
        for (path, answer) in answers {
            between.answer(path, answer);
        }
        between
    }

    /// It answers so from now on.
    fn answer(&self, path: &str, answer: Value) {
        self.script.0.lock().unwrap().answers.insert(path.to_owned(), answer);
    }

    fn heard(&self) -> Vec<String> {
        self.script.0.lock().unwrap().heard.clone()
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(script): State<Script>, uri: Uri) -> Json<Value> {
    let mut script = script.0.lock().unwrap();
    script.heard.push(uri.path().to_owned());
    Json(script.answers.get(uri.path()).cloned().unwrap_or_default())
}
