//! A login as a page holds it: what stores it, and what tells how much of it there is.
//!
//! The one idea: of cookies, what the server is sent counts, as it came: names, values and order. What a page is told
//! of them may be more or less than that.

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, COOKIE};
use axum::routing::get;

/// A site with a login, to which a story adds its pages: it answers with the cookies that it was sent.
pub(crate) fn site() -> Router {
    let sent = async |headers: HeaderMap| {
        let all: Vec<_> = headers.get_all(COOKIE).iter().map(|one| one.to_str().unwrap()).collect();
        ([(CACHE_CONTROL, "no-store")], all.join(" and "))
    };
    Router::new().route("/sent", get(sent))
}

/// What a page asks such a site for, to tell which cookies it is sent.
pub(crate) const SENT: &str =
    "fetch('/sent', { cache: 'no-store' }).then((answer) => answer.text())";

/// Logs in: a cookie that lasts, one that ends with the browser, in no order of names, and storage of every kind. `token` is
/// what a script says between quotes.
pub(crate) fn log_in(token: &str) -> String {
    LOG_IN.replace("TOKEN", token)
}

const LOG_IN: &str = "(async () => {
    document.cookie = 'theme=dark; max-age=86400';
    document.cookie = 'sid=ada';
    localStorage.setItem('token', 'TOKEN');
    sessionStorage.setItem('step', '2');
    const open = indexedDB.open('app', 3);
    open.onupgradeneeded = () => open.result.createObjectStore('s', { autoIncrement: true });
    await new Promise((done) => open.onsuccess = done);
    const write = open.result.transaction('s', 'readwrite');
    write.objectStore('s').add({ when: new Date(5), all: new Map([[1, 'one']]) });
    await new Promise((done) => write.oncomplete = done);
    open.result.close();
    return true;
})()";

/// What there is of all that: the cookies that the server is sent, token, step, the database's version and what is in it.
pub(crate) const SHOWN: &str = "(async () => {
    const open = indexedDB.open('app');
    await new Promise((done) => open.onsuccess = done);
    const names = [...open.result.objectStoreNames];
    const read = names.length ? open.result.transaction('s').objectStore('s').get(1) : null;
    if (read) await new Promise((done) => read.onsuccess = done);
    open.result.close();
    const found = read?.result;
    return [await (await fetch('/sent', { cache: 'no-store' })).text(),
        JSON.stringify(localStorage.getItem('token')), sessionStorage.getItem('step'),
        open.result.version, found?.when.getTime(), found?.all.get(1)].join(' | ');
})()";
