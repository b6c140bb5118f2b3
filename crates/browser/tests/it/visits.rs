//! Pages that move on while they are read: what a snapshot says of a tab is of one visit.

use crate::fixture::{Kept, attach, evaluate, eventually, shows};
use crate::relay;
use crate::site::{Page, Site};
use crate::story::{browser, key_of, profile, value};
use baton_browser::capture::{Captured, Depth};
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::{KeeperLink, Role};
use baton_browser::live::Live;
use baton_session::{State, StorageKey};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(20);

/// Counts a visit wherever a page can, and shows a frame of another site that does the same.
const VISIT: &str = "<script>
    const n = new URLSearchParams(location.search).get('n');
    document.title = sessionStorage.n = localStorage.n = n;
    onmessage = () => globalThis.ready = n;
    document.write(`<iframe src='http://inner.localhost:{port}/inner?n=${n}'></iframe>`);
</script>";
const INNER: &str = "<script>
    sessionStorage.n = localStorage.n = new URLSearchParams(location.search).get('n');
    parent.postMessage('ready', '*');
    onmessage = () => navigator.storage.getDirectory().then(() => parent.postMessage('made', '*'));
</script>";

/// Waits until a visit has written all that it writes.
const READY: &str = "new Promise((resolve) => {
    const look = () => globalThis.ready === '#' ? resolve(true) : setTimeout(look, 5);
    look();
})";

/// Has the frame make the folder of its files, which is then empty.
const MAKE_INSIDE: &str = "new Promise((resolve) => {
    addEventListener('message', () => resolve(true), { once: true });
    frames[0].postMessage('make', '*');
})";

/// What a capture asks when events have told of every change: of the tab, then of the frame in it,
/// which lives in another process. Its profile shows that no site has files.
const EVENTS_TOLD_ALL: [&str; 10] = [
    "Target.getBrowserContexts",
    "Target.getTargets",
    "Page.getNavigationHistory",
    "Page.getFrameTree",
    "Page.createIsolatedWorld",
    "Storage.getStorageKey",
    "Runtime.callFunctionOn",
    "Page.getFrameTree",
    "Storage.getStorageKey",
    "Storage.getCookies",
];
/// And once some site has: no event tells of files, so they are looked at.
const WITH_FILES: [&str; 15] = [
    "Target.getBrowserContexts",
    "Target.getTargets",
    "Page.getNavigationHistory",
    "Page.getFrameTree",
    "Page.createIsolatedWorld",
    "Storage.getStorageKey",
    "Storage.getUsageAndQuota",
    "Runtime.callFunctionOn",
    "Page.getFrameTree",
    "Storage.getStorageKey",
    "Storage.getUsageAndQuota",
    "Page.createIsolatedWorld",
    "Storage.getStorageKey",
    "Runtime.callFunctionOn",
    "Storage.getCookies",
];
/// And when it reads everything.
const EVERYTHING: [&str; 20] = [
    "Target.getBrowserContexts",
    "Target.getTargets",
    "Page.getNavigationHistory",
    "Page.getFrameTree",
    "Page.createIsolatedWorld",
    "Storage.getStorageKey",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Page.getFrameTree",
    "Storage.getStorageKey",
    "Page.createIsolatedWorld",
    "Storage.getStorageKey",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Runtime.callFunctionOn",
    "Storage.getCookies",
];

/// When a tab goes on to its next visit: right before which of the calls of a capture.
#[derive(Debug, Clone, Copy)]
enum When {
    Never,
    /// Before the call of this number.
    Call(usize),
    /// Before each script, so that none is ever answered by the document of the one before.
    Script,
}

impl When {
    fn is_now(self, call: usize, method: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Call(moment) => call == moment,
            Self::Script => method == "Runtime.callFunctionOn",
        }
    }
}

/// A tab that goes on to its next visit right before certain calls of the node.
struct Mover {
    kept: Kept,
    live: Live,
    _folder: TempDir,
    agent: KeeperLink,
    calls: Arc<Mutex<Vec<String>>>,
    when: Arc<Mutex<When>>,
    visit: Arc<AtomicUsize>,
}

impl Mover {
    async fn start(site: &Site) -> Self {
        let (folder, profile) = profile();
        let kept = browser(&profile).await;
        let agent = kept.connect(Role::Client).await;
        let page = tab(&agent, &site.url("top", "/?n=1")).await;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let when = Arc::new(Mutex::new(When::Never));
        let visit = Arc::new(AtomicUsize::new(1));
        let (noted, chosen, last) = (Arc::clone(&calls), Arc::clone(&when), Arc::clone(&visit));
        let url = site.url("top", "/?n=");
        let before = move |call: Value| {
            let method = call["method"].as_str().unwrap().to_owned();
            let mut noted = noted.lock().unwrap();
            let is_now = chosen.lock().unwrap().is_now(noted.len(), &method);
            noted.push(method);
            if !is_now {
                return async {}.boxed();
            }
            let next = last.fetch_add(1, Ordering::SeqCst) + 1;
            go_on(page.clone(), url.clone(), next).boxed()
        };
        let link = relay::connect(&kept.spec.socket, before).await;
        let live = Live::start(link, State::default()).await.unwrap();
        let live = live.on_profile(profile);
        Self { kept, live, _folder: folder, agent, calls, when, visit }
    }

    /// A capture during which the tab goes on, and what it asked.
    async fn capture(&self, depth: Depth, when: When) -> (Captured, Vec<String>) {
        self.calls.lock().unwrap().clear();
        *self.when.lock().unwrap() = when;
        let captured = self.live.capture(depth, false).await.unwrap();
        *self.when.lock().unwrap() = When::Never;
        (captured, std::mem::take(&mut self.calls.lock().unwrap()))
    }

