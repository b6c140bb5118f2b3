//! The node that the settings name is registered by itself, and nothing moves before a person says so.

use super::pair::{again_at, registration, start, start_on};
use crate::fixture::{Node, until};
use baton_api::ErrorCode;
use baton_api::sync::{ConfirmPeer, PeerView, RegisterPeer};
use baton_net::outbound::Allowed;
use baton_server::config::Choices;
use baton_session::peer::PeerState;
use url::Url;

/// The address of a node, under a name that the settings may allow.
fn at(node: &Node) -> Url {
    let mut url = node.file.url.clone();
    url.set_host(Some("localhost")).unwrap();
    url
}

fn naming(url: &Url) -> Choices {
    let allow = Some(vec![Allowed::Host("localhost".to_owned())]);
    Choices { cloud_url: Some(url.clone()), outbound_allow: allow, ..Choices::default() }
}

async fn peers(node: &Node) -> Vec<PeerView> {
    node.admin().list_peers().await.unwrap().items
}

/// Waits until a node has a peer, and gives it.
async fn registered(node: &Node) -> PeerView {
    until("the cloud is registered", || async { peers(node).await.into_iter().next() }).await
}

#[tokio::test]
async fn it_is_pending_until_a_person_gives_its_key_and_confirms() {
    let cloud = start(Choices::default()).await;
    let laptop = start(naming(&at(&cloud))).await;
    let peer = registered(&laptop).await;
    assert_eq!((peer.state, peer.has_key), (PeerState::Pending, false));
    assert_eq!((peer.node_id, peer.name.as_str()), (cloud.id(), "cloud"));
    let fingerprint = cloud.admin().list_peers().await.unwrap().fingerprint;
    assert_eq!(peer.fingerprint, fingerprint);
    let keyed = RegisterPeer { url: at(&cloud), ..registration(&laptop, &cloud, "cloud").await };
    laptop.admin().register_peer(&keyed).await.unwrap();
    laptop.admin().confirm_peer("cloud", &ConfirmPeer { fingerprint }).await.unwrap();
    laptop.admin().list_differences("cloud").await.unwrap();
    // The next start finds it there, and leaves it as it is.
    let laptop = start_on(laptop.stop().await, naming(&at(&cloud))).await;
    let after = peers(&laptop).await;
    assert_eq!((after.len(), after[0].state, after[0].has_key), (1, PeerState::Confirmed, true));
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn it_is_not_registered_where_the_settings_say_so() {
    let cloud = start(Choices::default()).await;
    let not = Choices { auto_register_cloud: Some(false), ..naming(&at(&cloud)) };
    let (alone, laptop) = (start(not).await, start(naming(&at(&cloud))).await);
    // One that began later is done.
    registered(&laptop).await;
    assert!(peers(&alone).await.is_empty());
    // A person may still do so, and what was registered stays.
    let request = RegisterPeer { url: at(&cloud), ..registration(&alone, &cloud, "mine").await };
    alone.admin().register_peer(&request).await.unwrap();
    let not = Choices { auto_register_cloud: Some(false), ..naming(&at(&cloud)) };
    let alone = start_on(alone.stop().await, not).await;
    assert_eq!(registered(&alone).await.name, "mine");
    for node in [alone, laptop, cloud] {
        node.stop().await;
    }
}

#[tokio::test]
async fn one_that_was_removed_comes_back_pending_at_the_next_start() {
    let cloud = start(Choices::default()).await;
    let laptop = start(naming(&at(&cloud))).await;
    registered(&laptop).await;
    let fingerprint = cloud.admin().list_peers().await.unwrap().fingerprint;
    let keyed = RegisterPeer { url: at(&cloud), ..registration(&laptop, &cloud, "cloud").await };
    laptop.admin().register_peer(&keyed).await.unwrap();
    laptop.admin().confirm_peer("cloud", &ConfirmPeer { fingerprint }).await.unwrap();
    laptop.admin().remove_peer("cloud").await.unwrap();
    assert!(peers(&laptop).await.is_empty());
    let laptop = start_on(laptop.stop().await, naming(&at(&cloud))).await;
    let peer = registered(&laptop).await;
    assert_eq!((peer.node_id, peer.state, peer.has_key), (cloud.id(), PeerState::Pending, false));
    let refused = laptop.admin().list_differences("cloud").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PeerPending));
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn one_that_does_not_answer_yet_is_asked_again() {
    let cloud = start(Choices::default()).await;
    let (url, address) = (at(&cloud), cloud.file.url.clone());
    let folder = cloud.stop().await;
    let laptop = start(naming(&url)).await;
    assert!(peers(&laptop).await.is_empty());
    let cloud = again_at(folder, &address, Choices::default()).await;
    assert_eq!(registered(&laptop).await.node_id, cloud.id());
    laptop.stop().await;
    cloud.stop().await;
}
