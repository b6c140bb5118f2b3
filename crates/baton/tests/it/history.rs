//! Who signs out is signed out; what a start of the browser lost is not; and every snapshot can be gone back
//! to.

use crate::notes::{eventually, wait_for_state};
use crate::test_nodes::{build, start};
use axum::Router;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, Html, IntoResponse};
use axum::routing::get;
use baton_api::{ListHistory, ResumeResult, SnapshotReason, SnapshotView};
use baton_playground::{Page, Site, TestNode};
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{Lifecycle, SessionId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &str = "shop";

/// A site where one can be logged in, and which can end that by itself: when it is asked, or whenever its
/// page is loaded.
struct Shop(Site, Arc<AtomicBool>);

impl Shop {
    async fn start() -> Self {
        let forgets = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&forgets);
        let page = async move || {
            // Done before the page has loaded, so before anybody reads it.
            let leave = "<script>const ask = new XMLHttpRequest(); ask.open('GET', '/logout', false); \
                ask.send(); localStorage.clear()</script>";
            let leaves = if told.load(Ordering::Relaxed) { leave } else { "" };
            Html(format!("<title>shop</title>{leaves}"))
        };
        let pages = Router::new()
            .route("/", get(page))
            .route("/login", get(async || with_cookies("Max-Age=86400")))
            .route("/logout", get(async || with_cookies("Max-Age=0")));
        Self(Site::start(pages).await.unwrap(), forgets)
    }

    /// Opens a session, logs in, and captures that.
    async fn open(&self, test_node: &TestNode) -> (SessionId, SnapshotView) {
        let id = test_node.open(NAME, [self.0.url("/").unwrap()]).await.unwrap();
        let enter =
            "fetch('/login').then(() => localStorage.setItem('token', 'of ada')).then(() => true)";
        assert!(self.page(test_node, id).await.evaluate::<bool>(enter).await.unwrap());
        (id, test_node.client().unwrap().capture_session(NAME).await.unwrap())
    }

    async fn page(&self, test_node: &TestNode, id: SessionId) -> Page {
        let url = self.0.url("/").unwrap();
        Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap()
    }

    /// Whether whoever loads its page loses what it is logged in with.
    fn forgets(&self, whether: bool) {
        self.1.store(whether, Ordering::Relaxed);
    }

    /// What happens when its user signs out, or the site thinks that it was away for too long.
    async fn log_out(&self, test_node: &TestNode, id: SessionId) {
        let leave = "fetch('/logout').then(() => localStorage.clear()).then(() => true)";
        assert!(self.page(test_node, id).await.evaluate::<bool>(leave).await.unwrap());
    }

    /// The cookies and the token that the page has.
    async fn seen(&self, test_node: &TestNode, id: SessionId) -> String {
        let see =
            "document.cookie.split('; ').sort().join('; ') + ' ' + localStorage.getItem('token')";
        self.page(test_node, id).await.evaluate(see).await.unwrap()
    }
}

/// Sets the two cookies of a login, for so long.
fn with_cookies(age: &str) -> impl IntoResponse + use<> {
    let cookie = |name| (SET_COOKIE, format!("{name}=1; Path=/; {age}"));
    (AppendHeaders([cookie("sid"), cookie("seen")]), "done")
}

const LOGGED_IN: &str = "seen=1; sid=1 of ada";
const LOGGED_OUT: &str = " null";

/// A test node whose node captures often.
async fn test_node() -> TestNode {
    start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "1")).await
}

/// All snapshots, newest first.
async fn history(test_node: &TestNode) -> Vec<SnapshotView> {
    let query = ListHistory::default();
    test_node.client().unwrap().list_history(NAME, &query).await.unwrap().items
}

/// Waits until the newest snapshot is a shrunk one.
async fn wait_until_shrunk(test_node: &TestNode) -> SnapshotView {
    eventually("the newest snapshot is shrunk", async || history(test_node).await[0].shrunk).await;
    history(test_node).await.remove(0)
}

/// Kills node, keeper and browser, and starts the node again.
async fn kill_everybody(test_node: &mut TestNode, id: SessionId) {
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
}

