//! A capture of what changed says the same as one that reads everything.

use crate::difference::differences;
use crate::fixture::{evaluate, eventually, nothing_left};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::capture::Depth;
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_session::State;
use baton_testing::Dice;
use serde_json::json;

async fn site() -> Site {
    let script = include_str!("pages/changes.js");
    let top = "<iframe src='http://inner.localhost:{port}/inner'></iframe>";
    Site::builder()
        .page("/", Page::html(format!("<script>{script}</script>{top}")))
        .page("/inner", Page::html(format!("<script>{script}</script>")))
        .start()
        .await
}

/// What a second observer finds who knows nothing; without what only the first can know.
async fn read_anew(running: &Running) -> State {
    let link = running.kept.connect(Role::Client).await;
    let observer = Live::start(link, State::default()).await.unwrap();
    let captured = observer.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread, []);
    comparable(captured.state)
}

fn comparable(mut state: State) -> State {
    state.environment = baton_session::Environment::default();
    state.tabs.sort_by(|a, b| a.id.cmp(&b.id));
    state
}

/// Waits until captures of what changed say the same as `whole`, which was read anew.
async fn become_known(running: &Running, whole: &State, round: usize) {
    let difference = async || {
        let captured = running.live.capture(Depth::Changed, false).await.unwrap();
        let left = differences(&comparable(captured.state), whole)?;
        Some(format!("{left}\nunread: {:?}", captured.unread))
    };
    nothing_left(&format!("the changes of round {round} are known"), difference).await;
}

