//! A guest whom a load balancer sends to another node than the one of their ask.

use super::driving::mouse;
use super::guests::{Guest, Scene, refused, secret, wanted};
use super::taken_back::cancelled;
use crate::cluster::start_with;
use crate::mcp::{VERSION, bridge};
use baton_api::live::MouseKind;
use baton_api::{AskState, ErrorCode, WaitForAsk};
use reqwest::Method;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_is_let_in_at_any_node_and_their_ask_is_where_the_session_is() {
    let database = baton_postgres::create_database().unwrap();
    // What a person's browser asks is the balancer.
    let settings = [("BATON_PUBLIC_URL", "http://agents.test".to_owned())];
    let own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    let scene = Scene::set(own).await;
    // Who asks and who is asked both come to the node that has nothing of the session.
    let agent = other.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let mut request = wanted("sign in");
    request.files = true;
    let ask = agent.ask_person("shop", &request).await.unwrap();
    assert_eq!(ask.link.host_str(), Some("agents.test"));
    let mut guest = Guest::through(&agent, &ask);
    let secret = secret(&ask);
    let seen = guest.post("asked/look", json!({ "secret": secret })).await;
    assert_eq!(seen.status(), 200, "{}", seen.text().await.unwrap());
    guest.open(&secret).await;
    assert_eq!(guest.state().await, AskState::Opened);
    let again = Guest::at(&scene, &ask).post("asked/open", json!({ "secret": secret })).await;
    assert_eq!(refused(again).await.0, ErrorCode::Unauthenticated);

    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    let page = scene.page().await;
    for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
        ada.say(&mouse(tab, kind, 150.0, 70.0)).await;
    }
    page.wait_for("document.cookie.includes('in=ada')").await.unwrap();
    let put = guest.request(Method::PUT, "asked/files/note.txt").body("of ada");
    assert_eq!(put.send().await.unwrap().status(), 200);
    assert_eq!(agent.get_file("shop", "note.txt").await.unwrap(), b"of ada");
    let ended = guest.post("asked/end", json!({ "done": true })).await;
    assert_eq!(ended.status(), 200, "{}", ended.text().await.unwrap());
    let view = agent.fetch_ask("shop", &ask.view.id, &WaitForAsk::default()).await.unwrap();
    assert_eq!(view.state, AskState::Done);
    let changed = view.outcome.unwrap().changed;
    assert!(changed.contains("1 cookie"), "{changed}");

    // A link of no node, and one of a node that is there and does not know it, open nothing.
    for unknown in ["A".repeat(43), format!("{}{}", "A".repeat(43), &secret[43..])] {
        let unknown = guest.post("asked/look", json!({ "secret": unknown })).await;
        assert_eq!(refused(unknown).await.0, ErrorCode::Unauthenticated);
    }
    // A call that its client cancels takes its question back there.
    let kimi = bridge(&other, &["--as", "kimi"]);
    kimi.initialize(json!({}), VERSION).await.unwrap();
    assert_eq!(cancelled(&kimi, &agent, 2).await, AskState::Withdrawn);
    scene.test_node.clear().await.unwrap();
    other.clear().await.unwrap();
}
