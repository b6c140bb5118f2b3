//! A peer whose certificate does not count here answers, and is not asked: nothing that it holds is taken over.

use super::pair::{Pair, held_by, logged_in, save, seed, store};
use super::silence::{address, hang, joined, words};
use crate::fixture::{Node, until};
use baton_api::sync::PeerStatus;
use baton_net::certificate::OwnCertificate;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Takes the place of a node that has ended, with a certificate that it makes itself and a key that nobody pinned.
async fn shows_its_own(address: SocketAddr) -> JoinHandle<()> {
    let own = Arc::new(OwnCertificate::new(&[7; 32], SystemTime::now()).unwrap());
    let acceptor = own.acceptor().unwrap();
    let bound = until("the address is free", async || TcpListener::bind(address).await.ok()).await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = bound.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move { acceptor.accept(stream).await.is_ok() });
        }
    })
}

/// All that is said of it, and that `shop`, which it holds, stays its own.
async fn told(laptop: &Node) -> String {
    let admin = laptop.admin();
    let pinged = admin.ping_peer("cloud").await.unwrap();
    assert_eq!(pinged.status, PeerStatus::Offline);
    let listed = admin.list_differences("cloud").await.unwrap_err();
    let pulled = admin.pull_session("cloud", "shop").await.unwrap_err();
    let resumed = admin.resume_session("shop").await.unwrap_err();
    assert_eq!(words(&listed), words(&pulled));
    assert_eq!(words(&listed), words(&resumed));
    let still = admin.fetch_session("shop").await.unwrap().shared.unwrap().held_by.unwrap();
    assert!(!still.here, "it is not taken over");
    format!("{}\n{}", pinged.reason.unwrap(), words(&listed))
}

#[tokio::test]
async fn a_peer_whose_certificate_is_not_trusted_keeps_what_it_holds() {
    let pair = Pair::new().await;
    let held = seed(&pair.cloud, "shop", &logged_in(&[])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    held_by(&pair.laptop, held, pair.cloud.id()).await;
    let Pair { cloud, laptop } = pair;
    let address = address(&cloud);
    let store = store(&laptop).await;
    let known = store.find_peer(&"local".parse().unwrap(), "cloud").await.unwrap();
    store.delete_peer(&known.owner, known.node).await.unwrap();
    let moved = baton_store::Peer { url: Some(format!("https://{address}/")), ..known };
    store.create_peer(&moved).await.unwrap();
    store.close().await;
    let _folder = cloud.stop().await;
    let answers = shows_its_own(address).await;
    insta::assert_snapshot!(told(&laptop).await, @r"
    peer cloud answers, and this machine does not trust its certificate: UnknownIssuer
    untrusted: peer cloud answers, and this machine does not trust its certificate: UnknownIssuer
    its sessions stay as they are; trust whoever signed it here, in the certificates of the system, or name a file with theirs in SSL_CERT_FILE and start the node again; a certificate that signs itself has to be one of a server, not of an authority
    ");
    answers.abort();
    laptop.stop().await;
}

#[tokio::test]
async fn another_machine_in_the_place_of_a_peer_gets_nothing_of_what_that_holds() {
    let (cloud, laptop, address) = joined().await;
    let _folder = cloud.stop().await;
    let answers = shows_its_own(address).await;
    insta::assert_snapshot!(told(&laptop).await, @r"
    another machine answers in the place of peer cloud: its certificate has another key than the one that is pinned
    untrusted: another machine answers in the place of peer cloud: its certificate has another key than the one that is pinned
    its sessions stay as they are; if the node there is a new one on purpose, remove the peer and join it again
    ");
    answers.abort();
    // It is silence again, and no stranger, once nothing is shown at all.
    assert!(answers.await.unwrap_err().is_cancelled());
    let hangs = hang(address).await;
    let refused = laptop.admin().resume_session("shop").await.unwrap_err();
    assert!(words(&refused).contains("says nothing"), "{refused}");
    hangs.abort();
    laptop.stop().await;
}
