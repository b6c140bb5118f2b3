//! A peer that takes connections and says nothing costs whoever asks it three seconds, and nobody a session.

use super::deletions::becomes;
use super::inviting::invite;
use super::pair::{Pair, again_at, held_by, know, logged_in, save, seed, start, start_on, store};
use crate::fixture::{Node, until};
use baton_api::sync::{JoinPeer, MovementOutcome, PeerStatus, SaveSession};
use baton_api::{ClientError, ErrorCode, ListAudit};
use baton_server::config::Choices;
use baton_session::Lifecycle;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What one silent peer costs, and what a busy machine takes on top of that.
const COST: Duration = Duration::from_secs(8);

/// Takes the place of a node that has ended: connections are opened there, and nothing is said.
pub(super) async fn hang(address: SocketAddr) -> JoinHandle<()> {
    let bound = until("the address is free", async || TcpListener::bind(address).await.ok()).await;
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = bound.accept().await {
            held.push(stream);
        }
    })
}

pub(super) fn address(node: &Node) -> SocketAddr {
    node.file.url.socket_addrs(|| None).unwrap()[0]
}

/// Tells how a node refused, and that it did not wait.
async fn soon<T>(asked: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
    let begun = Instant::now();
    let said = asked.await;
    assert!(begun.elapsed() < COST, "it took {:?}", begun.elapsed());
    said
}

pub(super) fn words(refused: &ClientError) -> String {
    let ClientError::Problem(problem) = refused else { panic!("{refused}") };
    let hint = problem.hint.as_deref().unwrap_or_default();
    format!("{}: {}\n{hint}", problem.code.as_str(), problem.detail)
}

#[tokio::test]
async fn a_peer_that_hangs_costs_three_seconds_and_is_named() {
    let pair = Pair::new().await;
    let (held, free) = (
        seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await,
        seed(&pair.laptop, "bank", &logged_in(&[("bank.test", "one")])).await,
    );
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    save(&pair.laptop, "bank").await;
    held_by(&pair.laptop, held, pair.cloud.id()).await;
    let Pair { cloud, laptop } = pair;
    let address = address(&cloud);
    let _folder = cloud.stop().await;
    let hangs = hang(address).await;
    let admin = laptop.admin();

    let refused = soon(admin.list_differences("cloud")).await.unwrap_err();
    insta::assert_snapshot!(words(&refused), @r"
    peer_unreachable: peer cloud takes the connection and says nothing
    its sessions stay as they are; baton peers ping cloud says when it answers again
    ");
    let refused = soon(admin.pull_session("cloud", &held.to_string())).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PeerUnreachable));
    let request = SaveSession { sync_to_peers: true, ..SaveSession::default() };
    let saved = soon(admin.save_session("bank", &request)).await.unwrap();
    assert_eq!((saved.unchanged, saved.failed.len()), (true, 1));

    // Nobody else holds it: it comes as far as a browser. Of the other nobody knows.
    let refused = soon(admin.resume_session(&free.to_string())).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable));
    let refused = soon(admin.resume_session("shop")).await.unwrap_err();
    insta::assert_snapshot!(words(&refused), @r"
    conflict: peer cloud holds the session, takes the connection and says nothing: it may still run there
    try again once it answers; or take over what it saved last: baton peers remove cloud, and resume again
    ");
    let before = admin.fetch_session("shop").await.unwrap().shared.unwrap().held_by.unwrap();
    assert!(!before.here, "it is not taken over");
    admin.remove_peer("cloud").await.unwrap();
    let refused = soon(admin.resume_session("shop")).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable));
    hangs.abort();
    laptop.stop().await;
}

/// A laptop that joined a cloud by an invitation, so that it asks it in TLS, and where it does; with a session that
/// the cloud holds.
pub(super) async fn joined() -> (Node, Node, SocketAddr) {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    let invitation = invite(&cloud).await;
    let request = JoinPeer { code: invitation.code, name: Some("cloud".to_owned()) };
    laptop.admin().join_peer(&request).await.unwrap();
    let held = seed(&cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&cloud, "shop").await;
    laptop.admin().pull_session("cloud", "shop").await.unwrap();
    held_by(&laptop, held, cloud.id()).await;
    let address = invitation.addresses[0].socket_addrs(|| None).unwrap()[0];
    (cloud, laptop, address)
}

