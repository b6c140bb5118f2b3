//! Frames in frames: each partition of a third party is its own, and comes back as such.

use crate::fixture::{evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, outcomes, profile};
use baton_browser::keeper::Role;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{State, StorageKey};
use serde_json::json;

/// Each document writes once where it stands, outermost last, and something that no other one knows.
const SIGN: &str = "<script>
    const at = [origin, ...location.ancestorOrigins, performance.now()].join(' < ');
    localStorage.at ??= at;
    sessionStorage.at ??= at;
</script>";

async fn site() -> Site {
    let frame = |next: &str| {
        format!("{SIGN}<iframe src='http://{next}.localhost:{{port}}/{next}'></iframe>")
    };
    let opaque = "<iframe sandbox='allow-scripts' srcdoc='opaque'></iframe><iframe></iframe>";
    Site::builder()
        .page("/", Page::html(format!("{}{opaque}", frame("b"))))
        .page("/b", Page::html(frame("c")))
        .page("/c", Page::html(SIGN))
        .start()
        .await
}

fn keys(state: &State) -> Vec<String> {
    state.origins.keys().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_of_two_sites_come_back_apart() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    for host in ["x", "y"] {
        running.open(&site.url(host, "/")).await;
    }
    eventually("all frames are there", async || running.capture().await.origins.len() == 6).await;
    let state = running.capture().await;
    let partition = |of: &str, top: &str| format!("{}^0http://{top}.localhost", site.url(of, "/"));
    let mut expected = vec![site.url("x", "/"), site.url("y", "/")];
    for of in ["b", "c"] {
        expected.extend(["x", "y"].map(|top| partition(of, top)));
    }
    expected.sort();
    assert_eq!(keys(&state), expected);
    running.crash().await;

    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    for kind in [ItemKind::LocalStorage, ItemKind::SessionStorage] {
        assert_eq!(outcomes(&restored, kind), vec![(Outcome::Restored, None); 6], "{kind}");
    }
    eventually("all frames are there", async || running.capture().await.origins.len() == 6).await;
    let again = running.capture().await;
    assert_eq!(again.origins, state.origins);
    assert_eq!(again.tabs[0].session_storage, state.tabs[0].session_storage);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_inside_of_another_inside_of_itself_comes_back() {
    let ((_folder, profile), site) = (profile(), nested().await);
    let running = Running::start(&profile).await;
    running.open(&site.url("x", "/")).await;
    let all = async |running: &Running| running.capture().await.origins.len() == 3;
    eventually("all frames are there", async || all(&running).await).await;
    let state = running.capture().await;
    let inside = format!("{}^31", site.url("x", "/"));
    assert!(keys(&state).contains(&inside), "{:?}", keys(&state));
    running.crash().await;

    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    for kind in [ItemKind::LocalStorage, ItemKind::SessionStorage] {
        assert_eq!(outcomes(&restored, kind), vec![(Outcome::Restored, None); 3], "{kind}");
    }
    eventually("all frames are there", async || all(&running).await).await;
    let again = running.capture().await;
    assert_eq!(again.origins, state.origins);
    assert_eq!(again.tabs[0].session_storage, state.tabs[0].session_storage);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_caches_of_a_site_inside_of_another_inside_of_itself_come_back() {
    let inside = "<script>(async () => {
            const folder = await navigator.storage.getDirectory();
            await folder.getDirectoryHandle('kept', { create: true });
            await (await caches.open('kept')).put('/x', new Response('kept'));
        })()</script>";
    let frame = |next: &str, path: &str| {
        Page::html(format!("<iframe src='http://{next}.localhost:{{port}}/{path}'></iframe>"))
    };
    let site = Site::builder()
        .page("/", frame("b", "between"))
        .page("/between", frame("x", "inside"))
        .page("/inside", Page::html(inside))
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    running.open(&site.url("x", "/")).await;
    let key = StorageKey::new(format!("{}^31", site.url("x", "/")));
    let is_there = |state: &State| {
        state.origins.get(&key).is_some_and(|origin| origin.files.len() + origin.caches.len() == 2)
    };
    eventually("all is there", async || is_there(&running.capture().await)).await;
    let state = running.capture().await;
    running.crash().await;
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    for kind in [ItemKind::Files, ItemKind::Cache] {
        assert_eq!(outcomes(&restored, kind), [(Outcome::Restored, None)], "{kind}");
    }
    running.crash().await;
}

/// A page that shows another site, which shows the first site again.
async fn nested() -> Site {
    let frame = |next: &str, path: &str| {
        format!("{SIGN}<iframe src='http://{next}.localhost:{{port}}/{path}'></iframe>")
    };
    Site::builder()
        .page("/", Page::html(frame("b", "between")))
        .page("/between", Page::html(frame("x", "inside")))
        .page("/inside", Page::html(SIGN))
        .start()
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_worker_stays_and_answers_nothing_while_storage_is_filled() {
    // Each page of the worker's leaves a cookie of its own.
    let worker = "self.onfetch = (event) => event.respondWith(new Response(
            '<title>worker</title><script>document.cookie = `run${Math.random()}=1`</script>',
            { headers: { 'Content-Type': 'text/html' } }))";
    let page = "<script>
            navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
                .then(() => document.title = 'ready');
        </script>";
    let site = Site::builder()
        .page("/", Page::html(page))
        .page("/worker.js", Page::script(worker))
        .start()
        .await;
    let (_folder, profile) = profile();
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    shows(&page, "document.title", "ready").await;
    let state = running.capture().await;
    running.crash().await;
    let (running, _) = Running::resume(&profile, &state).await;
    let page = running.page(&url).await;
    assert_eq!(evaluate(&page, "document.title").await, "worker");
    assert_eq!(evaluate(&page, "document.cookie.split(';').length").await, 1);
    // Nothing of the restore is left, hidden or not.
    let node = running.kept.connect(Role::Node).await;
    let all = json!({ "filter": [{ "type": "other" }, { "type": "page" }, { "exclude": true }] });
    let left = node.connection.browser().call("Target.getTargets", all).await.unwrap();
    assert_eq!(left["targetInfos"].as_array().unwrap().len(), 1);
    running.crash().await;
}
