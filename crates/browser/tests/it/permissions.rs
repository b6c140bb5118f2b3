//! What sites may do: read from the settings and from pages, and back on any profile.

use crate::fixture::{attach, evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, browser, profile};
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::permissions;
use baton_browser::restore::{Restored, choose, restore};
use baton_session::cookie::Expiry;
use baton_session::permission::Setting;
use baton_session::receipt::{ItemKind, Outcome, Source, Verified};
use baton_session::{Environment, Permission, State};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Chromium writes its settings ten seconds after a change.
const LATE: Duration = Duration::from_secs(30);

const STATE: &str = "(async (names) => (await Promise.all(names.map((name) =>
    navigator.permissions.query({ name })))).map(({ state }) => state).join())";

fn permission(name: &str, origin: &str, setting: Setting) -> Permission {
    let (name, origin) = (name.to_owned(), origin.to_owned());
    Permission { name, origin, setting, changed: None }
}

fn now() -> Instant {
    Instant(jiff::Timestamp::now().as_microsecond())
}

/// A browser on a profile that was given permissions, watched.
async fn start(profile: &Path, permissions: &[Permission], known: State) -> Running {
    permissions::write(profile, permissions, false, now()).unwrap();
    Running::watch(browser(profile).await, profile, known).await
}

/// What the page at `url` sees, in a tab that shows it.
async fn seen(running: &Running, url: &str, names: &[&str]) -> String {
    let page = running.page(url).await;
    evaluate(&page, &format!("{STATE}({})", json!(names))).await.as_str().unwrap().to_owned()
}

async fn site() -> Site {
    Site::builder().page("/", Page::html("<title>here</title>")).start().await
}

fn origin(site: &Site, host: &str) -> String {
    site.url(host, "")
}

/// The permissions of a state, as lines.
fn told(state: &State) -> Vec<String> {
    let line = |one: &Permission| format!("{} {}", one.place(), one.setting);
    state.environment.permissions.iter().map(line).collect()
}

/// Brings a state back on `profile`, where its permissions were decided up to `taken_at`.
async fn bring_back(
    profile: &Path,
    mut state: State,
    taken_at: Option<Instant>,
) -> (Running, Restored) {
    let found = permissions::read(profile).unwrap();
    let choices = choose(&state.environment.permissions, found.as_deref(), taken_at);
    let chosen: Vec<_> = choices.iter().map(|choice| choice.permission.clone()).collect();
    permissions::write(profile, &chosen, false, now()).unwrap();
    state.environment.permissions = chosen;
    let kept = browser(profile).await;
    let link = kept.connect(Role::Node).await;
    let mut restored = restore(link, state, Expiry(now().0), None).await.unwrap();
    restored.tell_permissions(&choices, None);
    let running = Running::watch(kept, profile, restored.state.clone()).await;
    (running, restored)
}

