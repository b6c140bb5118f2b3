//! Damaged parts of a snapshot: each costs itself, is named, and the rest comes back.

use crate::notes::{eventually, wait_for_state};
use crate::test_nodes::test_node;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use baton_api::ErrorCode;
use baton_playground::{Page, Site, TestNode};
use baton_session::{Lifecycle, Receipt, SessionId};
use std::collections::BTreeSet;
use url::Url;

/// Damages so many of the longest sealed parts in the database, past the program.
fn damage_the_longest(test_node: &TestNode, count: usize) {
    let path = test_node.data().database();
    let mut bytes = std::fs::read(&path).unwrap();
    let parts: Vec<(usize, usize)> = (0..bytes.len()).filter_map(|at| part(&bytes, at)).collect();
    // A row that was moved can stand there twice.
    let lengths: BTreeSet<usize> = parts.iter().map(|(_, length)| *length).collect();
    let shortest = *lengths.iter().rev().nth(count - 1).unwrap();
    for (at, _) in parts.iter().filter(|(_, length)| *length >= shortest) {
        bytes[at + 8] ^= 1;
    }
    std::fs::write(path, bytes).unwrap();
}

/// Closes the session and takes its files away, from which everything would come back by itself; damages so
/// many of its parts, and starts the node again.
async fn damage_closed(test_node: &mut TestNode, id: SessionId, count: usize) {
    test_node.client().unwrap().close_session("edge").await.unwrap();
    test_node.stop_node().await.unwrap();
    test_node.take_files_away(id).unwrap();
    damage_the_longest(test_node, count);
    test_node.start_node().await.unwrap();
}

/// Damages every sealed part in the database, past the program.
fn damage_all(test_node: &TestNode) {
    let path = test_node.data().database();
    let mut bytes = std::fs::read(&path).unwrap();
    let parts: Vec<(usize, usize)> = (0..bytes.len()).filter_map(|at| part(&bytes, at)).collect();
    assert!(!parts.is_empty());
    for (at, _) in parts {
        bytes[at + 8] ^= 1;
    }
    std::fs::write(path, bytes).unwrap();
}

/// If a row of the table of parts begins at an offset: where its sealed bytes are, and how many.
/// The lengths of its columns come first (<https://sqlite.org/fileformat2.html#record_format>): an
/// id of 64 digits, the owner, and what we want to know.
fn part(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes[at..].strip_prefix(&[0x81, 0x0d, 0x17])?;
    let digits = rest.iter().take(9).position(|byte| *byte < 0x80)? + 1;
    let number = rest[..digits].iter().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    let row = rest.get(digits..digits + 64 + 5)?;
    let is_part = row.ends_with(b"local") && row[..64].iter().all(u8::is_ascii_hexdigit);
    is_part.then(|| (at + 3 + digits + row.len(), (number - 12) / 2))
}

/// What was lost, one line each, in the order of the receipt.
fn losses(receipt: &Receipt, url: &Url) -> String {
    let lost = receipt.losses().map(|item| format!("{}: {}", item.kind, item.place));
    lost.collect::<Vec<_>>().join("\n").replace(&url.port().unwrap().to_string(), "PORT")
}

async fn site() -> Site {
    let script = |text: String| ([("Content-Type", "text/javascript")], text).into_response();
    let worker = move || async move { script(format!("// {}\nonfetch = () => {{}}", noise())) };
    let page = get(|| async { Html("<title>part</title>") });
    Site::start(crate::login::site().route("/", page).route("/worker.js", get(worker)))
        .await
        .unwrap()
}

/// A text that no compression makes much shorter.
fn noise() -> String {
    let mut state = 1_u64;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{:08x}", state >> 32)
    });
    words.take(4000).collect()
}

/// Writes the same in three places, and another cookie before that.
const NOTE: &str = "document.cookie = 'zeta=1';
    localStorage.note = sessionStorage.note = document.cookie = 'note=kept'; true";

/// What stands there, and which cookies the server is sent.
const NOTED: &str = "(async () => {
        const sent = await (await fetch('/sent', { cache: 'no-store' })).text();
        return [localStorage.note, sessionStorage.note, sent].join(' ');
    })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_damaged_part_costs_itself_and_is_named() {
    let site = site().await;
    let mut test_node = test_node().await;
    let urls = ["a", "b"].map(|host| site.url_on(host, "/").unwrap());
    let id = test_node.open("edge", urls.clone()).await.unwrap();
    let pages = async |test_node: &TestNode| {
        let socket = test_node.keeper_socket(id);
        [
            Page::attach(&socket, urls[0].as_str()).await.unwrap(),
            Page::attach(&socket, urls[1].as_str()).await.unwrap(),
        ]
    };
    let [a, b] = pages(&test_node).await;
    assert!(a.evaluate::<bool>(NOTE).await.unwrap());
    let fill = "localStorage.note = Array.from({ length: 5000 }, Math.random).join(); true";
    assert!(b.evaluate::<bool>(NOTE).await.unwrap() && b.evaluate::<bool>(fill).await.unwrap());
    damage_closed(&mut test_node, id, 1).await;
    let client = test_node.client().unwrap().clone();
    let receipt = client.resume_session("edge").await.unwrap().session.receipt.unwrap();
    insta::assert_snapshot!(losses(&receipt, &urls[0]), @"part: local-storage http://b.localhost:PORT/");
    let [a, b] = pages(&test_node).await;
    assert_eq!(a.evaluate::<String>(NOTED).await.unwrap(), "note=kept note=kept zeta=1; note=kept");
    assert_eq!(b.evaluate::<String>(NOTED).await.unwrap(), " note=kept zeta=1; note=kept");

    // The next snapshot is whole again.
    client.close_session("edge").await.unwrap();
    let again = client.resume_session("edge").await.unwrap();
    assert!(!again.session.receipt.unwrap().has_losses());
    test_node.clear().await.unwrap();
}

