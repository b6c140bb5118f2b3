//! Caches, files and service workers are captured, and come back on their own disk and on another.

use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, outcomes, profile};
use baton_browser::capture::Depth;
use baton_browser::restore::Restored;
use baton_session::receipt::{ItemKind, Outcome, Source};
use baton_session::stored::FileContent;
use baton_session::{Cache, State, StorageKey};

/// A site whose pages are filled by calls, with a third party's frame in the first.
pub(crate) async fn site() -> Site {
    let script = include_str!("pages/stored.js");
    let page = format!("<meta charset=utf-8><script>{script}</script>");
    let frame = "<iframe src='http://b.localhost:{port}/frame'></iframe>";
    // The statement would stop a worker that is debugged.
    let worker = "debugger; importScripts('/part.js'); debugger;
        oninstall = (event) => event.waitUntil(fill());
        onactivate = (event) => event.waitUntil(clear());
        onfetch = (event) => { if (event.request.url.endsWith('/from-worker')) {
            event.respondWith(new Response('by the worker, ' + part)) } };";
    // What a worker does when it is new would fail behind the curtain, and tidy up too much.
    let part = "const part = 'with its part';
        const fill = async () => (await caches.open('installed')).add('/asset');
        const clear = async () => { for (const name of await caches.keys())
            if (name !== 'installed') await caches.delete(name); }";
    Site::builder()
        .page("/", Page::html(format!("{page}{frame}")))
        .page("/frame", Page::html(page))
        .page("/asset", Page::html("asset"))
        .page("/worker.js", Page::script(worker))
        .page("/part.js", Page::script(part))
        .page("/module/worker.js", Page::script("import '/module/part.js'; onfetch = () => {};"))
        .page("/module/part.js", Page::script("export const part = 1;"))
        .start()
        .await
}

/// The key of the third party's frame in a page at `url`.
fn partition(site: &Site) -> StorageKey {
    StorageKey::new(format!("{}^0http://a.localhost", site.url("b", "/")))
}

/// Fills both storage keys with everything, and captures them.
pub(crate) async fn fill(running: &Running, site: &Site) -> State {
    let page = running.open(&site.url("a", "/")).await;
    for call in [
        "register('/worker.js')",
        "register('/module/worker.js', { type: 'module', updateViaCache: 'none' })",
        "inside('register', '/worker.js')",
        "fillCaches()",
        "inside('fillCaches')",
        "fillFiles()",
        "inside('fillFiles')",
    ] {
        assert_eq!(evaluate(&page, call).await, "done", "{call}");
    }
    let scripts = |state: &State| -> Vec<usize> {
        let workers = state.origins.values().flat_map(|origin| &origin.service_workers);
        workers.map(|worker| worker.scripts.len()).collect()
    };
    eventually("the workers' scripts are known", async || {
        scripts(&running.changed().await) == [2, 2, 2]
    })
    .await;
    running.capture().await
}

fn assert_holds_everything(site: &Site, state: &State) {
    let first = &state.origins[&key_of(&site.url("a", "/"))];
    let third = &state.origins[&partition(site)];
    for (origin, workers) in [(first, 2), (third, 1)] {
        let entries: Vec<usize> = origin.caches.iter().map(|cache| cache.entries.len()).collect();
        assert_eq!(
            entries,
            [1, 4, 0],
            "in the order in which installed, first… and empty were made"
        );
        let places: Vec<String> =
            origin.files.iter().map(baton_session::FileEntry::place).collect();
        let expected = ["empty", "empty folder", "notes", "notes/deep", "notes/deep/bytes"];
        assert_eq!(places[..5], expected);
        assert_eq!(places[5], "notes/żółć.txt");
        assert_eq!(origin.service_workers.len(), workers);
    }
}

/// What of the three kinds came back, and from where.
fn sources(restored: &Restored) -> Vec<(ItemKind, Source)> {
    let kinds = [ItemKind::Cache, ItemKind::Files, ItemKind::ServiceWorker];
    let items = restored.receipt.items.iter().filter(|item| kinds.contains(&item.kind));
    items
        .map(|item| {
            assert_eq!(item.outcome, Outcome::Restored, "{item:?}");
            (item.kind, item.source)
        })
        .collect()
}

fn all_from(source: Source) -> Vec<(ItemKind, Source)> {
    let kinds = [(ItemKind::Cache, 6), (ItemKind::Files, 2), (ItemKind::ServiceWorker, 3)];
    kinds.into_iter().flat_map(|(kind, count)| vec![(kind, source); count]).collect()
}

