//! A node that turns up with a key: nobody asked for it, so a person decides, and what goes to it is noted.

use super::pair::{Pair, capture, logged_in, registration, save, seed, start, state, token};
use super::stranger::{About, Stranger};
use crate::fixture::{Node, one_line, problem};
use baton_api::sync::{ConfirmPeer, PeerView, RegisterPeer};
use baton_api::{ClientError, CreateKey, ErrorCode, ListAudit, Scope};
use baton_server::config::Choices;
use baton_session::peer::PeerState;
use baton_session::{Fingerprint, SessionId};
use jiff::Timestamp;
use reqwest::{Method, StatusCode};

/// A key with the scope `sync`, for one node or for whichever shows it.
async fn key(node: &Node, name: &str, for_node: Option<Fingerprint>) -> String {
    let request =
        CreateKey { name: name.to_owned(), owner: None, scopes: [Scope::Sync].into(), for_node };
    node.admin().create_key(&request).await.unwrap().secret
}

async fn fingerprint(node: &Node) -> Fingerprint {
    node.admin().list_peers().await.unwrap().fingerprint
}

/// Registers `there` at `here`, where it is confirmed, with this key.
async fn register(here: &Node, there: &Node, key: String) -> PeerView {
    let request = RegisterPeer {
        api_key: Some(key),
        fingerprint: Some(fingerprint(there).await),
        ..registration(here, there, "cloud").await
    };
    here.admin().register_peer(&request).await.unwrap()
}

/// What a node has noted under these words, oldest first.
async fn noted(node: &Node, actions: &[&str]) -> Vec<String> {
    let items = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let of_these = items.iter().rev().filter(|entry| actions.contains(&entry.action.as_str()));
    of_these.map(|one| format!("{} {} {}", one.action, one.subject, one.outcome.as_str())).collect()
}

async fn with_a_shop() -> (Node, SessionId) {
    let cloud = start(Choices::default()).await;
    let shop = seed(&cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&cloud, "shop").await;
    (cloud, shop)
}

#[tokio::test]
async fn whoever_holds_a_key_gets_no_login_by_a_node_of_their_own() {
    let (cloud, shop) = with_a_shop().await;
    let laptop = start(Choices::default()).await;
    let view = register(&laptop, &cloud, key(&cloud, "laptop", None).await).await;
    assert_eq!(view.state, PeerState::Confirmed, "here it is");
    let next = view.confirm_there.expect("the cloud has said that it knows nobody of that name");

    // Whatever the node asks, it hears the same, and what to type where.
    for _ in 0..3 {
        let refused = laptop.admin().pull_session("cloud", "shop").await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::PendingThere), "{refused}");
        assert!(refused.to_string().contains("this node is pending at cloud"), "{refused}");
        let ClientError::Problem(problem) = refused else { panic!("{refused}") };
        assert_eq!(problem.hint, Some(format!("there, run: {next}")));
    }
    let refused = laptop.admin().list_differences("cloud").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PendingThere), "{refused}");
    assert_eq!(laptop.admin().ping_peer("cloud").await.unwrap().confirm_there, Some(next.clone()));
    let there = cloud.admin().list_peers().await.unwrap().items;
    assert_eq!((there.len(), there[0].state), (1, PeerState::Pending));
    let admitted = format!("peer.admit {} failed", laptop.id());
    let words = ["peer.admit", "peer.confirm", "session.give"];
    assert_eq!(noted(&cloud, &words).await, [&*admitted], "once, however often it asks");

    // The command that it was told is the one that confirms it.
    let (name, shown) = next
        .strip_prefix("baton peers confirm ")
        .and_then(|rest| rest.split_once(" --fingerprint "))
        .unwrap();
    let compared = ConfirmPeer { fingerprint: shown.trim_matches('\'').parse().unwrap() };
    assert_eq!(compared.fingerprint, fingerprint(&laptop).await);
    cloud.admin().confirm_peer(name, &compared).await.unwrap();
    laptop.admin().pull_session("cloud", "shop").await.unwrap();
    assert_eq!(token(&state(&laptop, "shop").await, "shop.test").as_deref(), Some("one"));
    assert_eq!(laptop.admin().list_peers().await.unwrap().items[0].confirm_there, None);

    // One entry for a movement, and none for one in which nothing went.
    laptop.admin().pull_session("cloud", "shop").await.unwrap();
    let confirmed = format!("peer.confirm {name} done");
    let given = format!("session.give {shop} done");
    assert_eq!(noted(&cloud, &words).await, [&*admitted, &confirmed, &given]);
    assert!(cloud.admin().list_peers().await.unwrap().items[0].last_sync.is_some());
    assert_eq!(synced_to(&cloud, shop).await, [laptop.id().to_string()]);
    capture(&cloud, shop, &logged_in(&[("shop.test", "two")])).await;
    save(&cloud, "shop").await;
    laptop.admin().pull_session("cloud", "shop").await.unwrap();
    assert_eq!(noted(&cloud, &words).await, [&*admitted, &confirmed, &given, &given]);
    laptop.stop().await;
    cloud.stop().await;
}

