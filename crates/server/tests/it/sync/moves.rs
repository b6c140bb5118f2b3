//! A session goes from node to node, and nothing of it is lost on the way.

use super::pair::{Pair, edit, know, logged_in, registration, save, seed, start, state, token};
use baton_api::ErrorCode;
use baton_api::sync::{Difference, MovementOutcome, PeerStatus, SaveSession};
use baton_server::config::Choices;
use baton_session::Lifecycle;
use baton_session::peer::PeerState;

#[tokio::test]
async fn a_saved_session_goes_to_another_node_and_comes_back_changed() {
    let pair = Pair::new().await;
    let first = logged_in(&[("shop.test", "one")]);
    let id = seed(&pair.cloud, "shop", &first).await;
    let saved = save(&pair.cloud, "shop").await;
    assert_eq!((saved.version, saved.unchanged), (1, false));

    // By its name there: the laptop has never heard of it.
    let pulled = pair.pull("shop").await;
    assert_eq!((pulled.outcome, pulled.rev), (MovementOutcome::Moved, Some(saved.rev)));
    assert_eq!(pulled.session_id, id, "a session is the same at every node");
    let view = pair.laptop.admin().fetch_session("shop").await.unwrap();
    assert_eq!(view.session.state, Lifecycle::Recoverable);
    assert_eq!(state(&pair.laptop, "shop").await, first);

    let second = logged_in(&[("shop.test", "two"), ("bank.test", "one")]);
    let edited = edit(&pair.laptop, id, &second).await;
    assert_eq!(edited.version, 2);
    let pushed = pair.push("shop").await;
    assert_eq!((pushed.outcome, pushed.rev), (MovementOutcome::Moved, Some(edited.rev)));
    assert_eq!(state(&pair.cloud, "shop").await, second, "a resume there takes what came");
    assert_eq!(pair.push("shop").await.outcome, MovementOutcome::Unchanged);
    assert_eq!(pair.pull("shop").await.outcome, MovementOutcome::Unchanged);
    pair.stop().await;
}

#[tokio::test]
async fn what_is_saved_twice_is_one_revision() {
    let pair = Pair::new().await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    let first = save(&pair.cloud, "shop").await;
    let again = save(&pair.cloud, "shop").await;
    assert_eq!((again.rev, again.unchanged), (first.rev, true));
    // Another name is another revision of the same state.
    let name = Some("market".parse().unwrap());
    let request = SaveSession { name, ..SaveSession::default() };
    let renamed = pair.cloud.admin().save_session("shop", &request).await.unwrap();
    assert_eq!((renamed.version, renamed.checksum), (2, first.checksum));
    assert_eq!(pair.pull("market").await.name.as_str(), "market");
    pair.stop().await;
}

#[tokio::test]
async fn both_nodes_tell_how_they_differ() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    seed(&pair.laptop, "bank", &logged_in(&[("bank.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    save(&pair.laptop, "bank").await;
    let differences = async || {
        let list = pair.laptop.admin().list_differences("cloud").await.unwrap();
        let line =
            |item: &baton_api::sync::SessionDifference| (item.name.to_string(), item.difference);
        list.items.iter().map(line).collect::<Vec<_>>()
    };
    let (bank, shop) = ("bank".to_owned(), "shop".to_owned());
    assert_eq!(
        differences().await,
        [(bank.clone(), Difference::Ahead), (shop.clone(), Difference::Behind)]
    );
    pair.pull("shop").await;
    pair.push("bank").await;
    assert_eq!(
        differences().await,
        [(bank.clone(), Difference::Same), (shop.clone(), Difference::Same)]
    );
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    edit(&pair.laptop, id, &logged_in(&[("shop.test", "three")])).await;
    assert_eq!(differences().await, [(shop, Difference::Diverged), (bank, Difference::Same)]);
    pair.stop().await;
}

#[tokio::test]
async fn a_name_that_is_taken_gets_a_number_here_and_stays_what_it_is_elsewhere() {
    let pair = Pair::new().await;
    seed(&pair.laptop, "shop", &logged_in(&[("mine.test", "one")])).await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull(&id.to_string()).await;
    assert_eq!(token(&state(&pair.laptop, "shop-2").await, "shop.test").unwrap(), "one");
    edit(&pair.laptop, id, &logged_in(&[("shop.test", "two")])).await;
    pair.push(&id.to_string()).await;
    let there = pair.cloud.admin().fetch_session("shop").await.unwrap();
    assert_eq!(there.session.id, id, "its name is that of whoever saved it first");
    pair.stop().await;
}

#[tokio::test]
async fn a_peer_gets_nothing_until_a_person_confirmed_it() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    seed(&laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&laptop, "shop").await;
    let peer =
        laptop.admin().register_peer(&registration(&laptop, &cloud, "cloud").await).await.unwrap();
    assert_eq!((peer.state, peer.status), (PeerState::Pending, PeerStatus::Online));
    let refused = laptop.admin().push_session("cloud", "shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PeerPending));
    let fingerprint = laptop.admin().list_peers().await.unwrap().fingerprint;
    let wrong = baton_api::sync::ConfirmPeer { fingerprint };
    let refused = laptop.admin().confirm_peer("cloud", &wrong).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Untrusted));
    let fingerprint = cloud.admin().list_peers().await.unwrap().fingerprint;
    let right = baton_api::sync::ConfirmPeer { fingerprint };
    laptop.admin().confirm_peer("cloud", &right).await.unwrap();
    let pushed = laptop.admin().push_session("cloud", "shop").await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Moved);
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn a_session_goes_through_a_node_between_two_that_never_met() {
    let pair = Pair::new().await;
    let desk = start(Choices::default()).await;
    know(&desk, &pair.cloud, "cloud").await;
    let id = seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "shop").await;
    pair.push("shop").await;
    desk.admin().pull_session("cloud", "shop").await.unwrap();
    let edited = edit(&desk, id, &logged_in(&[("shop.test", "two")])).await;
    desk.admin().push_session("cloud", "shop").await.unwrap();
    assert_eq!(pair.pull("shop").await.rev, Some(edited.rev));
    assert_eq!(token(&state(&pair.laptop, "shop").await, "shop.test").unwrap(), "two");
    desk.stop().await;
    pair.stop().await;
}
