//! How a peer comes to be registered: by us, after asking the node that answers at its address who it is,
//! or by itself, with an API key of ours or a token of the provider.
//!
//! The one idea: the key that it shows now is the one that it has for good. It may be given nothing until a
//! person has compared the fingerprint: the node that answers proves only that its key signed what it says of
//! itself, and that it is the node which is meant, a person finds out. What moves sessions besides, such as
//! an API key of the other node, may come later: an agent registers a node without one, and a person does the
//! same with it. A person does so again when it has ended.
//!
//! A key says who may talk, and a person which node that is. A key that was made for one node
//! says both, so that node is let in at once and no other one by it. Whichever other node turns up is pending
//! until a person here has compared its fingerprint, whatever it shows: a provider vouches for its client,
//! and knows nothing of the key by which a node is known. The first node that shows a key, or a token of a
//! client, is the one that has it for good; one that turns up with another node was passed on, or stolen.
//!
//! Limits are tied to the peer, and the peer to what it shows. So whatever a limited peer once showed must not
//! open this node without it.

use super::{find, heard};
use crate::context::Sync;
use crate::credential::{Credential, PeerAccess, TUNNEL};
use crate::error::SyncError;
use crate::identity::{verify_card, verify_identity};
use crate::peers;
use crate::remote::{CONNECT_LIMIT, Place, Remote, SMALL_MAX, address, bounded, reach_of};
use baton_api::sync::{NodeCard, NodeIdentity, PeerView, RegisterPeer};
use baton_api::{ErrorCode, Health, Invalid, Problem, Scope};
use baton_net::WayError;
use baton_net::outbound::{CheckedClient, Reach, client_within, pinned_client};
use baton_runtime::audit::{Action, Note};
use baton_runtime::error::word;
use baton_runtime::{Caller, keys};
use baton_session::NodeId;
use baton_session::invitation::CertificatePin;
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_session::printable::is_hidden;
use baton_store::{Peer, StoreError, clock};
use http::header::AUTHORIZATION;
use reqwest::{Response, StatusCode};
use url::Url;

/// The longest name of a peer, in characters.
const NAME_MAX: usize = 64;

/// Registers the node at an address. It is pending, unless the caller says which fingerprint it has.
pub async fn register(
    context: &Sync,
    caller: &Caller,
    request: RegisterPeer,
) -> Result<PeerView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::RegisterPeer, &*request.name);
    let note = note.with("url", shown(&request.url)).with("method", request.auth_method.as_str());
    let registered = register_here(context, caller, request).await;
    let note = match &registered {
        Ok(peer) if !peer.limits.is_none() => peers::noted(note, &peer.limits),
        _ => note,
    };
    let peer = note.end(&context.store, registered).await?;
    context.own.watches.peers_changed();
    if peer.credential.is_some() {
        // It has heard the key already. This node is to be known there by the time that a person looks.
        match Remote::of(context, &peer).await {
            Ok(remote) => drop(remote.greet().await),
            Err(error) => tracing::debug!(peer = %peer.node, %error, "a peer was not greeted"),
        }
    }
    heard(context, &peer);
    Ok(super::view(context, peer, false).await)
}

/// An address without the password that it should not have.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // One without a host has neither.
    let _ = (shown.set_username(""), shown.set_password(None));
    shown.into()
}

