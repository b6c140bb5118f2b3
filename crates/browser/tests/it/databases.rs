//! IndexedDB in odd shapes: held open, too large, badly named, with keys that nobody can carry.

use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, local, outcomes, profile};
use baton_browser::capture::Depth;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{Database, State, Text};

async fn site() -> Site {
    let script = include_str!("pages/changes.js");
    Site::builder().page("/", Page::html(format!("<script>{script}</script>"))).start().await
}

fn databases<'a>(state: &'a State, url: &str) -> &'a [Database] {
    state.origins.get(&key_of(url)).map(|origin| origin.databases.as_slice()).unwrap_or_default()
}

/// How often a page is asked that is too busy to answer a capture.
const CAPTURES: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_the_page_holds_costs_itself_only() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let hold = "localStorage.setItem('who', 'me');
        fill('free', 2).then(() => fill('held', 2)).then(() => new Promise((resolve) => {
            const request = indexedDB.open('held', 2);
            request.onupgradeneeded = () => {
                const store = request.transaction.objectStore('keyed');
                const spin = () => { if (!self.over) store.get(0).onsuccess = spin; };
                spin();
                resolve('done');
            };
        }))";
    assert_eq!(evaluate(&page, hold).await, "done");
    let expected = [format!("{} database held", key_of(&url))];
    let (mut captured, mut places) = (None, Vec::new());
    // Beside other stories on a slow machine a page may answer nothing in time: then it is asked again.
    for _ in 0..CAPTURES {
        let again = running.live.capture(Depth::Whole, false).await.unwrap();
        places = again.unread.iter().map(|unread| unread.place.clone()).collect();
        captured = Some(again);
        if places == expected {
            break;
        }
    }
    assert_eq!(places, expected);
    let captured = captured.unwrap();
    assert!(captured.unread[0].is_passing());
    assert_eq!(local(&captured.state, &url, "who").as_deref(), Some("me"));
    assert_eq!(databases(&captured.state, &url)[0].name, "free".into());
    // It stays marked: once the page lets go of it, it is read without another event.
    evaluate(&page, "self.over = true").await;
    eventually("the database is read", async || {
        databases(&running.changed().await, &url).iter().any(|database| database.version == 2)
    })
    .await;
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_fits_in_no_message_costs_itself_only() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "fill('small', 2).then(() => open('large', 1, make)).then(async (db) => {
            const transaction = db.transaction('keyed', 'readwrite');
            for (let key = 0; key < 31; key++) {
                transaction.objectStore('keyed').put(new Uint8Array(750_000), key);
            }
            return done(transaction);
        })";
    assert_eq!(evaluate(&page, write).await, "done");
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    let places: Vec<_> = captured.unread.iter().map(|unread| unread.place.clone()).collect();
    assert_eq!(places, [format!("{} database large", key_of(&url))]);
    assert!(!captured.unread[0].is_passing());
    assert_eq!(databases(&captured.state, &url)[0].name, "small".into());
    // Another try would find the same, so there is none until it changes.
    assert_eq!(running.live.capture(Depth::Changed, false).await.unwrap().unread, []);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_hides_a_page_or_a_database() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "window.name = document.title = '\\ud800';
        document.body.append(Object.assign(document.createElement('iframe'), { name: '\\udfff' }));
        fill('\\ud800', 2)";
    assert_eq!(evaluate(&page, write).await, "done");
    let state = running.capture().await;
    assert_eq!(databases(&state, &url)[0].name, Text::from_utf16(&[0xd800]));
    running.crash().await;
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), [(Outcome::Restored, None)]);
    assert_eq!(running.capture().await.origins, state.origins);
    running.crash().await;
}

/// The number that the next record of a store gets which nobody can say aloud, and how values look of
/// which the browser says less than a script can see.
const ODD: &str = "(async () => {
        const db = await open('odd \\udc00');
        const transaction = db.transaction(['numbered \\ud800'], 'readwrite');
        const store = transaction.objectStore('numbered \\ud800');
        const ask = (request) => new Promise((resolve) =>
            request.onsuccess = () => resolve(request.result));
        const { view, fixed, error } = await ask(store.get(2));
        const next = await ask(store.add({}));
        transaction.abort();
        db.close();
        view.buffer.resize(16);
        return [next, view.length, fixed.length, String(error.stack), error.message].join(' ');
    })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_script_can_tell_apart_comes_back() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "open('odd \\udc00', 1, (db) => {
            const store = db.createObjectStore('numbered \\ud800', { autoIncrement: true });
            const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
            const error = new Error('without a stack');
            delete error.stack;
            store.put(1, 4);
            store.delete(4);
            store.put({ view: new Uint8Array(buffer), fixed: new Uint8Array(buffer, 0, 8), error }, 2);
        }).then((db) => (db.close(), 'done'))";
    assert_eq!(evaluate(&page, write).await, "done");
    let state = running.capture().await;
    assert_eq!(evaluate(&page, ODD).await, "5 16 8 undefined without a stack");
    running.crash().await;
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), [(Outcome::Restored, None)]);
    let page = running.page(&url).await;
    assert_eq!(evaluate(&page, ODD).await, "5 16 8 undefined without a stack");
    running.crash().await;
}

