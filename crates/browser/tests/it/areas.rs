//! Web storage at its edges: full, and emptied.

use crate::fixture::evaluate;
use crate::site::{Page, Site};
use crate::story::{Running, local, outcomes, profile};
use baton_session::receipt::{ItemKind, Outcome};

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
