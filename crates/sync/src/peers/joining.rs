//! The node that joins: it finds the node that invited, proves that it has the secret, and registers it.
//!
//! The one idea: nothing is sent to a machine that has not shown the key of the invitation's certificate, and
//! nothing is believed that the invitation's fingerprint has not signed. So what is in between gets neither of
//! the two nodes to confirm it, and here nothing is registered before the other node has answered.

use super::register::{Stranger, check_name, free_name};
use super::{find, heard};
use crate::context::Sync;
use crate::credential::PeerAccess;
use crate::error::SyncError;
use crate::not_joined::NotJoined;
use crate::not_trusted::NotTrusted;
use crate::remote::{Remote, reach_of};
use baton_api::sync::{JoinPeer, NodeIdentity, PeerView, RedeemInvitation};
use baton_net::WayError;
use baton_net::certificate::OtherCertificate;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::invitation::{InvitationCode, Joining};
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_store::{Peer, StoreError, clock};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use url::Url;

/// Takes an invitation: the node that invited is a confirmed peer then, and so is this node there.
pub async fn join(
    context: &Sync,
    caller: &Caller,
    request: JoinPeer,
) -> Result<PeerView, SyncError> {
    let subject = request.name.clone().unwrap_or_else(|| "an invitation".to_owned());
    let note = Note::new(&caller.actor, &caller.owner, Action::JoinPeer, subject);
    let joined = Box::pin(join_here(context, caller, request)).await;
    let note = match &joined {
        Ok(peer) => note
            .about(peer.node.to_string())
            .with("fingerprint", peer.key.fingerprint().to_string())
            .with("url", peer.url.clone()),
        Err(_) => note,
    };
    let peer = note.end(&context.store, joined).await?;
    context.own.watches.peers_changed();
    heard(context, &peer);
    Ok(super::view(context, peer, true).await)
}

async fn join_here(context: &Sync, caller: &Caller, request: JoinPeer) -> Result<Peer, SyncError> {
    if let Some(name) = &request.name {
        check_name(name)?;
    }
    let code: InvitationCode = request.code.parse().map_err(NotJoined::from)?;
    let joiner = context.own.identity.now().key().fingerprint();
    if code.inviter == joiner {
        let found = "this node itself, which made the invitation".to_owned();
        return Err(WayError::AddressNotAllowed { found }.into());
    }
    let known = context.store.list_peers(&caller.owner).await?;
    let (url, identity) = seek(context, &code).await?;
    expect_free(&known, &url, &identity, request.name.as_deref())?;
    let peer = Peer {
        owner: caller.owner.clone(),
        node: identity.node_id,
        // It is named once it has said what it is called.
        name: url.host_str().unwrap_or_default().to_owned(),
        url: Some(url.to_string()),
        pin: code.pin,
        node_type: identity.node_type,
        auth: AuthMethod::ApiKey,
        state: PeerState::Confirmed,
        key: identity.key,
        seal_key: identity.seal_key,
        credential: None,
        api_key: None,
        limits: PeerLimits::default(),
        added_at: clock::now(),
        last_seen: Some(clock::now()),
        last_sync: None,
    };
    let nonce: [u8; 16] = rand::random();
    let redeem = RedeemInvitation {
        invitation: code.secret.key().id(),
        nonce: format!("{:032x}", u128::from_be_bytes(nonce)),
        proof: code.secret.prove(&Joining { inviter: code.inviter, joiner, nonce }),
    };
    let answer = Remote::of(context, &peer).await?.redeem(redeem).await?;
    let peer = Peer { credential: Some(answer.api_key.into()), ..peer };
    register(context, peer, &known, request.name, &answer.name).await
}

/// The node that invited: whichever of its addresses is the first at which it answers. All are asked at once.
async fn seek(context: &Sync, code: &InvitationCode) -> Result<(Url, NodeIdentity), SyncError> {
    let mut asked: FuturesUnordered<_> =
        code.addresses.iter().map(|url| ask(context, code, url)).collect();
    let (mut tried, mut other) = (Vec::new(), None);
    while let Some((url, answered)) = asked.next().await {
        match answered {
            Ok(identity) => return Ok((url, identity)),
            Err(SyncError::NotTrusted(NotTrusted::OtherMachine { .. })) => {
                other = Some(NotJoined::Another { url, why: OtherCertificate.to_string() });
            }
            Err(SyncError::NotJoined(error)) => other = Some(error),
            Err(SyncError::Unreachable { why, .. }) => tried.push(format!("{url} ({why})")),
            Err(error) => {
                let said = error.to_string();
                let why = said.lines().next().unwrap_or_default();
                tried.push(format!("{url} ({why})"));
            }
        }
    }
    tried.sort_unstable();
    let other = other.unwrap_or_else(|| NotJoined::NotFound { tried: tried.join(", ") });
    Err(other.into())
}

/// Who answers at one address: the node that invited, or a reason why not.
async fn ask(
    context: &Sync,
    code: &InvitationCode,
    url: &Url,
) -> (Url, Result<NodeIdentity, SyncError>) {
    let way = PeerAccess {
        name: url.host_str().unwrap_or_default().to_owned(),
        url: url.clone(),
        method: AuthMethod::ApiKey,
        credential: None,
        tokens: context.own.tokens.clone(),
    };
    // Who joins administers this node, and may name what listens on its machine.
    let stranger = Stranger::new(context, &way, reach_of(url)).invited(code.pin);
    let answered = stranger.identity().await.and_then(|identity| {
        let found = identity.key.fingerprint();
        if found == code.inviter {
            return Ok(identity);
        }
        let why = format!("its fingerprint is {found}");
        Err(NotJoined::Another { url: url.clone(), why }.into())
    });
    (url.clone(), answered)
}

/// Refuses, before the invitation is used up, what could not be registered afterwards.
fn expect_free(
    known: &[Peer],
    url: &Url,
    found: &NodeIdentity,
    name: Option<&str>,
) -> Result<(), SyncError> {
    let mut others = known.iter().filter(|peer| peer.node != found.node_id);
    if let Some(there) = others.clone().find(|peer| peer.url.as_deref() == Some(url.as_str())) {
        return Err(SyncError::OtherNode { expected: there.node, found: found.node_id });
    }
    match others.find(|peer| Some(&*peer.name) == name) {
        Some(taken) => Err(StoreError::PeerNameTaken { name: taken.name.clone() }.into()),
        None => Ok(()),
    }
}

/// Registers the node that let this one join; one that is known keeps its name, its limits and what it
/// shows here.
async fn register(
    context: &Sync,
    peer: Peer,
    known: &[Peer],
    wanted: Option<String>,
    says: &str,
) -> Result<Peer, SyncError> {
    let Some(known) = known.iter().find(|known| known.node == peer.node) else {
        let name = wanted.unwrap_or_else(|| free_name(says, known));
        let peer = Peer { name, ..peer };
        context.store.create_peer(&peer).await?;
        tracing::info!(peer = %peer.node, "joined a node that invited this one");
        return Ok(peer);
    };
    let name = wanted.unwrap_or_else(|| known.name.clone());
    let peer = Peer { name, api_key: known.api_key.clone(), ..peer };
    context.store.update_peer(&peer).await?;
    context.store.confirm_peer(&peer.owner, peer.node).await?;
    find(context, &peer.owner, &peer.node.to_string()).await
}