async fn register_here(
    context: &Sync,
    caller: &Caller,
    mut request: RegisterPeer,
) -> Result<Peer, SyncError> {
    check_name(&request.name)?;
    request.limits = request.limits.map(peers::admitted).transpose()?;
    if request.fingerprint.is_some() {
        caller.require(Scope::Admin)?;
    }
    let is_admin = caller.require(Scope::Admin).is_ok();
    let is_limited = request.limits.is_some();
    let way = way(context, &mut request, Reach { loopback: is_admin })?;
    // An admin of this machine may name what listens on it.
    let reach = Reach { loopback: is_admin && reach_of(&request.url).loopback };
    let stranger = Stranger::new(context, &way, reach);
    let known = context.store.list_peers(&caller.owner).await?;
    let found = stranger.identity().await?;
    expect(context, &request, &known, &found)?;
    let found = match &way.credential {
        Some(_) => show(&stranger, &found).await?,
        None => found,
    };
    let peer = peer(caller, request, way.credential.as_ref(), found);
    if let Some(known) = known.iter().find(|known| completes(known, &peer, is_admin)) {
        if is_limited {
            caller.require(Scope::Admin)?;
            context.store.limit_peer(&peer.owner, peer.node, &peer.limits).await?;
        }
        return complete(context, known, peer).await;
    }
    context.store.create_peer(&peer).await?;
    tracing::info!(peer = %peer.node, "registered a peer");
    Ok(peer)
}

/// How the node that is meant is asked: with what the request brings.
fn way(context: &Sync, request: &mut RegisterPeer, reach: Reach) -> Result<PeerAccess, SyncError> {
    Ok(PeerAccess {
        credential: Credential::from_registration(request, reach)?,
        name: request.name.clone(),
        url: request.url.clone(),
        method: request.auth_method,
        tokens: context.own.tokens.clone(),
    })
}

/// Refuses a node that is not the one that is meant: before it hears a key.
fn expect(
    context: &Sync,
    request: &RegisterPeer,
    known: &[Peer],
    found: &NodeIdentity,
) -> Result<(), SyncError> {
    if found.node_id == context.node {
        let found = "this node itself".to_owned();
        return Err(WayError::AddressNotAllowed { found }.into());
    }
    let shown = found.key.fingerprint();
    if let Some(expected) = request.fingerprint.filter(|expected| *expected != shown) {
        let (expected, found) = (expected.to_string(), shown.to_string());
        return Err(SyncError::OtherFingerprint { expected, found });
    }
    // Who answers where another one was registered is not taken for it, nor beside it.
    let is_there = |known: &&Peer| {
        known.url.as_deref() == Some(request.url.as_str()) && known.node != found.node_id
    };
    match known.iter().find(is_there) {
        Some(known) => Err(other(known.node, found)),
        None => Ok(()),
    }
}

/// Shows the node that was found what is to open it, so that what does not fit is noticed now.
async fn show(stranger: &Stranger<'_>, found: &NodeIdentity) -> Result<NodeIdentity, SyncError> {
    let card = stranger.card().await?.identity();
    if card.key == found.key { Ok(card) } else { Err(other(found.node_id, &card)) }
}

fn other(expected: NodeId, found: &NodeIdentity) -> SyncError {
    SyncError::OtherNode { expected, found: found.node_id }
}

fn peer(
    caller: &Caller,
    request: RegisterPeer,
    credential: Option<&Credential>,
    found: NodeIdentity,
) -> Peer {
    let is_confirmed = request.fingerprint.is_some();
    Peer {
        owner: caller.owner.clone(),
        node: found.node_id,
        name: request.name,
        url: Some(request.url.to_string()),
        pin: None,
        node_type: found.node_type,
        auth: request.auth_method,
        state: if is_confirmed { PeerState::Confirmed } else { PeerState::Pending },
        key: found.key,
        seal_key: found.seal_key,
        credential: credential.map(Credential::write),
        api_key: None,
        limits: request.limits.unwrap_or_default(),
        added_at: clock::now(),
        last_seen: Some(clock::now()),
        last_sync: None,
    }
}

/// Refuses what nobody may be called.
pub(super) fn check_name(name: &str) -> Result<(), SyncError> {
    let length = name.chars().count();
    if !(1..=NAME_MAX).contains(&length) || name.chars().any(char::is_control) {
        return Err(Invalid {
            field: "name",
            expected: "1 to 64 characters",
            found: length.to_string(),
        }
        .into());
    }
    Ok(())
}

