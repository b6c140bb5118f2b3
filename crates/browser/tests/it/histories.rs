//! Tabs that have been somewhere: back and forward, scrolled pages, and what pages keep in
//! `history.state`.

use crate::fixture::{attach, evaluate, shows};
use crate::site::{Page, Site};
use crate::story::{Running, local, outcomes, profile};
use baton_browser::cdp::CdpSession;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{State, Tab};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How long a site may take to answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Pages that are higher than any window and say who they are.
async fn site() -> Site {
    let page = |name: &str| {
        Page::html(format!(
            "<body style='height: 5000px; margin: 0'><script>
               document.title = '{name}'; self.loads = (self.loads ?? 0) + 1;
             </script>"
        ))
    };
    ["/one", "/two", "/app", "/app/deep", "/last"]
        .into_iter()
        .fold(Site::builder(), |site, path| site.page(path, page(path)))
        .start()
        .await
}

async fn go(page: &CdpSession, url: &str) {
    page.call("Page.navigate", json!({ "url": url })).await.unwrap();
    settled(page, url).await;
}

async fn settled(page: &CdpSession, url: &str) {
    let wanted = format!("{url} complete");
    shows(page, "location.href + ' ' + document.readyState", wanted).await;
}

/// Goes back or forward, and waits until the tab is at `url`.
async fn step(page: &CdpSession, by: i32, url: &str) {
    evaluate(page, &format!("void setTimeout(() => history.go({by}))")).await;
    settled(page, url).await;
}

async fn scroll_to(page: &CdpSession, y: i32) {
    evaluate(page, &format!("scrollTo(0, {y})")).await;
}

async fn is_scrolled_to(page: &CdpSession, y: i32) {
    shows(page, "scrollY", y).await;
}

/// The current entry, and address and title of all.
async fn entries(page: &CdpSession) -> (u64, Vec<(String, String)>) {
    let history = page.call("Page.getNavigationHistory", json!({})).await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entries = history["entries"].as_array().unwrap().iter();
    let entries = entries.map(|entry| (text(&entry["url"]), text(&entry["title"]))).collect();
    (history["currentIndex"].as_u64().unwrap(), entries)
}

/// A tab that has gone a way of six pages and is back at the fifth.
async fn gone_a_way(site: &Site, profile: &Path) -> (State, Vec<String>) {
    let running = Running::start(profile).await;
    let at = |host, path| site.url(host, path);
    let app = at("c", "/app");
    let urls = [
        at("a", "/one"),
        at("b", "/two"),
        app.clone(),
        format!("{app}#part"),
        at("c", "/app/deep"),
        at("a", "/last"),
    ];
    let page = running.open(&urls[0]).await;
    scroll_to(&page, 900).await;
    running.capture().await;
    go(&page, &urls[1]).await;
    running.capture().await;
    go(&page, &app).await;
    evaluate(&page, "history.replaceState('begun', '')").await;
    running.capture().await;
    evaluate(&page, "location.hash = 'part'").await;
    let push = "history.pushState({ at: new Date(7), open: [1, undefined] }, '', '/app/deep')";
    evaluate(&page, push).await;
    scroll_to(&page, 500).await;
    running.capture().await;
    go(&page, &urls[5]).await;
    running.capture().await;
    step(&page, -1, &urls[4]).await;
    is_scrolled_to(&page, 500).await;
    let state = running.capture().await;
    running.crash().await;
    (state, urls.into())
}

/// The tabs without what means nothing to another browser.
fn tabs(state: &State) -> Vec<Tab> {
    let mut tabs = state.tabs.clone();
    for tab in &mut tabs {
        tab.id.clear();
        tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    }
    tabs
}