async fn resume(test_node: &TestNode) -> ResumeResult {
    wait_for_state(test_node, NAME, Lifecycle::Recoverable).await;
    test_node.client().unwrap().resume_session(NAME).await.unwrap()
}

/// What the receipt says about the snapshot that was passed over.
fn passed_over(resumed: &ResumeResult) -> Option<&str> {
    let receipt = resumed.session.receipt.as_ref().unwrap();
    assert!(!receipt.has_losses(), "{:#?}", receipt.losses().collect::<Vec<_>>());
    let line = receipt.items.iter().find(|item| item.kind == ItemKind::Snapshot)?;
    assert_eq!(line.outcome, Outcome::Restored);
    line.reason.as_deref()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_signed_out_is_signed_out_after_a_crash() {
    let shop = Shop::start().await;
    let mut test_node = test_node().await;
    let (id, kept) = shop.open(&test_node).await;
    shop.log_out(&test_node, id).await;
    let signed_out = async || {
        let newest = history(&test_node).await.remove(0);
        newest.id != kept.id && {
            let state = test_node.client().unwrap().fetch_state(NAME, true).await.unwrap().state;
            state["cookies"].as_array().is_none_or(Vec::is_empty)
        }
    };
    eventually("a capture after the sign-out", signed_out).await;
    assert!(!history(&test_node).await[0].shrunk, "somebody did that");
    kill_everybody(&mut test_node, id).await;
    assert_eq!(passed_over(&resume(&test_node).await), None);
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_OUT);
    test_node.clear().await.unwrap();
}

/// A session that was logged in, whose browser died, and which lost its login as it came back.
async fn lost_as_it_came_back(
    shop: &Shop,
    test_node: &mut TestNode,
) -> (SessionId, SnapshotView, SnapshotView) {
    let (id, kept) = shop.open(test_node).await;
    assert_eq!(shop.seen(test_node, id).await, LOGGED_IN);
    kill_everybody(test_node, id).await;
    shop.forgets(true);
    resume(test_node).await;
    let lost = wait_until_shrunk(test_node).await;
    shop.forgets(false);
    (id, kept, lost)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_gone_when_a_browser_has_just_come_back_costs_nothing() {
    let shop = Shop::start().await;
    let mut test_node = test_node().await;
    let (id, kept, lost) = lost_as_it_came_back(&shop, &mut test_node).await;
    let forecast = test_node.client().unwrap().fetch_session(NAME).await.unwrap().forecast.unwrap();
    assert_eq!((forecast.cookies, forecast.within_hour, forecast.within_day), (2, 0, 2));
    kill_everybody(&mut test_node, id).await;

    let resumed = resume(&test_node).await;
    let why = passed_over(&resumed).unwrap();
    assert!(
        why.starts_with(&format!("the one of {} has lost more than half", lost.taken_at)),
        "{why}"
    );
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_IN);
    // What came back became the newest snapshot, and then what its tabs made of it. What it passed over
    // is still there.
    let now = resumed.session.snapshot.unwrap();
    assert_eq!((now.reason, now.shrunk), (SnapshotReason::Navigation, false));
    let all = history(&test_node).await;
    let before = before(&all, &now);
    assert_eq!((before.reason, before.shrunk), (SnapshotReason::Rollback, false));
    let all: Vec<_> = all.into_iter().map(|snapshot| snapshot.id).collect();
    assert!(all.contains(&kept.id) && all.contains(&lost.id));
    kill_everybody(&mut test_node, id).await;
    assert_eq!(passed_over(&resume(&test_node).await), None);
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_IN);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_logout_that_somebody_captures_is_respected() {
    let shop = Shop::start().await;
    let mut test_node = test_node().await;
    let (id, _) = shop.open(&test_node).await;
    shop.log_out(&test_node, id).await;
    let accepted = test_node.client().unwrap().capture_session(NAME).await.unwrap();
    assert!(!accepted.shrunk);
    kill_everybody(&mut test_node, id).await;
    assert_eq!(passed_over(&resume(&test_node).await), None);
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_OUT);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_back_to_a_living_browser_still_knows_the_good_one() {
    let shop = Shop::start().await;
    let mut test_node = test_node().await;
    let (id, kept, _) = lost_as_it_came_back(&shop, &mut test_node).await;
    test_node.stop_node().await.unwrap();
    test_node.start_node().await.unwrap();
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_OUT, "nothing was done to the browser");
    let newest = history(&test_node).await.remove(0);
    assert_eq!((newest.reason, newest.shrunk), (SnapshotReason::Shutdown, true));
    // Its next capture is judged by the good one as well.
    let page = shop.page(&test_node, id).await;
    assert!(
        page.evaluate::<bool>("document.title = 'changed'; sessionStorage.a = 1; true")
            .await
            .unwrap()
    );
    eventually("another capture", async || history(&test_node).await[0].id != newest.id).await;
    assert!(history(&test_node).await[0].shrunk);
    let query = ListHistory::default();
    let listed = test_node.client().unwrap().list_history(NAME, &query).await.unwrap();
    assert_eq!(listed.resumes_from, Some(kept.id));
    test_node.clear().await.unwrap();
}

