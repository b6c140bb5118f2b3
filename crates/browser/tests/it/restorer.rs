//! What the browser would open by itself when it starts, it does not: the tabs have one restorer.

use crate::fixture::eventually;
use crate::profiles::until_free;
use crate::site::{Page, Site};
use crate::story::{Running, profile};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a person can have chosen for the start of the browser
/// (`chrome/browser/prefs/session_startup_pref.h`), with pages of a site.
fn choices(site: &Site) -> [Value; 3] {
    let page = site.url("c", "/");
    [
        json!({ "session": { "restore_on_startup": 1 } }),
        json!({ "session": { "restore_on_startup": 4, "startup_urls": [page] } }),
        json!({ "session": { "restore_on_startup": 6, "startup_urls": [page] }, "homepage": page,
            "homepage_is_newtabpage": false, "browser": { "show_home_button": true } }),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_browser_is_to_start_with_a_session_has_the_tabs_that_it_had() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    for chosen in choices(&site) {
        let (_folder, profile) = profile();
        choose(&profile, &chosen);
        let urls = [site.url("a", "/"), site.url("b", "/")];
        let mut running = Running::start(&profile).await;
        for url in &urls {
            running.open(url).await;
        }
        let mut known = until_noted(&profile, &BTreeSet::new(), &urls).await;
        for _ in 0..2 {
            let state = running.capture().await;
            running.crash().await;
            until_free(&profile).await;
            site.take_requests();
            let (resumed, _) = Running::resume(&profile, &state).await;
            // What a browser opens by itself it opens late.
            known = until_noted(&profile, &known, &urls).await;
            // It tells the address of a tab late, too.
            let mut at = Vec::new();
            eventually("the browser tells where its tabs are", async || {
                let tabs = resumed.live.tabs().await.unwrap();
                at = tabs.into_iter().map(|tab| tab.url).collect();
                at.iter().all(|url: &String| !url.is_empty())
            })
            .await;
            let mut asked = site.take_requests();
            asked.sort();
            assert_eq!((at, asked), (urls.to_vec(), each_once()), "{chosen}");
            running = resumed;
        }
        running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_stays_in_its_own_profile_when_a_person_used_another_one_last() {
    let (_folder, profile) = profile();
    fs::create_dir_all(&profile).unwrap();
    let people = json!({ "Default": { "name": "Ada" }, "Profile 1": { "name": "Work" } });
    let state = json!({ "profile": { "last_used": "Profile 1", "info_cache": people } });
    fs::write(profile.join("Local State"), state.to_string()).unwrap();
    let site = Site::builder().page("/", Page::html("")).start().await;
    let running = Running::start(&profile).await;
    running.open(&site.url("a", "/")).await;
    running.kept.close().await;
    until_free(&profile).await;
    let made = ["Default", "Profile 1"].map(|name| profile.join(name).join("Preferences").exists());
    assert_eq!(made, [true, false]);
}

/// Each page is asked for once.
fn each_once() -> Vec<String> {
    ["a /", "b /"].map(str::to_owned).to_vec()
}

/// Writes the browser's settings before its first start.
fn choose(profile: &Path, chosen: &Value) {
    fs::create_dir_all(profile.join("Default")).unwrap();
    fs::write(profile.join("Default/Preferences"), chosen.to_string()).unwrap();
}

/// Waits until the browser has noted its tabs for its next start, which it does some seconds late, in a
/// file that was not known; returns all files.
async fn until_noted(
    profile: &Path,
    known: &BTreeSet<PathBuf>,
    urls: &[String],
) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    eventually("the browser notes its tabs", async || {
        let files = fs::read_dir(profile.join("Default/Sessions")).into_iter().flatten().flatten();
        all = files.map(|file| file.path()).collect();
        let new = all.difference(known);
        let noted: Vec<u8> = new.flat_map(|file| fs::read(file).unwrap_or_default()).collect();
        let has = |url: &String| noted.windows(url.len()).any(|part| part == url.as_bytes());
        urls.iter().all(has)
    })
    .await;
    all
}
