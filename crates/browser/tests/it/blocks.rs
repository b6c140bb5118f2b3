//! Pages that block what a capture wants to read: each costs what it blocks, and nothing else.

use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, local, profile, value};
use baton_browser::capture::Depth;
use baton_browser::cdp::{CdpSession, Event};
use baton_session::State;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A page's own limit, and room for a slow machine.
const LIMIT: Duration = Duration::from_secs(12);
/// How many frames a crowd has.
const FRAMES: usize = 100;

async fn site() -> Site {
    let script = include_str!("pages/changes.js");
    let write = "localStorage.setItem('kept', location.pathname);
        sessionStorage.setItem('kept', location.pathname)";
    let page = || Page::html(format!("<script>{script}; {write}</script>"));
    // Frames of four sites, which see a partition each.
    let frame = |at| format!("<iframe src='http://f{}.localhost:{{port}}/frame'></iframe>", at % 4);
    let frames = (0..FRAMES).map(frame).collect::<Vec<_>>().concat();
    let paths = ["/writes", "/deletes", "/waits", "/asks", "/works", "/frame"];
    let site = paths.iter().fold(Site::builder(), |site, path| site.page(path, page()));
    site.page("/crowd", Page::html(format!("<script>{write}</script>{frames}")))
        .page("/worker.js", Page::script("onmessage = () => { for (;;) {} }"))
        .page("/never", Page::default().silent())
        .start()
        .await
}

/// A tab on a host of its own.
async fn open(running: &Running, site: &Site, path: &str) -> CdpSession {
    running.open(&site.url(&path[1..], path)).await
}

/// Holds a database in a transaction that writes without end.
const WRITE: &str = "fill('free', 2).then(() => open('held', 1, make)).then((db) => {
        const store = db.transaction('keyed', 'readwrite').objectStore('keyed');
        const spin = () => { store.put('value', 0).onsuccess = spin; };
        spin();
        return 'done';
    })";

/// Asks for the end of a database that the page itself keeps open.
const DELETE: &str = "fill('free', 2).then(() => open('held', 1, make)).then((db) => {
        const request = indexedDB.deleteDatabase('held');
        self.letGo = () => new Promise((resolve) => {
            request.onsuccess = () => resolve('done');
            db.close();
        });
        return new Promise((resolve) => { request.onblocked = () => resolve('done'); });
    })";

/// Starts a worker that can be told to run without end.
const WORK: &str = "navigator.serviceWorker.register('/worker.js')
    .then(() => new Promise((resolve) => {
        const look = ({ active }) => active?.state === 'activated'
            ? resolve(active)
            : setTimeout(() => navigator.serviceWorker.getRegistration().then(look), 20);
        look({});
    }))
    .then((worker) => {
        self.spin = () => { worker.postMessage(''); return 'done'; };
        return 'done';
    })";

/// Asks, as a page does that has unsaved work, and goes away: the question stays open.
async fn ask(page: &CdpSession) {
    let listen = "addEventListener('beforeunload', (event) => event.preventDefault())";
    let listen = json!({ "expression": listen, "userGesture": true });
    page.call("Runtime.evaluate", listen).await.unwrap();
    page.post("Runtime.evaluate", json!({ "expression": "location.href = '/frame'" }));
}