    fn visit(&self) -> usize {
        self.visit.load(Ordering::SeqCst)
    }

    /// Ends the browser as a crash would.
    async fn end(self) {
        let _ = self.live.browser().call("Baton.kill", ()).await;
        self.kept.joined().await;
    }
}

/// The agent's hand on a new tab, once all of it is there.
async fn tab(agent: &KeeperLink, url: &str) -> CdpSession {
    let browser = agent.connection.browser();
    let made = browser.call("Target.createTarget", json!({ "url": url })).await.unwrap();
    let page = attach(&browser, made["targetId"].as_str().unwrap()).await;
    shows(&page, "globalThis.ready", "1").await;
    page
}

async fn go_on(page: CdpSession, url: String, visit: usize) {
    let there = json!({ "url": format!("{url}{visit}") });
    page.call_within(LIMIT, "Page.navigate", there).await.unwrap();
    assert_eq!(evaluate(&page, &READY.replace('#', &visit.to_string())).await, true);
}

async fn site() -> Site {
    let (visit, inner) = (Page::html(VISIT), Page::html(INNER));
    Site::builder().page("/", visit).page("/inner", inner).start().await
}

/// The visit of a tab's address. Its title is of the same one, and so is what its page wrote, or of
/// the one before for as long as it has not written; and its frame knows of no later one.
fn expect_one_visit(site: &Site, state: &State) -> usize {
    let tab = &state.tabs[0];
    let visit = tab.url.split_once("?n=").unwrap().1;
    let at = |host| value(tab.session_storage.get(&key(site, host))?, "n").unwrap().parse().ok();
    let (top, inner): (Option<usize>, Option<usize>) = (at("top"), at("inner"));
    let told = format!("{visit}: title {}, top {top:?}, inner {inner:?}", tab.title);
    assert!(tab.title == visit || tab.title.is_empty(), "{told}");
    let visit = visit.parse().unwrap();
    assert!([visit, visit - 1].map(Some).contains(&top), "{told}");
    assert!(inner <= Some(visit), "{told}");
    visit
}

/// The key of the page, or of the frame in it.
fn key(site: &Site, host: &str) -> StorageKey {
    let key = key_of(&site.url(host, ""));
    if host == "top" { key } else { StorageKey::new(format!("{key}^0http://top.localhost")) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_in_a_capture_a_page_moves_on_the_snapshot_is_of_one_visit() {
    let site = site().await;
    let mover = Mover::start(&site).await;
    mover.capture(Depth::Whole, When::Never).await;
    for depth in [Depth::Whole, Depth::Changed] {
        for moment in 0.. {
            let before = mover.visit();
            let (captured, _) = mover.capture(depth, When::Call(moment)).await;
            if mover.visit() == before {
                assert!(moment > 8, "the capture asked {moment} times");
                break;
            }
            assert_eq!(captured.unread, [], "the page rests after one move, at {moment}");
            let visit = expect_one_visit(&site, &captured.state);
            assert!([before, before + 1].contains(&visit), "{visit} at {moment} after {before}");
        }
    }
    mover.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_never_stays_is_of_one_visit_and_marked() {
    let site = site().await;
    let mover = Mover::start(&site).await;
    mover.capture(Depth::Whole, When::Never).await;
    for depth in [Depth::Whole, Depth::Changed] {
        let (captured, _) = mover.capture(depth, When::Script).await;
        let visit = expect_one_visit(&site, &captured.state);
        assert!(visit > 1 && captured.unread.len() == 1, "{visit}: {:?}", captured.unread);
        // Once it rests, everything is read.
        let (captured, _) = mover.capture(Depth::Whole, When::Never).await;
        assert_eq!(captured.unread, []);
        assert_eq!(expect_one_visit(&site, &captured.state), mover.visit());
    }
    mover.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_stays_is_asked_nothing_twice() {
    let site = site().await;
    let mover = Mover::start(&site).await;
    let mut asked = Vec::new();
    eventually("the tab rests", async || {
        let (_, again) = mover.capture(Depth::Changed, When::Never).await;
        std::mem::replace(&mut asked, again) == asked
    })
    .await;
    assert_eq!(asked, EVENTS_TOLD_ALL);
    let (_, asked) = mover.capture(Depth::Whole, When::Never).await;
    assert_eq!(asked, EVERYTHING);
    let page = mover.agent.connection.browser();
    let target = mover.live.tabs().await.unwrap().remove(0).id;
    let page = attach(&page, &target).await;
    for make in ["navigator.storage.getDirectory().then(() => true)", MAKE_INSIDE] {
        assert_eq!(evaluate(&page, make).await, true);
    }
    let (_, asked) = mover.capture(Depth::Changed, When::Never).await;
    assert_eq!(asked, WITH_FILES);
    mover.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_browser_keeps_for_a_question_is_released() {
    let site = site().await;
    let mover = Mover::start(&site).await;
    mover.capture(Depth::Whole, When::Never).await;
    let target = mover.live.tabs().await.unwrap().remove(0).id;
    let page = attach(&mover.agent.connection.browser(), &target).await;
    for step in 0..2 {
        // Only the world of the page's own scripts knows the state of a later entry.
        evaluate(&page, &format!("void history.pushState({step}, '')")).await;
        let (captured, asked) = mover.capture(Depth::Whole, When::Never).await;
        assert_eq!(captured.unread, []);
        let count = |method: &str| asked.iter().filter(|asked| *asked == method).count();
        assert_eq!((count("Runtime.evaluate"), count("Runtime.releaseObject")), (1, 1));
    }
    mover.end().await;
}
