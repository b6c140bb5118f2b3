//! Icons of sessions that are at another node: asked for by themselves, by whoever is given their site, and
//! looked at before anybody sees them.

use super::pair::{Pair, know, logged_in, save, start, store};
use super::stranger::{About, Stranger, reply};
use crate::fixture::{Node, icon, icon_of, new_snapshot};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use baton_api::{ClientError, CreateKey, ErrorCode, Scope};
use baton_server::config::Choices;
use baton_session::{PeerLimits, SessionId};
use baton_sync::sealing::{SealContext, open};
use baton_testkit::Peer;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

/// A session at `node` whose latest snapshot has the icon of a site.
async fn seed(node: &Node, name: &str, site: &str) -> SessionId {
    let store = store(node).await;
    let id = node.folder.seed(&store, "local", name).await;
    let mut state = logged_in(&[(site, "one")]);
    state.tabs[0].url = format!("https://{site}/");
    let mut snapshot = new_snapshot("local", id, &state);
    snapshot.parts.push(icon_of(site, icon()));
    store.create_snapshot(snapshot).await.unwrap();
    store.close().await;
    id
}

/// The same, saved.
async fn saved(node: &Node, name: &str, site: &str) -> SessionId {
    let id = seed(node, name, site).await;
    save(node, name).await;
    id
}

fn is_none(answer: &Result<Vec<u8>, ClientError>) -> bool {
    answer.as_ref().is_err_and(|error| error.code() == Some(ErrorCode::NoSnapshot))
}

async fn limit(node: &Node, peer: &str, give: Value) {
    let limits: PeerLimits = serde_json::from_value(json!({ "give": give })).unwrap();
    node.admin().limit_peer(peer, &limits).await.unwrap();
}

#[tokio::test]
async fn the_icon_of_what_was_saved_comes_by_itself_and_no_revision_holds_it() {
    let pair = Pair::new().await;
    let (shop, secret) =
        (saved(&pair.cloud, "shop", "shop.test").await, seed(&pair.cloud, "own", "own.test").await);
    let admin = pair.laptop.admin();
    assert_eq!(admin.fetch_peer_icon("cloud", shop).await.unwrap(), icon());
    assert!(is_none(&admin.fetch_peer_icon("cloud", secret).await), "it was never saved");
    // What was said lately counts, also that there is none.
    save(&pair.cloud, "own").await;
    assert!(is_none(&admin.fetch_peer_icon("cloud", secret).await));
    pair.pull("shop").await;
    assert!(is_none(&admin.fetch_icon("shop").await), "it stays where it was captured");
    let there = store(&pair.cloud).await.latest_snapshot(shop).await.unwrap().unwrap();
    let here = store(&pair.laptop).await.latest_snapshot(shop).await.unwrap().unwrap();
    assert_eq!(there.parts.len(), here.parts.len() + 1);
    pair.stop().await;
}

#[tokio::test]
async fn what_a_peer_said_is_not_asked_for_again() {
    let pair = Pair::new().await;
    let shop = saved(&pair.cloud, "shop", "shop.test").await;
    let admin = pair.laptop.admin();
    assert_eq!(admin.fetch_peer_icon("cloud", shop).await.unwrap(), icon());
    pair.cloud.stop().await;
    assert_eq!(admin.fetch_peer_icon("cloud", shop).await.unwrap(), icon());
    let silent = admin.fetch_peer_icon("cloud", some_session()).await.unwrap_err();
    assert_eq!(silent.code(), Some(ErrorCode::PeerUnreachable));
    // That it does not answer is not tried for each of its sessions.
    let another = admin.fetch_peer_icon("cloud", some_session()).await.unwrap_err();
    assert_eq!(another.code(), Some(ErrorCode::PeerUnreachable));
    assert!(another.to_string().contains("a moment ago: peer cloud does not answer"), "{another}");
    pair.laptop.stop().await;
}

