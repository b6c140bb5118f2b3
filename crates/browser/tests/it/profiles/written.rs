//! What a real browser wrote is read: after a good end, while it runs, after a kill, and of either of
//! its databases.

use super::{browser_with, now, read_plain, until_free};
use crate::fixture::{evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, local, profile, value};
use baton_browser::profile::compile::{Times, compile};
use baton_browser::profile::{AtRest, drop_older};
use baton_session::{Cookie, State};
use serde_json::json;
use std::path::Path;

/// A page with a third party in it, which keeps a cookie and an entry in its partition.
async fn site() -> Site {
    let party = "<script>localStorage.third = origin</script>";
    let cookie = "part=1; Secure; Partitioned; SameSite=None; Path=/; Max-Age=9999";
    let lasting = "first=1; SameSite=Strict; HttpOnly; Max-Age=9999";
    Site::builder()
        .page(
            "/",
            Page::html("<iframe src='http://b.localhost:{port}/third'></iframe>").cookie(lasting),
        )
        .page("/third", Page::html(party).cookie(cookie))
        .page("/plain", Page::html(""))
        .start()
        .await
}

/// What is the same in a capture and on the disk.
fn kept(state: &State) -> (Vec<Cookie>, Vec<(String, baton_session::Entries)>) {
    let mut cookies: Vec<_> =
        state.cookies.iter().filter(|cookie| cookie.expires.is_some()).cloned().collect();
    cookies.sort_by_key(Cookie::place);
    let areas = state.origins.iter().filter(|(_, origin)| !origin.local_storage.is_empty());
    (cookies, areas.map(|(key, origin)| (key.to_string(), origin.local_storage.clone())).collect())
}

async fn start(profile: &Path, arguments: &[&str]) -> Running {
    Running::watch(browser_with(profile, arguments).await, profile, State::default()).await
}

