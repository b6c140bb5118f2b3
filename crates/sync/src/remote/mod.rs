//! Speaks to a peer.
//!
//! The one idea: what goes out is sealed for the peer and signed by us, and what comes back is taken only
//! when the peer's own key signed it as the answer to this request. What is between the two nodes can cut the
//! line, and no more.
//!
//! Here is what can be asked and what messages are about; `ask` seals, signs, sends and verifies, and `alive` says
//! whether a peer lives.

mod alive;
mod ask;

pub(super) use alive::{CONNECT_LIMIT, Place};
pub(super) use baton_net::outbound::{SMALL_MAX, address, bounded};

use crate::context::Sync;
use crate::context::peers::Statuses;
use crate::credential::{Credential, PeerAccess};
use crate::error::SyncError;
use crate::identity::{Identity, SealKey};
use ask::{Ask, FailedRequest, Pace};
use baton_api::Health;
use baton_api::sync::{
    AskIndex, AskSeen, Exchange, FetchParts, IndexMark, Joined, NextIndex, NodeCard, Parcel,
    PeerLeaseAnswer, RedeemInvitation, SyncIndex, TakePeerLease, Taken, Wanted, exchange,
};
use baton_net::outbound::{CheckedClient, Reach, client_within, is_loopback, pinned_client};
use baton_session::peer::AuthMethod;
use baton_session::{PeerLease, SessionId, View};
use baton_store::Peer;
use baton_store::blocking::blocking;
use http::header::HeaderValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// How long it may take to say whether it lets this node in.
const GREETING_LIMIT: Duration = Duration::from_secs(5);
/// How long it may take to let this node join.
const JOIN_LIMIT: Duration = Duration::from_secs(20);
/// How long it may take to list its sessions; shorter than a client that wants to compare them waits for this
/// node.
const INDEX_LIMIT: Duration = Duration::from_secs(50);
/// How long a node that waits for news is kept waiting. Shorter than what proxies usually allow.
pub(super) const WAIT: Duration = Duration::from_secs(25);
/// How much longer than it waits for news a peer may take to say that there are none.
const NEWS_MARGIN: Duration = Duration::from_secs(10);
/// The largest answer that lists something: the index of some hundred thousand sessions.
const LIST_MAX: usize = 128 << 20;
/// A peer that is spoken to.
pub(super) struct Remote {
    client: CheckedClient,
    url: Url,
    peer: Peer,
    way: PeerAccess,
    seal_key: SealKey,
    identity: Identity,
    card: NodeCard,
    pace: Pace,
    part_bytes: usize,
    statuses: Statuses,
}

/// What the address of a peer may lead to: to this machine only where it says so itself. Who registers or joins a
/// node asks it within this, too, so no peer is registered that is refused ever after.
pub(super) fn reach_of(url: &Url) -> Reach {
    Reach { loopback: is_loopback(url) }
}

impl Remote {
    /// A confirmed peer with an address, or one that is only asked whether it lives.
    pub(super) async fn of(context: &Sync, peer: &Peer) -> Result<Self, SyncError> {
        let name = || peer.name.clone();
        let url = peer.url.as_deref().and_then(|url| Url::parse(url).ok());
        let url = url.ok_or_else(|| SyncError::NoAddress { name: name() })?;
        let seal_key = peer.seal_key.parse::<SealKey>();
        let seal_key = seal_key.map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        let reach = reach_of(&url);
        let sealed = peer.credential.as_ref();
        let way = PeerAccess {
            name: name(),
            url: url.clone(),
            method: peer.auth,
            credential: sealed.and_then(|sealed| Credential::open(peer.auth, sealed)),
            tokens: context.own.tokens.clone(),
        };
        let client = match peer.pin {
            Some(pin) => pinned_client(&url, pin, CONNECT_LIMIT).await?,
            None => client_within(&context.own.outbound, &url, reach, CONNECT_LIMIT).await?,
        };
        Ok(Self {
            client,
            url,
            peer: peer.clone(),
            way,
            seal_key,
            identity: context.own.identity.now(),
            card: context.own.identity.now().card(&context.own.node_settings),
            pace: Pace::new(context.own.settings.bytes_per_second),
            statuses: context.own.statuses.clone(),
            part_bytes: usize::try_from(context.store.limits().part_bytes).unwrap_or(usize::MAX),
        })
    }

    /// How many bytes went to the peer and came from it.
    pub(super) fn moved(&self) -> u64 {
        self.pace.bytes()
    }