/// Waits until the browser tells the agent so.
async fn told(running: &mut Running, wanted: &str) {
    let told = async {
        loop {
            let event = running.agent.events.next().await.unwrap();
            if matches!(event, Event::Message { method, .. } if method == wanted) {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, told).await.unwrap();
}

fn names(state: &State, url: &str) -> Vec<String> {
    let databases = &state.origins[&key_of(url)].databases;
    databases.iter().map(|database| database.name.to_lossy()).collect()
}

/// What a capture could not read, and how long it took at most.
async fn capture(running: &Running) -> (State, BTreeSet<String>) {
    let start = Instant::now();
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    let unread = captured.unread.into_iter().map(|unread| unread.place).collect();
    (captured.state, unread)
}

/// The tab at a path holds all that its page wrote.
fn assert_whole(state: &State, site: &Site, path: &str) {
    let url = site.url(&path[1..], path);
    assert_eq!(local(state, &url, "kept").as_deref(), Some(path));
    let tab = state.tabs.iter().find(|tab| tab.url == url).expect(path);
    assert_eq!(value(&tab.session_storage[&key_of(&url)], "kept").as_deref(), Some(path));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_busy_without_end_costs_itself_only() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let deletes = open(&running, &site, "/deletes").await;
    let writes = open(&running, &site, "/writes").await;
    assert_eq!(evaluate(&writes, WRITE).await, "done");
    assert_eq!(evaluate(&deletes, DELETE).await, "done");
    let (state, unread) = capture(&running).await;
    for path in ["/deletes", "/writes"] {
        let url = site.url(&path[1..], path);
        assert!(unread.contains(&format!("{} database held", key_of(&url))), "{unread:?}");
        assert_eq!(names(&state, &url), ["free"], "{path}");
        assert_whole(&state, &site, path);
    }
    // What we asked for, and did not get, does not make the database again.
    assert_eq!(evaluate(&deletes, "letGo()").await, "done");
    let left = "indexedDB.databases().then((all) => all.map(({ name }) => name).join())";
    assert_eq!(evaluate(&deletes, left).await, "free");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_never_rests_costs_nothing() {
    let ((_folder, profile), site) = (profile(), site().await);
    let key = key_of(&site.url("works", "/works"));
    let running = Running::start(&profile).await;
    let works = open(&running, &site, "/works").await;
    assert_eq!(evaluate(&works, WORK).await, "done");
    let scripts = |state: &State| -> Option<usize> {
        Some(state.origins.get(&key)?.service_workers.first()?.scripts.len())
    };
    eventually("the worker's script is known", async || {
        scripts(&running.changed().await) == Some(1)
    })
    .await;
    assert_eq!(evaluate(&works, "spin()").await, "done");
    let (state, unread) = capture(&running).await;
    assert_eq!((unread, scripts(&state)), (BTreeSet::new(), Some(1)));
    assert_whole(&state, &site, "/works");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_frames_are_read_like_one() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    open(&running, &site, "/crowd").await;
    let (mut state, mut unread) = capture(&running).await;
    // A page that does not answer in time, because others use the machine, is asked again.
    for _ in 0..2 {
        if !unread.is_empty() {
            (state, unread) = capture(&running).await;
        }
    }
    assert_eq!(unread, BTreeSet::new());
    assert_whole(&state, &site, "/crowd");
    let frames = state.origins.iter().filter(|(key, _)| key.top_level_site().is_some());
    let entries: Vec<usize> = frames.map(|(_, origin)| origin.local_storage.len()).collect();
    assert_eq!(entries, [1; 4], "each of the four sites has a partition");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_on_its_way_or_with_an_open_question_stays_as_it_was_known() {
    let ((_folder, profile), site) = (profile(), site().await);
    let mut running = Running::start(&profile).await;
    let asks = open(&running, &site, "/asks").await;
    let waits = open(&running, &site, "/waits").await;
    open(&running, &site, "/works").await;
    assert_eq!(capture(&running).await.1, BTreeSet::new());
    for page in [&asks, &waits] {
        page.call("Page.enable", json!({})).await.unwrap();
    }
    // While a navigation is under way, the browser passes no question on to the page it leaves.
    waits.post("Page.navigate", json!({ "url": site.url("waits", "/never") }));
    told(&mut running, "Page.frameStartedLoading").await;
    ask(&asks).await;
    told(&mut running, "Page.javascriptDialogOpening").await;
    let (state, unread) = capture(&running).await;
    assert_eq!(unread, BTreeSet::from([site.url("asks", "/asks"), site.url("waits", "/waits")]));
    for path in ["/asks", "/waits", "/works"] {
        assert_whole(&state, &site, path);
    }
    waits.call("Page.stopLoading", json!({})).await.unwrap();
    let handled = asks.call("Page.handleJavaScriptDialog", json!({ "accept": false })).await;
    handled.unwrap();
    assert_eq!(capture(&running).await.1, BTreeSet::new(), "both answer again");
    running.crash().await;
}
