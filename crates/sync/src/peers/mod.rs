//! Peers: nodes that are registered here, found, listed with whether they answer, confirmed and removed; and what
//! they hold of sessions, as far as this node knows. `register` notes a new one, or one that asks us;
//! by one text of `inviting`, two nodes become peers of each other in `joining`.
//!
//! The one idea: a peer is a key. Who it is was shown to a person once, and the node that answers at its
//! address, or asks with its API key, must be that one.
//!
//! Limits say how much goes to a peer. A site is what belongs together, so whatever host a person names, its site counts.

mod inviting;
mod joining;
pub(super) mod register;

pub use crate::context::peers::Statuses;
pub use inviting::{ReachableAt, cancel_invitation, expect_invitable, invitations, invite, redeem};
pub use joining::join;
pub(crate) use register::free_name;
pub use register::{CLIENT, admit, register};

use crate::context::Sync;
use crate::context::peers::LastSeen;
use crate::error::SyncError;
use crate::letting_in::confirms_there;
use crate::remote::Remote;
use baton_api::Invalid;
use baton_api::sync::{ConfirmPeer, PeerList, PeerStatus, PeerView};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::peer::{PeerLimits, PeerState};
use baton_session::view::{Domain, SITES_MAX};
use baton_session::{NodeId, Offer, Owner, RevisionId, SessionId, Signed, Site, View};
use baton_store::{Peer, StoreError, clock};
use futures_util::future::join_all;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// Finds a peer of an owner by id, the beginning of one, or name.
pub(super) async fn find(
    context: &Sync,
    owner: &Owner,
    reference: &str,
) -> Result<Peer, SyncError> {
    match context.store.find_peer(owner, reference).await {
        Err(StoreError::PeerNotFound { reference }) => Err(SyncError::NoPeer { reference }),
        found => Ok(found?),
    }
}

/// The same for one that may be given secrets.
pub(super) async fn find_confirmed(
    context: &Sync,
    owner: &Owner,
    reference: &str,
) -> Result<Peer, SyncError> {
    let peer = find(context, owner, reference).await?;
    match peer.state {
        PeerState::Confirmed => Ok(peer),
        PeerState::Pending => Err(SyncError::Pending { name: peer.name }),
    }
}

/// How much of sessions goes to a node and is taken from it; everything where it is no peer, as this
/// node itself is none.
pub(crate) async fn limits_of(
    context: &Sync,
    owner: &Owner,
    node: NodeId,
) -> Result<PeerLimits, SyncError> {
    match context.store.find_peer(owner, &node.to_string()).await {
        Err(StoreError::PeerNotFound { .. }) => Ok(PeerLimits::default()),
        found => Ok(found?.limits),
    }
}

/// The confirmed peers of an owner that have an address.
pub(super) async fn confirmed(context: &Sync, owner: &Owner) -> Result<Vec<Peer>, SyncError> {
    let peers = context.store.list_peers(owner).await?;
    let is_asked = |peer: &Peer| peer.state == PeerState::Confirmed && peer.url.is_some();
    Ok(peers.into_iter().filter(is_asked).collect())
}

/// Notes that a peer was heard; of what is said by the way, not every time on disk.
pub fn heard(context: &Sync, peer: &Peer) {
    context.own.statuses.heard(peer.node);
}

/// Notes that a peer was heard, and whether a session moved or needed not to.
pub(crate) async fn seen(context: &Sync, peer: &Peer, synced: bool) -> Result<(), SyncError> {
    let now = clock::now();
    context.own.statuses.heard(peer.node);
    Ok(context.store.touch_peer(&peer.owner, peer.node, now, synced.then_some(now)).await?)
}

/// The views of peers; those of which nothing was seen lately are asked, all at once.
async fn views(context: &Sync, peers: Vec<Peer>) -> Vec<PeerView> {
    join_all(peers.into_iter().map(|peer| view(context, peer, false))).await
}