/// Whether `peer` is a node that is known, with what this one did not have of it: it has only asked us so
/// far, or an agent has registered it. What it had, an admin of this node may replace.
fn completes(known: &Peer, peer: &Peer, is_admin: bool) -> bool {
    let may = known.credential.is_none() || is_admin;
    known.node == peer.node && peer.credential.is_some() && may
}

/// Gives a peer that is known what opens it, and the name and the address that came with it. The peer is
/// trusted no less than before, and more only by the fingerprint.
async fn complete(context: &Sync, known: &Peer, peer: Peer) -> Result<Peer, SyncError> {
    let is_confirmed = peer.state == PeerState::Confirmed;
    let peer = Peer { api_key: known.api_key.clone(), ..peer };
    context.store.update_peer(&peer).await?;
    if is_confirmed {
        context.store.confirm_peer(&peer.owner, peer.node).await?;
    }
    find(context, &peer.owner, &peer.node.to_string()).await
}

/// A node that is not registered yet.
pub(crate) struct Stranger<'a> {
    context: &'a Sync,
    way: &'a PeerAccess,
    reach: Reach,
    /// Which key its certificate has, where an invitation says so.
    pin: Option<CertificatePin>,
}

impl<'a> Stranger<'a> {
    /// The node that is asked this way, and within this reach.
    pub(crate) fn new(context: &'a Sync, way: &'a PeerAccess, reach: Reach) -> Self {
        Self { context, way, reach, pin: None }
    }

    /// The same, of which an invitation says which key its certificate has, if it does.
    pub(crate) fn invited(self, pin: Option<CertificatePin>) -> Self {
        Self { pin, ..self }
    }

    async fn client(&self) -> Result<CheckedClient, SyncError> {
        let (url, outbound) = (&self.way.url, &self.context.own.outbound);
        Ok(match self.pin {
            Some(pin) => pinned_client(url, pin, CONNECT_LIMIT).await?,
            None => client_within(outbound, url, self.reach, CONNECT_LIMIT).await?,
        })
    }

    /// Who answers, without a key. Nothing is shown but what gets through a tunnel.
    pub(crate) async fn identity(&self) -> Result<NodeIdentity, SyncError> {
        let client = self.client().await?;
        let place = self.place(&client);
        let response = place.health().await?;
        let (status, body) = self.read(&place, response).await?;
        if self.way.method == AuthMethod::Tunnel && !status.is_success() {
            return Err(self.way.not_through(format!("HTTP status {status}")));
        }
        if !status.is_success() {
            return Err(self.refused(status, &body));
        }
        // What else may listen there is not read.
        let why = || "GET /health does not tell who it is".to_owned();
        let health: Health = serde_json::from_slice(&body).map_err(|_| self.not_a_node(why()))?;
        verify_identity(&health.identity)
            .map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        Ok(health.identity)
    }

    /// Its card, for callers that may talk to it.
    pub(crate) async fn card(&self) -> Result<NodeCard, SyncError> {
        let shown = self.way.show().await?;
        let client = self.client().await?;
        let place = self.place(&client);
        let mut request = client.http.get(address(&self.way.url, &["sync", "card"])?);
        if let Some(authorization) = &shown.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(tunnel) = self.way.tunnel()? {
            request = request.header(TUNNEL, tunnel);
        }
        let response = match place.while_alive(0, request.send()).await? {
            Ok(response) => response,
            Err(error) => return Err(place.judge(error).await),
        };
        let (status, body) = self.read(&place, response).await?;
        if !status.is_success() {
            // What does not open it today is not tried again tomorrow.
            self.way.discard(&shown).await;
            return Err(self.refused(status, &body));
        }
        let card =
            serde_json::from_slice(&body).map_err(|error| self.not_a_node(error.to_string()))?;
        verify_card(&card).map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        Ok(card)
    }