#[tokio::test]
async fn a_peer_that_hangs_before_its_handshake_is_silent_and_keeps_what_it_holds() {
    let (cloud, laptop, address) = joined().await;
    let _folder = cloud.stop().await;
    let hangs = hang(address).await;
    let admin = laptop.admin();

    let refused = soon(admin.list_differences("cloud")).await.unwrap_err();
    insta::assert_snapshot!(words(&refused), @r"
    peer_unreachable: peer cloud takes the connection and says nothing
    its sessions stay as they are; baton peers ping cloud says when it answers again
    ");
    let pinged = soon(admin.ping_peer("cloud")).await.unwrap();
    assert_eq!(pinged.status, PeerStatus::Offline);
    insta::assert_snapshot!(pinged.reason.unwrap(), @"peer cloud takes the connection and says nothing");
    let refused = soon(admin.resume_session("shop")).await.unwrap_err();
    insta::assert_snapshot!(words(&refused), @r"
    conflict: peer cloud holds the session, takes the connection and says nothing: it may still run there
    try again once it answers; or take over what it saved last: baton peers remove cloud, and resume again
    ");
    let still = admin.fetch_session("shop").await.unwrap().shared.unwrap().held_by.unwrap();
    assert!(!still.here, "it is not taken over");

    // Where nobody takes connections, it is gone, and what it held comes as far as a browser.
    hangs.abort();
    assert!(hangs.await.unwrap_err().is_cancelled());
    let refused = soon(admin.resume_session("shop")).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable));
    laptop.stop().await;
}

#[tokio::test]
async fn a_peer_that_breaks_off_every_time_keeps_what_it_holds() {
    let pair = Pair::new().await;
    let held = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    held_by(&pair.laptop, held, pair.cloud.id()).await;
    let Pair { cloud, laptop } = pair;
    let address = address(&cloud);
    let _folder = cloud.stop().await;
    // As a tunnel does at whose other end nobody listens.
    let bound = until("the address is free", async || TcpListener::bind(address).await.ok()).await;
    let breaks_off = tokio::spawn(async move { while bound.accept().await.is_ok() {} });
    let refused = soon(laptop.admin().resume_session("shop")).await.unwrap_err();
    insta::assert_snapshot!(words(&refused), @r"
    conflict: peer cloud holds the session, takes the connection and breaks off: it may still run there
    try again once it answers; or take over what it saved last: baton peers remove cloud, and resume again
    ");
    breaks_off.abort();
    laptop.stop().await;
}

#[tokio::test]
async fn several_peers_that_hang_cost_no_more_than_one() {
    let (clouds, laptop) = (
        [
            start(Choices::default()).await,
            start(Choices::default()).await,
            start(Choices::default()).await,
        ],
        start(Choices::default()).await,
    );
    for (at, cloud) in clouds.iter().enumerate() {
        know(&laptop, cloud, &format!("cloud-{at}")).await;
    }
    seed(&laptop, "bank", &logged_in(&[("bank.test", "one")])).await;
    let mut hangs = Vec::new();
    for cloud in clouds {
        let address = address(&cloud);
        let _folder = cloud.stop().await;
        hangs.push(hang(address).await);
    }
    let request = SaveSession { sync_to_peers: true, ..SaveSession::default() };
    let saved = soon(laptop.admin().save_session("bank", &request)).await.unwrap();
    assert_eq!(saved.failed.len(), 3, "{saved:?}");
    let known = soon(laptop.admin().list_known_peers()).await.unwrap();
    assert_eq!(known.items.len(), 3);
    let refused = soon(laptop.admin().resume_session("bank")).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable));
    hangs.iter().for_each(JoinHandle::abort);
    laptop.stop().await;
}

