//! Sessions of other nodes count for a quota as others do, and one that finds no place keeps no other back.

use super::pair::{know, logged_in, save, seed, start};
use baton_api::ListSessions;
use baton_server::config::Choices;
use baton_store::{Quota, Quotas};

#[tokio::test]
async fn a_session_of_another_node_that_finds_no_place_keeps_no_other_back() {
    let others = Quota { sessions: Some(2), ..Quota::default() };
    let quotas = Some(Quotas { others, ..Quotas::default() });
    let bounded = Choices { quotas, ..Choices::default() };
    let (laptop, cloud) = (start(bounded).await, start(Choices::default()).await);
    know(&laptop, &cloud, "cloud").await;
    let admin = laptop.admin();
    let mut said = Vec::new();
    for name in ["a", "b", "c"] {
        seed(&cloud, name, &logged_in(&[("shop.test", name)])).await;
        save(&cloud, name).await;
        said.push(match admin.pull_session("cloud", name).await {
            Ok(pulled) => format!("{:?}", pulled.outcome),
            Err(refused) => format!("{:?}: {refused}", refused.code().unwrap()),
        });
    }
    insta::assert_snapshot!(said.join("\n"), @"
    Moved
    Moved
    QuotaReached: expected fewer than 2 sessions, the quota of local, found 2
    ");
    // What is there goes on.
    admin.delete_session("b").await.unwrap();
    admin.pull_session("cloud", "c").await.unwrap();
    let sessions = admin.list_sessions(&ListSessions::default()).await.unwrap().items;
    assert_eq!(sessions.len(), 2);
    laptop.stop().await;
    cloud.stop().await;
}
