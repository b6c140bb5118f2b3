//! The whole way: what a page does in a person's browser is told by the node.

use super::busy::Busy;
use super::scene::Scene;
use super::told::TabReport;

/// The console of the page.
const LINES: &str = "\
log inline script
log external
error Failed to load resource: the server responded with a status of 404 (Not Found)
error Failed to load resource: net::ERR_CONNECTION_REFUSED
log worker worker A/worker.js
warn frame frame FRAME/
debug d
info {a: 1}
warn [1, \"x\"]
error Error: e
error Uncaught RangeError: thrown
error Uncaught (in promise) TypeError: rejected
log done";

/// How the requests of the page go, in the order of the alphabet.
const WAYS: [&str; 18] = [
    "GET A/ 200",
    "GET A/empty 204",
    "GET A/external.js 200",
    "GET A/from-worker 200",
    "GET A/large 200",
    "GET A/missing 404",
    "GET A/moved 302",
    "GET A/ok 200",
    "GET A/ok 200",
    "GET A/silent net::ERR_ABORTED",
    "GET A/stream 200",
    "GET A/worker.js 200",
    "GET FRAME/ 200",
    "GET FRAME/from-frame 200",
    "GET NOBODY net::ERR_CONNECTION_REFUSED",
    "GET WS/echo 101",
    "HEAD A/ok 200",
    "POST A/form 200",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_a_page_does_in_a_persons_browser_is_told_by_the_node() {
    let busy = Busy::start().await;
    let scene = Scene::open(&busy.service).await;
    let at = scene.pages.as_str();
    let tab = scene.browser.open(at).await;
    let token = scene.tab(at).await;
    let first = first_page(&scene, &token, &busy).await;
    assert_eq!(first.gaps[0]["reason"], "first_load", "{:?}", first.gaps);

    // Whoever is there before a page has all of it.
    tab.reload().await;
    let is_whole = |told: &TabReport| told.is_done(2) && told.has_ended();
    let next = TabReport::once(&scene, &token, is_whole).await.after(&first);
    insta::assert_snapshot!(next.network(&busy, at), @r#"
    document GET A/ → 200 "<!doctype html>\n<tit".
    document GET FRAME/ frame FRAME/ → 200 "<script>console.warn".
    fetch GET A/empty → 204.
    fetch GET A/from-worker worker A/worker.js → 200 "for the worker".
    fetch GET A/large → 200 "xxxxxxxxxxxxxxxxxxxx" cut.
    fetch GET A/missing → 404 "no".
    fetch GET A/moved → 302.
    fetch GET A/ok → 200 "all is well".
    fetch GET A/ok → 200 "all is well".
    fetch GET A/silent ✗ net::ERR_ABORTED.
    fetch GET A/stream → 200 "one two three".
    fetch GET FRAME/from-frame frame FRAME/ → 200 "for the frame".
    fetch GET NOBODY ✗ net::ERR_CONNECTION_REFUSED.
    fetch HEAD A/ok → 200.
    fetch POST A/form "a=1&b=2" → 200 "thanks for a=1&b=2".
    script GET A/external.js → 200 "console.log('externa".
    script GET A/worker.js → 200 "console.log('worker'".
    websocket GET WS/echo → 101 ↑hello ↓hello.
    "#);
    assert_eq!(next.console(&busy, at), LINES);
    assert_eq!(next.gaps.len(), first.gaps.len(), "{:?}", next.gaps);
    assert!(next.requests.iter().all(|request| request["duration_ms"].is_u64()));
    let large = next.requests.iter().find(|one| one["url"].as_str().unwrap().ends_with("/large"));
    assert_eq!(large.unwrap()["response_body_size"], 1 << 20);

    let listed = &scene.tabs()[0];
    assert_eq!((&listed["cocoon_name"], &listed["title"]), (&"The shop".into(), &"page".into()));
    scene.browser.close_tab(tab).await;
    scene.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_wakes_the_extension_is_told_from_its_beginning() {
    let busy = Busy::start().await;
    let scene = Scene::open(&busy.service).await;
    // Whatever the browser puts first, what wakes the worker or what comes then.
    for round in 0..3 {
        scene.browser.stop_worker().await;
        let at = scene.pages.join(&format!("?{round}")).unwrap();
        let tab = scene.browser.open(at.as_str()).await;
        let token = scene.tab(at.as_str()).await;
        first_page(&scene, &token, &busy).await;
        scene.browser.close_tab(tab).await;
    }
    scene.clear().await;
}

/// Of a page that began before the debugger came every request is told with its method and its status,
/// and every line; not all bodies.
async fn first_page(scene: &Scene, token: &str, busy: &Busy) -> TabReport {
    let at = scene.pages.as_str();
    let is_whole = |told: &TabReport| told.is_done(1) && told.ways(busy, at) == WAYS;
    let told = TabReport::once(scene, token, is_whole).await;
    let lines = told.console(busy, at);
    assert_eq!(told.ways(busy, at), WAYS, "{lines}\n{:?}", told.gaps);
    // Lines that were there before the debugger came are told page by page, not in the order of time.
    let sorted = |lines: &str| {
        let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&lines), sorted(LINES));
    told
}