/// The view of a peer, which is asked when nothing was seen of it lately and a person has confirmed it, or
/// when that is wanted `anew`.
async fn view(context: &Sync, peer: Peer, anew: bool) -> PeerView {
    let known = context.own.statuses.fresh(peer.node).filter(|_| !anew);
    let seen = match known {
        Some(seen) => Some(seen),
        None if peer.url.is_some() && (anew || peer.state == PeerState::Confirmed) => {
            Some(ask(context, &peer).await)
        }
        None => None,
    };
    shown(context, peer, seen)
}

/// The view of a peer that is not asked; whether it answers is not known.
pub(crate) fn unasked(context: &Sync, peer: Peer) -> PeerView {
    shown(context, peer, None)
}

fn shown(context: &Sync, peer: Peer, seen: Option<LastSeen>) -> PeerView {
    let is_waiting = context.own.statuses.is_waiting(peer.node) && peer.credential.is_some();
    let (status, reason) = match seen {
        None => (PeerStatus::Unknown, None),
        Some(LastSeen { silent: None, refuses, .. }) => (PeerStatus::Online, refuses),
        Some(LastSeen { silent, .. }) => (PeerStatus::Offline, silent),
    };
    PeerView {
        node_id: peer.node,
        node_type: peer.node_type,
        url: peer.url.as_deref().and_then(|url| url.parse().ok()),
        name: peer.name,
        last_seen: peer.last_seen,
        last_sync: peer.last_sync,
        status,
        reason,
        auth_method: peer.auth,
        state: peer.state,
        fingerprint: peer.key.fingerprint(),
        has_key: peer.credential.is_some(),
        confirm_there: is_waiting.then(|| confirms_there(&context.own.identity.now())),
        limits: peer.limits,
    }
}

/// Asks a peer whether it lives, and is who it was; no key is needed for that, and none is sent. One that is
/// confirmed, and that this node has a key of, is asked whether it lets this node in as well.
async fn ask(context: &Sync, peer: &Peer) -> LastSeen {
    let asked = async {
        let remote = Remote::of(context, peer).await?;
        remote.health().await?;
        if peer.state == PeerState::Confirmed && peer.credential.is_some() {
            return Ok(remote.greet().await.err().as_ref().and_then(refusal));
        }
        Ok(None)
    };
    let asked: Result<Option<String>, crate::error::SyncError> = asked.await;
    let first_line = |error: crate::error::SyncError| {
        error.to_string().lines().next().unwrap_or_default().to_owned()
    };
    let (silent, refuses) = match asked {
        Ok(refuses) => (None, refuses),
        Err(error) => (Some(first_line(error)), None),
    };
    let seen = LastSeen { at: Instant::now(), silent, refuses };
    context.own.statuses.note(peer.node, seen.clone());
    seen
}

/// Why a peer that lives takes nothing of this node, and what to do, where it said so: that two clocks are
/// apart, or that what it is shown opens nothing. Older nodes know no greeting, and `confirm_there` says
/// beside it that this node is not confirmed there.
fn refusal(error: &crate::error::SyncError) -> Option<String> {
    match error {
        SyncError::Denied { why, .. } if why.contains("clocks") => Some(error.to_string()),
        SyncError::Untrusted { .. }
        | SyncError::NotLetIn { .. }
        | SyncError::NoToken { .. }
        | SyncError::Tunnel { .. } => Some(error.to_string()),
        _ => None,
    }
}

/// This node, and the caller's peers by name, each with whether it answers.
pub async fn list(context: &Sync, caller: &Caller) -> Result<PeerList, SyncError> {
    let peers = context.store.list_peers(&caller.owner).await?;
    Ok(listed(context, views(context, peers).await))
}

/// The same for a caller that asks them next anyway: none of them is asked whether it answers.
pub async fn known(context: &Sync, caller: &Caller) -> Result<PeerList, SyncError> {
    let peers = context.store.list_peers(&caller.owner).await?;
    let items = peers.into_iter().map(|peer| unasked(context, peer)).collect();
    Ok(listed(context, items))
}

fn listed(context: &Sync, mut items: Vec<PeerView>) -> PeerList {
    let this = context.own.identity.now().card(&context.own.node_settings);
    let fingerprint = this.key.fingerprint();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    PeerList { this, fingerprint, items }
}

