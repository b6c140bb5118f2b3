//! Who is watched, and that watching disturbs nobody.

use crate::fixture::{attach, evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, browser, local, profile};
use baton_session::State;
use serde_json::json;

async fn site() -> Site {
    Site::builder().page("/", Page::html("")).page("/other", Page::html("")).start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_s_context_leaves_no_trace() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let ours = running.open(&site.url("a", "/")).await;
    evaluate(&ours, "localStorage.setItem('who', 'ours')").await;
    running.capture().await;
    let browser = running.agent.connection.browser();
    let context = browser.call("Target.createBrowserContext", json!({})).await.unwrap();
    let tab = json!({
        "url": site.url("a", "/other"),
        "browserContextId": context["browserContextId"],
    });
    let tab = browser.call("Target.createTarget", tab).await.unwrap();
    let stranger = attach(&browser, tab["targetId"].as_str().unwrap()).await;
    let there = "location.pathname === '/other' && document.readyState === 'complete'";
    shows(&stranger, there, true).await;
    // The stranger writes first, and both events are on one way: ours comes after it.
    evaluate(&stranger, "localStorage.setItem('who', 'a stranger')").await;
    evaluate(&ours, "localStorage.setItem('then', 'ours')").await;
    let url = site.url("a", "/");
    eventually("our change is known", async || {
        local(&running.changed().await, &url, "then").is_some()
    })
    .await;
    // Nobody can be asked any more: what events told is all that is known.
    ours.call("Page.navigate", json!({ "url": site.url("b", "/") })).await.unwrap();
    assert_eq!(local(&running.capture().await, &url, "who").as_deref(), Some("ours"));
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_began_as_a_page_of_the_browser_is_watched() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let browser = running.agent.connection.browser();
    let tab = json!({ "url": "chrome://newtab/" });
    // A client that asks for one gets an empty page.
    let tab = running.live.browser().call("Target.createTarget", tab).await.unwrap();
    let page = attach(&browser, tab["targetId"].as_str().unwrap()).await;
    shows(&page, "location.protocol", "chrome:").await;
    assert_eq!(running.capture().await.tabs, []);
    let url = site.url("a", "/");
    page.call("Page.navigate", json!({ "url": url })).await.unwrap();
    evaluate(&page, "localStorage.setItem('who', 'me')").await;
    assert_eq!(local(&running.capture().await, &url, "who").as_deref(), Some("me"));
    evaluate(&page, "localStorage.setItem('who', 'still me')").await;
    eventually("a change is told", async || {
        local(&running.changed().await, &url, "who").as_deref() == Some("still me")
    })
    .await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_a_dialog_is_watched_once_it_closes() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    page.call("Page.enable", json!({})).await.unwrap();
    page.post("Runtime.evaluate", json!({ "expression": "alert('wait')" }));
    let dialog = async || {
        let accept = json!({ "accept": true });
        page.call("Page.handleJavaScriptDialog", accept).await.is_ok()
    };
    // The node ends, and its successor finds the dialog.
    let Running { kept, live, agent } = running;
    drop((live, agent));
    let successor = Running::watch(kept, &profile, State::default()).await;
    eventually("the dialog is closed", dialog).await;
    let page = successor.page(&url).await;
    evaluate(&page, "localStorage.setItem('who', 'after the dialog')").await;
    eventually("a change is told", async || {
        local(&successor.changed().await, &url, "who").is_some()
    })
    .await;
    successor.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_opens_a_popup_goes_on() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::watch(browser(&profile).await, &profile, State::default()).await;
    let page = running.open(&site.url("a", "/")).await;
    let opened = json!({
        "expression": "window.open('/other', 'popup') !== null",
        "userGesture": true,
        "returnByValue": true,
    });
    let answer = page.call("Runtime.evaluate", opened).await.unwrap();
    assert_eq!(answer["result"]["value"], true);
    let popup = running.page(&site.url("a", "/other")).await;
    evaluate(&popup, "opener.localStorage.setItem('popup', 'logged in'); close()").await;
    eventually("the popup is gone", async || running.capture().await.tabs.len() == 1).await;
    let state = running.capture().await;
    assert_eq!(local(&state, &site.url("a", "/"), "popup").as_deref(), Some("logged in"));
    running.crash().await;
}