    /// Where it is asked.
    fn place(&self) -> Place<'_> {
        Place { client: &self.client, way: &self.way, name: &self.peer.name, is_known: true }
    }

    /// Whether it lives, and is who it was. Nothing is sent but what gets through a tunnel.
    pub(super) async fn health(&self) -> Result<(), SyncError> {
        let response = self.place().health().await?;
        if self.way.method == AuthMethod::Tunnel && !response.status().is_success() {
            return Err(self.way.not_through(format!("HTTP status {}", response.status())));
        }
        let body = match self.place().while_alive(0, bounded(response, SMALL_MAX)).await? {
            Ok(body) => body,
            Err(why) => return Err(self.place().broke_off(why).await),
        };
        let health: Health = self.json(body).await?;
        let (expected, found) = (self.peer.node, health.node_id);
        if found == expected { Ok(()) } else { Err(SyncError::OtherNode { expected, found }) }
    }

    /// Says who asks, and hears with that whether this node is let in; what becomes of it is remembered for
    /// callers that look at the peer. It is no reason to hold that the peer does not answer: older nodes know
    /// no greeting.
    pub(super) async fn greet(&self) -> Result<(), SyncError> {
        let path = ["sync", "greeting"];
        let ask = Ask::get(&path, Topic::GREETING, SMALL_MAX);
        // A provider that gives the token for it may be slow as well.
        match timeout(GREETING_LIMIT, Box::pin(self.ask_once(&ask))).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(FailedRequest { error, .. })) => {
                tracing::debug!(peer = %self.peer.node, %error, "a greeting was refused");
                Err(error)
            }
            Err(_) => {
                tracing::debug!(peer = %self.peer.node, "a greeting takes too long");
                Err(SyncError::TooSlow { name: self.peer.name.clone() })
            }
        }
    }

    /// Takes an invitation of it, and hears what this node shows it from now on.
    pub(super) async fn redeem(&self, request: RedeemInvitation) -> Result<Joined, SyncError> {
        let (path, body) = (["sync", "invitations", "redeem"], write(request).await?);
        let ask = Ask::post(&path, Topic::INVITATION, body, false, SMALL_MAX);
        self.json(self.ask_unknown(&ask.within(JOIN_LIMIT)).await?).await
    }

    /// Its sessions.
    pub(super) async fn index(&self) -> Result<SyncIndex, SyncError> {
        let path = ["sync", "index"];
        let ask = Ask::get(&path, Topic::INDEX, LIST_MAX).within(INDEX_LIMIT);
        self.json(self.ask(ask).await?).await
    }

    /// Its sessions, as soon as they are others than those that are `known`. It is asked once: a task that
    /// waits for news asks again anyway, and wants to hear that it does not answer.
    pub(super) async fn next_index(
        &self,
        known: Option<IndexMark>,
    ) -> Result<NextIndex, SyncError> {
        let (path, body) = (["sync", "index", "next"], write(AskIndex { known }).await?);
        let ask = Ask::post(&path, Topic::NEXT_INDEX, body, false, LIST_MAX);
        // It is silent for as long as there is no news.
        let ask = ask.within(WAIT + NEWS_MARGIN).in_silence();
        self.json(self.ask_once(&ask).await.map_err(|failed| failed.error)?).await
    }

    /// What it has of a session, as far as it is in a view.
    pub(super) async fn exchange(
        &self,
        session: SessionId,
        view: &View,
    ) -> Result<Exchange, SyncError> {
        let id = session.to_string();
        if !view.is_whole() {
            let path = ["sync", "sessions", &id, "revisions", "seen"];
            let body = write(AskSeen { view: view.clone() }).await?;
            let ask = Ask::post(&path, Topic::seen(session), body, false, LIST_MAX);
            return self.json(self.ask(ask).await?).await;
        }
        let path = ["sync", "sessions", &id, "revisions"];
        self.json(self.ask(Ask::get(&path, Topic::revisions(session), LIST_MAX)).await?).await
    }

    /// Offers it what is here of a session.
    pub(super) async fn offer(&self, exchange: &Exchange) -> Result<Taken, SyncError> {
        let session = exchange.offer.session;
        let id = session.to_string();
        let (path, body) = (["sync", "sessions", &id, "revisions"], write(exchange.clone()).await?);
        let ask = Ask::post(&path, Topic::offer(session), body, true, LIST_MAX);
        self.json(self.ask(ask).await?).await
    }

    /// Asks it for a session. A peer that does not answer is not asked again: it may be gone.
    pub(super) async fn peer_lease(
        &self,
        session: SessionId,
        peer_lease: PeerLease,
    ) -> Result<PeerLeaseAnswer, SyncError> {
        let id = session.to_string();
        let (path, body) =
            (["sync", "sessions", &id, "lease"], write(TakePeerLease { peer_lease }).await?);
        let ask = Ask::post(&path, Topic::peer_lease(session), body, true, SMALL_MAX);
        self.json(self.ask_once(&ask).await.map_err(|failed| failed.error)?).await
    }

    /// What it says is the icon of a session, of at most `limit` bytes; empty when it has none. A picture is
    /// not worth asking for again.
    pub(super) async fn icon(
        &self,
        session: SessionId,
        limit: usize,
    ) -> Result<Vec<u8>, SyncError> {
        let id = session.to_string();
        let path = ["sync", "sessions", &id, "icon"];
        let ask = Ask::get(&path, Topic::icon(session), limit);
        self.ask_once(&ask).await.map_err(|failed| failed.error)
    }

    /// Parts of a session.
    pub(super) async fn fetch(
        &self,
        session: SessionId,
        view: &View,
        wanted: Vec<Wanted>,
    ) -> Result<Vec<Parcel>, SyncError> {
        let id = session.to_string();
        let path = ["sync", "sessions", &id, "parts", "fetch"];
        let view = Some(view.clone()).filter(|view| !view.is_whole());
        let body = write(FetchParts { wanted, view }).await?;
        let limit = self.part_bytes.saturating_add(32 << 20);
        let body = self.ask(Ask::post(&path, Topic::fetch(session), body, false, limit)).await?;
        let parcels = blocking(move || exchange::read(&body)).await?;
        parcels.map_err(|error| self.not_a_node(error.to_string()))
    }

    /// Gives it parts of a session; they are on its disk when this returns.
    pub(super) async fn give(
        &self,
        session: SessionId,
        parcels: Vec<Parcel>,
    ) -> Result<(), SyncError> {
        let id = session.to_string();
        let path = ["sync", "sessions", &id, "parts"];
        let body = blocking(move || exchange::write(&parcels)).await?;
        self.ask(Ask::post(&path, Topic::give(session), body, false, SMALL_MAX)).await?;
        Ok(())
    }

    /// Reads an answer, which may be megabytes, off the async threads.
    async fn json<T>(&self, body: Vec<u8>) -> Result<T, SyncError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let read = blocking(move || serde_json::from_slice(&body)).await?;
        read.map_err(|error: serde_json::Error| self.not_a_node(error.to_string()))
    }

    fn not_a_node(&self, why: String) -> SyncError {
        SyncError::NotANode { url: self.url.clone(), why }
    }
}