/// Confirms a peer: the caller has compared its fingerprint with what the other node shows. From now
/// on it may be given what logs in.
pub async fn confirm(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: ConfirmPeer,
) -> Result<PeerView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::ConfirmPeer, reference);
    let note = note.with("fingerprint", request.fingerprint.to_string());
    let confirmed = async {
        let peer = find(context, &caller.owner, reference).await?;
        let found = peer.key.fingerprint();
        if found != request.fingerprint {
            let (expected, found) = (request.fingerprint.to_string(), found.to_string());
            return Err(SyncError::OtherFingerprint { expected, found });
        }
        context.store.confirm_peer(&caller.owner, peer.node).await?;
        find(context, &caller.owner, &peer.node.to_string()).await
    };
    let peer = note.end(&context.store, confirmed.await).await?;
    context.own.watches.peers_changed();
    Ok(view(context, peer, false).await)
}

/// The view of a peer that was asked just now.
pub async fn ping(context: &Sync, caller: &Caller, reference: &str) -> Result<PeerView, SyncError> {
    let peer = find(context, &caller.owner, reference).await?;
    Ok(view(context, peer, true).await)
}

/// Forgets a peer, its key and what opens it. Sessions that came from it stay; it counts as having
/// heard of every deletion. The API key that a limited peer shows is revoked, because without the peer it
/// would open everything.
pub async fn remove(context: &Sync, caller: &Caller, reference: &str) -> Result<(), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::RemovePeer, reference);
    let removed = async {
        let peer = find(context, &caller.owner, reference).await?;
        register::shut_out(context, caller, &peer).await?;
        Ok::<_, SyncError>(context.store.delete_peer(&caller.owner, peer.node).await?)
    };
    note.end(&context.store, removed.await).await?;
    context.own.watches.peers_changed();
    Ok(())
}

/// Notes that a peer may hold something of a session: it has asked for it, or was asked to take it.
pub async fn may_hold(context: &Sync, peer: &Peer, session: SessionId) -> Result<(), SyncError> {
    Ok(context.store.note_known(&peer.owner, peer.node, session, clock::now()).await?)
}

/// The revision of each session that a peer is known to hold: for one that cannot be asked.
pub async fn held(
    context: &Sync,
    caller: &Caller,
    node: NodeId,
) -> Result<HashMap<SessionId, RevisionId>, SyncError> {
    let held = context.store.list_held(&caller.owner, node).await?;
    Ok(held.into_iter().filter_map(|(session, rev)| Some((session, rev?))).collect())
}

/// Whether a peer who is given a part may have something of a session; of one who is given everything that
/// makes no difference.
pub async fn may_have(context: &Sync, peer: &Peer, session: SessionId) -> Result<bool, SyncError> {
    if peer.limits.give.is_whole() {
        return Ok(true);
    }
    let held = context.store.list_held(&peer.owner, peer.node).await?;
    Ok(held.iter().any(|(held, _)| *held == session))
}

/// Notes what a peer holds after an exchange: the current revision, when both have said that it is.
pub(crate) async fn holds(
    context: &Sync,
    peer: &Peer,
    offer: &Offer,
    current: Option<RevisionId>,
) -> Result<(), SyncError> {
    // A peer that was shown a part has all that there is of the whole for it.
    let seen_of = |told: &Signed| if told.is_view() { told.parents.first().copied() } else { None };
    let held = current.and_then(|rev| offer.find(rev));
    match held.map(|held| seen_of(held).unwrap_or_else(|| held.id())) {
        Some(rev) => {
            let (session, now) = (offer.session, clock::now());
            Ok(context.store.note_ack(&peer.owner, peer.node, session, rev, now).await?)
        }
        None => may_hold(context, peer, offer.session).await,
    }
}

/// The longest name of a host (RFC 1035).
const HOST_MAX: usize = 253;

