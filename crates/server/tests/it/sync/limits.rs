//! How much a peer is given, and how much is taken from it: said, shown, kept, and only by whoever may.

use super::pair::{Pair, know, registration, start};
use crate::fixture::{Node, one_line, problem};
use baton_api::sync::{PeerView, RegisterPeer};
use baton_api::{CreateKey, ErrorCode, ListAudit, Scope};
use baton_net::outbound::Allowed;
use baton_server::config::Choices;
use baton_session::PeerLimits;
use baton_session::peer::PeerState;
use reqwest::Method;
use serde_json::{Value, json};

fn limits(of: Value) -> PeerLimits {
    serde_json::from_value(of).unwrap()
}

/// Cookies of a shop go there, and everything comes from there.
fn of_the_shop() -> PeerLimits {
    limits(json!({"give": {"sites": ["shop.test"], "kinds": ["cookies"]}}))
}

/// The only peer of a node.
async fn one(node: &Node) -> PeerView {
    let mut peers = node.admin().list_peers().await.unwrap().items;
    assert_eq!(peers.len(), 1, "{peers:?}");
    peers.remove(0)
}

/// The peer as its JSON has it.
async fn shown(node: &Node) -> Value {
    let list = node.admin_request(Method::GET, "/sync/peers").send().await.unwrap();
    list.json::<Value>().await.unwrap()["items"][0]["limits"].clone()
}

#[tokio::test]
async fn limits_are_set_shown_noted_and_taken_away() {
    let pair = Pair::new().await;
    let (laptop, admin) = (&pair.laptop, pair.laptop.admin());
    assert_eq!(shown(laptop).await, Value::Null, "there are none");
    let asked = limits(json!({
        "give": {"sites": ["www.Shop.test", ".mail.test", "127.0.0.1"], "kinds": ["tabs", "cookies"]},
        "take": {"sites": []},
    }));
    let peer = admin.limit_peer("cloud", &asked).await.unwrap();
    let expected = json!({
        "give": {"sites": ["127.0.0.1", "mail.test", "shop.test"], "kinds": ["cookies", "tabs"]},
        "take": {"sites": []},
    });
    assert_eq!(serde_json::to_value(&peer.limits).unwrap(), expected);
    assert_eq!(shown(laptop).await, expected);
    // They are of the peer, whatever it is called by, and are set as a whole.
    let id = pair.cloud.id().to_string();
    admin.limit_peer(&id[..8], &limits(json!({"take": {"kinds": []}}))).await.unwrap();
    assert_eq!(shown(laptop).await, json!({"give": {}, "take": {"kinds": []}}));
    let peer = admin.limit_peer(&id, &PeerLimits::default()).await.unwrap();
    assert!(peer.limits.is_none());
    assert_eq!(shown(laptop).await, Value::Null);

    let unknown = admin.limit_peer("nobody", &of_the_shop()).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::PeerNotFound));
    let audit = admin.list_audit(&ListAudit::default()).await.unwrap().items;
    let noted = audit.iter().filter(|entry| entry.action == "peer.limit").map(|entry| {
        let Value::Object(detail) = &entry.detail else { panic!("{:?}", entry.detail) };
        let text = |name| detail.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{} give: {} take: {} {}", entry.outcome, text("give"), text("take"), text("code"))
            .trim_end()
            .to_owned()
    });
    insta::assert_snapshot!(noted.collect::<Vec<_>>().join("\n"), @"
    failed give: cookies of shop.test take: everything peer_not_found
    done give: everything take: everything
    done give: everything take: nothing
    done give: cookies and tabs of 127.0.0.1, mail.test and shop.test take: nothing
    ");
    pair.stop().await;
}