/// Writes a message, which may be megabytes, off the async threads. One that cannot be written is not
/// sent: an empty one would say something else.
async fn write(message: impl Serialize + Send + 'static) -> Result<Vec<u8>, SyncError> {
    let written = blocking(move || serde_json::to_vec(&message)).await?;
    written.map_err(|source| SyncError::NotWritten { what: "a message to a peer", source })
}

/// What bodies between nodes are: sealed.
pub const SEALED: HeaderValue = HeaderValue::from_static("application/vnd.baton.sealed");

/// What a message between nodes is about.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// The word for what is asked and, behind it, answered.
    pub asked: &'static str,
    /// The word for the answer.
    pub answered: &'static str,
    /// The session that it is about.
    pub session: Option<SessionId>,
}

impl Topic {
    /// Who asks, and nothing else.
    pub const GREETING: Self =
        Self { asked: "a greeting", answered: "a greeting was heard", session: None };

    /// An invitation that is redeemed.
    pub const INVITATION: Self = Self {
        asked: "an invitation",
        answered: "what a node that joined is given",
        session: None,
    };

    /// The index.
    pub const INDEX: Self = Self { asked: "index", answered: "the index", session: None };

    /// The index, as soon as it is another one.
    pub const NEXT_INDEX: Self =
        Self { asked: "the next index", answered: "the next index or none", session: None };

    /// The revisions of a session: asked for, or offered.
    pub fn revisions(session: SessionId) -> Self {
        Self { asked: "revisions", answered: "the revisions", session: Some(session) }
    }

    /// What is in a view of them.
    pub fn seen(session: SessionId) -> Self {
        let (asked, answered) = ("a view", "what is in a view");
        Self { asked, answered, session: Some(session) }
    }

    /// Revisions that are offered.
    pub fn offer(session: SessionId) -> Self {
        Self { asked: "an offer", answered: "what became of an offer", session: Some(session) }
    }

    /// A session that is asked for.
    pub fn peer_lease(session: SessionId) -> Self {
        Self { asked: "a lease", answered: "what became of a lease", session: Some(session) }
    }

    /// The icon of a session.
    pub fn icon(session: SessionId) -> Self {
        Self { asked: "an icon", answered: "the icon", session: Some(session) }
    }

    /// Parts that are asked for.
    pub fn fetch(session: SessionId) -> Self {
        Self { asked: "parts", answered: "the parts", session: Some(session) }
    }

    /// Parts that are given.
    pub fn give(session: SessionId) -> Self {
        Self { asked: "given parts", answered: "given parts were taken", session: Some(session) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serializer;
    use serde::ser::Error as _;

    /// A message that cannot be written.
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("it has no words"))
        }
    }

    /// Whatever address this machine has beside, nobody registers it as a peer's.
    #[test]
    fn a_peer_on_this_machine_is_asked_where_its_address_says_so() {
        let is_here = |url: &str| reach_of(&url.parse().unwrap()).loopback;
        assert!(is_here("http://localhost:7420/") && is_here("https://[::1]:7420/"));
        assert!(!is_here("https://own.example/") && !is_here("https://11.7.0.1:7420/"));
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_written_is_an_error_and_not_an_empty_one() {
        let error = write(Unwritable).await.unwrap_err();
        assert!(matches!(error, SyncError::NotWritten { .. }), "{error}");
    }
}