/// What each store would number its next record, in transactions that are taken back.
const NEXT: &str = "(async () => {
        const db = await open('numbered', 1);
        const next = [];
        for (const name of db.objectStoreNames) {
            const transaction = db.transaction(name, 'readwrite');
            const adding = transaction.objectStore(name).add({});
            next.push(await new Promise((resolve) => {
                adding.onsuccess = () => resolve(adding.result);
                adding.onerror = (event) => (event.preventDefault(), resolve(adding.error.name));
            }));
            transaction.abort();
        }
        db.close();
        return next.join(' ');
    })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_has_no_number_left_has_none_elsewhere() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "open('numbered', 1, (db) => {
            const store = (name) => db.createObjectStore(name, { autoIncrement: true });
            store('a: the last is left').put(1, 2 ** 53 - 1);
            store('b: none is left').put(1, 2 ** 53);
            store('c: none is left, and nothing shows it').put(1, 2 ** 53);
        }).then(async (db) => {
            const name = db.objectStoreNames[2];
            const transaction = db.transaction(name, 'readwrite');
            transaction.objectStore(name).delete(2 ** 53);
            await done(transaction);
            db.close();
            return 'done';
        })";
    assert_eq!(evaluate(&page, write).await, "done");
    let state = running.capture().await;
    let expected = "9007199254740992 ConstraintError ConstraintError";
    assert_eq!(evaluate(&page, NEXT).await, expected);
    running.crash().await;
    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), [(Outcome::Restored, None)]);
    let page = running.page(&url).await;
    assert_eq!(evaluate(&page, NEXT).await, expected);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_changed_places_in_a_unique_index_go_back() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "open('ranks', 1, (db) => {
            db.createObjectStore('s').createIndex('rank', 'rank', { unique: true });
        }).then((db) => {
            self.put = (ranks) => {
                const transaction = db.transaction('s', 'readwrite');
                const store = transaction.objectStore('s');
                store.clear();
                ranks.forEach((rank, key) => store.put({ rank }, key));
                return done(transaction);
            };
            return put([1, 2, 3]);
        })";
    assert_eq!(evaluate(&page, write).await, "done");
    let state = running.capture().await;
    assert_eq!(evaluate(&page, "put([3, 1, 2])").await, "done");
    running.crash().await;
    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), [(Outcome::Restored, None)]);
    assert_eq!(running.capture().await.origins, state.origins);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_nobody_can_carry_stays_where_it_is() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let write = "crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
        .then(async (key) => {
            const db = await open('keys', 1, make);
            const transaction = db.transaction('keyed', 'readwrite');
            transaction.objectStore('keyed').put({ key }, 'device');
            transaction.objectStore('keyed').put('plain', 'other');
            return done(transaction);
        })";
    assert_eq!(evaluate(&page, write).await, "done");
    let state = running.capture().await;
    running.crash().await;

    let (running, restored) = Running::resume(&profile, &state).await;
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), [(Outcome::Restored, None)]);
    let page = running.page(&url).await;
    let sign = "open('keys', 1).then((db) => new Promise((resolve) => {
            const request = db.transaction('keyed').objectStore('keyed').get('device');
            request.onsuccess = () => resolve(request.result);
        })).then(({ key }) => crypto.subtle.sign('HMAC', key, new Uint8Array(1)))
        .then((signature) => signature.byteLength)";
    assert_eq!(evaluate(&page, sign).await, 32);
    running.crash().await;

    let (_other_folder, other) = crate::story::profile();
    let (running, restored) = Running::resume(&other, &state).await;
    let reason = "1 record holds a value that no script can read";
    let expected = [(Outcome::NotPortable, Some(reason))];
    assert_eq!(outcomes(&restored, ItemKind::IndexedDb), expected);
    let state = running.capture().await;
    assert_eq!(databases(&state, &url)[0].stores[0].records.len(), 1, "the other one is back");
    running.crash().await;
}