/// A cache, files and a worker, each of another size, and larger than all else.
const FILL: &str = "(async () => {
        const noise = (length) => crypto.getRandomValues(new Uint8Array(length));
        await (await caches.open('shell')).put('/asset', new Response(noise(60_000)));
        const folder = await navigator.storage.getDirectory();
        const writable = await (await folder.getFileHandle('draft', { create: true })).createWritable();
        await writable.write(noise(40_000));
        await writable.close();
        await navigator.serviceWorker.register('/worker.js');
        await navigator.serviceWorker.ready;
        await new Promise((resolve) => {
            const opening = indexedDB.open('kept', 1);
            opening.onupgradeneeded = () => opening.result.createObjectStore('all').put(1, 1);
            opening.onsuccess = () => resolve(opening.result.close());
        });
        document.cookie = 'zeta=1';
        localStorage.note = sessionStorage.note = document.cookie = 'note=kept';
        return true;
    })()";

const READ: &str = "(async () => {
        const databases = await indexedDB.databases();
        const sent = await (await fetch('/sent', { cache: 'no-store' })).text();
        const kept = [localStorage.note, sessionStorage.note, sent, databases[0]?.name];
        return [...kept, ...await caches.keys()].join(' ');
    })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_files_and_workers_that_are_damaged_cost_themselves_only() {
    let site = site().await;
    let mut test_node = test_node().await;
    let url = site.url_on("a", "/").unwrap();
    let id = test_node.open("edge", [url.clone()]).await.unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert!(page.evaluate::<bool>(FILL).await.unwrap());
    let client = test_node.client().unwrap().clone();
    eventually("the worker's script is known", async || {
        client.capture_session("edge").await.unwrap();
        let state = client.fetch_state("edge", true).await.unwrap().state;
        state.to_string().contains("onfetch")
    })
    .await;
    damage_closed(&mut test_node, id, 3).await;
    let client = test_node.client().unwrap().clone();
    let receipt = client.resume_session("edge").await.unwrap().session.receipt.unwrap();
    insta::assert_snapshot!(losses(&receipt, &url), @r#"
    part: cache ["http://a.localhost:PORT/","shell"]
    part: files http://a.localhost:PORT/
    part: service-workers http://a.localhost:PORT/
    "#);
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert_eq!(
        page.evaluate::<String>(READ).await.unwrap(),
        "note=kept note=kept zeta=1; note=kept kept"
    );

    // The next snapshot is whole again.
    client.close_session("edge").await.unwrap();
    let again = client.resume_session("edge").await.unwrap();
    assert!(!again.session.receipt.unwrap().has_losses());
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_whole_snapshot_stands_in_for_one_with_a_damaged_part() {
    let site = site().await;
    let mut test_node = test_node().await;
    let url = site.url_on("a", "/").unwrap();
    let id = test_node.open("edge", [url.clone()]).await.unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert!(page.evaluate::<bool>(NOTE).await.unwrap());
    let client = test_node.client().unwrap().clone();
    client.capture_session("edge").await.unwrap();
    let fill = "localStorage.note = Array.from({ length: 5000 }, Math.random).join(); true";
    assert!(page.evaluate::<bool>(fill).await.unwrap());
    damage_closed(&mut test_node, id, 1).await;
    let client = test_node.client().unwrap().clone();
    let receipt = client.resume_session("edge").await.unwrap().session.receipt.unwrap();
    let [lost] = &receipt.losses().collect::<Vec<_>>()[..] else { panic!("{receipt:#?}") };
    assert!(lost.place.starts_with("snapshot "), "{lost:?}");
    let why = lost.reason.as_deref().unwrap();
    assert!(why.contains("local-storage") && why.contains("taken instead: "), "{why}");
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert_eq!(
        page.evaluate::<String>(NOTED).await.unwrap(),
        "note=kept note=kept zeta=1; note=kept"
    );
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_which_nothing_can_be_read_fails_and_does_not_come_back_empty() {
    let site = site().await;
    let mut test_node = test_node().await;
    let id = test_node.open("edge", [site.url_on("a", "/").unwrap()]).await.unwrap();
    test_node.client().unwrap().capture_session("edge").await.unwrap();
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    wait_for_state(&test_node, "edge", Lifecycle::Recoverable).await;
    test_node.stop_node().await.unwrap();
    damage_all(&test_node);

    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    for stands in [Lifecycle::Recoverable, Lifecycle::Failed] {
        let refused = client.resume_session("edge").await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::StorageDamaged), "{refused}");
        wait_for_state(&test_node, "edge", stands).await;
    }
    test_node.clear().await.unwrap();
}
