//! The guide to moving a login, typed as it stands, with the real age and the real curl: at its end each of
//! the sessions that it made is signed in, and a key that no script can read has come along.

use super::{Guide, Reader};
use crate::notes::eventually;
use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::get;
use baton_playground::Site;
use std::os::unix::fs::PermissionsExt;

const GUIDE: &str = include_str!("../../../../../docs/guide/move-a-login.md");

/// The recipient of the example, in whose place the reader's own one is typed.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

/// The node of the other machine.
const THERE: &str = "baton --data /srv/baton";

/// A key that no script can read, as a site makes one.
const MAKE_KEY: &str = "(async () => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']);
    const open = indexedDB.open('keys');
    open.onupgradeneeded = () => open.result.createObjectStore('keys');
    await new Promise((done) => open.onsuccess = done);
    const write = open.result.transaction('keys', 'readwrite');
    write.objectStore('keys').put(key, 'mine');
    await new Promise((done) => write.oncomplete = done);
    open.result.close();
    return true;
})()";

/// Whether the key is there, and works as what it is.
const HAS_KEY: &str = "(async () => {
    const open = indexedDB.open('keys');
    await new Promise((done) => open.onsuccess = done);
    if (!open.result.objectStoreNames.length) return false;
    const read = open.result.transaction('keys').objectStore('keys').get('mine');
    await new Promise((done) => read.onsuccess = done);
    open.result.close();
    if (!(read.result instanceof CryptoKey) || read.result.extractable) return false;
    const how = { name: 'AES-GCM', iv: new Uint8Array(12) };
    return (await crypto.subtle.encrypt(how, read.result, new Uint8Array(1))).byteLength === 17;
})()";

/// A shop that knows who is signed in by a cookie that no script sees, and keeps a cart in the browser.
fn shop() -> Router {
    let login = async || {
        let cookie = "sid=ada; HttpOnly; SameSite=Lax; Path=/; Max-Age=9999999";
        ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
    };
    let home = async |headers: HeaderMap| {
        let cookie = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let title = if cookie == Some("sid=ada") { "signed in" } else { "signed out" };
        Html(format!("<title>{title}</title><script>localStorage.cart ??= '3'</script>"))
    };
    Router::new().route("/", get(home)).route("/login", get(login))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_goes_wherever_the_guide_takes_it() {
    let site = Site::start(shop()).await.unwrap();
    let home = site.url("/").unwrap();
    let mut guide = Guide::read(GUIDE);
    let mut reader = Reader::new();
    reader.instead("https://example.org", home.as_str().trim_end_matches('/'));
    reader.instead("example.org", "127.0.0.1");
    let (usb, there) = (reader.folder("/media/usb"), reader.folder("/srv").join("baton"));
    reader.types("baton open https://example.org/login --name shop");
    is_signed_in(&reader, "baton", "shop").await;

    reader.follows(&guide.section("To another Baton"));
    is_signed_in(&reader, THERE, "shop").await;
    let mode = std::fs::metadata(usb.join("shop.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let sealed = guide.section("Sealed");
    let (identity, rest) = sealed.split_first().unwrap();
    let said = reader.types(&identity.text);
    let own = said.trim().strip_prefix("Public key: ").expect(&said);
    reader.instead(RECIPIENT, own);
    identity.shows(&said.replace(own, RECIPIENT));
    reader.follows(rest);
    reader.types(&format!("{THERE} sessions resume sealed"));
    is_signed_in(&reader, THERE, "sealed").await;
    let bytes = std::fs::read(usb.join("shop.baton")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("cart"), "it is sealed");

    reader.follows(&guide.section("To Playwright and back"));
    let resumed = reader.types(&format!("{THERE} sessions resume from-playwright"));
    assert!(resumed.contains("about:blank"), "{resumed}");
    visits(&reader, &there, "from-playwright", &home).await;

    reader.follows(&guide.section("From other tools"));
    reader.types("baton sessions resume from-curl");
    visits(&reader, &reader.data(), "from-curl", &home).await;

    // The key is made here, once the session is back from where it has been.
    reader.types("baton sessions resume shop");
    let page = reader.page(&reader.data(), "shop", home.as_str()).await;
    assert!(page.evaluate::<bool>(MAKE_KEY).await.unwrap());
    reader.types("baton sessions close shop");
    let state = "baton export shop --format storage-state -o /media/usb/state.json";
    let (code, said) = reader.tries(state);
    assert_eq!(code, Some(6), "{said}");
    reader.follows(&guide.section("Keys that no script can read"));
    let page = reader.page(&there, "deep", home.as_str()).await;
    assert!(page.evaluate::<bool>(HAS_KEY).await.unwrap(), "the key came along");

    for baton in ["baton", THERE] {
        reader.types(&format!("{baton} stop"));
    }
    guide.end();
}

/// Goes to the shop in a session that has no tab of it, and is signed in there.
async fn visits(reader: &Reader, data: &std::path::Path, name: &str, home: &url::Url) {
    let page = reader.page(data, name, "about:blank").await;
    page.evaluate::<bool>(&format!("location.href = '{home}'; true")).await.unwrap();
    is_signed_in(reader, &format!("baton --data {}", data.display()), name).await;
}

/// A session runs, and its tab says that it is signed in: a page has no title yet when it is just there.
async fn is_signed_in(reader: &Reader, baton: &str, name: &str) {
    let signed_in = ("active".to_owned(), "signed in".to_owned());
    let is_in = async || reader.stands(baton, name) == signed_in;
    eventually(&format!("{name} is signed in"), is_in).await;
}
