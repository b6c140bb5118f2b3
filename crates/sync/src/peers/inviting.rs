//! The node that invites: it makes an invitation, and lets the node join that proves that it has the secret.
//!
//! The one idea: who carries the text from one machine to the other has said with that which two nodes are
//! meant, so nobody compares fingerprints. An invitation is used up on disk before the node that joins hears
//! anything. A node that cannot prove that it has the secret hears the same whatever is wrong, and uses up
//! nobody's invitation: which one it is follows from the secret.

use super::register::admit;
use crate::context::Sync;
use crate::error::SyncError;
use crate::identity::is_node_url;
use baton_api::sync::{CreatedInvitation, InvitationView, Joined, NodeCard, RedeemInvitation};
use baton_api::{CreateKey, Invalid, Scope};
use baton_net::WayError;
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Actor, Caller, keys};
use baton_session::invitation::{
    ADDRESSES_MAX, CertificatePin, InvitationCode, InvitationSecret, Joining,
};
use baton_store::{Peer, StoreError, StoredInvitation, clock};
use std::time::Duration;
use url::Url;

/// How long an invitation counts, by the clock of the node that made it.
const LIFE: Duration = Duration::from_mins(10);
/// How many invitations of an owner are open at most.
const OPEN_MAX: usize = 10;
/// How much of a node's name its key bears, in characters.
const NAME_MAX: usize = 40;

/// Where another node asks this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableAt {
    /// At which addresses.
    pub addresses: Vec<Url>,
    /// Which key the certificate there has; none when it is checked as others are.
    pub pin: Option<CertificatePin>,
}

/// Expects that [`invite`] would make an invitation that names these addresses.
pub async fn expect_invitable(
    context: &Sync,
    caller: &Caller,
    at: &ReachableAt,
) -> Result<(), SyncError> {
    check(at)?;
    let open = context.store.list_invitations(&caller.owner, context.node, clock::now()).await?;
    if open.len() >= OPEN_MAX {
        return Err(StoreError::TooManyInvitations { most: OPEN_MAX }.into());
    }
    Ok(())
}

/// Makes an invitation. Its text is shown this once, and only once that is in the audit log.
pub async fn invite(
    context: &Sync,
    caller: &Caller,
    at: ReachableAt,
) -> Result<CreatedInvitation, SyncError> {
    check(&at)?;
    let ReachableAt { addresses, pin } = at;
    let (secret, now) = (InvitationSecret::new(rand::random()), clock::now());
    let expires_at = now.checked_add(LIFE).unwrap_or(now);
    let key = secret.key();
    let invitation = StoredInvitation {
        owner: caller.owner.clone(),
        node: context.node,
        key,
        created_at: now,
        expires_at,
        redeemed_at: None,
    };
    let note = Note::new(&caller.actor, &caller.owner, Action::InvitePeer, key.id());
    let made = context.store.create_invitation(&invitation, OPEN_MAX).await;
    note.end(&context.store, made.map_err(SyncError::from)).await?;
    let inviter = context.own.identity.now().key().fingerprint();
    let code = InvitationCode { secret, inviter, pin, addresses: addresses.clone() };
    let (id, code, pinned) = (key.id(), code.expose(), pin.is_some());
    Ok(CreatedInvitation { id, code, expires_at, addresses, pinned })
}

fn check(at: &ReachableAt) -> Result<(), Invalid> {
    let count = at.addresses.len();
    if !(1..=ADDRESSES_MAX).contains(&count) {
        let (field, expected) = ("addresses", "1 to 8 of them");
        return Err(Invalid { field, expected, found: count.to_string() });
    }
    let is_fit = |url: &&Url| is_node_url(url) && u8::try_from(url.as_str().len()).is_ok();
    let is_pinned = |url: &&Url| at.pin.is_none() || url.scheme() == "https";
    match at.addresses.iter().find(|url| !is_fit(url) || !is_pinned(url)) {
        None => Ok(()),
        Some(found) => Err(Invalid {
            field: "addresses",
            expected: "addresses of a node such as https://192.168.1.20:7421, without a path",
            found: format!("{:?}", found.as_str()),
        }),
    }
}

/// The owner's open invitations, the oldest first.
pub async fn invitations(
    context: &Sync,
    caller: &Caller,
) -> Result<Vec<InvitationView>, SyncError> {
    let open = context.store.list_invitations(&caller.owner, context.node, clock::now()).await?;
    let view = |one: StoredInvitation| InvitationView {
        id: one.id(),
        created_at: one.created_at,
        expires_at: one.expires_at,
    };
    Ok(open.into_iter().map(view).collect())
}

