//! A node made by hand, which says to a real one whatever it likes.

use super::pair::{logged_in, start, store};
use crate::fixture::{Node, one_line, problem};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::request::Parts;
use baton_api::sync::{Exchange, Parcel, TakePeerLease, exchange};
use baton_api::{CreateKey, NodeCard, Scope};
use baton_server::config::Choices;
use baton_session::revision::{Author, Content, Origin, PartList};
use baton_session::{NodeId, Part, PeerLease, Replica, SessionId, Signed, State, parts, wire};
use baton_store::PackedPart;
use baton_sync::identity::SealKey;
use baton_sync::messages::{NonceCache, sign_request, sign_response, verify_request};
use baton_sync::sealing::{SealContext, seal};
use baton_testkit::Peer;
use jiff::Timestamp;
use reqwest::Response;
use tokio::net::TcpListener;

/// A node that a real one has admitted.
pub(super) struct Stranger {
    pub(super) peer: Peer,
    /// The API key that it shows.
    pub(super) key: String,
    url: url::Url,
    /// The card of the real one.
    there: NodeCard,
}

/// What a message is about, and what it says.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) purpose: &'a str,
    pub(super) session: Option<SessionId>,
    pub(super) plain: Option<&'a [u8]>,
}

/// A node, and a stranger that it has admitted.
pub(super) async fn admitted() -> (Node, Stranger) {
    let node = start(Choices::default()).await;
    let stranger = Stranger::of(&node, 1).await;
    (node, stranger)
}

/// A state that is worth having.
pub(super) fn shop() -> State {
    logged_in(&[("shop.test", "one")])
}

/// A request that may be sent more than once.
pub(super) struct Message {
    pub(super) parts: Parts,
    pub(super) body: Vec<u8>,
}

impl Stranger {
    /// The stranger with this seed, who has spoken to `node` before.
    pub(super) async fn of(node: &Node, seed: u8) -> Self {
        let name = format!("stranger {seed}");
        let for_node = Some(Peer::new(seed).identity.key().fingerprint());
        let request = CreateKey { name, owner: None, scopes: [Scope::Sync].into(), for_node };
        let key = node.admin().create_key(&request).await.unwrap().secret;
        let stranger = Self::with(node, seed, key).await;
        assert!(stranger.index_at(Timestamp::now()).send().await.status().is_success());
        stranger
    }

    /// One that shows this key.
    pub(super) async fn with(node: &Node, seed: u8, key: String) -> Self {
        let card = node.admin_request(reqwest::Method::GET, "/sync/card").send().await.unwrap();
        let (url, there) = (node.file.url.clone(), card.json().await.unwrap());
        Self { peer: Peer::new(seed), key, url, there }
    }

