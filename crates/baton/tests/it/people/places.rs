//! As many viewers as there may be, and one place for a guest.

use super::changed::sign_in;
use super::guests::{self, Guest, Scene, secret};
use crate::test_nodes;
use baton_api::{AskPerson, ErrorCode, ListAudit};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_guest_takes_the_place_of_the_one_before() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut first = guest.watch().await;
    first.tab().await;
    for _ in 0..20 {
        let mut next = guest.watch().await;
        first.until("its end", |viewer| viewer.closed.is_some()).await;
        let farewell = first.closed.take().unwrap();
        let said = (u16::from(farewell.code), farewell.reason.as_str());
        assert_eq!(said, (4001, "another page of yours shows it now"));
        next.tab().await;
        first = next;
    }
    let tab = first.tab().await;
    sign_in(&mut first, tab).await;
    scene.page().await.wait_for("document.cookie.includes('in=ada')").await.unwrap();
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_seventeenth_viewer_is_told_before_anything_is_noted_and_a_person_can_be_asked() {
    let scene = super::Scene::set().await;
    let client = scene.client().clone();
    let mut watching = Vec::new();
    for _ in 0..16 {
        let mut viewer = scene.watch(&client).await;
        viewer.tab().await;
        // Each answers that it is there.
        watching.push(tokio::spawn(async move {
            while viewer.closed.is_none() {
                viewer.hear().await;
            }
        }));
    }
    let refused = client.open_live("shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::TooManyRequests), "{refused}");
    assert!(refused.to_string().contains("at most 16 viewers"), "{refused}");
    let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
    let noted = log.iter().filter(|entry| entry.action == "session.watch").count();
    assert_eq!(noted, 16);
    let request = AskPerson { text: "sign in".to_owned(), ..AskPerson::default() };
    let asked = client.ask_person("shop", &request).await.unwrap();
    assert_eq!(asked.view.sites, ["127.0.0.1"]);
    // Who was asked is told so, too, before there is a line that could not say it.
    let mut guest = Guest::through(&client, &asked);
    guest.open(&secret(&asked)).await;
    let (code, why) = guests::refused(guest.post("asked/live", json!({})).await).await;
    assert_eq!(code, ErrorCode::TooManyRequests);
    assert!(why.contains("at most 16 viewers"), "{why}");
    for viewer in watching {
        viewer.abort();
    }
    scene.strike().await;
}
