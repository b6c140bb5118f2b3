//! What is secret in the addresses of tabs is shown to nobody who may only look, whichever way they do.

use crate::fixture::{Folder, Node, seed_snapshot};
use baton_api::{ErrorCode, ListAudit, ListHistory, Scope};
use baton_session::{History, HistoryEntry, State, Tab};
use reqwest::Method;
use secrecy::ExposeSecret;

const SECRET: &str = "s3cret";
const ADDRESS: &str =
    "https://ada:s3cret@shop.test/page?token=s3cret&code=s3cret#access_token=s3cret";

/// A state whose tab is at an address with secrets, and is called by it as pages without a title are.
fn state(path: &str) -> State {
    let url = ADDRESS.replace("/page", path);
    let title = url.trim_start_matches("https://").to_owned();
    let entry = HistoryEntry { url: url.clone(), title: title.clone(), ..HistoryEntry::default() };
    let history = History { entries: vec![entry], ..History::default() };
    State {
        tabs: vec![Tab { url, title, active: true, history, ..Tab::default() }],
        ..State::default()
    }
}

async fn node() -> Node {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    for path in ["/page", "/other"] {
        seed_snapshot(&store, "local", id, &state(path)).await;
    }
    store.close().await;
    folder.start().await
}

/// What is said to a key.
async fn said(node: &Node, key: &str, path: &str) -> String {
    let answer = node.request(Method::GET, path).bearer_auth(key).send().await.unwrap();
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    assert!(status.is_success(), "{path}: {status} {text}");
    text
}

#[tokio::test]
async fn no_door_shows_what_addresses_of_tabs_hide() {
    let node = node().await;
    let reader = node.as_owner("local", &[Scope::Read]).await.key().expose_secret().to_owned();
    let snapshots = node.admin().list_history("shop", &ListHistory::default()).await.unwrap().items;
    let of = |at: usize| snapshots[at].id.to_string();
    let diff = format!("/sessions/shop/diff?a={}&b={}", of(1), of(0));
    let mut shown = Vec::new();
    for path in [
        "/sessions",
        "/sessions/shop",
        "/sessions/shop/state",
        "/sessions/shop/history",
        &diff,
        "/audit",
    ] {
        shown.push((path.to_owned(), said(&node, &reader, path).await));
    }
    for (door, text) in shown {
        assert!(!text.contains(SECRET), "{door}: {text}");
    }
    node.stop().await;
}

#[tokio::test]
async fn an_address_is_whole_for_whoever_may_see_values_and_asks() {
    let node = node().await;
    let reader = node.as_owner("local", &[Scope::Read]).await;
    let refused = reader.reveal_session("shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let admitted = node.as_owner("local", &[Scope::Read, Scope::Reveal]).await;
    let hidden = admitted.fetch_session("shop").await.unwrap();
    assert!(!hidden.tabs[0].url.as_str().contains(SECRET), "{:?}", hidden.tabs);
    let whole = admitted.reveal_session("shop").await.unwrap();
    assert_eq!(whole.tabs[0].url.as_str(), ADDRESS.replace("/page", "/other"));
    let audit = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let revealed = audit.iter().filter(|entry| entry.action == "session.reveal");
    let mut ended: Vec<_> = revealed.map(|entry| entry.outcome.as_str()).collect();
    ended.sort_unstable();
    assert_eq!(ended, ["denied", "done"]);
    node.stop().await;
}
