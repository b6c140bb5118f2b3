//! Captures while pages come and go: never an error, never a value under another origin's key.

use crate::fixture::{attach, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, local, profile};
use baton_browser::capture::Depth;
use baton_session::{Entries, State, StorageKey, Unread};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long the captures go on.
const WHILE: Duration = Duration::from_secs(6);
/// Every page says whose it is.
const SIGN: &str =
    "localStorage.setItem('origin', origin); sessionStorage.setItem('origin', origin)";

/// Every value must be of the origin under whose key it stands. Returns how many there are.
fn check(state: &State) -> usize {
    let check = |(key, entries): (&StorageKey, &Entries)| {
        for (name, value) in &entries.0 {
            assert_eq!(
                (name.to_lossy().as_str(), value.to_lossy().as_str()),
                ("origin", key.origin())
            );
        }
        entries.len()
    };
    let local = state.origins.iter().map(|(key, origin)| check((key, &origin.local_storage)));
    let session = state.tabs.iter().flat_map(|tab| tab.session_storage.iter().map(check));
    local.chain(session).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_never_stay_are_never_mixed_up() {
    // `x.a` and `y.a` are one site, so one process and one session show both; `b` is another.
    let page = |next: &str| {
        Page::html(format!(
            "<script>{SIGN}; setTimeout(() => location.href = 'http://{next}.localhost:{{port}}/{next}', 30)</script>
             <iframe src='http://{next}.localhost:{{port}}/still'></iframe>"
        ))
    };
    let site = Site::builder()
        .page("/x.a", page("y.a"))
        .page("/y.a", page("b"))
        .page("/b", page("x.a"))
        .page("/still", Page::html(format!("<script>{SIGN}</script>")))
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    for name in ["x.a", "b"] {
        let url = site.url(name, &format!("/{name}"));
        running.live.open_tab(&url.parse().unwrap(), WHILE).await.unwrap();
    }
    let start = Instant::now();
    let mut found = 0;
    for depth in [Depth::Whole, Depth::Changed].into_iter().cycle() {
        found = found.max(check(&running.live.capture(depth, false).await.unwrap().state));
        if start.elapsed() > WHILE {
            break;
        }
    }
    // Three first parties, and each of them in the frame of another.
    assert!(found >= 6, "found {found} values");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_that_open_and_close_cost_nothing_and_leave_nothing() {
    let page = Page::html(format!("<script>{SIGN}</script>"));
    let site = Site::builder().page("/", page).start().await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let stays = site.url("stays", "/");
    running.open(&stays).await;
    let browser = running.agent.connection.browser();
    let opening = async {
        let start = Instant::now();
        while start.elapsed() < WHILE {
            let tab = json!({ "url": site.url("leaves", "/") });
            let tab = browser.call("Target.createTarget", tab).await.unwrap();
            browser
                .call("Target.closeTarget", json!({ "targetId": tab["targetId"] }))
                .await
                .unwrap();
        }
    };
    let capturing = async {
        let start = Instant::now();
        while start.elapsed() < WHILE {
            let captured = running.live.capture(Depth::Whole, false).await.unwrap();
            // With more tabs being loaded than there are processors the one that stays may be too busy to
            // answer in time, which loses nothing.
            let is_busy = |unread: &Unread| unread.place == stays && !unread.lost;
            assert!(captured.unread.iter().all(is_busy), "{:?}", captured.unread);
            check(&captured.state);
        }
    };
    tokio::join!(opening, capturing);
    eventually("only the tab that stays is left", async || {
        let tabs = running.capture().await.tabs;
        tabs.len() == 1 && tabs[0].url == stays
    })
    .await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_says_nothing_while_requests_are_held_is_told_of() {
    let site = Site::builder().page("/", Page::html("<title>here</title>")).start().await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    running.live.hear_requests().await;
    assert!(running.live.hold_requests().await);
    running.live.let_requests_go().await;
    assert!(running.live.expect_a_word().await);

    running.live.hear_requests().await;
    page.post("Runtime.evaluate", json!({ "expression": "for (;;);" }));
    assert!(!running.live.hold_requests().await);
    running.live.let_requests_go().await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_crashed_is_not_waited_for_and_is_read_once_it_is_loaded_again() {
    let page = Page::html("<script>localStorage.kept ??= 'told'</script>");
    let site = Site::builder().page("/", page).start().await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let url = site.url("a", "/");
    let page = running.open(&url).await;
    let known = running.capture().await;
    page.post("Page.crash", json!({}));
    let is_noted = async |running: &Running| {
        let captured = running.live.capture(Depth::Whole, false).await.unwrap();
        captured.unread.iter().any(|unread| unread.lasting)
    };
    eventually("it is noted that it crashed", async || is_noted(&running).await).await;

    // The node ends, and its successor finds it as it is.
    let Running { kept, live, agent } = running;
    drop((live, agent));
    let running = Running::watch(kept, &profile, known).await;
    eventually("the successor knows that it crashed", async || is_noted(&running).await).await;
    running.live.hear_requests().await;
    assert!(running.live.hold_requests().await);
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    assert!(!captured.unread.iter().any(Unread::is_passing), "{:?}", captured.unread);
    assert!(captured.state.tabs.iter().any(|tab| tab.url == url));
    assert_eq!(local(&captured.state, &url, "kept").as_deref(), Some("told"));
    running.live.let_requests_go().await;

    let tab = captured.state.tabs.iter().find(|tab| tab.url == url).unwrap().id.clone();
    let page = attach(&running.agent.connection.browser(), &tab).await;
    page.post("Page.navigate", json!({ "url": url }));
    eventually("it is there again", async || !is_noted(&running).await).await;
    assert_eq!(local(&running.capture().await, &url, "kept").as_deref(), Some("told"));
    running.crash().await;
}
