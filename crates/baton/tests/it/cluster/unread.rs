//! A session of which not all can be captured stays where it is, and is as usable there as before.

use super::moving::{drain, site};
use super::{home, id, start};
use crate::cdp::Tool;
use crate::notes::eventually;
use baton_api::{Client, OpenCdp};
use baton_session::Lifecycle;
use serde_json::Value;

/// Keeps a database busy, so that nobody reads what was written there last, until it is told to let go.
const HOLD: &str = "
    const first = indexedDB.open('held', 1);
    first.onupgradeneeded = () => first.result.createObjectStore('words').put('first', 0);
    first.onsuccess = () => {
        first.result.close();
        const again = indexedDB.open('held', 2);
        again.onupgradeneeded = () => {
            const words = again.transaction.objectStore('words');
            words.put('last', 1);
            const spin = () => { if (!self.over) words.get(0).onsuccess = spin; };
            spin();
            document.title = 'held';
        };
        again.onsuccess = () => { again.result.close(); document.title = 'free'; };
    };";

/// Reads what was written there last.
const READ: &str = "
    indexedDB.open('held').onsuccess = ({ target }) => {
        const words = target.result.transaction('words').objectStore('words');
        words.get(1).onsuccess = ({ target }) => document.title = target.result;
    };";

async fn evaluate(client: &Client, script: &str) -> Value {
    let access = client.open_cdp("shop", &OpenCdp { reusable: false }).await.unwrap();
    Tool::connect(&access.cdp_url).await.evaluate(script).await
}

async fn shows(client: &Client, title: &str) {
    eventually(title, async || evaluate(client, "document.title").await == title).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_last_words_cannot_be_read_stays_and_moves_once_they_can() {
    let database = baton_postgres::create_database().unwrap();
    let own = start(&database, "own").await;
    let other = start(&database, "other").await;
    let site = site().await;
    own.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = own.client().unwrap();
    evaluate(client, HOLD).await;
    shows(client, "held").await;

    let (is_done, said, _) = drain(&other, &["own"]).await;
    assert!(!is_done && said.starts_with("own: 0 sessions moved, 1 stayed"), "{said}");
    let stayed = client.fetch_node("own").await.unwrap().drain.unwrap().stayed;
    // On a slow machine it is the page as a whole that was not read in time.
    assert!(stayed[0].why.contains("to be read before it moves"), "{}", stayed[0].why);
    assert_eq!(home(&own, "shop").await, Some(id(&own).await));
    let state = client.fetch_session("shop").await.unwrap().session.state;
    assert_eq!(state, Lifecycle::Active);
    // What its pages ask for goes out again, and nothing holds the session.
    evaluate(client, "fetch('/').then(() => document.title = 'answered')").await;
    shows(client, "answered").await;
    evaluate(client, "self.over = true").await;
    shows(client, "free").await;
    client.capture_session("shop").await.unwrap();

    let (is_done, said, told) = drain(&other, &["own"]).await;
    assert!(is_done, "{said}{told}");
    assert_eq!(home(&own, "shop").await, Some(id(&other).await));
    evaluate(client, READ).await;
    shows(client, "last").await;
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