/// Outcome, source and verification of each permission in the receipt.
fn lines(restored: &Restored) -> Vec<(&str, Outcome, Source, Verified)> {
    let items = restored.receipt.items.iter().filter(|item| item.kind == ItemKind::Permission);
    items.map(|item| (item.place.as_str(), item.outcome, item.source, item.verified)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permissions_survive_a_crash_and_reach_another_profile() {
    let site = site().await;
    let (a, b) = (origin(&site, "a"), origin(&site, "b"));
    let decided = [
        permission("camera", &b, Setting::Allow),
        permission("geolocation", &a, Setting::Deny),
        permission("notifications", &a, Setting::Allow),
    ];
    let wanted = "granted,denied,prompt";
    let names = ["notifications", "geolocation", "camera"];
    let (_folder, own) = profile();
    let running = start(&own, &decided, State::default()).await;
    running.open(&site.url("a", "/")).await;
    assert_eq!(seen(&running, &site.url("a", "/"), &names).await, wanted);
    let state = running.capture().await;
    let listed = [
        format!("camera {b} allow"),
        format!("geolocation {a} deny"),
        format!("notifications {a} allow"),
    ];
    assert_eq!(told(&state), listed);
    let taken_at = now();
    running.crash().await;

    let places = listed.map(|line| line.rsplit_once(' ').unwrap().0.to_owned());
    let lines_from = |source, unseen| {
        let verified = [unseen, Verified::Page, Verified::Page];
        let line = |(place, verified)| (place, Outcome::Restored, source, verified);
        places.iter().map(String::as_str).zip(verified).map(line).collect::<Vec<_>>()
    };
    let (_other_folder, other) = profile();
    for (profile, taken_at, source, unseen) in [
        (&own, Some(taken_at), Source::Disk, Verified::Disk),
        (&other, None, Source::Snapshot, Verified::None),
    ] {
        let (running, restored) = bring_back(profile, state.clone(), taken_at).await;
        assert_eq!(lines(&restored), lines_from(source, unseen));
        assert_eq!(seen(&running, &site.url("a", "/"), &names).await, wanted);
        assert_eq!(told(&running.capture().await), told(&state));
        running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_browser_itself_writes_is_in_a_capture_and_wakes_the_node() {
    let site = site().await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    running.capture().await;
    assert!(!running.live.changed_unheard().await);
    // Nobody sees a headless browser, so it refuses in their place, for good.
    let ask = json!({"expression": "Notification.requestPermission()", "awaitPromise": true,
        "returnByValue": true, "userGesture": true});
    let answer = page.call("Runtime.evaluate", ask).await.unwrap();
    assert_eq!(answer["result"]["value"], "denied");
    let looking = async {
        while !running.live.changed_unheard().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LATE, looking).await.unwrap();
    assert!(!running.live.changed_unheard().await, "it is known by now");
    let state = running.changed().await;
    assert_eq!(told(&state), [format!("notifications {} deny", origin(&site, "a"))]);
    assert!(state.environment.permissions[0].changed.is_some());
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_granted_is_in_a_capture_while_it_holds() {
    let site = site().await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    running.open(&site.url("a", "/")).await;
    let client = running.kept.connect(Role::Client).await;
    let origin = origin(&site, "a");
    let grants = ["midi", "clipboardReadWrite", "geolocation"];
    let grant = json!({"permissions": grants, "origin": origin});
    client.connection.browser().call("Browser.grantPermissions", grant).await.unwrap();
    let state = running.changed().await;
    // All else is denied to the site for as long, which is nothing that anybody decided.
    assert_eq!(
        told(&state),
        ["clipboard-read", "geolocation", "midi"].map(|name| format!("{name} {origin} allow"))
    );
    drop(client);
    eventually("it holds no longer", async || told(&running.changed().await).is_empty()).await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_told_to_all_sites_stays_told_when_a_client_leaves_that_granted_something() {
    let site = site().await;
    let (_folder, profile) = profile();
    permissions::write(&profile, &[], true, now()).unwrap();
    let running = Running::start(&profile).await;
    let url = site.url("a", "/");
    running.open(&url).await;
    let names = ["geolocation", "notifications"];
    assert_eq!(seen(&running, &url, &names).await, "granted,prompt");
    let client = running.kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let grant = json!({"permissions": ["notifications"], "origin": origin(&site, "b")});
    browser.call("Browser.grantPermissions", grant).await.unwrap();
    let granted = json!({"permission": {"name": "notifications"}, "setting": "granted"});
    browser.call("Browser.setPermission", granted).await.unwrap();
    assert_eq!(seen(&running, &url, &names).await, "granted,granted");
    drop((browser, client));
    eventually("what it granted is gone", async || {
        seen(&running, &url, &names).await == "granted,prompt"
    })
    .await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_of_somebody_else_is_asked_by_its_pages_only() {
    let site = site().await;
    let (_folder, profile) = profile();
    let origin = origin(&site, "a");
    let decided = ["camera", "notifications"].map(|name| permission(name, &origin, Setting::Allow));
    permissions::write(&profile, &decided, false, now()).unwrap();
    let kept = browser(&profile).await;
    let live = Live::start(kept.connect(Role::Node).await, State::default()).await.unwrap();
    let agent = kept.connect(Role::Client).await;
    let running = Running { kept, live, agent };
    assert_eq!(running.capture().await.environment, Environment::default());
    let page = running.open(&site.url("a", "/")).await;
    // A person there may have allowed the camera for this time only.
    assert_eq!(told(&running.capture().await), [format!("notifications {origin} allow")]);
    let target = running.live.tabs().await.unwrap().remove(0).id;
    let agent = running.agent.connection.browser();
    attach(&agent, &target).await.call("Page.close", json!({})).await.unwrap();
    drop(page);
    eventually("no tab tells of it", async || told(&running.changed().await).is_empty()).await;
    running.crash().await;
}
