//! Sites that answer a tab with something else than a calm page: the resume ends, and nothing is
//! lost.

use crate::site::{Page, Site};
use crate::story::{Running, key_of, local, profile, value};
use baton_browser::capture::Depth;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::{Entries, State, Tab};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What becomes of tabs that nobody has to wait for.
const NO_PAGE: &str = "the site answered with no page; the tab stays empty at its address";
const NO_ANSWER: &str = "the site did not answer; the tab waits at its address";

/// What the sites answer.
fn answers() -> Vec<(&'static str, Page)> {
    let script = |script: &str| Page::html(format!("<script>{script}</script>"));
    let away = "http://elsewhere.localhost:{port}/moved";
    vec![
        ("/calm", Page::html("calm")),
        ("/stream", Page::html("<p>more</p>").endless()),
        ("/alert", script("alert('wait')")),
        ("/busy", script("for (;;) {}")),
        ("/stays", script("onbeforeunload = (event) => event.preventDefault()")),
        ("/moves", script("location.replace('/moved')")),
        ("/leaves", Page::default().status("302 Found").header("Location", away)),
        ("/opens", script("document.open(); document.write('new'); document.close()")),
        ("/download", Page::html("").header("Content-Disposition", "attachment; filename=a")),
        ("/nothing", Page::default().status("204 No Content")),
        ("/login", Page::default().status("401 None").header("WWW-Authenticate", "Basic realm=a")),
    ]
}

/// A tab on a site of its own for each path, with something in each of its areas.
fn tabs(site: &Site, paths: &[&str]) -> State {
    let mut state = State::default();
    for path in paths {
        let url = site.url(&path[1..], path);
        let kept: Entries = [("kept", *path)].into_iter().collect();
        let origin = OriginState { local_storage: kept.clone(), ..OriginState::default() };
        state.origins.insert(key_of(&url), origin);
        let session_storage = BTreeMap::from([(key_of(&url), kept)]);
        state.tabs.push(Tab { url, session_storage, ..Tab::default() });
    }
    state
}

fn expected(path: &str) -> (Outcome, Option<&'static str>) {
    match path {
        "/download" | "/nothing" => (Outcome::Pending, Some(NO_PAGE)),
        "/login" => (Outcome::Pending, Some(NO_ANSWER)),
        _ => (Outcome::Restored, None),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_site_answers_costs_no_storage_and_no_other_tab() {
    let (_folder, profile) = profile();
    let pages = answers().into_iter().chain([("/moved", Page::html("moved"))]);
    let site = pages.fold(Site::builder(), |site, (path, page)| site.page(path, page));
    let site = site.start().await;
    let paths: Vec<&str> = answers().into_iter().map(|(path, _)| path).collect();
    let state = tabs(&site, &paths);
    let (running, restored) = Running::resume(&profile, &state).await;
    // Each of them has said what there is to say: nobody waits for more.
    assert!(restored.timing[2].1 < Duration::from_secs(12), "{:?}", restored.timing);
    for path in &paths {
        let url = site.url(&path[1..], path);
        let of_tab = |item: &&ReceiptItem| item.place == url;
        let tab = restored.receipt.items.iter().find(of_tab).unwrap();
        assert_eq!((tab.outcome, tab.reason.as_deref()), expected(path), "{path}");
    }
    let lost: Vec<_> =
        restored.receipt.losses().filter(|item| item.kind != ItemKind::Tab).collect();
    assert!(lost.is_empty(), "{lost:?}");

    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    let unread: BTreeSet<_> = captured.unread.iter().map(|unread| unread.place.clone()).collect();
    assert_eq!(unread, ["alert", "busy"].map(|host| site.url(host, &format!("/{host}"))).into());
    for (tab, path) in captured.state.tabs.iter().zip(&paths) {
        let url = site.url(&path[1..], path);
        let at = match *path {
            "/moves" => site.url("moves", "/moved"),
            "/leaves" => site.url("elsewhere", "/moved"),
            _ => url.clone(),
        };
        assert_eq!(tab.url, at);
        assert_eq!(value(&tab.session_storage[&key_of(&url)], "kept").as_deref(), Some(*path));
        assert_eq!(local(&captured.state, &url, "kept").as_deref(), Some(*path));
    }
    assert_eq!(captured.state.tabs.len(), paths.len());
    running.crash().await;
}
