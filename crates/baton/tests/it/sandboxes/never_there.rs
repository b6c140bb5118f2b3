//! What cannot go into a sandbox is in its session as before when that comes back.

use super::scene::{Scene, cookie};
use baton_session::receipt::{ItemKind, Outcome};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_that_no_profile_keeps_was_not_deleted_in_the_sandbox() {
    let scene = Scene::set().await;
    let mut state = scene.state();
    // A page may set one with a tab in it, which the store of a profile loses.
    let odd = cookie("layout", "left\tright", 4_000_000_000);
    state["cookies"].as_array_mut().unwrap().push(odd);
    scene.session_of("shop", &state).await;
    let sandbox = scene.sandbox_of("shop").await;
    let handed = sandbox.browser_session.as_ref().unwrap();
    let lost = handed.receipt.items.iter().filter(|item| item.outcome == Outcome::Rejected);
    let lost: Vec<_> = lost.map(|item| (item.kind, &*item.place)).collect();
    assert_eq!(lost, [(ItemKind::Cookie, "host/ layout")]);
    // Somebody signs out there, which is for good.
    let line = "python3 -c \"import sqlite3
store = sqlite3.connect('/workspace/.browser-profile/Default/Cookies')
store.execute('delete from cookies where name = \\'refresh\\'')
store.commit()\"";
    scene.says(&sandbox, line).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let kept = [("ends", "with-it"), ("layout", "left\tright")];
    let kept = kept.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(scene.cookies("shop").await, kept);
    scene.strike().await;
}