    fn place<'b>(&'b self, client: &'b CheckedClient) -> Place<'b> {
        Place { client, way: self.way, name: self.host(), is_known: false }
    }

    fn host(&self) -> &str {
        self.way.url.host_str().unwrap_or_default()
    }

    async fn read(
        &self,
        place: &Place<'_>,
        response: Response,
    ) -> Result<(StatusCode, Vec<u8>), SyncError> {
        let status = response.status();
        let body = place.while_alive(0, bounded(response, SMALL_MAX)).await?;
        Ok((status, body.map_err(|why| self.not_a_node(why))?))
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> SyncError {
        match serde_json::from_slice::<Problem>(body) {
            Ok(Problem { code: ErrorCode::Unauthenticated, detail, hint, .. }) => {
                self.way.not_let_in(detail, hint)
            }
            Ok(Problem { code, detail, .. }) => {
                let name = self.host().to_owned();
                // What it is called has to be said there, not here.
                let hint = match code {
                    ErrorCode::ForeignOrigin => {
                        format!("\nset node.publicUrl or server.allowed_hosts there to name {name}")
                    }
                    _ => String::new(),
                };
                SyncError::Denied { name, why: format!("{detail}{hint}") }
            }
            Err(_) => self.not_a_node(format!("HTTP status {status}")),
        }
    }

    fn not_a_node(&self, why: String) -> SyncError {
        SyncError::NotANode { url: self.way.url.clone(), why }
    }
}

/// The peer behind a request that was signed by `card`'s node. One that is unknown is registered, and one
/// that no person has confirmed is refused. Whatever is new of it is noted, and not that it asks again.
pub async fn admit(context: &Sync, caller: &Caller, card: &NodeCard) -> Result<Peer, SyncError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    if let Some(peer) = known {
        if is_same(&peer, card) {
            return expect_confirmed(peer);
        }
        let (expected, found) = (peer.node, card.node_id);
        let refused = SyncError::OtherNode { expected, found };
        let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, found.to_string());
        return Err(note.failed(&context.store, refused).await);
    }
    let bound = bind(context, caller, card).await;
    if bound.is_ok() {
        context.own.watches.peers_changed();
    }
    let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, card.node_id.to_string());
    let note = note.with("fingerprint", card.key.fingerprint().to_string());
    note.end(&context.store, bound.and_then(expect_confirmed)).await
}

/// A peer that a person here has confirmed, or the refusal of any other.
fn expect_confirmed(peer: Peer) -> Result<Peer, SyncError> {
    if peer.state == PeerState::Confirmed {
        return Ok(peer);
    }
    let fingerprint = peer.key.fingerprint();
    let next = format!("baton peers confirm {}", word(&peer.name));
    Err(SyncError::PendingHere { fingerprint, next })
}

/// Binds the key to the node, which may be registered already.
async fn bind(context: &Sync, caller: &Caller, card: &NodeCard) -> Result<Peer, SyncError> {
    let found = card.key.fingerprint();
    let made_for = context.store.key_is_for(&caller.owner, &caller.key).await?;
    if let Some(expected) = made_for.filter(|expected| *expected != found) {
        return Err(SyncError::KeyOfOtherNode { expected, found });
    }
    let state = if made_for.is_some() { PeerState::Confirmed } else { PeerState::Pending };
    let known = context.store.list_peers(&caller.owner).await?;
    if let Some(known) = known.iter().find(|known| known.node == card.node_id) {
        return bind_known(context, caller, card, (known, state)).await;
    }
    let peer = Peer {
        owner: caller.owner.clone(),
        node: card.node_id,
        name: free_name(&card.name, &known),
        url: None,
        pin: None,
        node_type: card.node_type,
        auth: AuthMethod::ApiKey,
        state,
        key: card.key,
        seal_key: card.seal_key.clone(),
        credential: None,
        api_key: Some(caller.key.clone()),
        limits: PeerLimits::default(),
        added_at: clock::now(),
        last_seen: Some(clock::now()),
        last_sync: None,
    };
    match context.store.create_peer(&peer).await {
        // Two requests of it came at once, and the other one was first.
        Err(StoreError::PeerTaken { .. } | StoreError::PeerKeyTaken { .. })
            if let Some(known) = already(context, caller, card).await? =>
        {
            return Ok(known);
        }
        created => created?,
    }
    let (name, state) = (&*peer.name, peer.state.as_str());
    tracing::info!(peer = %peer.node, name, state, "a node asked with a key for the first time");
    Ok(peer)
}