/// The page is the worker's, and the worker is itself.
async fn assert_works(running: &Running, site: &Site) {
    let page = running.page(&site.url("a", "/")).await;
    let asked = "fetch('/from-worker').then((answer) => answer.text())";
    assert_eq!(evaluate(&page, asked).await, "by the worker, with its part");
    let asked = "inside('ask', '/from-worker')";
    assert_eq!(evaluate(&page, asked).await, "by the worker, with its part");
    let waiting = "navigator.serviceWorker.getRegistration().then(({ waiting }) => waiting)";
    assert_eq!(evaluate(&page, waiting).await, serde_json::Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_files_and_workers_are_found_on_their_own_disk() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let state = fill(&running, &site).await;
    assert_holds_everything(&site, &state);
    running.crash().await;
    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(sources(&restored), all_from(Source::Disk));
    assert_works(&running, &site).await;
    assert_eq!(running.capture().await.origins, state.origins);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_files_and_workers_come_back_on_another_disk() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let state = fill(&running, &site).await;
    running.crash().await;
    site.take_requests();
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    assert_eq!(sources(&restored), all_from(Source::Snapshot));
    assert!(!site.take_requests().iter().any(|request| request.contains("asset")));
    assert_works(&running, &site).await;
    assert_eq!(running.capture().await.origins, state.origins);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_differs_is_made_equal_and_what_cannot_be_read_stays() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    let opaque = format!("putOpaque('{}')", site.url("c", "/asset"));
    for call in [&opaque, "put('kept', '/first', '1')", "write('notes/a', 'one')"] {
        assert_eq!(evaluate(&page, call).await, "done", "{call}");
    }
    let state = running.capture().await;
    let key = key_of(&site.url("a", "/"));
    for call in [
        "put('kept', '/first', 'other')",
        "put('kept', '/second', '2')",
        "put('opaque', '/before', 'other')",
        "write('notes/a', 'two')",
        "write('more/b', 'two')",
    ] {
        assert_eq!(evaluate(&page, call).await, "done", "{call}");
    }
    assert!(running.live.files_changed().await);
    assert_ne!(running.changed().await.origins[&key], state.origins[&key]);
    assert!(!running.live.files_changed().await);
    running.crash().await;

    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(sources(&restored).len(), 3);
    let found = running.capture().await;
    assert_eq!(found.origins[&key].files, state.origins[&key].files);
    assert_eq!(sorted(&found.origins[&key].caches), sorted(&state.origins[&key].caches));
    running.crash().await;

    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    let lost = (Outcome::NotPortable, Some("1 responses cannot be read by any script"));
    let caches = outcomes(&restored, ItemKind::Cache);
    assert_eq!(caches, [(Outcome::Restored, None), lost]);
    running.crash().await;
}

/// Caches with their entries by address: one that cannot be read keeps its place on the disk.
fn sorted(caches: &[Cache]) -> Vec<Cache> {
    let mut caches = caches.to_vec();
    for cache in &mut caches {
        cache.entries.sort_by(|a, b| a.url.cmp(&b.url));
    }
    caches
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_scripts_were_never_seen_is_left_to_its_site() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let mut state = fill(&running, &site).await;
    running.crash().await;
    for origin in state.origins.values_mut() {
        for registration in &mut origin.service_workers {
            (registration.worker_type, registration.scripts) = (None, Vec::new());
        }
    }
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    let reason = "its scripts were never seen: the site registers it when its page runs";
    let pending = (Outcome::Pending, Some(reason));
    assert_eq!(outcomes(&restored, ItemKind::ServiceWorker), [pending; 3]);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_or_held_costs_itself_only() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    // A worker that holds a file open for writing.
    let hold = "new Promise((done) => {
        const source = `(async () => {
            const root = await navigator.storage.getDirectory();
            const file = await root.getFileHandle('held', { create: true });
            self.handle = await file.createSyncAccessHandle();
            handle.write(new Uint8Array([1, 2, 3]));
            handle.flush();
            postMessage('done');
        })()`;
        self.worker = new Worker(URL.createObjectURL(new Blob([source])));
        worker.onmessage = ({ data }) => done(data);
    })";
    for call in [hold, "put('large', '/', new Uint8Array(23_000_000))", "put('small', '/', 'a')"] {
        assert_eq!(evaluate(&page, call).await, "done", "{call}");
    }
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    let key = key_of(&site.url("a", "/"));
    let places: Vec<_> = captured.unread.iter().map(|unread| unread.place.clone()).collect();
    assert_eq!(places, [format!("{key} cache large")]);
    assert!(!captured.unread[0].is_passing());
    let origin = &captured.state.origins[&key];
    assert_eq!(origin.caches[0].name, "small".into());
    let content = FileContent::File { bytes: "AQID".to_owned() };
    assert_eq!(origin.files[0].content, content);
    // Nothing is tried again that would be found the same.
    assert_eq!(running.live.capture(Depth::Changed, false).await.unwrap().unread, []);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_unregistered_does_not_come_back() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    assert_eq!(evaluate(&page, "register('/worker.js')").await, "done");
    let key = key_of(&site.url("a", "/"));
    let workers = async || {
        let state = running.changed().await;
        state.origins.get(&key).map_or(0, |origin| origin.service_workers.len())
    };
    eventually("the worker is known", async || workers().await == 1).await;
    let unregister = "navigator.serviceWorker.getRegistration().then((one) => one.unregister())";
    assert_eq!(evaluate(&page, unregister).await, true);
    eventually("the worker is gone", async || workers().await == 0).await;
    running.crash().await;
}
