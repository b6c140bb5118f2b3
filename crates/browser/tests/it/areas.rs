//! Web storage at its edges: full, and emptied.

use crate::fixture::{evaluate, shows};
use crate::site::{Page, Site};
use crate::story::{Running, local, outcomes, profile};
use baton_browser::capture::Depth;
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_session::State;
use baton_session::receipt::{ItemKind, Outcome};
use serde_json::Value;

async fn site() -> Site {
    Site::builder().page("/", Page::html("")).start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_area_comes_back_over_another_full_one() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let fill = "localStorage.clear();
        localStorage.setItem('small', 'x'.repeat(100_000));
        localStorage.setItem('large', 'y'.repeat(5_000_000)); 'done'";
    assert_eq!(evaluate(&page, fill).await, "done");
    let state = running.capture().await;
    running.crash().await;
    // The other way round there is no room for both, not even for a moment.
    let (running, _) = Running::resume(&profile, &state).await;
    let page = running.page(&url).await;
    let swap = fill.replace("small", "?").replace("large", "small").replace('?', "large");
    assert_eq!(evaluate(&page, &swap).await, "done");
    let swapped = running.capture().await;
    running.live.browser().call("Browser.close", ()).await.unwrap();
    running.kept.joined().await;
    assert_ne!(swapped, state);
    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::LocalStorage), [(Outcome::Restored, None)]);
    assert_eq!(running.capture().await.origins, state.origins);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_logout_is_not_undone_by_what_the_disk_has_still() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    evaluate(&page, "localStorage.setItem('token', 'secret')").await;
    assert_eq!(local(&running.capture().await, &url, "token").as_deref(), Some("secret"));
    // A gentle end writes it to the disk; the snapshot that wins is of after the logout.
    running.live.browser().call("Browser.close", ()).await.unwrap();
    running.kept.joined().await;
    let (running, _) = Running::resume(&profile, &baton_session::State::default()).await;
    let page = running.open(&url).await;
    assert_eq!(evaluate(&page, "localStorage.getItem('token')").await, "secret");
    evaluate(&page, "localStorage.clear()").await;
    let state = running.capture().await;
    running.crash().await;
    let (running, _) = Running::resume(&profile, &state).await;
    let page = running.page(&url).await;
    assert_eq!(evaluate(&page, "localStorage.getItem('token')").await, serde_json::Value::Null);
    running.crash().await;
}

/// One tab writes a token and the other one logs out, which hears of the token only after that: then it shows the
/// token, and nobody else does. How often that was tried before is known to both.
async fn disagree(leaving: &CdpSession, writing: &CdpSession) {
    let leave = "{ const end = Date.now() + 300; while (Date.now() < end); localStorage.clear() }";
    for attempt in 0..50 {
        let write = "localStorage.setItem('token', 'secret')";
        tokio::join!(evaluate(leaving, leave), evaluate(writing, write));
        // What is heard comes in the order in which it was written.
        let mark = attempt.to_string();
        evaluate(writing, &format!("localStorage.setItem('mark', '{mark}')")).await;
        shows(leaving, "localStorage.mark", mark).await;
        let token = "localStorage.getItem('token')";
        if evaluate(leaving, token).await == "secret" && evaluate(writing, token).await.is_null() {
            return;
        }
    }
    panic!("a tab that empties localStorage shows nothing that was written before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_logout_is_not_undone_by_a_tab_that_heard_too_late_of_what_another_one_wrote() {
    let ((_folder, profile), site) = (profile(), site().await);
    let urls = [site.url("a", "/"), site.url("a", "/?second")];
    let running = Running::start(&profile).await;
    let tabs = [running.open(&urls[0]).await, running.open(&urls[1]).await];
    running.capture().await;
    let mut state = State::default();
    for (leaving, writing) in [(0, 1), (1, 0)] {
        disagree(&tabs[leaving], &tabs[writing]).await;
        for captures in 0..5 {
            state = running.capture().await;
            assert_eq!(local(&state, &urls[0], "token"), None, "{leaving} leaves, {captures}");
            assert!(local(&state, &urls[0], "mark").is_some());
        }
        // An observer who comes later does not know that it was emptied.
        let link = running.kept.connect(Role::Client).await;
        let observer = Live::start(link, State::default()).await.unwrap();
        let found = observer.capture(Depth::Whole, false).await.unwrap().state;
        assert_eq!(local(&found, &urls[0], "token"), None, "{leaving} leaves");
    }
    running.crash().await;
    let (running, _) = Running::resume(&profile, &state).await;
    for url in &urls {
        let page = running.page(url).await;
        assert_eq!(evaluate(&page, "localStorage.getItem('token')").await, Value::Null);
    }
    running.crash().await;
}
