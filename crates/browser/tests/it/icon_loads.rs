//! What the browser fetches for an icon ends with the look at it, however that ends.

use crate::fixture::{evaluate, eventually};
use crate::icons::{RED, Scene, noise, png, showing};
use crate::site::Page;
use baton_browser::live::Activity;
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
    // What is told of a page comes in the order in which it happened.
    let settled = async |activity: &mut tokio::sync::watch::Receiver<Activity>, text: &str| {
        let before = activity.borrow_and_update().writes;
        evaluate(&page, &format!("localStorage.setItem('last', '{text}')")).await;
        activity.wait_for(|now| now.writes > before).await.unwrap().navigations
    };
    let before = settled(&mut activity, "before").await;
    assert_eq!(scene.capture().await.icon.unwrap().site.as_str(), "b.localhost");
    assert_eq!(settled(&mut activity, "after").await, before);
    scene.running.crash().await;
}
