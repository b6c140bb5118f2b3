//! What a look at an icon costs: nothing that outlasts it, and nothing a second time.

use crate::fixture::{evaluate, eventually};
use crate::heard::Heard;
use crate::icons::{RED, Scene, noise, png, showing};
use crate::site::{Page, Site};
use baton_browser::capture::Depth;
use baton_browser::live::Activity;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// A link that the browser takes for none, so that it asks for this icon only because we do.
const OURS: &str = "<p>shop</p><link rel=icon href='/icon.png'>";
/// How long the browser may take to hang up.
const SOON: Duration = Duration::from_secs(5);

/// Icons that never come, and that never end.
fn endless() -> [Page; 2] {
    [Page::default().silent(), Page::picture("image/png", noise()).endless()]
}

/// Waits until the browser waits for the icon, or until it does no longer.
async fn waits(scene: &Scene, wanted: bool) {
    let what = format!("the browser waits for an icon: {wanted}");
    let waiting = eventually(&what, async || scene.site.waiting().is_empty() != wanted);
    timeout(SOON, waiting).await.expect(&what);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_icon_that_does_not_come_in_time_is_not_fetched_any_longer() {
    for icon in endless() {
        let scene = showing(OURS, &[("/icon.png", icon)]).await;
        assert_eq!(scene.colour().await, None);
        assert!(scene.site.take_requests().contains(&"a /icon.png".to_owned()));
        waits(&scene, false).await;
        scene.running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_icon_for_which_nobody_waits_any_more_is_not_fetched_any_longer() {
    for icon in endless() {
        let scene = showing(OURS, &[("/icon.png", icon)]).await;
        tokio::select! {
            captured = scene.capture() => panic!("it did not wait: {captured:?}"),
            () = waits(&scene, true) => {}
        }
        waits(&scene, false).await;
        scene.running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_at_an_icon_is_no_movement_in_the_browser() {
    let scene = showing("<link rel=icon href='/icon.png'>", &[("/icon.png", png(RED))]).await;
    let mut activity = scene.running.live.activity();
    scene.capture().await;
    scene.go(&scene.site.url("b", "/")).await;
    let page = scene.running.page(&scene.site.url("b", "/")).await;
    let settled = async |activity: &mut tokio::sync::watch::Receiver<Activity>, text: &str| {
        let before = activity.borrow_and_update().writes;
        evaluate(&page, &format!("localStorage.setItem('last', '{text}')")).await;
        activity.wait_for(|now| now.writes > before).await.unwrap().navigations
    };
    // The tab and each of its documents are told once more when they are watched, which writes may overtake.
    activity.wait_for(|now| now.navigations >= 6).await.unwrap();
    let before = settled(&mut activity, "before").await;
    assert_eq!(scene.capture().await.icon.unwrap().site.as_str(), "b.localhost");
    assert_eq!(settled(&mut activity, "after").await, before);
    scene.running.crash().await;
}

/// How often a capture enters a page.
async fn entered(heard: &Heard, pictures: bool) -> usize {
    heard.asked.lock().unwrap().clear();
    heard.running.live.capture(Depth::Changed, pictures).await.unwrap();
    let asked = heard.asked.lock().unwrap();
    asked.iter().filter(|method| *method == "Page.createIsolatedWorld").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_asked_for_its_icon_is_not_asked_again() {
    // What it names cannot be passed on.
    let broken = "<link rel=icon href='/icon.png'><script>
        document.querySelector('link').setAttribute('type', '\\ud800');
        </script>";
    for hangs in [false, true] {
        let site = Site::builder().page("/", Page::html(broken)).page("/icon.png", png(RED));
        let site = site.start().await;
        let heard = Heard::start().await;
        let page = heard.running.open(&site.url("a", "/")).await;
        let without = heard.running.live.capture(Depth::Changed, false).await.unwrap();
        assert_eq!(without.unread, []);
        if hangs {
            page.post("Runtime.evaluate", json!({ "expression": "for (;;) {}" }));
        }
        assert!(entered(&heard, true).await > entered(&heard, false).await);
        assert_eq!(entered(&heard, true).await, entered(&heard, false).await, "hangs: {hangs}");
        heard.running.crash().await;
    }
}
