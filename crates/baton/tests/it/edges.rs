//! The edges of recovery: a browser that dies in the middle of a capture, a name that is taken, and a
//! page that navigates while it is captured.
//!
//! Others have stories of their own: two nodes on one database in `leases.rs` and `takeover.rs`, two
//! opens at once and a closed session whose name was taken in `crowd.rs`, damaged snapshots in
//! `damage.rs`, damaged parts in `parts.rs`.

use crate::notes::{LIMIT, Notes, wait_for_state};
use crate::test_nodes::{build, start, test_node};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{AttachSession, ErrorCode, ListSessions, SnapshotReason};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::receipt::ItemKind;
use baton_session::{Lifecycle, SessionId, State, StorageKey, Text};
use std::time::Instant;
use tokio::time::sleep;

/// A database that takes a while to be read, and a note beside it that says the same.
const LARGE: &str = "<title>large</title><script>
    const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const opening = indexedDB.open('large', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('all');
    const database = done(opening);
    const all = async (mode) => (await database).transaction('all', mode).objectStore('all');
    async function write(text) {
        const store = await all('readwrite');
        for (let at = 0; at < 300; at++) store.put(text + ' '.repeat(10_000), at);
        await new Promise((resolve) => store.transaction.oncomplete = resolve);
        localStorage.setItem('note', text);
        return true;
    }
    async function read() {
        const kept = new Set(await done((await all('readonly')).getAll()));
        return [localStorage.getItem('note'), ...kept].map((text) => text.trim());
    }
</script>";

/// Opens a page in a session of its own.
async fn open(test_node: &TestNode, site: &Site) -> (SessionId, Page) {
    let url = site.url("/").unwrap();
    let id = test_node.open("edge", [url.clone()]).await.unwrap();
    (id, Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap())
}

/// A site with one page.
async fn site(page: impl Into<String>) -> Site {
    let page = Html(page.into());
    Site::start(Router::new().route("/", get(move || async move { page }))).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_dies_in_the_middle_of_a_capture_costs_that_capture_only() {
    let site = site(LARGE).await;
    let test_node = start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")).await;
    let client = test_node.client().unwrap().clone();
    let (id, mut page) = open(&test_node, &site).await;
    let mut cut_off = 0;
    for round in 1..=5 {
        let write = async |text: &str| page.evaluate::<bool>(&format!("write('{text}')")).await;
        assert!(write(&format!("kept {round}")).await.unwrap());
        let began = Instant::now();
        let kept = client.capture_session("edge").await.unwrap();
        let took = began.elapsed();
        assert!(write(&format!("late {round}")).await.unwrap());
        let (asker, browser) = (client.clone(), test_node.holders(id).await.unwrap()[1]);
        let capturing = tokio::spawn(async move { asker.capture_session("edge").await });
        // Each round dies later in the capture. Whether it was in time is seen by the answer.
        sleep(took * round / 6).await;
        victims::kill_all(&[browser]).await.unwrap();
        let captured = capturing.await.unwrap();
        wait_for_state(&test_node, "edge", Lifecycle::Recoverable).await;

        cut_off += u32::from(captured.is_err());
        let newest = client.fetch_session("edge").await.unwrap().snapshot.unwrap();
        let resumed = client.resume_session("edge").await.unwrap();
        let receipt = resumed.session.receipt.unwrap();
        assert!(!receipt.has_losses(), "round {round}");
        // On a slow machine the profile was written after the snapshot: the database at once, and
        // localStorage when the browser comes to it.
        let is_of_disk = receipt.items.iter().any(|item| item.kind == ItemKind::Site);
        let url = site.url("/").unwrap();
        page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
        let found: Vec<String> = page.evaluate("read()").await.unwrap();
        let told = format!("round {round}: {found:?} after {newest:?}");
        assert_eq!(found.len(), 2, "{told}: the note, and one text in all of the database");
        if newest.reason == SnapshotReason::Request {
            let texts =
                |note, database| [note, database].map(|text: &str| format!("{text} {round}"));
            let (last, possible) = match captured {
                Ok(late) => (late, vec![texts("late", "late")]),
                Err(_) if is_of_disk => (kept, vec![texts("late", "late"), texts("kept", "late")]),
                Err(_) => (kept, vec![texts("kept", "kept")]),
            };
            assert_eq!(newest.id, last.id, "{told}");
            assert!(possible.iter().any(|texts| found == *texts), "{told}");
        } else {
            // Nobody asked for it: it holds what it was told, and a database tells later.
            assert!(found.iter().all(|text| text.ends_with(&round.to_string())), "{told}");
        }
    }
    assert!(cut_off > 0, "every capture was over before the browser died");
    test_node.clear().await.unwrap();
}

/// A page that counts its visits, goes on to the next one at the next of these hosts, and rests at 40
/// if it has more than one.
fn walk(hosts: &str, pace: u32) -> String {
    format!(
        "<script>
            const n = Number(new URLSearchParams(location.search).get('n'));
            document.title = n;
            localStorage.setItem('n', n);
            sessionStorage.setItem('n', n);
            const hosts = '{hosts}', host = hosts[(n + 1) % hosts.length];
            const next = `http://${{host}}.localhost:${{location.port}}/?n=${{n + 1}}`;
            if (n < 40 || hosts.length === 1) setTimeout(() => location.href = next, {pace});
        </script>"
    )
}

/// The number in the address of the only tab, and those that its site keeps; a site that has just
/// been reached for the first time may keep none yet.
fn numbers(state: &State) -> (i64, [Option<i64>; 2]) {
    let tab = &state.tabs[0];
    let (site, n) = tab.url.split_once("/?n=").unwrap();
    let key = StorageKey::first_party(site);
    let local = state.origins.get(&key).map(|origin| &origin.local_storage);
    let areas = [local, tab.session_storage.get(&key)];
    let number = |(_, value): (_, &Text)| value.to_lossy().parse().unwrap();
    (n.parse().unwrap(), areas.map(|area| area?.0.iter().map(number).next()))
}

/// Every site keeps only numbers that it wrote itself: the host decides what is left by three.
fn expect_nothing_mixed_up(state: &State) {
    let sessions = state.tabs.iter().flat_map(|tab| &tab.session_storage);
    let local = state.origins.iter().map(|(key, origin)| (key, &origin.local_storage));
    for (key, entries) in sessions.chain(local) {
        let host = "abc".find(&key.origin()["http://".len()..][..1]).unwrap();
        for value in entries.0.values() {
            let number: usize = value.to_lossy().parse().unwrap();
            assert_eq!(number % 3, host, "{number} stands at {key}");
        }
    }
}

/// What the tab holds for itself is of the visit of its address. Only if that has just begun, its
/// site still keeps what the tab's last visit there left, `round` visits before.
fn expect_one_visit(state: &State, round: i64) {
    let (n, kept) = numbers(state);
    let tab = &state.tabs[0];
    let is_title = tab.title.is_empty() || tab.title == n.to_string();
    assert!(is_title, "{:?} at {n}", tab.title);
    let left = Some(n - round).filter(|left| *left >= 0);
    assert!(kept[1] == Some(n) || kept[1] == left, "{kept:?} at {n}");
    let numbers = tab.session_storage.values().flat_map(|area| area.0.values());
    for number in numbers {
        let number: i64 = number.to_lossy().parse().unwrap();
        assert!(number <= n, "{number} is kept at {n}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_captured_during_a_navigation_belongs_together() {
    let (site, test_node) = (site(walk("abc", 100)).await, test_node().await);
    let client = test_node.client().unwrap().clone();
    test_node.open("edge", [site.url_on("a", "/?n=0").unwrap()]).await.unwrap();
    let begun = Instant::now();
    loop {
        let snapshot = client.capture_session("edge").await.unwrap();
        let seen = client.fetch_state("edge", true).await.unwrap();
        let state: State = serde_json::from_value(seen.state).unwrap();
        expect_nothing_mixed_up(&state);
        expect_one_visit(&state, 3);
        let (n, kept) = numbers(&state);
        if n == 40 && seen.snapshot == snapshot.id {
            assert_eq!(kept, [Some(40); 2], "the page rests");
            break;
        }
        assert!(begun.elapsed() < LIMIT, "the page never rests: {n}");
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_snapshot_of_a_tab_that_always_moves_on_mixes_two_visits() {
    let (site, test_node) = (site(walk("a", 30)).await, test_node().await);
    let client = test_node.client().unwrap().clone();
    test_node.open("edge", [site.url_on("a", "/?n=0").unwrap()]).await.unwrap();
    let mut last = 0;
    for _ in 0..12 {
        client.capture_session("edge").await.unwrap();
        let seen = client.fetch_state("edge", true).await.unwrap();
        let state: State = serde_json::from_value(seen.state).unwrap();
        expect_one_visit(&state, 1);
        let (n, _) = numbers(&state);
        assert!(n >= last, "{n} after {last}");
        last = n;
    }
    assert!(last > 12, "the tab went on during the captures: {last}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_name_of_a_session_that_may_come_back_is_taken() {
    let notes = Notes::start().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let id = notes.open(&test_node, "shop", "kept").await;
    let holders = test_node.holders(id).await.unwrap();
    let mut said = Vec::new();
    for state in [Lifecycle::Active, Lifecycle::Recoverable] {
        wait_for_state(&test_node, "shop", state).await;
        said.push(client.open_session(&notes.request("shop")).await.unwrap_err());
        let cdp_url = "http://127.0.0.1:1".parse().unwrap();
        let attach = AttachSession { name: "shop".parse().unwrap(), description: None, cdp_url };
        said.push(client.attach_session(&attach).await.unwrap_err());
        if state == Lifecycle::Active {
            victims::kill_all(&holders).await.unwrap();
        }
    }
    for error in said {
        assert_eq!(error.code(), Some(ErrorCode::NameTaken), "{error}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @r#"the name "shop" is taken by another session"#);
        }
    }
    let all = client.list_sessions(&ListSessions::default()).await.unwrap().items;
    assert_eq!(all.len(), 1, "{all:?}");
    client.resume_session("shop").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    test_node.clear().await.unwrap();
}
