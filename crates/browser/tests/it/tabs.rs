//! Tabs at odd addresses and on sites that do not answer.

use crate::fixture::{attach, evaluate, eventually, options};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, local, outcomes, profile, value};
use baton_browser::capture::Depth;
use baton_browser::restore::Restored;
use baton_session::State;
use baton_session::receipt::{ItemKind, Outcome};
use serde_json::{Value, json};

const FILL: &str =
    "<script>localStorage.setItem('who', 'me'); sessionStorage.setItem('tab', 'mine')</script>";

async fn site() -> Site {
    Site::builder().page("/", Page::html(FILL)).page("/opener", Page::html("")).start().await
}

fn addresses(state: &State) -> Vec<&str> {
    state.tabs.iter().map(|tab| tab.url.as_str()).collect()
}

/// What the first tab knows of its own session, as the state has it.
fn session(state: &State, url: &str) -> Option<String> {
    value(state.tabs[0].session_storage.get(&key_of(url))?, "tab")
}

/// The addresses of each tab's history.
async fn histories(running: &Running, restored: &Restored) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for tab in &restored.state.tabs {
        let page = attach(&running.agent.connection.browser(), &tab.id).await;
        let history = page.call("Page.getNavigationHistory", json!({})).await.unwrap();
        let entries = history["entries"].as_array().unwrap().iter();
        all.push(entries.map(|entry| entry["url"].clone()).collect());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_at_odd_addresses_come_back_without_a_trace_of_ours() {
    let ((_folder, profile), site) = (profile(), site().await);
    // Of the machine's files a browser has those that it was given.
    let files = options(&profile).files;
    std::fs::create_dir_all(&files).unwrap();
    let file = files.join("page.html");
    std::fs::write(&file, "<title>file</title>").unwrap();
    let file = format!("file://{}", file.display());
    let running = Running::start(&profile).await;
    // All but the third were at a site before, and keep its sessionStorage.
    for address in ["about:blank", "data:text/html,data", &file] {
        let page = running.open(&site.url("a", "/")).await;
        running.capture().await;
        page.call("Page.navigate", json!({ "url": address })).await.unwrap();
    }
    let page = running.open(&site.url("b", "/opener")).await;
    let blob =
        "window.open(URL.createObjectURL(new Blob(['blob'], { type: 'text/html' }))) !== null";
    let open = json!({ "expression": blob, "userGesture": true });
    page.call("Runtime.evaluate", open).await.unwrap();
    eventually("the popup is there", async || {
        addresses(&running.capture().await).iter().any(|url| url.starts_with("blob:"))
    })
    .await;
    let state = running.capture().await;
    running.crash().await;

    let (running, restored) = Running::resume(&profile, &state).await;
    let opener = site.url("b", "/opener");
    let expected = ["about:blank", "data:text/html,data", &file, &opener, "about:blank"];
    assert_eq!(addresses(&running.capture().await), expected);
    // The first three were at a site before, to which they can go back.
    let site_of = site.url("a", "/");
    let expected = [0, 1, 2, 3, 4].map(|at| {
        let before = (at < 3).then_some(site_of.as_str());
        before.into_iter().chain([expected[at]]).map(|url| json!(url)).collect::<Vec<_>>()
    });
    assert_eq!(histories(&running, &restored).await, expected);
    let mut found = outcomes(&restored, ItemKind::Tab);
    found.retain(|(outcome, _)| *outcome != Outcome::Restored);
    let reason = "the address ended with the page that made it";
    assert_eq!(found, [(Outcome::NotPortable, Some(reason))]);
    assert_eq!(session(&running.capture().await, &site.url("a", "/")).as_deref(), Some("mine"));
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_is_down_costs_nothing_however_often() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    running.open(&url).await;
    let mut state = running.capture().await;
    running.crash().await;
    drop(site);
    for _ in 0..2 {
        let (_other_folder, other) = crate::story::profile();
        let (running, restored) = Running::resume(&other, &state).await;
        let reason = "the site did not answer; the tab waits at its address";
        assert_eq!(outcomes(&restored, ItemKind::Tab), [(Outcome::Pending, Some(reason))]);
        assert_eq!(outcomes(&restored, ItemKind::LocalStorage), [(Outcome::Restored, None)]);
        assert_eq!(outcomes(&restored, ItemKind::SessionStorage), [(Outcome::Restored, None)]);
        state = running.capture().await;
        assert_eq!(addresses(&state), [&url]);
        assert_eq!(local(&state, &url, "who").as_deref(), Some("me"));
        assert_eq!(session(&state, &url).as_deref(), Some("mine"));
        running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_never_answers_delays_a_resume_and_no_more() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    running.open(&url).await;
    let state = running.capture().await;
    running.crash().await;
    site.fall_silent();
    let (running, restored) = Running::resume(&profile, &state).await;
    let reason = "the site has not answered yet; the tab goes on loading";
    assert_eq!(outcomes(&restored, ItemKind::Tab), [(Outcome::Pending, Some(reason))]);
    // Nor can such a tab be read: what is known of it stands.
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread.iter().map(|unread| &unread.place).collect::<Vec<_>>(), [&url]);
    assert_eq!(addresses(&captured.state), [&url]);
    assert_eq!(captured.state.origins, state.origins);
    assert_eq!(session(&captured.state, &url).as_deref(), Some("mine"));
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_hangs_does_not_hide_what_another_one_shows() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let hangs = running.open(&site.url("a", "/opener")).await;
    let answers = running.open(&url).await;
    running.capture().await;
    hangs.post("Runtime.evaluate", json!({ "expression": "alert('wait')" }));
    let write = "new Promise((resolve) => {
            const request = indexedDB.open('login');
            request.onupgradeneeded = () => request.result.createObjectStore('s').put('token', 'k');
            request.onsuccess = () => resolve('done');
        })";
    assert_eq!(evaluate(&answers, write).await, "done");
    eventually("the database is read in the tab that answers", async || {
        let origins = running.changed().await.origins;
        origins.get(&key_of(&url)).is_some_and(|origin| origin.databases.len() == 1)
    })
    .await;
    running.crash().await;
}
