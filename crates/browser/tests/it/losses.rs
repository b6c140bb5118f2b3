//! A restore of which the browser's events are lost, because too many came at once.

use crate::relay;
use crate::site::{Page, Site};
use crate::story::{Running, browser, profile};
use baton_browser::restore::restore;
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, Outcome};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// One thread, so that nobody takes an event out of the queue while the flood comes in.
#[tokio::test]
async fn a_visit_whose_event_is_lost_is_made_again() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    let (_folder, first) = profile();
    let running = Running::start(&first).await;
    let page = running.open(&site.url("a", "/")).await;
    page.call("Page.navigate", json!({ "url": site.url("b", "/") })).await.unwrap();
    running.page(&site.url("b", "/")).await;
    let state = running.capture().await;
    assert_eq!(state.tabs[0].history.entries.len(), 2);
    running.crash().await;

    let (_folder, second) = profile();
    let kept = browser(&second).await;
    let visits = Arc::new(Mutex::new(Vec::new()));
    let told_of = Arc::clone(&visits);
    let loses = move |told: &Value| {
        let url = told["params"]["frame"]["url"].as_str().unwrap_or_default();
        if told["method"] != "Page.frameNavigated" || !url.contains("/.baton/history/") {
            return false;
        }
        let mut visits = told_of.lock().unwrap();
        visits.push(url.to_owned());
        visits.len() == 1
    };
    let link = relay::connect_losing(&kept.spec.socket, loses).await;
    let now = Expiry(jiff::Timestamp::now().as_microsecond());
    let restored = restore(link, state.clone(), now, None).await.unwrap();
    let visits = visits.lock().unwrap().clone();
    let again = visits.iter().filter(|url| **url == visits[0]).count();
    assert_eq!(again, 2, "the one whose event was lost: {visits:?}");
    let history = restored.receipt.items.iter().find(|item| item.kind == ItemKind::History);
    let history = history.unwrap();
    assert_eq!(history.outcome, Outcome::Restored, "{history:?}");
    assert_eq!(restored.state.tabs[0].history.entries.len(), 2);
    kept.close().await;
}