/// The snapshot that was taken before another one, of those of a session, the newest first.
fn before<'a>(all: &'a [SnapshotView], snapshot: &SnapshotView) -> &'a SnapshotView {
    let position = all.iter().position(|one| one.id == snapshot.id).unwrap();
    &all[position + 1]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_snapshot_can_be_gone_back_to() {
    let shop = Shop::start().await;
    let mut test_node = test_node().await;
    let (id, kept, lost) = lost_as_it_came_back(&shop, &mut test_node).await;
    let client = test_node.client().unwrap().clone();

    // An active session goes back, by a part of the id, and what its browser held is kept.
    let back = client.roll_back_session(NAME, &kept.id.to_string()[..30]).await.unwrap();
    assert_eq!(passed_over(&back), None);
    assert_eq!(back.session.session.state, Lifecycle::Active);
    let now = back.session.snapshot.unwrap();
    assert_eq!(before(&history(&test_node).await, &now).reason, SnapshotReason::Rollback);
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_IN);
    let before = history(&test_node).await;
    let before = before.iter().find(|snapshot| snapshot.reason == SnapshotReason::Shutdown);
    assert!(before.unwrap().shrunk, "nobody accepted it");
    let diff =
        client.diff_snapshots(NAME, &kept.id.to_string(), &lost.id.to_string()).await.unwrap();
    assert_eq!((diff.diff.added, diff.diff.removed), (0, 3), "{:#?}", diff.diff.items);

    // Also to one that a resume passes over; from then on it is what the session holds.
    client.roll_back_session(NAME, &lost.id.to_string()).await.unwrap();
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_OUT);
    kill_everybody(&mut test_node, id).await;
    resume(&test_node).await;
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_OUT);

    // And a session without a browser.
    let client = test_node.client().unwrap().clone();
    client.close_session(NAME).await.unwrap();
    client.roll_back_session(NAME, &kept.id.to_string()).await.unwrap();
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_IN);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_spares_the_good_one() {
    let shop = Shop::start().await;
    let mut test_node = start(
        build()
            .with("BATON_SESSION_SNAPSHOT_INTERVAL", "1")
            .with("BATON_MAX_SESSION_SNAPSHOTS", "2"),
    )
    .await;
    let (id, kept, lost) = lost_as_it_came_back(&shop, &mut test_node).await;
    let mut newest = lost.id;
    for number in 0..3 {
        let page = shop.page(&test_node, id).await;
        let change = format!("sessionStorage.a = {number}; true");
        assert!(page.evaluate::<bool>(&change).await.unwrap());
        eventually("another capture", async || history(&test_node).await[0].id != newest).await;
        newest = history(&test_node).await[0].id;
    }
    let left = history(&test_node).await;
    assert_eq!(
        left.iter().map(|snapshot| snapshot.shrunk).collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(left[2].id, kept.id);
    kill_everybody(&mut test_node, id).await;
    resume(&test_node).await;
    assert_eq!(shop.seen(&test_node, id).await, LOGGED_IN);
    test_node.clear().await.unwrap();
}