/// How the resumes of a node ended, the oldest first.
async fn resumes(node: &Node) -> Vec<String> {
    let all = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let found = all.into_iter().rev().filter(|entry| entry.action == "session.resume");
    found.map(|entry| entry.detail["code"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn what_a_node_lost_is_tried_again_once_a_peer_that_hung_answers() {
    let by_itself = || Choices { auto_rehydrate: Some(true), ..Choices::default() };
    let Pair { cloud, laptop } = Pair::with(by_itself).await;
    let id = seed(&laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&laptop, "shop").await;
    held_by(&laptop, id, laptop.id()).await;
    becomes(&laptop, id, Lifecycle::Recoverable, Lifecycle::Active).await;
    let (url, folder) = (cloud.file.url.clone(), laptop.stop().await);
    let (address, there) = (address(&cloud), cloud.stop().await);
    let hangs = hang(address).await;
    let laptop = start_on(folder, by_itself()).await;
    until("it was tried", async || (!resumes(&laptop).await.is_empty()).then_some(())).await;
    // As long as two more tries would take, if it were given up after them.
    for _ in 0..2 {
        assert_eq!(laptop.admin().ping_peer("cloud").await.unwrap().status, PeerStatus::Offline);
    }
    hangs.abort();
    assert!(hangs.await.unwrap_err().is_cancelled());
    let cloud = again_at(there, &url, Choices::default()).await;
    // It comes as far as a browser, which there is none of here.
    let last = async || resumes(&laptop).await.pop().filter(|code| code == "browser_unavailable");
    until("it is tried again", last).await;
    assert_eq!(resumes(&laptop).await[0], "peer_unreachable");
    cloud.stop().await;
    laptop.stop().await;
}

/// In front of a node that is asked for what takes long: all but whether it lives goes on after a while.
async fn slow(there: SocketAddr, pause: Duration) -> (SocketAddr, JoinHandle<()>) {
    let bound = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = bound.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((mut from, _)) = bound.accept().await {
            tokio::spawn(async move {
                let mut head = [0; 11];
                while from.peek(&mut head).await.is_ok_and(|read| read < head.len()) {
                    from.readable().await.unwrap();
                }
                if &head != b"GET /health" {
                    sleep(pause).await;
                }
                let mut to = TcpStream::connect(there).await.unwrap();
                let _ = copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    (address, task)
}

#[tokio::test]
async fn a_peer_that_takes_long_and_lives_is_waited_for() {
    let named = Choices { allowed_hosts: Some(vec!["127.0.0.1".to_owned()]), ..Choices::default() };
    let (cloud, laptop) = (start(named).await, start(Choices::default()).await);
    seed(&cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    let saved = save(&cloud, "shop").await;
    know(&laptop, &cloud, "cloud").await;
    let pause = Duration::from_secs(5);
    let (address, task) = slow(address(&cloud), pause).await;
    // Its address is the one in front of it from now on.
    let store = store(&laptop).await;
    let known = store.find_peer(&"local".parse().unwrap(), "cloud").await.unwrap();
    store.delete_peer(&known.owner, known.node).await.unwrap();
    let moved = baton_store::Peer { url: Some(format!("http://{address}/")), ..known };
    store.create_peer(&moved).await.unwrap();
    store.close().await;
    let begun = Instant::now();
    let pulled = laptop.admin().pull_session("cloud", &saved.id.to_string()).await.unwrap();
    assert_eq!(pulled.outcome, MovementOutcome::Moved);
    assert!(begun.elapsed() >= pause, "{:?}", begun.elapsed());
    task.abort();
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn a_session_that_a_peer_has_not_is_not_there_and_the_peer_has_answered() {
    let pair = Pair::new().await;
    let unknown = "0197c0de-5100-7000-8000-0000000000aa";
    let refused = pair.laptop.admin().pull_session("cloud", unknown).await.unwrap_err();
    let ClientError::Problem(problem) = &refused else { panic!("{refused}") };
    assert_eq!(problem.status, 404);
    insta::assert_snapshot!(words(&refused), @r"
    not_shared: peer cloud has no such session for this node
    baton sync status shows what it has; there, baton save makes a session one that moves
    ");
    pair.stop().await;
}
