//! A resume on a machine that never saw the session: the profile is compiled, and pages are visited
//! only for what no file can say.

use super::now;
use crate::fixture::evaluate;
use crate::site::{Page, Site};
use crate::story::{Running, browser, key_of, profile};
use baton_browser::keeper::Role;
use baton_browser::profile::compile::{Times, write_rows};
use baton_browser::restore::{Ground, Restored, restore};
use baton_session::State;
use baton_session::cookie::Expiry;
use std::path::Path;

/// Signs in: cookies and localStorage, and on request a database.
const SIGN_IN: &str = "document.cookie = 'sid=1; max-age=9999'; document.cookie = 'open=2';
    localStorage.token = location.host; sessionStorage.here = 'tab'; 0";
const DATABASE: &str = "new Promise(done => {
    const opening = indexedDB.open('mail', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('box').put('letter', 1);
    opening.onsuccess = () => { opening.result.close(); done(0); };
})";

/// Resumes on a profile that was compiled of `rows`.
async fn resume(profile: &Path, rows: &State, state: &State) -> (Running, Restored) {
    let times = Times::at(now());
    write_rows(rows, profile, times).unwrap();
    let ground = Ground::compiled(profile, times.written);
    let kept = browser(profile).await;
    let link = kept.connect(Role::Node).await;
    let restored = restore(link, state.clone(), Expiry(now().0), Some(&ground)).await.unwrap();
    (Running::watch(kept, profile, restored.state.clone()).await, restored)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_no_file_can_say_needs_a_page() {
    let ((_folder, first), site) =
        (profile(), Site::builder().page("/", Page::html("")).start().await);
    let running = Running::start(&first).await;
    for host in ["a", "b", "c"] {
        let page = running.open(&site.url(host, "/")).await;
        evaluate(&page, SIGN_IN).await;
        if host == "b" {
            evaluate(&page, DATABASE).await;
        }
    }
    let mut state = running.capture().await;
    running.crash().await;
    // Only the first tab stays open: the other two sites are remembered.
    state.tabs.truncate(1);
    site.take_requests();

    let (_folder, second) = profile();
    let (running, restored) = resume(&second, &state, &state).await;
    assert_eq!(site.take_requests(), ["a /"], "no request to any site but the tab's");
    let mut lines: Vec<String> = restored
        .receipt
        .items
        .iter()
        .map(|item| {
            let place = item.place.replace(&site.url("", "/")[".".len()..], "");
            let place = place.split(".localhost").next().unwrap_or_default().replace("http://", "");
            format!(
                "{} {place}: {:?} {:?} {:?}",
                item.kind, item.outcome, item.source, item.verified
            )
        })
        .collect();
    lines.dedup();
    insta::assert_snapshot!(lines.join("\n"), @r"
    cookie a: Restored Snapshot Page
    cookie b: Restored Snapshot Page
    cookie c: Restored Snapshot Page
    local_storage a: Restored Snapshot Page
    local_storage b: Restored Snapshot Page
    local_storage c: Restored Snapshot Disk
    session_storage a: Restored Snapshot Page
    indexed_db b: Restored Snapshot Page
    tab a: Restored Snapshot Page
    ");
    let again = running.capture().await;
    assert_eq!(again.origins, state.origins);
    assert_eq!(again.cookies, state.cookies);
    assert_eq!(again.tabs[0].session_storage, state.tabs[0].session_storage);
    assert_eq!(again.origins[&key_of(&site.url("c", "/"))].local_storage.len(), 1);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_browser_did_not_take_from_the_profile_it_is_given() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    let ((_folder, first), url) = (profile(), site.url("a", "/"));
    let running = Running::start(&first).await;
    let page = running.open(&url).await;
    evaluate(&page, SIGN_IN).await;
    let state = running.capture().await;
    running.crash().await;

    let mut rows = state.clone();
    rows.cookies.retain(|cookie| cookie.name == "open");
    rows.cookies[0].value = "another".to_owned();
    rows.origins.clear();
    let (_folder, second) = profile();
    let (running, restored) = resume(&second, &rows, &state).await;
    assert!(!restored.receipt.has_losses(), "{:?}", restored.receipt);
    let again = running.capture().await;
    assert_eq!((again.cookies, again.origins), (state.cookies, state.origins));
    running.crash().await;
}