/// Which nodes are known to have what counts, as the file of a session says.
async fn synced_to(node: &Node, session: SessionId) -> Vec<String> {
    let request = node.admin_request(Method::GET, &format!("/sync/sessions/{session}?reveal=true"));
    let file: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    let known = file["sync"]["lastSyncedTo"].as_array().unwrap_or_else(|| panic!("{file}"));
    known.iter().map(|node| node.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_key_for_one_node_lets_in_that_one_and_no_other() {
    let (cloud, _) = with_a_shop().await;
    let (laptop, thief) = (start(Choices::default()).await, start(Choices::default()).await);
    let made = key(&cloud, "laptop", Some(fingerprint(&laptop).await)).await;
    register(&thief, &cloud, made.clone()).await;
    let refused = thief.admin().pull_session("cloud", "shop").await.unwrap_err();
    assert!(refused.to_string().contains("by the node for which it was made"), "{refused}");
    assert!(cloud.admin().list_peers().await.unwrap().items.is_empty());
    // It is still good for the node for which it was made.
    assert_eq!(register(&laptop, &cloud, made).await.confirm_there, None);
    laptop.admin().pull_session("cloud", "shop").await.unwrap();
    let there = cloud.admin().list_peers().await.unwrap().items;
    assert_eq!((there.len(), there[0].state), (1, PeerState::Confirmed));
    for node in [laptop, thief, cloud] {
        node.stop().await;
    }
}

#[tokio::test]
async fn a_key_for_one_node_has_to_be_one_to_sync_with() {
    let node = start(Choices::default()).await;
    let request = CreateKey {
        name: "looks".to_owned(),
        owner: None,
        scopes: [Scope::Read].into(),
        for_node: Some(fingerprint(&node).await),
    };
    let refused = node.admin().create_key(&request).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::InvalidRequest), "{refused}");
    node.stop().await;
}

#[tokio::test]
async fn a_pending_node_hears_the_same_whatever_it_asks() {
    let (cloud, shop) = with_a_shop().await;
    let stranger = Stranger::with(&cloud, 1, key(&cloud, "stranger", None).await).await;
    let in_session = format!("/sync/sessions/{shop}/");
    let of = |path: &str| format!("{in_session}{path}");
    let asked = [
        ("/sync/greeting".to_owned(), "a greeting", None),
        ("/sync/index".to_owned(), "index", None),
        ("/sync/index/next".to_owned(), "the next index", Some("{}")),
        (of("revisions"), "revisions", None),
        (of("revisions/seen"), "a view", Some("{\"view\":{}}")),
        (of("revisions"), "an offer", Some("{}")),
        (of("lease"), "a lease", Some("{}")),
        (of("icon"), "an icon", None),
        (of("parts/fetch"), "parts", Some("{\"wanted\":[]}")),
        (of("parts"), "given parts", Some("")),
    ];
    for (path, purpose, plain) in asked {
        let session = path.starts_with(&in_session).then_some(shop);
        let about = About { purpose, session, plain: plain.map(str::as_bytes) };
        let answer = stranger.ask(Timestamp::now(), &path, about).send().await;
        assert_eq!(answer.status(), StatusCode::CONFLICT, "{purpose}");
        let told = one_line(&problem(answer).await);
        assert!(told.contains("pending_there"), "{purpose}: {told}");
        assert!(!told.contains("shop"), "{purpose}: {told}");
    }
    cloud.stop().await;
}

#[tokio::test]
async fn what_a_node_gives_by_itself_is_noted_before_it_goes() {
    let pair = Pair::new().await;
    let shop = seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "shop").await;
    pair.push("shop").await;
    pair.push("shop").await;
    let (given, pushed) =
        (format!("session.give {shop} done"), format!("session.push {shop} done"));
    assert_eq!(noted(&pair.laptop, &["session.give", "session.push"]).await, [given, pushed]);
    // A file for a peer is noted as what it is.
    pair.laptop.admin().seal_session("shop", "cloud").await.unwrap();
    assert_eq!(
        noted(&pair.laptop, &["session.export"]).await,
        [format!("session.export {shop} done")]
    );
    pair.stop().await;
}
