//! Pages that hang and cookies that nobody can set: each costs itself only.

use crate::fixture::{Kept, evaluate};
use crate::site::{Page, Site};
use baton_browser::capture::Depth;
use baton_browser::keeper::{KeeperLink, Role};
use baton_browser::live::Live;
use baton_browser::restore::restore;
use baton_session::cookie::{Expiry, PartitionKey};
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{Cookie, State, StorageKey};
use serde_json::json;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

async fn site() -> Site {
    let page = |key| Page::html(format!("<script>localStorage.setItem('key', '{key}')</script>"));
    Site::builder().page("/calm", page("calm")).page("/busy", page("busy")).start().await
}

/// Two tabs, watched, with a first capture behind them.
async fn two_tabs(kept: &Kept, site: &Site) -> Live {
    let live = Live::start(kept.connect(Role::Node).await, State::default()).await.unwrap();
    for (host, path) in [("a", "/calm"), ("b", "/busy")] {
        live.open_tab(&site.url(host, path).parse().unwrap(), LIMIT).await.unwrap();
    }
    let captured = live.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread, []);
    live
}

/// Changes an entry of the busy page, and once that was told runs something that never answers: an
/// event still in the page's own queue would never leave it.
async fn hang(live: &Live, link: &KeeperLink, site: &Site, expression: &str) {
    let browser = link.connection.browser();
    let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
    let infos = targets["targetInfos"].as_array().unwrap();
    let busy = infos.iter().find(|info| info["url"] == json!(site.url("b", "/busy"))).unwrap();
    let page = crate::fixture::attach(&browser, busy["targetId"].as_str().unwrap()).await;
    let mut activity = live.activity();
    let before = activity.borrow().writes;
    evaluate(&page, "localStorage.setItem('key', 'changed')").await;
    let told = activity.wait_for(|activity| activity.writes > before);
    tokio::time::timeout(LIMIT, told).await.unwrap().unwrap();
    page.post("Runtime.evaluate", json!({ "expression": expression }));
}

fn value(state: &State, site: &Site, host: &str) -> String {
    let origin = &state.origins[&StorageKey::first_party(&site.url(host, ""))];
    origin.local_storage.0[&"key".into()].to_lossy()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_hangs_costs_its_own_parts_only() {
    for expression in ["for (;;) {}", "alert('open')"] {
        let (kept, site) = (Kept::new().await, site().await);
        let live = two_tabs(&kept, &site).await;
        let client = kept.connect(Role::Client).await;
        hang(&live, &client, &site, expression).await;
        let captured = live.capture(Depth::Whole, false).await.unwrap();
        let places: Vec<_> = captured.unread.iter().map(|unread| unread.place.as_str()).collect();
        assert_eq!(places, [site.url("b", "/busy")], "{expression}");
        assert_eq!(value(&captured.state, &site, "a"), "calm");
        assert_eq!(value(&captured.state, &site, "b"), "changed", "the mirror heard of it");
        assert_eq!(captured.state.tabs.len(), 2);
        drop((live, client));
        baton_browser::keeper::kill(&kept.connect(Role::Node).await.connection).await.unwrap();
        kept.joined().await;
    }
}

fn cookie(name: &str) -> Cookie {
    Cookie {
        name: name.to_owned(),
        value: "value".to_owned(),
        domain: "a.localhost".to_owned(),
        path: "/".to_owned(),
        expires: None,
        http_only: false,
        secure: false,
        same_site: None,
        priority: baton_session::cookie::Priority::Medium,
        source_scheme: baton_session::cookie::SourceScheme::NonSecure,
        source_port: Some(80),
        partition_key: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_invalid_cookie_never_costs_the_others() {
    let kept = Kept::new().await;
    let good: Vec<Cookie> = (0..40).map(|n| cookie(&format!("good{n}"))).collect();
    let top_level_site = "no site at all".to_owned();
    let refused_by_the_browser = Cookie {
        partition_key: Some(PartitionKey { top_level_site, has_cross_site_ancestor: false }),
        secure: true,
        ..cookie("partition")
    };
    let bad = [
        Cookie { domain: "A B".to_owned(), ..cookie("domain") },
        Cookie { expires: Some(Expiry(1)), ..cookie("expired") },
        Cookie { value: "a;b".to_owned(), ..cookie("value") },
        cookie("__Host-insecure"),
        refused_by_the_browser,
    ];
    // Whose cookie each of them would be is not theirs to say.
    let domains =
        ["", ".co.uk", ".localhost", ".127.0.0.1", ".[::1]", "a.localhost:80", "A.localhost"];
    let of = |domain: &str| Cookie { domain: domain.to_owned(), ..cookie("domain") };
    let bad: Vec<Cookie> = bad.into_iter().chain(domains.map(of)).collect();
    let mut state = State { cookies: good.clone(), ..State::default() };
    state.cookies.splice(20..20, bad.clone());
    let now = Expiry(jiff::Timestamp::now().as_microsecond());
    let restored = restore(kept.connect(Role::Node).await, state, now, None).await.unwrap();
    let receipt = restored.receipt;
    assert_eq!((receipt.restored, receipt.rejected), (good.len(), bad.len()));
    for item in receipt.losses() {
        assert_eq!((item.kind, item.outcome), (ItemKind::Cookie, Outcome::Rejected));
        assert!(item.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "{item:?}");
    }
    let client = kept.connect(Role::Client).await;
    let found = client.connection.browser().call("Storage.getCookies", json!({})).await.unwrap();
    let found = found["cookies"].as_array().unwrap();
    assert_eq!(found.len(), good.len(), "none has become one of another domain: {found:#?}");
    drop(client);
    kept.close().await;
}