async fn goes_its_way_again(site: &Site, profile: &Path, state: &State, urls: &[String]) {
    site.take_requests();
    let (running, restored) = Running::resume(profile, state).await;
    assert_eq!(outcomes(&restored, ItemKind::History), [(Outcome::Restored, None)]);
    assert_eq!(site.take_requests(), ["c /app/deep"]);
    let page = running.page(&urls[4]).await;
    is_scrolled_to(&page, 500).await;
    let titles = ["/one", "/two", "/app", "/app", "/app/deep", "/last"].map(str::to_owned);
    let expected: Vec<_> = urls.iter().cloned().zip(titles).collect();
    assert_eq!(entries(&page).await, (4, expected));
    assert_eq!(evaluate(&page, "history.length").await, 6);
    assert_eq!(tabs(&running.capture().await), tabs(state));

    let value = "history.state.at.getTime() + ' ' + (1 in history.state.open)";
    assert_eq!(evaluate(&page, value).await, "7 true");
    evaluate(&page, "self.stays = true").await;
    step(&page, -2, &urls[2]).await;
    assert_eq!(evaluate(&page, "self.stays + ' ' + history.state").await, "true begun");
    assert_eq!(site.take_requests(), Vec::<String>::new());
    step(&page, -2, &urls[0]).await;
    is_scrolled_to(&page, 900).await;
    step(&page, 1, &urls[1]).await;
    step(&page, 4, &urls[5]).await;
    assert_eq!(site.take_requests(), ["a /one", "b /two", "a /last"]);
    assert_eq!(evaluate(&page, "history.length + ' ' + document.title").await, "6 /last");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_goes_its_way_again_on_the_same_profile() {
    let ((_folder, profile), site) = (profile(), site().await);
    let (state, urls) = gone_a_way(&site, &profile).await;
    goes_its_way_again(&site, &profile, &state, &urls).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_goes_its_way_again_on_a_fresh_profile() {
    let ((folder, profile), site) = (profile(), site().await);
    let (state, urls) = gone_a_way(&site, &profile).await;
    goes_its_way_again(&site, &folder.path().join("other"), &state, &urls).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_looks_at_its_state_is_read_as_it_is_now() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/one")).await;
    running.capture().await;
    for step in ["'first'", "['second', 2n]", "null", "new Map([[1, undefined]])"] {
        // A page that asks is told, and then nobody else is told anew.
        evaluate(&page, &format!("void history.pushState({step}, ''); void history.state")).await;
        let state = running.capture().await;
        let told = state.tabs[0].history.here().unwrap().state.clone();
        let (_other_folder, other) = crate::story::profile();
        let (again, _) = Running::resume(&other, &state).await;
        let restored = again.capture().await.tabs[0].history.here().unwrap().state.clone();
        again.crash().await;
        assert_eq!((told.is_some(), restored), (step != "null", told), "{step}");
    }
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_never_lets_a_promise_end_costs_its_state_only() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/one")).await;
    evaluate(&page, "localStorage.who = 'me'").await;
    running.capture().await;
    evaluate(&page, "history.pushState('hidden', '', '#here')").await;
    let never = json!({ "expression": "void (Promise.prototype.then = () => undefined)" });
    page.call("Runtime.evaluate", never).await.unwrap();
    // A whole capture, of which every place could be read.
    let state = running.capture().await;
    let here = state.tabs[0].history.here().unwrap();
    assert_eq!(here.url, format!("{}#here", site.url("a", "/one")));
    assert_eq!(here.state.as_ref().unwrap().losses().count(), 1, "{here:?}");
    assert_eq!(local(&state, &site.url("a", "/"), "who").as_deref(), Some("me"));
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_was_opened_has_nothing_to_go_back_to_but_what_its_site_made() {
    let pushing = Page::html("<script>onload = () => location.href = '/next'</script>");
    let next = Page::html("<script>history.pushState(1, '', '/pushed')</script>");
    let site = Site::builder()
        .page("/", Page::html(""))
        .page("/pushing", pushing)
        .page("/next", next)
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let hosts = ["a", "b", "c", "d", "e", "f"].map(|host| site.url(host, "/"));
    let pushing = site.url("a", "/pushing").parse().unwrap();
    let opened = join_all(hosts.iter().map(async |url| {
        running.live.open_tab(&url.parse().unwrap(), LIMIT).await.unwrap();
    }));
    let (_, pushed) = tokio::join!(opened, running.live.open_tab(&pushing, LIMIT));
    assert_eq!(pushed.unwrap(), None);
    for url in &hosts {
        let page = running.page(url).await;
        let (current, all) = entries(&page).await;
        let all: Vec<_> = all.into_iter().map(|(url, _)| url).collect();
        assert_eq!((current, all), (0, vec![url.clone()]));
    }
    let page = running.page(&site.url("a", "/pushed")).await;
    let (current, all) = entries(&page).await;
    let all: Vec<_> = all.into_iter().map(|(url, _)| url).collect();
    // The first two are one entry: the page moved on before anybody touched it.
    let site_made = ["/next", "/pushed"].map(|path| site.url("a", path));
    assert!(all.ends_with(&site_made) && current + 1 == all.len() as u64, "{current} of {all:?}");
    running.live.open_tab(&"about:blank".parse().unwrap(), LIMIT).await.unwrap();
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_with_one_address_and_steps_of_frames_are_entries_too() {
    let frame = Page::html("<iframe src='/one'></iframe><title>frame</title>");
    let post = Page::html("<form method=post action='/post'></form>");
    let site = Site::builder()
        .page("/frame", frame)
        .page("/post", post)
        .page("/one", Page::html(""))
        .page("/two", Page::html(""))
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let (frames, form) = (site.url("a", "/frame"), site.url("a", "/post"));
    let page = running.open(&frames).await;
    let move_the_frame = json!({
        "expression": "new Promise((done) => {
            const frame = document.querySelector('iframe');
            frame.onload = () => done('moved');
            frame.contentWindow.location.href = '/two';
        })",
        "userGesture": true,
        "awaitPromise": true,
    });
    page.call("Runtime.evaluate", move_the_frame).await.unwrap();
    running.capture().await;
    go(&page, &form).await;
    // A form that is sent to its own address leaves two entries there.
    evaluate(&page, "self.old = true; void setTimeout(() => document.forms[0].submit())").await;
    shows(&page, "self.old ?? 'gone'", "gone").await;
    settled(&page, &form).await;
    let state = running.capture().await;
    let urls = |tab: &Tab| -> Vec<_> {
        tab.history.entries.iter().map(|entry| (entry.url.clone(), entry.same_document)).collect()
    };
    let expected = [(&frames, false), (&frames, true), (&form, false), (&form, false)];
    assert_eq!(urls(&state.tabs[0]), expected.map(|(url, same)| (url.clone(), same)));
    running.crash().await;
    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::History), [(Outcome::Restored, None)]);
    assert_eq!(tabs(&running.capture().await), tabs(&state));
    // Before, the empty page with which the tab began may have counted as one more.
    let page = running.page(&form).await;
    assert_eq!(evaluate(&page, "history.length").await, expected.len());
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn popups_and_sites_that_are_down_keep_their_way() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let (one, two) = (site.url("a", "/one"), site.url("b", "/two"));
    let opener = running.open(&one).await;
    let open = json!({ "expression": format!("void open('{two}')"), "userGesture": true });
    opener.call("Runtime.evaluate", open).await.unwrap();
    let popup = running.page(&two).await;
    evaluate(&popup, "location.hash = 'here'").await;
    scroll_to(&popup, 300).await;
    let state = running.capture().await;
    running.crash().await;
    drop(site);
    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::History), [(Outcome::Restored, None)]);
    // An error page stands at the address, under a title of its own.
    let of = |tab: &Tab| -> Vec<_> {
        tab.history.entries.iter().map(|entry| (entry.url.clone(), entry.scroll)).collect()
    };
    let again = running.capture().await;
    assert_eq!(of(&again.tabs[1]), of(&state.tabs[1]));
    let popup = attach(&running.agent.connection.browser(), &again.tabs[1].id).await;
    let (current, entries) = entries(&popup).await;
    let expected = [two.clone(), format!("{two}#here")];
    assert_eq!(entries.into_iter().map(|(url, _)| url).collect::<Vec<_>>(), expected);
    assert_eq!(current, 1);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_reads_from_right_to_left_stays_where_it_was() {
    let page = "<!doctype html><html dir=rtl>
        <body style='margin: 0; width: 3000px; height: 5000px'>
        <script>document.body.append(document.createElement('iframe'))</script>";
    let site =
        Site::builder().page("/one", Page::html(page)).page("/two", Page::html(page)).start().await;
    let (folder, profile) = profile();
    let running = Running::start(&profile).await;
    let urls = [site.url("a", "/one"), site.url("a", "/two")];
    let page = running.open(&urls[0]).await;
    scroll_to(&page, 900).await;
    running.capture().await;
    go(&page, &urls[1]).await;
    let state = running.capture().await;
    running.crash().await;
    let (running, _) = Running::resume(&folder.path().join("other"), &state).await;
    let page = running.page(&urls[1]).await;
    for _ in 0..3 {
        step(&page, -1, &urls[0]).await;
        shows(&page, "scrollX + ',' + scrollY", "0,900").await;
        step(&page, 1, &urls[1]).await;
        shows(&page, "scrollX + ',' + scrollY", "0,0").await;
    }
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_of_one_site_keep_their_ways_each() {
    let ((folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    // What the second one stores, the first one has filled; it has no storage of its own.
    let urls = [site.url("a", "/one"), site.url("a", "/two"), site.url("a", "/last")];
    for (url, y) in urls.iter().zip([300, 600, 900]) {
        let page = running.open(url).await;
        evaluate(&page, &format!("history.replaceState({y}, '')")).await;
        scroll_to(&page, y).await;
    }
    let state = running.capture().await;
    running.crash().await;
    let (running, restored) = Running::resume(&folder.path().join("other"), &state).await;
    assert_eq!(outcomes(&restored, ItemKind::History), [(Outcome::Restored, None); 3]);
    for (url, y) in urls.iter().zip([300, 600, 900]) {
        let page = running.page(url).await;
        is_scrolled_to(&page, y).await;
        assert_eq!(
            evaluate(&page, "history.state + ' of ' + history.length").await,
            format!("{y} of 1")
        );
    }
    assert_eq!(tabs(&running.capture().await), tabs(&state));
    running.crash().await;
}