/// Sets the limits of a peer, in the place of those that it had; without any in the request it has none
/// any more. They hold for what moves from now on: what moved before stays where it is.
pub async fn limit(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: PeerLimits,
) -> Result<PeerView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::LimitPeer, reference);
    let limits = match admitted(request) {
        Ok(limits) => limits,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    let note = noted(note, &limits);
    let limited = async {
        let peer = find(context, &caller.owner, reference).await?;
        if !limits.is_none() {
            register::check_again(context, &peer).await?;
        }
        context.store.limit_peer(&caller.owner, peer.node, &limits).await?;
        find(context, &caller.owner, &peer.node.to_string()).await
    };
    let peer = note.end(&context.store, limited.await).await?;
    context.own.watches.peers_changed();
    Ok(view(context, peer, false).await)
}

/// A note of limits.
fn noted(note: Note, limits: &PeerLimits) -> Note {
    note.with("give", limits.give.to_string()).with("take", limits.take.to_string())
}

/// Limits as they are kept: of each host that a person named, its site.
fn admitted(limits: PeerLimits) -> Result<PeerLimits, SyncError> {
    let PeerLimits { give, take } = limits;
    Ok(PeerLimits { give: checked("give.sites", give)?, take: checked("take.sites", take)? })
}

fn checked(field: &'static str, view: View) -> Result<View, SyncError> {
    let sites = view.sites.map(|sites| normalized(field, &sites)).transpose()?;
    Ok(View { sites, ..view })
}

fn normalized(field: &'static str, sites: &BTreeSet<Site>) -> Result<BTreeSet<Site>, SyncError> {
    if sites.len() > SITES_MAX {
        let found = sites.len().to_string();
        return Err(Invalid { field, expected: "at most 256 sites", found }.into());
    }
    Ok(sites.iter().map(|site| site_of(field, site.as_str())).collect::<Result<_, _>>()?)
}

fn site_of(field: &'static str, host: &str) -> Result<Site, Invalid> {
    let domain = host.parse::<Domain>().ok().map(|domain| domain.to_string());
    let site =
        domain.filter(|domain| domain.len() <= HOST_MAX).map(|domain| Site::of_host(&domain));
    site.ok_or_else(|| Invalid {
        field,
        expected: "domains or addresses such as shop.test, without a scheme, port or path",
        found: format!("{:?}", host.chars().take(HOST_MAX).collect::<String>()),
    })
}

#[cfg(test)]
mod tests {
    use super::admitted;
    use baton_session::view::SITES_MAX;
    use baton_session::{PeerLimits, Site, View};

    /// What becomes of a direction for which a person named these.
    fn given(hosts: &[&str]) -> Result<Vec<String>, String> {
        let named = hosts.iter().map(|host| serde_json::from_value((*host).into()).unwrap());
        let give = View { sites: Some(named.collect()), kinds: None };
        let limits = PeerLimits { give, ..PeerLimits::default() };
        let limits = admitted(limits).map_err(|error| error.to_string())?;
        assert!(limits.take.is_whole());
        Ok(limits.give.sites.unwrap().iter().map(Site::to_string).collect())
    }

    #[test]
    fn the_site_of_each_host_counts() {
        for (host, site) in [
            ("shop.test", "shop.test"),
            ("WWW.Shop.Test", "shop.test"),
            (".shop.test", "shop.test"),
            ("*.shop.test", "shop.test"),
            ("shop.test.", "shop.test"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("me.github.io", "me.github.io"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(given(&[host]).unwrap(), [site], "{host}");
        }
        assert_eq!(given(&["www.shop.test", "shop.test"]).unwrap(), ["shop.test"]);
        assert_eq!(given(&[]).unwrap(), [""; 0], "nothing, and not everything");
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = "a".repeat(300);
        for host in
            ["", " ", "https://shop.test", "shop.test:80", "shop.test/a", "a..b", "*", &long]
        {
            let refused = given(&[host]).unwrap_err();
            assert!(refused.starts_with("expected give.sites to be domains"), "{refused}");
            assert!(refused.len() < 400, "{refused}");
        }
    }

    #[test]
    fn a_direction_names_so_many_sites_and_no_more() {
        let hosts: Vec<String> = (0..=SITES_MAX).map(|number| format!("{number}.test")).collect();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        assert_eq!(given(&hosts[..SITES_MAX]).unwrap().len(), SITES_MAX);
        let refused = given(&hosts).unwrap_err();
        assert_eq!(refused, "expected give.sites to be at most 256 sites, found 257");
    }
}