/// Takes an open invitation back.
pub async fn cancel_invitation(context: &Sync, caller: &Caller, id: &str) -> Result<(), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::CancelInvitation, id);
    let gone = context.store.delete_invitation(&caller.owner, context.node, id).await;
    note.end(&context.store, gone.map_err(SyncError::from)).await
}

/// Lets the node of this card join, which has signed the request: it is a confirmed peer then, and is given a
/// key that is for it alone.
pub async fn redeem(
    context: &Sync,
    card: &NodeCard,
    request: &RedeemInvitation,
) -> Result<(Caller, Peer, Joined), SyncError> {
    let invitation = open(context, card, request).await?;
    let (id, owner) = (invitation.id(), invitation.owner.clone());
    let actor = Actor::invited(&id);
    let note = Note::new(&actor, &owner, Action::RedeemInvitation, card.node_id.to_string());
    let note =
        note.with("fingerprint", card.key.fingerprint().to_string()).with("invitation", &*id);
    let caller = Caller { owner, key: id, actor, scopes: [Scope::Sync].into(), agent: None };
    let joined = let_in(context, caller, card, &invitation);
    note.end(&context.store, Box::pin(joined).await).await
}

/// The invitation whose secret the node has.
async fn open(
    context: &Sync,
    card: &NodeCard,
    request: &RedeemInvitation,
) -> Result<StoredInvitation, SyncError> {
    let id = &request.invitation;
    let invitation = context.store.find_invitation(context.node, id, clock::now()).await?;
    let inviter = context.own.identity.now().key().fingerprint();
    let proven = nonce_of(&request.nonce).is_some_and(|nonce| {
        let joining = Joining { inviter, joiner: card.key.fingerprint(), nonce };
        invitation.key.verify(&joining, &request.proof).is_ok()
    });
    if proven {
        return Ok(invitation);
    }
    let actor = Actor::invited(id);
    let joiner = card.node_id.to_string();
    let note = Note::new(&actor, &invitation.owner, Action::RedeemInvitation, joiner);
    let unknown = StoreError::InvitationNotFound { id: invitation.id() };
    Err(note.with("invitation", &**id).failed(&context.store, SyncError::from(unknown)).await)
}

/// 16 bytes in hexadecimal digits.
fn nonce_of(text: &str) -> Option<[u8; 16]> {
    let is_one = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_one.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(u128::to_be_bytes)
}

async fn let_in(
    context: &Sync,
    caller: Caller,
    card: &NodeCard,
    invitation: &StoredInvitation,
) -> Result<(Caller, Peer, Joined), SyncError> {
    if card.node_id == context.node {
        let found = "this node itself".to_owned();
        return Err(WayError::AddressNotAllowed { found }.into());
    }
    context.store.redeem_invitation(invitation, clock::now()).await?;
    let name: String = card.name.chars().take(NAME_MAX).collect();
    let wanted = CreateKey {
        name: format!("{} {}", name.trim_end(), caller.key),
        owner: None,
        scopes: [Scope::Sync].into(),
        for_node: Some(card.key.fingerprint()),
    };
    let made = keys::create(context, &caller, wanted).await?;
    let caller = Caller { key: made.key.id, ..caller };
    let peer = admit(context, &caller, card).await?;
    let name = context.own.node_settings.name.clone();
    tracing::info!(peer = %peer.node, "a node joined by an invitation");
    Ok((caller, peer, Joined { api_key: made.secret, name }))
}

#[cfg(test)]
mod tests {
    use super::{ReachableAt, check, nonce_of};
    use baton_session::invitation::CertificatePin;

    #[test]
    fn addresses_are_those_at_which_a_node_is_asked() {
        let checked = |pin: Option<CertificatePin>, addresses: &[&str]| {
            let addresses = addresses.iter().map(|url| url.parse().unwrap()).collect();
            check(&ReachableAt { addresses, pin }).map_err(|error| error.to_string())
        };
        let pin = Some(CertificatePin::of(b"key"));
        checked(pin, &["https://192.168.1.20:7421", "https://[2001:db8::1]:7421"]).unwrap();
        checked(None, &["http://127.0.0.1:7420"]).unwrap();
        for (pin, addresses) in [
            (pin, ["http://192.168.1.20:7421"].as_slice()),
            (None, &["https://home.example.org/baton"]),
            (None, &["https://ada@home.example.org"]),
            (None, &[]),
            (None, &["https://home.example.org"; 9]),
        ] {
            assert!(checked(pin, addresses).is_err(), "{addresses:?}");
        }
    }

    #[test]
    fn a_nonce_is_thirty_two_digits() {
        assert_eq!(nonce_of(&"0f".repeat(16)), Some([15; 16]));
        for bad in ["", "0f", &"0g".repeat(16), &"+f".repeat(16), &"0f".repeat(17)] {
            assert_eq!(nonce_of(bad), None, "{bad}");
        }
    }
}