#[tokio::test]
async fn limits_outlive_the_node_that_has_them() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    know(&laptop, &cloud, "cloud").await;
    laptop.admin().limit_peer("cloud", &of_the_shop()).await.unwrap();
    let laptop = laptop.stop().await.start().await;
    assert_eq!(one(&laptop).await.limits, of_the_shop());
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn what_limits_nothing_that_there_is_is_refused() {
    let pair = Pair::new().await;
    let many: Vec<String> = (0..257).map(|number| format!("{number}.test")).collect();
    let mut heard = Vec::new();
    for body in [
        json!({"give": {"kinds": ["passwords"]}}),
        json!({"give": {"places": []}}),
        json!({"gives": {}}),
        json!({"take": {"sites": ["https://shop.test/"]}}),
        json!({"take": {"sites": [""]}}),
        json!({"give": {"sites": many}}),
        json!({"give": {"sites": "shop.test"}}),
    ] {
        let call = pair.laptop.admin_request(Method::PUT, "/sync/peers/cloud/limits").json(&body);
        heard.push(one_line(&problem(call.send().await.unwrap()).await));
    }
    insta::assert_snapshot!(heard.join("\n"), @r#"
    422 invalid_request: in the body, give.kinds[0]: unknown variant `passwords`, expected one of `cookies`, `local-storage`, `databases`, `caches`, `files`, `service-workers`, `tabs`, `environment` at line 1 column 29
    422 invalid_request: in the body, give.places: unknown field `places`, expected `sites` or `kinds` at line 1 column 17
    422 invalid_request: in the body, gives: unknown field `gives`, expected `give` or `take` at line 1 column 8
    422 invalid_request: expected take.sites to be domains or addresses such as shop.test, without a scheme, port or path, found "https://shop.test/"
    422 invalid_request: expected take.sites to be domains or addresses such as shop.test, without a scheme, port or path, found ""
    422 invalid_request: expected give.sites to be at most 256 sites, found 257
    422 invalid_request: in the body, give.sites: invalid type: string "shop.test", expected a sequence at line 1 column 28
    "#);
    assert_eq!(shown(&pair.laptop).await, Value::Null);
    pair.stop().await;
}

#[tokio::test]
async fn nothing_moves_before_the_limits_hold_that_come_with_a_registration() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    let asked = limits(json!({"give": {"sites": ["www.shop.test"], "kinds": ["cookies"]}}));
    let request =
        RegisterPeer { limits: Some(asked), ..registration(&laptop, &cloud, "cloud").await };
    let bad = limits(json!({"take": {"sites": ["no site"]}}));
    let bad = RegisterPeer { limits: Some(bad), ..request.clone() };
    let refused = laptop.admin().register_peer(&bad).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::InvalidRequest), "{refused}");
    assert!(laptop.admin().list_peers().await.unwrap().items.is_empty());

    let peer = laptop.admin().register_peer(&request).await.unwrap();
    assert_eq!((peer.state, &peer.limits), (PeerState::Pending, &of_the_shop()));
    // Who gives another key says nothing of limits, and they stay; who does, sets them.
    let again = registration(&laptop, &cloud, "cloud").await;
    assert_eq!(laptop.admin().register_peer(&again).await.unwrap().limits, of_the_shop());
    let other = limits(json!({"take": {"kinds": []}}));
    let again = RegisterPeer { limits: Some(other.clone()), ..again };
    assert_eq!(laptop.admin().register_peer(&again).await.unwrap().limits, other);
    assert_eq!(one(&laptop).await.limits, other);
    laptop.stop().await;
    cloud.stop().await;
}

/// Whoever only moves sessions may say how much, before a person trusts the peer; and not afterwards.
#[tokio::test]
async fn only_whoever_administers_a_node_changes_limits() {
    let cloud = start(Choices::default()).await;
    let outbound_allow = Some(vec![Allowed::Host("localhost".to_owned())]);
    let laptop = start(Choices { outbound_allow, ..Choices::default() }).await;
    let mut request = registration(&laptop, &cloud, "cloud").await;
    request.url.set_host(Some("localhost")).unwrap();
    let agent = laptop.as_owner("local", &[Scope::Sync]).await;
    let keyless = RegisterPeer { api_key: None, limits: Some(of_the_shop()), ..request.clone() };
    assert_eq!(agent.register_peer(&keyless).await.unwrap().limits, of_the_shop());
    let refused = agent.limit_peer("cloud", &PeerLimits::default()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let freed = RegisterPeer { limits: Some(PeerLimits::default()), ..request.clone() };
    let refused = agent.register_peer(&freed).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let peer = one(&laptop).await;
    assert_eq!((peer.has_key, peer.limits), (false, of_the_shop()), "it is as it was");
    let peer = agent.register_peer(&request).await.unwrap();
    assert_eq!((peer.has_key, peer.limits), (true, of_the_shop()));
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn a_node_that_asks_with_another_key_is_limited_as_before() {
    let pair = Pair::new().await;
    pair.laptop.admin().list_differences("cloud").await.unwrap();
    let name = one(&pair.cloud).await.name;
    pair.cloud.admin().limit_peer(&name, &of_the_shop()).await.unwrap();
    let request = CreateKey {
        name: "new".to_owned(),
        owner: None,
        scopes: [Scope::Sync].into(),
        for_node: None,
    };
    let key = pair.cloud.admin().create_key(&request).await.unwrap().secret;
    let request = registration(&pair.laptop, &pair.cloud, "cloud").await;
    let request = RegisterPeer { api_key: Some(key), ..request };
    pair.laptop.admin().register_peer(&request).await.unwrap();
    pair.laptop.admin().list_differences("cloud").await.unwrap();
    assert_eq!(one(&pair.cloud).await.limits, of_the_shop());
    pair.stop().await;
}

#[tokio::test]
async fn a_peer_that_was_removed_comes_back_as_a_stranger_without_limits() {
    let pair = Pair::new().await;
    let admin = pair.laptop.admin();
    admin.limit_peer("cloud", &of_the_shop()).await.unwrap();
    admin.remove_peer("cloud").await.unwrap();
    let gone = admin.list_differences("cloud").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::PeerNotFound));
    let peer =
        admin.register_peer(&registration(&pair.laptop, &pair.cloud, "cloud").await).await.unwrap();
    assert_eq!((peer.state, peer.limits.is_none()), (PeerState::Pending, true));
    let refused = admin.list_differences("cloud").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::PeerPending), "nobody has confirmed it again");
    pair.stop().await;
}