#[tokio::test]
async fn whoever_is_given_a_part_gets_the_icons_of_its_sites_and_hears_of_no_others() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    limit(&pair.cloud, "laptop", json!({ "sites": ["shop.test"] })).await;
    let shop = saved(&pair.cloud, "shop", "shop.test").await;
    let bank = saved(&pair.cloud, "bank", "bank.test").await;
    let admin = pair.laptop.admin();
    assert_eq!(admin.fetch_peer_icon("cloud", shop).await.unwrap(), icon());
    assert!(is_none(&admin.fetch_peer_icon("cloud", bank).await));
    // Nor is the session shown to it because it has asked.
    let listed = admin.list_differences("cloud").await.unwrap().items;
    assert_eq!(listed.iter().map(|one| one.session_id).collect::<Vec<_>>(), [shop]);
    // Without tabs there is nothing that an icon would say.
    limit(&pair.cloud, "laptop", json!({ "kinds": ["cookies"] })).await;
    let other = saved(&pair.cloud, "other", "shop.test").await;
    assert!(is_none(&admin.fetch_peer_icon("cloud", other).await));
    pair.stop().await;
}

/// Asks `node` for an icon as a stranger does; returns the status, and what was sealed for it.
async fn ask(node: &Node, stranger: &Stranger, session: SessionId) -> (StatusCode, Vec<u8>) {
    let about = About { purpose: "an icon", session: Some(session), plain: None };
    let path = format!("/sync/sessions/{session}/icon");
    let answer = stranger.ask(Timestamp::now(), &path, about).send().await;
    let (status, body) = (answer.status(), answer.bytes().await.unwrap());
    if !status.is_success() {
        return (status, Vec::new());
    }
    let context = SealContext {
        purpose: "the icon",
        session: Some(session),
        revision: None,
        recipient: stranger.node(),
        sender: node.id(),
    };
    (status, open(&stranger.peer.identity, &context, &body, 1 << 16).unwrap())
}

#[tokio::test]
async fn strangers_get_nothing() {
    let node = start(Choices::default()).await;
    let shop = saved(&node, "shop", "shop.test").await;
    let known = Stranger::of(&node, 1).await;
    assert_eq!(ask(&node, &known, shop).await, (StatusCode::OK, icon()));
    let without_a_key = Stranger::with(&node, 2, "baton_unknown".to_owned()).await;
    assert_eq!(ask(&node, &without_a_key, shop).await.0, StatusCode::UNAUTHORIZED);
    let key = |owner: &str, scope| CreateKey {
        name: format!("{owner} {scope}"),
        owner: Some(owner.parse().unwrap()),
        scopes: [scope].into(),
        for_node: None,
    };
    let reader = node.admin().create_key(&key("local", Scope::Read)).await.unwrap();
    let reader = Stranger::with(&node, 3, reader.secret).await;
    assert_eq!(ask(&node, &reader, shop).await.0, StatusCode::FORBIDDEN);
    let for_node = Some(Peer::new(4).identity.key().fingerprint());
    let of_ada = CreateKey { for_node, ..key("ada", Scope::Sync) };
    let ada = node.admin().create_key(&of_ada).await.unwrap();
    let of_another = Stranger::with(&node, 4, ada.secret).await;
    assert_eq!(ask(&node, &of_another, shop).await, (StatusCode::OK, Vec::new()));
    // A key alone, without a signature, says nothing either.
    let path = format!("/sync/sessions/{shop}/icon");
    let bare = node.request(Method::GET, &path).bearer_auth(&known.key).send().await.unwrap();
    assert_eq!(bare.status(), StatusCode::FORBIDDEN);
    node.stop().await;
}

#[tokio::test]
async fn the_key_of_a_peer_is_told_nothing_of_what_others_have() {
    let pair = Pair::new().await;
    let shop = saved(&pair.cloud, "shop", "shop.test").await;
    let stranger = Stranger::of(&pair.laptop, 1).await;
    let asked = pair.laptop.client(&stranger.key).fetch_peer_icon("cloud", shop).await;
    assert!(is_none(&asked));
    assert!(pair.laptop.admin().fetch_peer_icon("cloud", shop).await.is_ok());
    pair.stop().await;
}

/// A peer that answers whatever it is asked for with these bytes, as it should; or that knows of nothing.
struct Liar {
    peer: Peer,
    says: Option<Vec<u8>>,
    /// How often it was asked for an icon.
    asked: AtomicUsize,
}

impl Liar {
    async fn start(says: Option<Vec<u8>>) -> (Arc<Self>, String) {
        let liar = Arc::new(Self { peer: Peer::new(9), says, asked: AtomicUsize::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&liar));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (liar, address)
    }