/// Binds the key to a node that is registered. The person who made the key for this node has confirmed it
/// with that.
async fn bind_known(
    context: &Sync,
    caller: &Caller,
    card: &NodeCard,
    (known, state): (&Peer, PeerState),
) -> Result<Peer, SyncError> {
    let (api_key, seal_key) = (Some(caller.key.clone()), card.seal_key.clone());
    let mut bound = Peer { api_key, seal_key, ..known.clone() };
    if !known.limits.is_none() {
        check_again(context, &bound).await?;
        shut_out(context, caller, known).await?;
    }
    context.store.update_peer(&bound).await?;
    if known.state == PeerState::Pending && state == PeerState::Confirmed {
        context.store.confirm_peer(&bound.owner, bound.node).await?;
        bound.state = state;
    }
    Ok(bound)
}

/// The peer that shows this key and is this node.
async fn already(
    context: &Sync,
    caller: &Caller,
    card: &NodeCard,
) -> Result<Option<Peer>, SyncError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    Ok(known.filter(|peer| is_same(peer, card)))
}

fn is_same(peer: &Peer, card: &NodeCard) -> bool {
    peer.node == card.node_id && peer.key == card.key
}

/// What the node calls itself, or something like it that no other peer is called.
pub(crate) fn free_name(name: &str, known: &[Peer]) -> String {
    let name: String =
        name.chars().filter(|letter| !is_hidden(*letter) && *letter != '\n').take(50).collect();
    let name = if name.is_empty() { "node".to_owned() } else { name };
    let is_free = |candidate: &String| known.iter().all(|peer| peer.name != *candidate);
    let others = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(others).find(is_free).unwrap_or(name)
}

/// How the id of a caller begins whom a provider vouches for.
pub const CLIENT: &str = "oidc:";

/// Revokes the API key that a limited peer shows, because it is to be let in without it from now on, or no
/// more. Fails for one that shows a token as long as the settings let its client in: it would come back as a
/// peer without limits.
pub(super) async fn shut_out(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
) -> Result<(), SyncError> {
    let Some(shown) = peer.api_key.as_ref().filter(|_| !peer.limits.is_none()) else {
        return Ok(());
    };
    let Some(client) = shown.strip_prefix(CLIENT) else {
        return Ok(keys::revoke(context, caller, None, shown).await?);
    };
    let client = client.split_once('@').map_or(client, |(client, _)| client);
    match &context.own.token_verifier {
        Some(token_verifier) if token_verifier.allows(client) => {
            let (name, client) = (peer.name.clone(), client.to_owned());
            Err(SyncError::LetInByToken { name, client })
        }
        _ => Ok(()),
    }
}

/// Checks that limits of a peer shut out the peer alone: the key that it shows must not be one with which
/// this node is administered.
pub(super) async fn check_again(context: &Sync, peer: &Peer) -> Result<(), SyncError> {
    let Some(shown) = &peer.api_key else { return Ok(()) };
    let keys = context.store.list_keys(&peer.owner).await?;
    let is_admin = keys.iter().any(|key| key.id == *shown && key.scopes.contains(&Scope::Admin));
    if is_admin { Err(SyncError::AdminKey { name: peer.name.clone() }) } else { Ok(()) }
}
