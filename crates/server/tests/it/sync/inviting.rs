//! Two nodes become peers by one text, and nobody who has it not, or stands in between, becomes one.

use super::pair::{logged_in, save, seed, start, start_on};
use crate::fixture::{Node, one_line, problem, until};
use baton_api::sync::{CreateInvitation, CreatedInvitation, JoinPeer, PeerStatus, PeerView};
use baton_api::{ClientError, ErrorCode, ListAudit};
use baton_net::outbound::pinned_client;
use baton_server::config::Choices;
use baton_session::invitation::{CertificatePin, InvitationCode, InvitationSecret};
use baton_session::peer::PeerState;
use baton_session::view::View;
use baton_session::{Fingerprint, Owner, PeerLimits};
use baton_store::StoredInvitation;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use std::time::Duration;

/// How two nodes become peers, but for the text.
async fn two() -> (Node, Node) {
    (start(Choices::default()).await, start(Choices::default()).await)
}

async fn stop(nodes: [Node; 2]) {
    for node in nodes {
        node.stop().await;
    }
}

/// An invitation of a node that listens for peers at a free port.
pub(super) async fn invite(node: &Node) -> CreatedInvitation {
    let listens = node.admin().list_invitations().await.unwrap().listens;
    let listen = Some(listens.unwrap_or("127.0.0.1:0".parse().unwrap()));
    let request = CreateInvitation { listen, addresses: Vec::new() };
    node.admin().create_invitation(&request).await.unwrap()
}

async fn join(node: &Node, code: &str) -> Result<PeerView, ClientError> {
    node.admin().join_peer(&JoinPeer { code: code.to_owned(), name: None }).await
}

/// The same as a refusal, with what it says to do; ports, fingerprints and ids differ from run to run.
async fn refused(node: &Node, code: &str) -> (ErrorCode, String) {
    let ClientError::Problem(problem) = join(node, code).await.unwrap_err() else {
        panic!("expected a refusal of the node")
    };
    let told = format!("{}\n{}", one_line(&problem), problem.hint.unwrap_or_default());
    let code: InvitationCode = code.parse().unwrap();
    let address = code.addresses[0].to_string();
    (problem.code, told.replace(&address, "https://ADDRESS/"))
}

async fn peers(node: &Node) -> Vec<PeerView> {
    node.admin().list_peers().await.unwrap().items
}

/// Neither node knows the other, nor has it a key.
async fn are_strangers(nodes: [&Node; 2]) {
    for node in nodes {
        assert_eq!(peers(node).await, []);
        let keys = node.admin().list_keys(None).await.unwrap().items;
        assert_eq!(keys.len(), 1, "the local one alone: {keys:?}");
    }
}

async fn audited(node: &Node, action: &str) -> Vec<String> {
    let all = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let found = all.into_iter().rev().filter(|entry| entry.action == action);
    found.map(|entry| entry.outcome.as_str().to_owned()).collect()
}

async fn fingerprint(node: &Node) -> Fingerprint {
    node.admin().list_peers().await.unwrap().fingerprint
}

fn read(invitation: &CreatedInvitation) -> InvitationCode {
    invitation.code.parse().unwrap()
}

#[tokio::test]
async fn two_nodes_are_confirmed_peers_by_one_text_and_sessions_move() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    assert!(invitation.pinned && invitation.code.starts_with("BATON-"));
    let life = invitation.expires_at.duration_since(Timestamp::now());
    assert!((590..=600).contains(&life.as_secs()), "{life}");
    let open = server.admin().list_invitations().await.unwrap();
    assert_eq!(open.items[0].id, invitation.id);

    let peer = join(&laptop, &invitation.code).await.unwrap();
    assert_eq!((peer.state, peer.status), (PeerState::Confirmed, PeerStatus::Online));
    assert_eq!(peer.fingerprint, fingerprint(&server).await);
    assert_eq!(peer.url.as_ref(), invitation.addresses.first());
    let [there] = peers(&server).await.try_into().unwrap();
    assert_eq!(
        (there.state, there.fingerprint),
        (PeerState::Confirmed, fingerprint(&laptop).await)
    );
    assert_eq!(there.url, None, "it asks, and is not asked");

    seed(&server, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&server, "shop").await;
    let moved = laptop.admin().pull_session(&peer.name, "shop").await.unwrap();
    assert!(moved.rev.is_some(), "{moved:?}");

    assert_eq!(server.admin().list_invitations().await.unwrap().items, []);
    assert_eq!(audited(&server, "peer.listen").await, ["done"]);
    assert_eq!(audited(&server, "peer.invite").await, ["done"]);
    assert_eq!(audited(&server, "peer.redeem_invitation").await, ["done"]);
    assert_eq!(audited(&server, "peer.admit").await, ["done"]);
    assert_eq!(audited(&laptop, "peer.join").await, ["done"]);
    stop([server, laptop]).await;
}