/// Waits until all tabs of a site show the same localStorage. Each process has a copy of its own, and hears of
/// what others wrote a moment later. So an observer who looks into one tab at once need not find what another
/// one wrote. And what a page hears of after it has emptied its copy, though it was written before, Chromium puts
/// into that copy for good: the tab shows an entry from then on that no other one shows, and no disk has.
async fn settle(tabs: &[CdpSession]) {
    for held in ["held()", "ask('held')"] {
        nothing_left("tabs of a site show the same", async || {
            let mut found = Vec::new();
            for tab in tabs {
                found.push(evaluate(tab, held).await);
            }
            let is_same = found.iter().all(|one| one.is_string() && *one == found[0]);
            (!is_same).then(|| format!("{held}: {found:?}"))
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_pages_do_the_changes_add_up() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let tabs = [site.url("a", "/"), site.url("a", "/?second"), site.url("b", "/")];
    let mut pages = Vec::new();
    for url in &tabs {
        pages.push(running.open(url).await);
    }
    let mut dice = Dice::new();
    for round in 0..30 {
        for _ in 0..=dice.roll(8) {
            let page = &pages[usize::try_from(dice.roll(3)).unwrap()];
            let place = if dice.roll(3) == 0 { "inside" } else { "change" };
            let (kind, a, b) = (dice.roll(13), dice.roll(1000), dice.roll(1000));
            let call = format!("{place}({kind}, {a}, {b})");
            // Nobody writes while another one empties it.
            let empties = kind == 2 && b % 5 == 0;
            if empties {
                settle(&pages[..2]).await;
            }
            assert_eq!(evaluate(page, &call).await, "done", "{call}");
            if empties {
                settle(&pages[..2]).await;
            }
        }
        settle(&pages[..2]).await;
        let whole = read_anew(&running).await;
        become_known(&running, &whole, round).await;
    }
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_pages_do_a_whole_capture_reads_what_was_written_and_says_the_same_at_once() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let mut pages = Vec::new();
    for url in [site.url("a", "/"), site.url("b", "/")] {
        let page = running.open(&url).await;
        for name in ["database0", "database1", "database2", "still"] {
            evaluate(&page, &format!("fill('{name}', 3)")).await;
        }
        pages.push(page);
    }
    // How the disk stands is noted once it is known which keys have databases.
    running.capture().await;
    running.capture().await;
    let mut dice = Dice::new();
    let (mut read, mut all) = (0, 0);
    for round in 0..40 {
        for _ in 0..=dice.roll(2) {
            let page = &pages[usize::try_from(dice.roll(2)).unwrap()];
            // Of databases, but for now and then.
            let kind = if dice.roll(4) == 0 { dice.roll(13) } else { 5 + dice.roll(4) };
            let call = format!("change({kind}, {}, {})", dice.roll(1000), dice.roll(1000));
            assert_eq!(evaluate(page, &call).await, "done", "{call}");
        }
        let captured = running.live.capture(Depth::Whole, false).await.unwrap();
        assert_eq!(captured.unread, []);
        read += captured.databases_read;
        all += captured.state.origins.values().map(|origin| origin.databases.len()).sum::<usize>();
        let left = differences(&comparable(captured.state), &read_anew(&running).await);
        assert_eq!(left, None, "round {round}");
    }
    assert!(read * 2 < all, "{read} of {all} databases were read");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_capture_reads_no_database_that_nobody_wrote_since() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    evaluate(&page, "fill('large', 1000).then(() => fill('small', 3))").await;
    let read = async || {
        let captured = running.live.capture(Depth::Whole, false).await.unwrap();
        assert_eq!(captured.unread, []);
        let databases = &captured.state.origins[&key_of(&url)].databases;
        let records = |database: &baton_session::Database| database.stores[0].records.len();
        (captured.databases_read, databases.iter().map(records).collect::<Vec<_>>())
    };
    assert_eq!(read().await, (2, vec![1000, 3]), "nothing was known");
    assert_eq!(read().await, (2, vec![1000, 3]), "which keys have databases was not");
    assert_eq!(read().await, (0, vec![1000, 3]));
    evaluate(&page, "fill('small', 5)").await;
    assert_eq!(read().await, (1, vec![1000, 5]));
    assert_eq!(read().await, (0, vec![1000, 5]));
    // One with its name has another number.
    evaluate(&page, "remove('large').then(() => fill('large', 7))").await;
    assert_eq!(read().await, (2, vec![7, 5]));
    assert_eq!(read().await, (0, vec![7, 5]));
    // More than a log takes: it goes on in another one.
    let lot = "open('small').then((db) => {
        const transaction = db.transaction('keyed', 'readwrite');
        for (let key = 0; key < 8; key++) transaction.objectStore('keyed').put('x'.repeat(1e6), key);
        return done(transaction);
    })";
    assert_eq!(evaluate(&page, lot).await, "done");
    let (databases, records) = read().await;
    assert!(databases >= 1, "{databases}");
    assert_eq!(records, [7, 8]);
    assert_eq!(read().await, (0, vec![7, 8]));
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_made_again_empty_is_read_again() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let records = |state: &State| {
        let databases = &state.origins.get(&key_of(&url))?.databases;
        databases.first().map(|database| database.stores[0].records.len())
    };
    evaluate(&page, "fill('login', 3)").await;
    assert_eq!(records(&running.capture().await), Some(3));
    // A logout: no event tells of records.
    evaluate(&page, "remove('login').then(() => fill('login', 0))").await;
    eventually("it is known to be empty", async || records(&running.changed().await) == Some(0))
        .await;
    running.crash().await;
}

/// Runs a script in the world in which captures read a page.
async fn in_their_world(page: &CdpSession, script: &str) {
    let tree = page.call("Page.getFrameTree", json!({})).await.unwrap();
    let frame = &tree["frameTree"]["frame"]["id"];
    let world = json!({ "frameId": frame, "worldName": "baton" });
    let world = page.call("Page.createIsolatedWorld", world).await.unwrap();
    let script = format!("{{ {script} }} 'done'");
    let params = json!({ "expression": script, "contextId": world["executionContextId"] });
    let answer = page.call("Runtime.evaluate", params).await.unwrap();
    assert_eq!(answer["result"]["value"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_that_were_not_listed_in_time_are_read_by_a_later_capture() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    running.capture().await;
    // The browser seems to be too busy, once.
    let late = "const { keys } = CacheStorage.prototype;
        CacheStorage.prototype.keys = () => {
            CacheStorage.prototype.keys = keys;
            return new Promise(() => {});
        };";
    in_their_world(&page, late).await;
    assert_eq!(evaluate(&page, "change(9, 0, 1)").await, "done");
    let mut unread = Vec::new();
    eventually("the cache is known", async || {
        let captured = running.live.capture(Depth::Changed, false).await.unwrap();
        unread.extend(captured.unread);
        captured.state.origins.get(&key_of(&url)).is_some_and(|origin| origin.caches.len() == 1)
    })
    .await;
    assert_eq!(unread.len(), 1, "{unread:?}");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_that_could_not_be_listed_once_are_read_by_a_later_capture() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    running.capture().await;
    let fails = "const { databases } = IDBFactory.prototype;
        IDBFactory.prototype.databases = () => {
            IDBFactory.prototype.databases = databases;
            return Promise.reject(new DOMException('Internal error.', 'UnknownError'));
        };";
    in_their_world(&page, fails).await;
    evaluate(&page, "fill('login', 3)").await;
    let mut unread = Vec::new();
    eventually("the database is known", async || {
        let captured = running.live.capture(Depth::Changed, false).await.unwrap();
        unread.extend(captured.unread);
        captured.state.origins.get(&key_of(&url)).is_some_and(|origin| origin.databases.len() == 1)
    })
    .await;
    assert_eq!(unread.len(), 1, "{unread:?}");
    running.crash().await;
}
