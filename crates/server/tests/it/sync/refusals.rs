//! What is refused, and that nothing of it is stored.

use super::pair::{Pair, know, logged_in, registration, save, seed, start};
use crate::fixture::{one_line, problem};
use baton_api::sync::{ConfirmPeer, RegisterPeer};
use baton_api::{CreateKey, ErrorCode, ListAudit, Scope};
use baton_server::config::Choices;
use reqwest::Method;
use secrecy::ExposeSecret;

#[tokio::test]
async fn a_session_larger_than_the_limit_is_not_taken() {
    let small = || Choices { session_bytes: Some(1024), ..Choices::default() };
    let (cloud, laptop) = (start(Choices::default()).await, start(small()).await);
    know(&laptop, &cloud, "cloud").await;
    let many: Vec<(String, String)> =
        (0..20).map(|n| (format!("shop{n}.test"), "x".repeat(100))).collect();
    let logins: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    seed(&cloud, "shop", &logged_in(&logins)).await;
    save(&cloud, "shop").await;
    let refused = laptop.admin().pull_session("cloud", "shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageFull));
    assert!(laptop.admin().fetch_session("shop").await.is_err());
    let audit = laptop.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let line = audit.iter().find(|entry| entry.action == "session.pull").unwrap();
    assert_eq!(line.outcome.as_str(), "failed");
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn only_nodes_that_sign_are_told_of_revisions_and_parts() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    let mut heard = Vec::new();
    for (method, path) in [
        (Method::GET, format!("/sync/sessions/{id}/revisions")),
        (Method::POST, format!("/sync/sessions/{id}/revisions")),
        (Method::POST, format!("/sync/sessions/{id}/lease")),
        (Method::POST, format!("/sync/sessions/{id}/parts")),
        (Method::POST, format!("/sync/sessions/{id}/parts/fetch")),
    ] {
        let request = pair.cloud.admin_request(method.clone(), &path).body("{}");
        let refused = problem(request.send().await.unwrap()).await;
        heard.push(format!("{method}: {} {}", refused.status, refused.code.as_str()));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    GET: 403 untrusted
    POST: 403 untrusted
    POST: 403 untrusted
    POST: 403 untrusted
    POST: 403 untrusted
    ");
    pair.stop().await;
}

#[tokio::test]
async fn a_key_without_the_scope_moves_nothing() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    let reader = pair.cloud.as_owner("local", &[Scope::Read, Scope::Drive, Scope::Reveal]).await;
    let refused = reader.fetch_sync_index().await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let syncer = pair.cloud.as_owner("local", &[Scope::Sync]).await;
    let fingerprint = pair.cloud.admin().list_peers().await.unwrap().fingerprint;
    let refused = syncer.confirm_peer("x", &ConfirmPeer { fingerprint }).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    // Who may exchange sessions may not see what is in them.
    let url = pair.cloud.file.url.join(&format!("/sync/sessions/{id}")).unwrap();
    let key = syncer.key().clone();
    let request = reqwest::Client::builder().no_proxy().build().unwrap().get(url);
    let refused = request.bearer_auth(key.expose_secret()).send().await.unwrap();
    assert_eq!(problem(refused).await.code, ErrorCode::Forbidden);
    // Another owner sees none of it.
    let other = pair.cloud.as_owner("other", &[Scope::Sync]).await;
    assert!(other.fetch_sync_index().await.unwrap().sessions.is_empty());
    pair.stop().await;
}

#[tokio::test]
async fn a_key_that_turns_up_at_another_node_is_refused() {
    let pair = Pair::new().await;
    let thief = start(Choices::default()).await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    let name = "for the desk".to_owned();
    let request = CreateKey { name, owner: None, scopes: [Scope::Sync].into(), for_node: None };
    let key = pair.cloud.admin().create_key(&request).await.unwrap().secret;
    let desk = start(Choices::default()).await;
    let fingerprint = Some(pair.cloud.admin().list_peers().await.unwrap().fingerprint);
    let request = async |_: &str| RegisterPeer {
        api_key: Some(key.clone()),
        fingerprint,
        ..registration(&desk, &pair.cloud, "cloud").await
    };
    desk.admin().register_peer(&request("desk").await).await.unwrap();
    let compared =
        ConfirmPeer { fingerprint: desk.admin().list_peers().await.unwrap().fingerprint };
    pair.cloud.admin().confirm_peer(&desk.id().to_string(), &compared).await.unwrap();
    desk.admin().pull_session("cloud", "shop").await.unwrap();
    thief.admin().register_peer(&request("thief").await).await.unwrap();
    let refused = thief.admin().pull_session("cloud", "shop").await.unwrap_err();
    assert!(refused.to_string().contains("which was registered"), "{refused}");
    let audit = pair.cloud.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    assert!(audit.iter().any(|one| one.action == "peer.admit" && one.outcome.as_str() == "failed"));
    thief.stop().await;
    desk.stop().await;
    pair.stop().await;
}

#[tokio::test]
async fn an_address_that_leads_into_a_private_network_is_not_asked() {
    let pair = Pair::new().await;
    let syncer = pair.laptop.as_owner("local", &[Scope::Sync]).await;
    let loopback = registration(&pair.laptop, &pair.cloud, "again").await;
    let mut heard = Vec::new();
    for url in [
        "http://10.0.0.7:7420/",
        "http://169.254.169.254/",
        "ftp://example.org/",
        "https://u:p@example.org/",
    ] {
        let request = RegisterPeer { url: url.parse().unwrap(), ..loopback.clone() };
        let keyless = RegisterPeer { api_key: None, ..request.clone() };
        let [refused, alike] = [request, keyless]
            .map(async |request| pair.laptop.admin().register_peer(&request).await.unwrap_err());
        let (refused, alike) = (refused.await.to_string(), alike.await.to_string());
        assert_eq!(refused, alike, "with a key and without");
        heard.push(refused.lines().next().unwrap_or_default().to_owned());
    }
    // Only whoever administers the machine may name what listens on it.
    for request in [loopback.clone(), RegisterPeer { api_key: None, ..loopback }] {
        let refused = syncer.register_peer(&request).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::AddressNotAllowed));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    expected an address that this node may ask, found 10.0.0.7, which leads to the private address 10.0.0.7
    expected an address that this node may ask, found 169.254.169.254, which leads to the private address 169.254.169.254
    expected an address that this node may ask, found one with the scheme ftp
    expected an address that this node may ask, found one with a user or a password in it
    ");
    pair.stop().await;
}

#[tokio::test]
async fn an_id_that_is_no_id_is_refused() {
    let pair = Pair::new().await;
    let path = "/sync/sessions/..%2F..%2Fetc";
    let refused = problem(pair.cloud.admin_request(Method::GET, path).send().await.unwrap()).await;
    assert_eq!(refused.status, 422, "{}", one_line(&refused));
    let away = pair.laptop.admin().pull_session("cloud", "../../etc/passwd").await.unwrap_err();
    assert_eq!(away.code(), Some(ErrorCode::SessionNotFound));
    pair.stop().await;
}