#[tokio::test]
async fn an_invitation_counts_once() {
    let (server, laptop) = two().await;
    let other = start(Choices::default()).await;
    let invitation = invite(&server).await;
    let (one, two) = tokio::join!(join(&laptop, &invitation.code), join(&other, &invitation.code));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(peers(&server).await.len(), 1);
    let (code, told) = refused(&other, &invitation.code).await;
    assert_eq!(code, ErrorCode::InvitationNotFound);
    insta::assert_snapshot!(told, @r"
    404 invitation_not_found: the invitation of 127.0.0.1 counts no more: it was used, has ended, or was taken back
    there, run: baton peers invite
    ");
    stop([server, laptop]).await;
    other.stop().await;
}

#[tokio::test]
async fn an_invitation_ends_after_its_time_and_when_it_is_taken_back() {
    let (server, laptop) = two().await;
    let cancelled = invite(&server).await;
    server.admin().cancel_invitation(&cancelled.id).await.unwrap();
    assert_eq!(refused(&laptop, &cancelled.code).await.0, ErrorCode::InvitationNotFound);
    let gone = server.admin().cancel_invitation(&cancelled.id).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::InvitationNotFound));

    // One that was made eleven minutes ago.
    let secret = InvitationSecret::new([5; 16]);
    let now = Timestamp::now();
    let before = |minutes: i64| now.checked_sub(SignedDuration::from_mins(minutes)).unwrap();
    let old = StoredInvitation {
        owner: Owner::local(),
        node: server.id(),
        key: secret.key(),
        created_at: before(11),
        expires_at: before(1),
        redeemed_at: None,
    };
    let store = server.folder.store().await;
    store.create_invitation(&old, 10).await.unwrap();
    store.close().await;
    let code = InvitationCode { secret, ..read(&cancelled) };
    assert_eq!(refused(&laptop, &code.expose()).await.0, ErrorCode::InvitationNotFound);
    are_strangers([&server, &laptop]).await;
    stop([server, laptop]).await;
}

#[tokio::test]
async fn a_wrong_secret_opens_nothing_and_uses_up_nobodys_invitation() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    let guess = InvitationCode { secret: InvitationSecret::new([9; 16]), ..read(&invitation) };
    assert_eq!(refused(&laptop, &guess.expose()).await.0, ErrorCode::InvitationNotFound);
    let cut = invitation.code[..invitation.code.len() - 1].to_owned();
    let refused = join(&laptop, &cut).await.unwrap_err();
    insta::assert_snapshot!(refused, @"expected an invitation, BATON-…, found one that was cut short or mistyped");
    are_strangers([&server, &laptop]).await;
    join(&laptop, &invitation.code).await.unwrap();
    stop([server, laptop]).await;
}

#[tokio::test]
async fn a_machine_in_between_gets_neither_node_to_confirm_it() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    // It answers at the address with a certificate of its own.
    let pin = Some(CertificatePin::of(b"the key of another certificate"));
    let elsewhere = InvitationCode { pin, ..read(&invitation) };
    let (code, told) = refused(&laptop, &elsewhere.expose()).await;
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(told, @r"
    403 untrusted: expected the node that invited at https://ADDRESS/, found another one: another machine answers there: its certificate has another key than the invitation says
    nothing was registered; somebody may be in between, or the addresses of the machines changed: run baton peers invite there again
    ");
    // It has the certificate's key, and not the node's.
    let inviter = fingerprint(&laptop).await;
    let digits = inviter.to_string().replace(' ', "");
    let turned = digits.chars().rev().collect::<String>();
    let other = InvitationCode { inviter: turned.parse().unwrap(), ..read(&invitation) };
    assert_eq!(refused(&laptop, &other.expose()).await.0, ErrorCode::Untrusted);
    are_strangers([&server, &laptop]).await;
    // Neither has used the invitation up.
    join(&laptop, &invitation.code).await.unwrap();
    stop([server, laptop]).await;
}

#[tokio::test]
async fn a_node_does_not_join_itself() {
    let (server, laptop) = two().await;
    let itself = invite(&server).await;
    let refused = join(&server, &itself.code).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::AddressNotAllowed));
    are_strangers([&server, &laptop]).await;
    stop([server, laptop]).await;
}

