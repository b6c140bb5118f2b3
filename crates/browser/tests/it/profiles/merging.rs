//! A merge keeps what a real browser had, and the browser finds what came.

use super::place::cookie;
use super::{losses, now, read_plain, until_free};
use crate::fixture::evaluate;
use crate::site::{Page, Site};
use crate::story::{Running, key_of, local, profile};
use baton_browser::profile::compile::{Times, merge};
use baton_session::cookie::{Expiry, SourceScheme};
use baton_session::{Cookie, State};

/// Stores what only a page can.
const PUT: &str = "localStorage.had = origin; new Promise((done, failed) => {
    const open = indexedDB.open('mail', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('box').put('letter', 1);
    open.onsuccess = () => { open.result.close(); done('put'); };
    open.onerror = failed;
})";
const GET: &str = "new Promise((done, failed) => {
    const open = indexedDB.open('mail');
    open.onsuccess = () => {
        open.result.transaction('box').objectStore('box').get(1).onsuccess =
            event => done(event.target.result);
    };
    open.onerror = failed;
})";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_keeps_what_the_browser_had() {
    let (_folder, profile) = profile();
    let set = Page::html("").cookie("same=old; Max-Age=9999").cookie("mine=kept; Max-Age=9999");
    let site = Site::builder().page("/", Page::html("")).page("/set", set).start().await;
    let running = Running::start(&profile).await;
    for host in ["a", "b"] {
        let page = running.open(&site.url(host, "/set")).await;
        assert_eq!(evaluate(&page, PUT).await, "put");
    }
    running.kept.close().await;
    until_free(&profile).await;
    assert!(losses(&read_plain(&profile).left_out).iter().all(|loss| loss.contains("indexed_db")));

    let came = Cookie {
        domain: "a.localhost".to_owned(),
        expires: Some(Expiry(now().0 + 1_000_000_000)),
        secure: false,
        source_scheme: SourceScheme::NonSecure,
        ..cookie("same", "new")
    };
    let mut state = State { cookies: vec![came], ..State::default() };
    for host in ["a", "c"] {
        let origin = state.origins.entry(key_of(&site.url(host, "/"))).or_default();
        origin.local_storage = [("came", "new")].into_iter().collect();
    }
    let receipt = merge(&state, &profile, Times::at(now())).unwrap();
    assert_eq!((receipt.restored, losses(&receipt)), (3, vec![]));
    let once = read_plain(&profile).state;
    merge(&state, &profile, Times::at(now())).unwrap();
    assert_eq!(read_plain(&profile).state, once, "twice is once");

    let running = Running::start(&profile).await;
    let a = running.open(&site.url("a", "/")).await;
    assert_eq!(
        evaluate(&a, "document.cookie.split('; ').sort().join()").await,
        "mine=kept,same=new"
    );
    assert_eq!(evaluate(&a, "JSON.stringify(localStorage)").await, r#"{"came":"new"}"#);
    assert_eq!(evaluate(&a, GET).await, "letter");
    let b = running.open(&site.url("b", "/")).await;
    assert_eq!(
        evaluate(&b, "document.cookie.split('; ').sort().join()").await,
        "mine=kept,same=old"
    );
    assert_eq!(evaluate(&b, "localStorage.had === origin").await, true);
    running.open(&site.url("c", "/")).await;
    let captured = running.capture().await;
    assert_eq!(local(&captured, &site.url("c", "/"), "came").as_deref(), Some("new"));
    running.kept.close().await;
}
