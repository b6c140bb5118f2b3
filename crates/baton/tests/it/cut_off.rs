//! Either node is killed while a session moves: it goes on where it stopped, and nothing half-written
//! is ever seen.

use crate::test_nodes::test_node;
use baton_api::sync::{ConfirmPeer, Movement, MovementOutcome, RegisterPeer, SaveSession};
use baton_api::{ClientError, CreateKey, FileText, ImportSession, Scope};
use baton_playground::TestNode;
use baton_session::peer::AuthMethod;
use baton_testing::{Dice, rounds};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;
use tokio::time::sleep;

/// How many rounds when nobody asks for more.
const ROUNDS: u64 = 20;
/// How many origins the session has.
const ORIGINS: u64 = 24;
/// How many bytes each of them has. A build that is not optimised takes as long with less.
const BYTES: usize = if cfg!(debug_assertions) { 50_000 } else { 200_000 };

/// How many parts a session has, and how many bytes.
type Held = (usize, u64);

/// Two test nodes; the laptop's node has registered the cloud's.
struct Pair {
    cloud: TestNode,
    laptop: TestNode,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_survives_every_kill_and_is_seen_whole_or_not_at_all() {
    let mut dice = Dice::new();
    let mut pair = Pair { cloud: test_node().await, laptop: test_node().await };
    for round in 0..rounds(ROUNDS) {
        let name = format!("shop{round}");
        let told = format!("round {round}");
        let expected = import(&pair.cloud, &name, round).await;
        // Ports are others after a kill, so the laptop meets the cloud anew.
        meet(&pair, &name).await;
        let (pull, kills_cloud) = (dice.roll(2) == 0, dice.roll(2) == 0);
        let id = if pull { name.clone() } else { give(&pair, &name, round).await };
        let moving = start(&pair, &id, pull);
        // The moment of the kill is what varies: anywhere in the transfer, or before or after it.
        sleep(Duration::from_millis(dice.roll(900))).await;
        let victim = if kills_cloud { &mut pair.cloud } else { &mut pair.laptop };
        victim.kill_node().await.unwrap();
        let _cut = moving.await.unwrap();
        victim.start_node().await.unwrap();
        let receiver = if pull { &pair.laptop } else { &pair.cloud };
        if let Some(found) = find(receiver, &id).await {
            assert_eq!(found, expected, "{told}: half");
        }
        meet(&pair, &name).await;
        let moved = start(&pair, &id, pull).await.unwrap().expect(&told);
        let done = [MovementOutcome::Moved, MovementOutcome::Unchanged].contains(&moved.outcome);
        assert!(done, "{told}: {moved:?}");
        let receiver = if pull { &pair.laptop } else { &pair.cloud };
        assert_eq!(find(receiver, &id).await.expect(&told), expected, "{told}");
    }
    pair.cloud.clear().await.unwrap();
    pair.laptop.clear().await.unwrap();
}

/// Makes a session of a file at a test node and saves it; returns how much it holds.
async fn import(test_node: &TestNode, name: &str, round: u64) -> Held {
    let origins: Vec<Value> = (0..ORIGINS)
        .map(|origin| {
            let local = json!([["noise", noise((origin + 1) * (round + 7))]]);
            json!({"storageKey": format!("https://{name}-{origin}.test/"), "localStorage": local})
        })
        .collect();
    let file = json!({"name": name, "state": {"cookies": [], "origins": origins}, "tabs": []});
    let text = FileText::new(file.to_string()).unwrap();
    let request = ImportSession { name: None, description: None, file: text };
    let client = test_node.client().unwrap();
    client.import_session(&request).await.unwrap();
    client.save_session(name, &SaveSession::default()).await.unwrap();
    find(test_node, name).await.unwrap()
}

/// Bytes that do not compress well.
fn noise(seed: u64) -> String {
    let mut number = seed;
    let mut text = String::with_capacity(BYTES);
    while text.len() < BYTES {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        write!(text, "{number:016x}").unwrap();
    }
    text
}

/// A session of the same content at the laptop, which pushes it; returns its id.
async fn give(pair: &Pair, name: &str, round: u64) -> String {
    let client = pair.cloud.client().unwrap();
    client.delete_session(name).await.unwrap();
    import(&pair.laptop, name, round).await;
    let session = pair.laptop.client().unwrap().fetch_session(name).await.unwrap();
    session.session.id.to_string()
}

/// The laptop registers the cloud where it is now.
async fn meet(pair: &Pair, name: &str) {
    let (cloud, laptop) = (pair.cloud.client().unwrap(), pair.laptop.client().unwrap());
    let fingerprint = cloud.list_peers().await.unwrap().fingerprint;
    // A key stays with its node; one for each meeting would fill the list.
    let _ = laptop.remove_peer("cloud").await;
    let key = format!("{name} {:?}", std::time::Instant::now());
    let for_node = Some(laptop.list_peers().await.unwrap().fingerprint);
    let request = CreateKey { name: key, owner: None, scopes: [Scope::Sync].into(), for_node };
    let key = cloud.create_key(&request).await.unwrap();
    let request = RegisterPeer {
        url: cloud.base().clone(),
        name: "cloud".to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    };
    laptop.register_peer(&request).await.unwrap();
    laptop.confirm_peer("cloud", &ConfirmPeer { fingerprint }).await.unwrap();
}

type Moving = tokio::task::JoinHandle<Result<Movement, ClientError>>;

/// The laptop begins to pull or push a session.
fn start(pair: &Pair, id: &str, pull: bool) -> Moving {
    let (client, id) = (pair.laptop.client().unwrap().clone(), id.to_owned());
    tokio::spawn(async move {
        if pull {
            client.pull_session("cloud", &id).await
        } else {
            client.push_session("cloud", &id).await
        }
    })
}

/// How much a test node has of a session: parts and bytes, and that every part can be read; none when it
/// has nothing.
async fn find(test_node: &TestNode, reference: &str) -> Option<Held> {
    let view = test_node.client().unwrap().fetch_session(reference).await.ok()?;
    let state = test_node.client().unwrap().fetch_state(reference, false).await.unwrap();
    assert!(state.unreadable.is_empty(), "{:?}", state.unreadable);
    view.snapshot.map(|snapshot| (snapshot.parts, snapshot.bytes))
}