#[tokio::test]
async fn ten_thousand_guesses_find_nothing_and_are_told_to_wait() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    let code = read(&invitation);
    let url = code.addresses[0].join("/sync/invitations/redeem").unwrap();
    let client = pinned_client(&url, code.pin.unwrap(), Duration::from_secs(5)).await.unwrap();
    let mut told_to_wait = 0;
    for guess in 0_u32..10_000 {
        let call = client.http.post(url.clone()).header("baton-node", "e30");
        let answer = call.body(guess.to_be_bytes().to_vec()).send().await.unwrap();
        match answer.status().as_u16() {
            429 => told_to_wait += 1,
            status => assert_eq!(status, 403, "{guess}"),
        }
        if guess == 9_999 {
            assert!(answer.headers().contains_key("retry-after"));
            insta::assert_snapshot!(one_line(&problem(answer).await), @"429 too_many_requests: expected at most 60 requests without a good key a minute, found more");
        }
    }
    assert!(told_to_wait > 9_000, "{told_to_wait}");
    are_strangers([&server, &laptop]).await;
    assert_eq!(server.admin().list_invitations().await.unwrap().items[0].id, invitation.id);
    stop([server, laptop]).await;
}

#[tokio::test]
async fn a_node_that_nobody_reaches_says_what_to_type() {
    let (server, laptop) = two().await;
    let request = CreateInvitation::default();
    let refused = server.admin().create_invitation(&request).await.unwrap_err();
    let ClientError::Problem(problem) = refused else { panic!("{refused}") };
    insta::assert_snapshot!(format!("{}\n{}", one_line(&problem), problem.hint.unwrap()), @r"
    409 not_reachable: expected this node to listen where other machines reach it, found it on this machine alone
    let it listen for peers too, in TLS: baton peers invite --listen 0.0.0.0:7421; or set node.publicUrl where it is reached already
    ");
    // There are so many open invitations, and no more.
    for _ in 0..10 {
        invite(&server).await;
    }
    let many = server.admin().create_invitation(&request).await.unwrap_err();
    assert_eq!(many.code(), Some(ErrorCode::Conflict));
    assert_eq!(server.admin().list_invitations().await.unwrap().items.len(), 10);
    stop([server, laptop]).await;
}

#[tokio::test]
async fn an_invitation_that_is_refused_opens_no_listener() {
    let node = start(Choices::default()).await;
    let listens = async || node.admin().list_invitations().await.unwrap().listens;
    let refused = async |addresses: &[&str]| {
        let addresses = addresses.iter().map(|url| url.parse().unwrap()).collect();
        let listen = Some("127.0.0.1:0".parse().unwrap());
        let request = CreateInvitation { listen, addresses };
        node.admin().create_invitation(&request).await.unwrap_err().code()
    };
    // With a certificate that is pinned it is https; and there is room for so many.
    for addresses in [&["http://192.168.1.20:7421"][..], &["https://192.168.1.20:7421"; 9]] {
        assert_eq!(refused(addresses).await, Some(ErrorCode::InvalidRequest), "{addresses:?}");
        assert_eq!(listens().await, None);
    }
    for _ in 0..10 {
        invite(&node).await;
    }
    let before = listens().await;
    assert_eq!(refused(&[]).await, Some(ErrorCode::Conflict));
    assert_eq!(listens().await, before);
    node.stop().await;
}

#[tokio::test]
async fn an_invitation_that_is_undone_takes_the_listener_along_that_nobody_else_needs() {
    let (server, laptop) = two().await;
    let listens = async || server.admin().list_invitations().await.unwrap().listens;
    let first = invite(&server).await;
    server.admin().undo_invitation(&first.id).await.unwrap();
    assert_eq!(listens().await, None);

    // Another machine was invited meanwhile, and has joined by now: no invitation is left that says so.
    let first = invite(&server).await;
    let other = invite(&server).await;
    let peer = join(&laptop, &other.code).await.unwrap();
    server.admin().undo_invitation(&first.id).await.unwrap();
    assert_eq!(server.admin().list_invitations().await.unwrap().items, []);
    let asked = laptop.admin().ping_peer(&peer.name).await.unwrap();
    assert_eq!(asked.status, PeerStatus::Online);

    // One that was there before stays, and so does that of an invitation which is taken back as people do.
    let third = invite(&server).await;
    server.admin().undo_invitation(&third.id).await.unwrap();
    assert!(listens().await.is_some());
    server.admin().close_peer_listener().await.unwrap();
    let last = invite(&server).await;
    server.admin().cancel_invitation(&last.id).await.unwrap();
    assert!(listens().await.is_some());
    stop([server, laptop]).await;
}

#[tokio::test]
async fn the_listener_for_peers_answers_what_nodes_sign_and_nothing_else() {
    let (server, laptop) = two().await;
    let code = read(&invite(&server).await);
    let base = &code.addresses[0];
    let client = pinned_client(base, code.pin.unwrap(), Duration::from_secs(5)).await.unwrap();
    let ask = async |method: Method, path: &str, header: Option<(&str, &str)>| {
        let call =
            client.http.request(method, base.join(path).unwrap()).bearer_auth(server.admin_key());
        let call = header.into_iter().fold(call, |call, (name, value)| call.header(name, value));
        call.send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(Method::GET, "/health", None).await, 200);
    for path in ["/sessions", "/keys", "/sync/peers", "/sync/card", "/openapi.json", "/audit"] {
        let found = ask(Method::GET, path, None).await;
        assert!([403, 404].contains(&found), "{path}: {found}");
        assert_eq!(ask(Method::GET, path, Some(("baton-node", "e30"))).await, 404, "{path}");
    }
    assert_eq!(ask(Method::GET, "/sync/index", None).await, 403, "an admin's key is no signature");
    assert_eq!(ask(Method::POST, "/sync/invitations", Some(("baton-node", "e30"))).await, 404);
    let page = Some(("origin", base.as_str().trim_end_matches('/')));
    assert_eq!(ask(Method::GET, "/health", page).await, 403, "no page asks there");
    stop([server, laptop]).await;
}

#[tokio::test]
async fn the_listener_is_there_again_after_a_restart_until_it_is_closed() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    let peer = join(&laptop, &invitation.code).await.unwrap();
    let folder = server.stop().await;
    assert_eq!(laptop.admin().ping_peer(&peer.name).await.unwrap().status, PeerStatus::Offline);
    let server = start_on(folder, Choices::default()).await;
    until("the peer answers again", || async {
        let asked = laptop.admin().ping_peer(&peer.name).await.unwrap();
        (asked.status == PeerStatus::Online).then_some(())
    })
    .await;
    let listens = server.admin().list_invitations().await.unwrap().listens.unwrap();
    assert_eq!(Some(listens.port()), invitation.addresses[0].port(), "and its certificate's key");
    server.admin().close_peer_listener().await.unwrap();
    until("the peer answers no more", || async {
        let asked = laptop.admin().ping_peer(&peer.name).await.unwrap();
        (asked.status == PeerStatus::Offline).then_some(())
    })
    .await;
    let folder = server.stop().await;
    let server = start_on(folder, Choices::default()).await;
    assert_eq!(server.admin().list_invitations().await.unwrap().listens, None);
    stop([server, laptop]).await;
}