    /// Two nodes, of which the laptop takes this one for the cloud.
    async fn in_the_place_of_the_cloud(says: Option<Vec<u8>>) -> (Pair, Arc<Self>) {
        let pair = Pair::new().await;
        let (liar, address) = Self::start(says).await;
        let laptop = store(&pair.laptop).await;
        let known = laptop.find_peer(&"local".parse().unwrap(), "cloud").await.unwrap();
        laptop.delete_peer(&known.owner, known.node).await.unwrap();
        let peer = baton_store::Peer {
            node: liar.peer.identity.node(),
            key: liar.peer.identity.key(),
            seal_key: liar.peer.card.seal_key.clone(),
            url: Some(address),
            ..known
        };
        laptop.create_peer(&peer).await.unwrap();
        laptop.close().await;
        (pair, liar)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn answer(
    State(liar): State<Arc<Liar>>,
    parts: Parts,
    body: Bytes,
) -> Response<axum::body::Body> {
    liar.asked.fetch_add(usize::from(parts.uri.path().ends_with("/icon")), Ordering::Relaxed);
    let Some(says) = &liar.says else {
        return StatusCode::NOT_FOUND.into_response();
    };
    reply(&liar.peer, &parts, &body, "the icon", says)
}

/// What a node shows of an icon that a peer says is these bytes.
async fn shown(says: Vec<u8>) -> Result<Vec<u8>, ClientError> {
    let (pair, _liar) = Liar::in_the_place_of_the_cloud(Some(says)).await;
    let shown = pair.laptop.admin().fetch_peer_icon("cloud", some_session()).await;
    pair.stop().await;
    shown
}

fn some_session() -> SessionId {
    SessionId::new(Timestamp::now(), rand::random())
}

#[tokio::test]
async fn what_a_peer_says_is_an_icon_is_drawn_anew_or_not_shown() {
    assert_eq!(shown(icon()).await.unwrap(), icon());
    let with_more = [icon().as_slice(), b"<script>alert(1)</script>"].concat();
    assert_eq!(shown(with_more).await.unwrap(), icon());
    let garbage = [b"<html>".to_vec(), b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 17 << 10]];
    for says in garbage {
        assert!(is_none(&shown(says).await));
    }
    let too_much = shown(vec![7; 200 << 10]).await.unwrap_err();
    assert_eq!(too_much.code(), Some(ErrorCode::PeerUnreachable), "{too_much}");
}

#[tokio::test]
async fn what_a_peer_gave_is_shown_no_more_once_it_is_given_something_else_or_is_gone() {
    let (pair, liar) = Liar::in_the_place_of_the_cloud(Some(icon())).await;
    let (admin, session) = (pair.laptop.admin(), some_session());
    for asked in [1, 1] {
        assert_eq!(admin.fetch_peer_icon("cloud", session).await.unwrap(), icon());
        assert_eq!(liar.asked(), asked);
    }
    limit(&pair.laptop, "cloud", json!({ "sites": ["shop.test"] })).await;
    assert_eq!(admin.fetch_peer_icon("cloud", session).await.unwrap(), icon());
    assert_eq!(liar.asked(), 2);
    // The same node, registered once more.
    let laptop = store(&pair.laptop).await;
    let known = laptop.find_peer(&"local".parse().unwrap(), "cloud").await.unwrap();
    admin.remove_peer("cloud").await.unwrap();
    let gone = admin.fetch_peer_icon("cloud", session).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::PeerNotFound));
    laptop.create_peer(&baton_store::Peer { added_at: Timestamp::now(), ..known }).await.unwrap();
    laptop.close().await;
    assert_eq!(admin.fetch_peer_icon("cloud", session).await.unwrap(), icon());
    assert_eq!(liar.asked(), 3);
    pair.stop().await;
}

#[tokio::test]
async fn a_peer_that_fails_is_not_asked_again_at_once() {
    let (pair, liar) = Liar::in_the_place_of_the_cloud(None).await;
    let (admin, session) = (pair.laptop.admin(), some_session());
    let failed = async |session| admin.fetch_peer_icon("cloud", session).await.unwrap_err();
    let first = failed(session).await;
    let again = failed(session).await;
    assert_eq!(first.code(), Some(ErrorCode::PeerRefused));
    assert_eq!(again.code(), Some(ErrorCode::PeerUnreachable), "it is not asked at all");
    assert!(again.to_string().starts_with("peer cloud gave no icon a moment ago: "), "{again}");
    assert_eq!(liar.asked(), 1);
    // That was about one session only.
    failed(some_session()).await;
    assert_eq!(liar.asked(), 2);
    pair.stop().await;
}
