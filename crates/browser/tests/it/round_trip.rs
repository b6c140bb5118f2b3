//! A site with every kind of state, captured, killed, restored, captured again: equal.

use crate::fixture::{Kept, attach, evaluate, options, spec};
use crate::site::{Page, Site};
use baton_browser::capture::Depth;
use baton_browser::keeper::{self, BrowserSpec, KeeperSpec, Role};
use baton_browser::launch::LaunchOptions;
use baton_browser::live::Live;
use baton_browser::restore::{Restored, restore};
use baton_session::cookie::Expiry;
use baton_session::receipt::Outcome;
use baton_session::state::{Geolocation, Viewport};
use baton_session::{Environment, State, StorageKey};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);

pub(crate) async fn site() -> Site {
    // A date, not an age: the page sets its cookies again when it comes back.
    let tomorrow = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let lasting = format!("Expires={}", tomorrow.strftime("%a, %d %b %Y %H:%M:%S GMT"));
    let first = Page::html(include_str!("pages/everything.html"))
        .cookie("server_session=s1; HttpOnly; Path=/")
        .cookie(&format!("server_lasting=s2; SameSite=Strict; {lasting}"))
        .cookie(&format!("__Host-token=s3; Secure; Path=/; {lasting}"))
        .cookie(&format!("none=s4; Secure; SameSite=None; {lasting}"));
    let frame = Page::html(include_str!("pages/frame.html"))
        .cookie(&format!("chips=s5; Secure; SameSite=None; Partitioned; Path=/; {lasting}"));
    let second = Page::html(
        "<script>sessionStorage.setItem('tab', 'second'); document.title = 'second'</script>",
    );
    let earlier = Page::html(
        "<script>sessionStorage.setItem('earlier', 'visited'); localStorage.setItem('l', 'elsewhere')</script>",
    );
    Site::builder()
        .page("/everything", first)
        .page("/frame", frame)
        .page("/second", second)
        .page("/earlier", earlier)
        .start()
        .await
}

fn environment() -> Environment {
    Environment {
        viewport: Some(Viewport { width: 1024, height: 700 }),
        user_agent: Some("Baton test".to_owned()),
        identity: None,
        browser: None,
        timezone: Some("Asia/Tokyo".to_owned()),
        locale: Some("ja-JP".to_owned()),
        geolocation: Some(Geolocation { latitude: 35.5, longitude: 139.5, accuracy: 10.0 }),
        permissions: Vec::new(),
        certificates: Vec::new(),
        egress: None,
    }
}

/// A browser on `profile`.
pub(crate) async fn start(profile: &Path, environment: Environment) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let launch = LaunchOptions { environment, ..options(profile) };
    let spec = KeeperSpec { ..spec(folder.path(), BrowserSpec::Launch(Box::new(launch))) };
    Kept::start(folder, spec).await.unwrap()
}

/// Kills the browser as a crash would.
async fn kill(kept: Kept) {
    keeper::kill(&kept.connect(Role::Node).await.connection).await.unwrap();
    kept.joined().await;
}

/// Fills a browser on `profile`, captures it, and kills it.
pub(crate) async fn fill(site: &Site, profile: &Path) -> State {
    let running = start(profile, environment()).await;
    let known = State { environment: environment(), ..State::default() };
    let live = Live::start(running.connect(Role::Node).await, known).await.unwrap();
    for (host, path) in [("a", "/everything"), ("b", "/earlier"), ("c", "/second")] {
        let url = site.url(host, path).parse().unwrap();
        assert_eq!(live.open_tab(&url, LIMIT).await.unwrap(), None);
    }
    live.show_first_tab().await.unwrap();
    // A title that is still to come would be awaited for ever where the state is brought back.
    let ready = async |state: &State| titles(state) == ["ready", "page", "second"];
    let state = captured_when(&live, ready).await;
    ask(&running, site, BEFORE).await;
    kill(running).await;
    state
}

/// Where the page with everything asks the site before the browser is killed, and when it is back.
const BEFORE: &str = "/before";
const AFTER: &str = "/after";

async fn ask(running: &Kept, site: &Site, path: &str) {
    let client = running.connect(Role::Client).await;
    let browser = client.connection.browser();
    let targets = browser.call("Target.getTargets", ()).await.unwrap();
    let all = targets["targetInfos"].as_array().unwrap();
    let page = all.iter().find(|one| one["url"] == site.url("a", "/everything")).unwrap();
    let page = attach(&browser, page["targetId"].as_str().unwrap()).await;
    evaluate(&page, &format!("fetch('{path}').then(() => 'asked')")).await;
}