    /// Answers what `node` asks, as if a person had registered it there.
    pub(super) async fn answers(&self, node: &Node, router: Router) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let store = store(node).await;
        let peers = store.list_peers(&"local".parse().unwrap()).await.unwrap();
        let known = peers.into_iter().find(|peer| peer.node == self.node()).unwrap();
        store.delete_peer(&known.owner, known.node).await.unwrap();
        let (url, credential) = (Some(address), Some("nobody looks at it".into()));
        store.create_peer(&baton_store::Peer { url, credential, ..known }).await.unwrap();
        store.close().await;
    }

    /// What a node of Baton asks, sealed and signed at an instant.
    pub(super) fn ask(&self, now: Timestamp, path: &str, about: About<'_>) -> Message {
        let About { purpose, session, plain } = about;
        let (recipient, sender) = (self.there.node_id, self.peer.identity.node());
        let context = SealContext { purpose, session, revision: None, recipient, sender };
        let to: SealKey = self.there.seal_key.parse().unwrap();
        let sealed = plain.map(|plain| seal(&to, &context, plain, true).unwrap());
        let body = sealed.unwrap_or_default();
        let request = Request::builder()
            .method(if plain.is_some() { "POST" } else { "GET" })
            .uri(self.url.join(path).unwrap().as_str())
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", "application/vnd.baton.sealed");
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let Peer { identity, card } = &self.peer;
        sign_request(identity, card, &mut parts, &body, now).unwrap();
        Message { parts, body }
    }

    /// Asks for the sessions, at an instant.
    pub(super) fn index_at(&self, now: Timestamp) -> Message {
        self.ask(now, "/sync/index", About { purpose: "index", session: None, plain: None })
    }

    /// Says something about a session.
    fn tell(&self, purpose: &str, session: SessionId, path: &str, plain: &[u8]) -> Message {
        let about = About { purpose, session: Some(session), plain: Some(plain) };
        self.ask(Timestamp::now(), &format!("/sync/sessions/{session}/{path}"), about)
    }

    /// Offers revisions of a session.
    pub(super) fn offer(&self, exchange: &Exchange) -> Message {
        let plain = serde_json::to_vec(exchange).unwrap();
        self.tell("an offer", exchange.offer.session, "revisions", &plain)
    }

    /// Asks for a session.
    pub(super) fn take(&self, session: SessionId, peer_lease: PeerLease) -> Message {
        let plain = serde_json::to_vec(&TakePeerLease { peer_lease }).unwrap();
        self.tell("a lease", session, "lease", &plain)
    }

    /// Gives bytes as parts of a session.
    pub(super) fn give(&self, session: SessionId, plain: &[u8]) -> Message {
        self.tell("given parts", session, "parts", plain)
    }

    /// Asks for parts of a session, in these words.
    pub(super) fn fetch(&self, session: SessionId, plain: &[u8]) -> Message {
        self.tell("parts", session, "parts/fetch", plain)
    }

    /// Which node it is.
    pub(super) fn node(&self) -> NodeId {
        self.peer.identity.node()
    }

    /// Who writes its revisions, now.
    pub(super) fn author(&self) -> Author {
        let identity = &self.peer.identity;
        Author { actor: identity.actor(), secret: identity.secret().clone(), now: Timestamp::now() }
    }

    /// What it says of a session with this state.
    pub(super) fn says(&self, state: &State) -> (Content, PartList) {
        let lines: Vec<_> = parts::split(state).iter().map(Part::reference).collect();
        let list = PartList::new(&lines);
        let origin = Origin {
            node: self.peer.identity.node(),
            created_at: Timestamp::UNIX_EPOCH,
            created_by: "stranger".to_owned(),
        };
        let content = Content {
            checksum: wire::checksum_of(state),
            parts: list.hash(),
            size: list.size(),
            name: "shop".parse().unwrap(),
            description: String::new(),
            origin,
        };
        (content, list)
    }

    /// The first revision of a new session with this state, as it is offered.
    pub(super) fn publishes(&self, state: &State) -> Exchange {
        let (content, list) = self.says(state);
        published(content, list, &self.author())
    }
}

/// The first revision of a new session with this content, by this author, as it is offered.
pub(super) fn published(content: Content, list: PartList, author: &Author) -> Exchange {
    let session = SessionId::new(Timestamp::now(), rand::random());
    let mut replica = Replica::new(session);
    replica.edit(None, content, author);
    Exchange { offer: replica.offer(), lists: vec![list], peer_lease: None }
}

impl Message {
    pub(super) async fn send(&self) -> Response {
        let request = Request::from_parts(self.parts.clone(), self.body.clone());
        let request = reqwest::Request::try_from(request).unwrap();
        reqwest::Client::builder().no_proxy().build().unwrap().execute(request).await.unwrap()
    }

    /// Sends it, and returns why it is refused.
    pub(super) async fn refusal(&self) -> String {
        one_line(&problem(self.send().await).await)
    }
}

/// What `peer` answers to a request: this, about the session in its path.
pub(super) fn reply(
    peer: &Peer,
    asked: &Parts,
    body: &[u8],
    purpose: &str,
    says: &[u8],
) -> axum::http::Response<Body> {
    let now = Timestamp::now();
    let session = asked.uri.path().split('/').find_map(|part| part.parse().ok());
    let asked = verify_request(asked, body, now, &NonceCache::default()).unwrap();
    let (recipient, sender) = (asked.card.node_id, peer.identity.node());
    let context = SealContext { purpose, session, revision: None, recipient, sender };
    let to: SealKey = asked.card.seal_key.parse().unwrap();
    let sealed = seal(&to, &context, says, false).unwrap();
    let response = axum::http::Response::builder();
    let response = response.header("content-type", "application/vnd.baton.sealed");
    let (mut parts, ()) = response.body(()).unwrap().into_parts();
    sign_response(&peer.identity, &mut parts, &sealed, &asked.signature, now).unwrap();
    axum::http::Response::from_parts(parts, sealed.into())
}

/// The parts of a state as they travel.
pub(super) fn parcels(state: &State) -> Vec<u8> {
    let pack = |part: &Part| {
        let PackedPart { part, packed } = PackedPart::of(part);
        Parcel { part, base: None, bytes: packed }
    };
    exchange::write(&parts::split(state).iter().map(pack).collect::<Vec<_>>())
}

/// A revision that is changed behind its signature.
pub(super) fn changed(signed: &Signed, change: impl FnOnce(&mut serde_json::Value)) -> Signed {
    let mut form = serde_json::to_value(signed).unwrap();
    change(&mut form);
    serde_json::from_value(form).unwrap()
}