#[tokio::test]
async fn a_node_that_joins_again_keeps_its_name_and_its_limits() {
    let (server, laptop) = two().await;
    let request = JoinPeer { code: invite(&server).await.code, name: Some("home".to_owned()) };
    laptop.admin().join_peer(&request).await.unwrap();
    let nothing = View { sites: Some([].into()), kinds: None };
    let limits = PeerLimits { give: View::default(), take: nothing };
    laptop.admin().limit_peer("home", &limits).await.unwrap();
    let again = join(&laptop, &invite(&server).await.code).await.unwrap();
    assert_eq!((again.name.as_str(), &again.limits), ("home", &limits));
    assert_eq!(peers(&server).await.len(), 1);
    // A name that another peer has is refused before the invitation is used up.
    let third = start(Choices::default()).await;
    let invitation = invite(&third).await;
    let taken = JoinPeer { code: invitation.code.clone(), name: Some("home".to_owned()) };
    let refused = laptop.admin().join_peer(&taken).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::NameTaken));
    join(&laptop, &invitation.code).await.unwrap();
    stop([server, laptop]).await;
    third.stop().await;
}

#[tokio::test]
async fn nobody_answers_at_the_addresses_of_an_invitation() {
    let (server, laptop) = two().await;
    let invitation = invite(&server).await;
    server.stop().await;
    let (code, told) = refused(&laptop, &invitation.code).await;
    assert_eq!(code, ErrorCode::PeerUnreachable);
    insta::assert_snapshot!(told, @r"
    502 peer_unreachable: expected the node that invited, found none of its addresses that answers: https://ADDRESS/ (Connection refused (os error 111))
    nothing was registered; is one of them reached from here, past the firewall of the other machine? there, baton peers invite --address names another one
    ");
    laptop.stop().await;
}
