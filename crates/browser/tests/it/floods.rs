//! Pages that write to web storage without end: they are heard in samples, and nothing is lost.

use crate::fixture::{evaluate, eventually, shows};
use crate::heard::{Heard, session, site};
use crate::site::Site;
use crate::story::{local, value};
use baton_browser::capture::Depth;
use baton_session::StorageKey;
use serde_json::json;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flooding_page_that_leaves_is_known_to_its_last_write() {
    let site = site().await;
    let heard = Heard::start().await;
    let url = site.url("a", "/flood");
    let page = heard.flood(&url).await;
    let goals = [
        ("another page of its site", site.url("a", "/still")),
        ("another origin of its site", site.url("x.a", "/still")),
        ("another site", site.url("b", "/still")),
    ];
    for (way, goal) in &goals {
        let leave = format!("const left = last('{way}'); location.href = '{goal}'; left");
        let left = evaluate(&page, &leave).await.to_string();
        shows(&page, "location.href", goal.as_str()).await;
        let state = heard.running.capture().await;
        for name in ["last", "n"] {
            let expected = if name == "n" { &left } else { *way };
            assert_eq!(local(&state, &url, name).as_deref(), Some(expected), "{way}");
            assert_eq!(session(&state, 0, &url, name).as_deref(), Some(expected), "{way}");
        }
        page.call("Page.navigate", json!({ "url": url })).await.unwrap();
        heard.muted(1).await;
    }
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flooding_page_that_is_taken_away_is_known_to_its_last_write() {
    let site = site().await;
    let heard = Heard::start().await;
    let browser = heard.running.agent.connection.browser();
    let url = site.url("a", "/flood");
    let page = heard.flood(&url).await;
    evaluate(&page, "last('elsewhere')").await;
    let goal = json!({ "url": site.url("b", "/still") });
    page.call("Page.navigate", goal).await.unwrap();
    let state = heard.running.capture().await;
    assert_eq!(local(&state, &url, "last").as_deref(), Some("elsewhere"));
    assert_eq!(session(&state, 0, &url, "last").as_deref(), Some("elsewhere"));

    page.call("Page.navigate", json!({ "url": url })).await.unwrap();
    heard.muted(1).await;
    evaluate(&page, "last('reloaded')").await;
    page.call("Page.reload", json!({})).await.unwrap();
    heard.muted(1).await;
    let state = heard.running.capture().await;
    assert_eq!(local(&state, &url, "last").as_deref(), Some("reloaded"));
    assert_eq!(session(&state, 0, &url, "last").as_deref(), Some("reloaded"));

    heard.muted(1).await;
    evaluate(&page, "last('closed')").await;
    let target = json!({ "targetId": heard.running.live.tabs().await.unwrap()[0].id });
    browser.call("Target.closeTarget", target).await.unwrap();
    eventually("the tab is gone", async || heard.running.capture().await.tabs.is_empty()).await;
    assert_eq!(local(&heard.running.capture().await, &url, "last").as_deref(), Some("closed"));
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn captures_of_a_flooding_page_are_exact() {
    let site = site().await;
    let heard = Heard::start().await;
    let url = site.url("a", "/flood");
    let page = heard.flood(&url).await;
    let mut known = 0;
    for depth in [Depth::Changed, Depth::Whole, Depth::Changed] {
        let least: u64 = evaluate(&page, "n").await.as_u64().unwrap();
        let captured = heard.running.live.capture(depth, false).await.unwrap();
        assert_eq!(captured.unread, []);
        let found = [
            local(&captured.state, &url, "n").unwrap(),
            session(&captured.state, 0, &url, "n").unwrap(),
        ];
        let found = found.map(|n| n.parse::<u64>().unwrap());
        assert!(found.iter().all(|n| *n >= least && *n > known), "{found:?}, {least}, {known}");
        known = found[0];
        // Each capture hears it again, and it floods on.
        heard.muted(1).await;
    }
    let last = evaluate(&page, "last('rests')").await.to_string();
    let state = heard.running.changed().await;
    for name in ["last", "n"] {
        let expected = if name == "n" { &last } else { "rests" };
        assert_eq!(local(&state, &url, name).as_deref(), Some(expected));
        assert_eq!(session(&state, 0, &url, name).as_deref(), Some(expected));
    }
    // Heard write by write, it is known as any page is.
    evaluate(&page, "localStorage.clear(); sessionStorage.last = 'quiet'").await;
    eventually("both are known", async || {
        let state = heard.running.changed().await;
        let last = session(&state, 0, &url, "last");
        local(&state, &url, "n").is_none() && last.as_deref() == Some("quiet")
    })
    .await;
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_tab_of_a_flooding_site_writes_is_known() {
    let site = site().await;
    let heard = Heard::start().await;
    let (url, other) = (site.url("a", "/flood"), site.url("a", "/still"));
    let still = heard.running.open(&other).await;
    // Events of a key go to each of its tabs: both are muted.
    let page = heard.running.open(&url).await;
    heard.muted(2).await;
    evaluate(&still, "localStorage.other = sessionStorage.other = 'once'").await;
    let goal = json!({ "url": site.url("b", "/still") });
    still.call("Page.navigate", &goal).await.unwrap();
    evaluate(&page, "last('left')").await;
    page.call("Page.navigate", &goal).await.unwrap();
    let state = heard.running.capture().await;
    assert_eq!(local(&state, &url, "other").as_deref(), Some("once"));
    assert_eq!(local(&state, &url, "last").as_deref(), Some("left"));
    assert_eq!(session(&state, 0, &url, "other").as_deref(), Some("once"));
    assert_eq!(session(&state, 1, &url, "other"), None);
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flooding_frame_of_another_site_is_known_to_its_last_write() {
    let site = site().await;
    let heard = Heard::start().await;
    let page = heard.flood(&site.url("a", "/around")).await;
    let top = site.url("a", "/").replace(&format!(":{}/", port(&site)), "");
    let key = StorageKey::new(format!("{}^0{top}", site.url("inner", "/")));
    for way in ["captured", "removed", "left with its page"] {
        let leave = match way {
            "captured" => String::new(),
            "removed" => "inner.remove()".to_owned(),
            _ => format!("location.href = '{}'", site.url("b", "/still")),
        };
        let written = format!(
            "new Promise((resolve) => {{
                onmessage = () => {{ {leave}; resolve(true); }};
                inner.contentWindow.postMessage('{way}', '*');
            }})"
        );
        assert_eq!(evaluate(&page, &written).await, true);
        eventually(way, async || {
            let state = heard.running.changed().await;
            let local = state.origins.get(&key).and_then(|one| value(&one.local_storage, "last"));
            let entries = state.tabs[0].session_storage.get(&key);
            let session = entries.and_then(|entries| value(entries, "last"));
            [local, session].iter().all(|found| found.as_deref() == Some(way))
        })
        .await;
        page.call("Page.navigate", json!({ "url": site.url("a", "/around") })).await.unwrap();
        heard.muted(1).await;
    }
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_comes_to_a_flooding_page_is_known_to_its_last_write() {
    let site = site().await;
    let heard = Heard::start().await;
    let page = heard.flood(&site.url("a", "/flood")).await;
    let inner = site.url("x.a", "/told");
    let come = format!(
        "const frame = document.createElement('iframe');
        frame.src = '{inner}';
        document.documentElement.append(frame);
        new Promise((resolve) => frame.onload = () => resolve(true))"
    );
    assert_eq!(evaluate(&page, &come).await, true);
    // It has no sampler: events are heard again, until it has one.
    heard.muted(1).await;
    let goal = site.url("b", "/still");
    // It answers before it leaves: what leaves may take its answer along.
    let written = format!(
        "onmessage = () => {{ location.href = '{goal}'; }};
        frame.contentWindow.postMessage('written', '*');
        true"
    );
    assert_eq!(evaluate(&page, &written).await, true);
    shows(&page, "location.href", goal.as_str()).await;
    let state = heard.running.capture().await;
    assert_eq!(local(&state, &inner, "last").as_deref(), Some("written"));
    assert_eq!(session(&state, 0, &inner, "last").as_deref(), Some("written"));
    heard.running.crash().await;
}

fn port(site: &Site) -> String {
    site.url("a", "").rsplit(':').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_flooding_page_writes_while_a_site_lets_it_wait_is_known() {
    let site = site().await;
    let heard = Heard::start().await;
    let url = site.url("a", "/flood");
    let page = heard.flood(&url).await;
    let goal = site.url("b", "/never");
    // No page that is about to leave can be asked: what it tells is all that is known.
    let leave = format!("setTimeout(last, 300, 'waiting'); void (location.href = '{goal}')");
    evaluate(&page, &leave).await;
    eventually("its last write is known", async || {
        let state = heard.running.changed().await;
        local(&state, &url, "last").as_deref() == Some("waiting")
            && session(&state, 0, &url, "last").as_deref() == Some("waiting")
    })
    .await;
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_flooding_page_told_before_it_crashed_stands() {
    let site = site().await;
    let heard = Heard::start().await;
    let url = site.url("a", "/flood");
    let page = heard.flood(&url).await;
    evaluate(&page, "localStorage.kept = 'told'").await;
    let mut activity = heard.running.live.activity();
    for _ in 0..2 {
        activity.borrow_and_update();
        activity.changed().await.unwrap();
    }
    page.post("Page.crash", json!({}));
    eventually("it has crashed", async || {
        let captured = heard.running.live.capture(Depth::Changed, false).await.unwrap();
        assert_eq!(local(&captured.state, &url, "kept").as_deref(), Some("told"));
        !captured.unread.is_empty()
    })
    .await;
    heard.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flooding_page_that_stores_much_is_heard_write_by_write() {
    let site = site().await;
    let heard = Heard::start().await;
    let url = site.url("a", "/still");
    let page = heard.running.open(&url).await;
    evaluate(&page, "localStorage.much = 'x'.repeat(4_500_000)").await;
    heard.running.capture().await;
    let flood = "for (let n = 0; n < 500; n++) localStorage.n = n";
    evaluate(&page, flood).await;
    let asked = Arc::clone(&heard.asked);
    eventually("it was looked at", async || {
        asked.lock().unwrap().iter().any(|method| method == "Runtime.addBinding batonSample")
    })
    .await;
    // Nobody can be asked any more: what events told is all that is known.
    page.call("Page.navigate", json!({ "url": site.url("b", "/still") })).await.unwrap();
    assert_eq!(local(&heard.running.capture().await, &url, "n").as_deref(), Some("499"));
    assert_eq!(heard.mutings(), 0);
    heard.running.crash().await;
}