const SQLITE: &[&str] = &["--enable-features=DomStorageSqlite"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_captured_is_what_is_read_of_either_database() {
    for arguments in [&[][..], SQLITE] {
        let ((_folder, profile), site) = (profile(), site().await);
        let running = start(&profile, arguments).await;
        let page = running.open(&site.url("a", "/")).await;
        evaluate(
            &page,
            "localStorage.lone = '\\ud800\\0é漢'; localStorage.gone = 1; delete localStorage.gone",
        )
        .await;
        let all = async || kept(&running.capture().await).1.len() == 2;
        eventually("both areas are there", all).await;
        let captured = running.capture().await;
        running.kept.close().await;
        until_free(&profile).await;
        assert_eq!(profile.join("Default/LocalStorage").exists(), arguments == SQLITE);
        let read = read_plain(&profile);
        assert_eq!(read.left_out.losses().count(), 0, "{:?}", read.left_out);
        assert_eq!(kept(&read.state), kept(&captured));
        assert_eq!(kept(&read.state).0.len(), 2);
        let at_rest = AtRest::read(&profile);
        for (key, origin) in &read.state.origins {
            assert_eq!(at_rest.local_storage(key), Some(&origin.local_storage));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_is_read_while_its_browser_writes_and_after_it_was_killed() {
    for arguments in [&[][..], SQLITE] {
        let ((_folder, profile), site) = (profile(), site().await);
        let running = start(&profile, arguments).await;
        // Of each area the browser writes seldom; so there are several.
        let urls = ["a", "b", "c", "d"].map(|host| site.url(host, "/plain"));
        for url in &urls {
            let write = "let count = 0; setInterval(() => {
                localStorage.count = ++count; localStorage['key' + count % 50] = 'x'.repeat(2000);
            }, 10)";
            evaluate(&running.open(url).await, write).await;
        }
        let on_disk = || {
            let read = read_plain(&profile);
            assert_eq!(read.left_out.losses().count(), 0, "{:?}", read.left_out);
            urls.iter().filter(|url| local(&read.state, url, "count").is_some()).count()
        };
        eventually("all of it is on the disk", async || on_disk() == urls.len()).await;
        running.crash().await;
        assert_eq!(on_disk(), urls.len());
    }
}

/// Whether the browser has compacted what it keeps of localStorage.
fn has_tables(profile: &Path) -> bool {
    let mut entries = std::fs::read_dir(profile.join("Default/Local Storage/leveldb")).unwrap();
    entries.any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".ldb"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_the_browser_compacted_is_read() {
    let ((_folder, profile), site) = (profile(), site().await);
    // On a busy machine a browser closes before it has written all, and compacts later.
    for round in 0..9 {
        let running = start(&profile, &[]).await;
        for host in ["a", "b", "c"] {
            let page = running.open(&site.url(host, "/plain")).await;
            let write = format!(
                "for (let at = 0; at < 40; at++) {{
                    let text = ''; for (let n = 0; text.length < 50000; n++) text += (n * at) + {round};
                    localStorage[(at * {round}) % 57] = text;
                }} delete localStorage[{round}]; localStorage.length"
            );
            evaluate(&page, &write).await;
        }
        running.capture().await;
        running.kept.close().await;
        until_free(&profile).await;
        if round >= 2 && has_tables(&profile) {
            break;
        }
    }
    assert!(has_tables(&profile), "expected that the browser compacts what it writes");
    // Compared with what the next browser finds, not with the capture: a browser that closes on a busy
    // machine does not always write all of it, and then the next one finds as much as we read.
    let read = read_plain(&profile).state;
    let running = start(&profile, &[]).await;
    for host in ["a", "b", "c"] {
        running.open(&site.url(host, "/plain")).await;
    }
    assert!(kept(&read) == kept(&running.capture().await), "the browser finds something else");
    running.kept.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_that_was_written_last_is_read() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/plain");
    let sqlite = profile.join("Default/LocalStorage");
    compile(&super::place::state("old", "1"), &profile, Times::at(now())).unwrap();
    for (arguments, sign) in [(SQLITE, "sqlite"), (&[][..], "leveldb"), (SQLITE, "again")] {
        let running = start(&profile, arguments).await;
        let page = running.open(&url).await;
        evaluate(&page, &format!("localStorage.sign = '{sign}'")).await;
        running.kept.close().await;
        until_free(&profile).await;
        let read = read_plain(&profile).state;
        assert_eq!(local(&read, &url, "sign").as_deref(), Some(sign));
        // A browser that finds no SQLite database begins a new one, and reads nothing of the other.
        let old = (sign != "again").then_some("1");
        assert_eq!(local(&read, "https://app.test", "old").as_deref(), old, "{sign}");
        drop_older(&profile).unwrap();
        assert_eq!(sqlite.exists(), arguments == SQLITE, "only an older one is dropped");
        assert_eq!(kept(&read_plain(&profile).state), kept(&read));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_are_read_with_what_they_hold() {
    let site = site().await;
    for arguments in [&[][..], SQLITE] {
        let (_folder, profile) = profile();
        let running = start(&profile, arguments).await;
        for host in ["a", "b", "c"] {
            let page = running.open(&site.url(host, "/plain")).await;
            evaluate(&page, "sessionStorage.own = origin").await;
        }
        let window = json!({"url": site.url("d", "/plain"), "newWindow": true});
        let browser = running.agent.connection.browser();
        browser.call("Target.createTarget", window).await.unwrap();
        let page = running.page(&site.url("d", "/plain")).await;
        evaluate(&page, "sessionStorage.own = origin").await;
        let closed = running.page(&site.url("b", "/plain")).await;
        let _ = closed.call("Page.close", json!({})).await;
        let url = go_far_and_back(&running, &site).await;
        let front = running.page(&site.url("a", "/plain")).await;
        front.call("Page.bringToFront", json!({})).await.unwrap();
        let left = async || running.capture().await.tabs.len() == 3;
        eventually("three tabs are left", left).await;
        running.kept.close().await;
        until_free(&profile).await;

        let tabs = read_plain(&profile).state.tabs;
        let found: Vec<_> = tabs.iter().map(|tab| (tab.url.clone(), tab.active)).collect();
        let (first, last) = (site.url("a", "/plain"), site.url("d", "/plain"));
        assert_eq!(found, [(first, true), (url, false), (last, false)]);
        for tab in &tabs {
            let (key, entries) = tab.session_storage.first_key_value().unwrap();
            assert_eq!(value(entries, "own").unwrap(), key.origin());
        }
    }
}

/// Lets the tab at `c` visit more places than a browser keeps, and says where it is in the end.
async fn go_far_and_back(running: &Running, site: &Site) -> String {
    let page = running.page(&site.url("c", "/plain")).await;
    let go = "for (let at = 0; at < 60; at++) history.pushState(0, '', '/plain?' + at)";
    evaluate(&page, go).await;
    evaluate(&page, "history.go(-3)").await;
    let url = site.url("c", "/plain?56");
    shows(&page, "location.href", url.as_str()).await;
    url
}