/// The site is sent the cookies that it was sent before, in the same order.
async fn assert_is_sent_the_same(running: &Kept, site: &Site) {
    ask(running, site, AFTER).await;
    let before = site.cookies_at(BEFORE);
    assert!(before.len() >= 5, "{before:?}");
    assert_eq!(site.cookies_at(AFTER), before);
}

fn titles(state: &State) -> Vec<String> {
    state.tabs.iter().map(|tab| tab.title.clone()).collect()
}

/// Captures until the state is as awaited.
async fn captured_when(live: &Live, awaited: impl AsyncFn(&State) -> bool) -> State {
    let mut activity = live.activity();
    let mut last = None;
    let found = tokio::time::timeout(LIMIT, async {
        loop {
            activity.mark_unchanged();
            let captured = live.capture(Depth::Whole, false).await.unwrap();
            if awaited(&captured.state).await && captured.unread.is_empty() {
                return captured.state;
            }
            last = Some((titles(&captured.state), captured.unread));
            let _ = tokio::time::timeout(Duration::from_millis(200), activity.changed()).await;
        }
    })
    .await;
    found.unwrap_or_else(|_| panic!("the pages do not get ready: {last:?}"))
}

/// Restores `state` on `profile` and captures what the browser holds then.
async fn bring_back(profile: &Path, state: &State) -> (Restored, State, Kept) {
    let running = start(profile, state.environment.clone()).await;
    let now = Expiry(jiff::Timestamp::now().as_microsecond());
    let link = running.connect(Role::Node).await;
    let restored = restore(link, state.clone(), now, None).await.unwrap();
    let mut known = State { environment: state.environment.clone(), ..State::default() };
    known.tabs.clone_from(&restored.state.tabs);
    for tab in &mut known.tabs {
        tab.session_storage.clear();
    }
    let live = Live::start(running.connect(Role::Node).await, known).await.unwrap();
    let ready = async |found: &State| titles(found) == titles(state);
    let again = captured_when(&live, ready).await;
    (restored, again, running)
}

fn without_ids(mut state: State) -> State {
    state.tabs.iter_mut().for_each(|tab| tab.id.clear());
    state
}

fn assert_whole(restored: &Restored) {
    let losses: Vec<_> =
        restored.receipt.items.iter().filter(|item| item.outcome != Outcome::Restored).collect();
    assert!(losses.is_empty(), "expected no losses, found {losses:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_comes_back_on_the_same_profile() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let profile = folder.path().join("profile");
    let state = fill(&site, &profile).await;
    assert_holds_everything(&site, &state);
    site.take_requests();
    let (restored, again, running) = bring_back(&profile, &state).await;
    assert_whole(&restored);
    assert_eq!(without_ids(again), without_ids(state));
    assert_is_sent_the_same(&running, &site).await;
    kill(running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_comes_back_on_a_fresh_profile() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let state = fill(&site, &folder.path().join("one")).await;
    site.take_requests();
    let (restored, again, running) = bring_back(&folder.path().join("other"), &state).await;
    assert_whole(&restored);
    let again = without_ids(again);
    // What no tab shows is on the new profile, but nobody reads it there until a tab does.
    let hidden: Vec<_> =
        state.origins.keys().filter(|key| !again.origins.contains_key(key)).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    assert_eq!(again, without_ids(state));
    let mut requests = site.take_requests();
    requests.sort();
    let wanted = ["a /everything", "b /earlier", "b /frame", "c /second"];
    assert_eq!(
        requests, wanted,
        "each page is asked for once, and nothing of ours reaches the site"
    );
    assert_is_sent_the_same(&running, &site).await;
    kill(running).await;
}

/// The site sets what it promises: else an equal state would prove nothing.
fn assert_holds_everything(site: &Site, state: &State) {
    let names: Vec<_> = state.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
    for name in ["server_session", "server_lasting", "__Host-token", "none", "chips", "script"] {
        assert!(names.contains(&name), "expected cookie {name}, found {names:?}");
    }
    let key = StorageKey::first_party(&site.url("a", ""));
    let origin = &state.origins[&key];
    assert_eq!(origin.local_storage.len(), 5);
    let database = &origin.databases[0];
    assert_eq!(database.version, 3);
    let records: usize = database.stores.iter().map(|store| store.records.len()).sum();
    assert!(records >= 30, "found {records} records");
    let partitioned = state.origins.keys().find(|key| key.top_level_site().is_some());
    assert!(!state.origins[partitioned.expect("a third party's partition")].is_empty());
    assert_eq!(state.tabs.len(), 3);
    assert!(state.tabs[0].active && !state.tabs[1].active, "the first tab is in front");
    assert_eq!(state.tabs[0].session_storage.len(), 2, "own and third party's sessionStorage");
}
