//! What the disk says of databases holds where they were made again, by whomever and however often.

use crate::fixture::{evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::capture::Depth;
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_session::{Database, State};
use serde_json::json;

async fn site() -> Site {
    let script = include_str!("pages/changes.js");
    Site::builder().page("/", Page::html(format!("<script>{script}</script>"))).start().await
}

/// What a second observer finds who knows nothing.
async fn read_anew(running: &Running, url: &str) -> Vec<Database> {
    let link = running.kept.connect(Role::Client).await;
    let observer = Live::start(link, State::default()).await.unwrap();
    let mut captured = observer.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread, []);
    captured.state.origins.remove(&key_of(url)).unwrap().databases
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_behind_a_cleared_site_is_read_though_it_is_as_long_as_the_one_before() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    evaluate(&page, "fill('small', 3)").await;
    running.capture().await;
    // How the disk stands is noted once it is known which keys have databases.
    let mut before = running.capture().await;
    let before = before.origins.remove(&key_of(&url)).unwrap().databases;
    assert_eq!(before.len(), 1);
    // As a site does with `Clear-Site-Data`: nothing of its folder is left.
    let all = json!({ "origin": key_of(&url).origin(), "storageTypes": "all" });
    page.call("Storage.clearDataForOrigin", all).await.unwrap();
    evaluate(&page, "self.isOld = true").await;
    page.call("Page.reload", json!({})).await.unwrap();
    shows(&page, "!self.isOld && document.readyState", "complete").await;
    let login = "open('small', 1, make).then(async (db) => {
            const transaction = db.transaction('keyed', 'readwrite');
            for (let key = 0; key < 3; key++) transaction.objectStore('keyed').put('other', key);
            await done(transaction);
            db.close();
            return 'done';
        })";
    assert_eq!(evaluate(&page, login).await, "done");
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread, []);
    let databases = &captured.state.origins[&key_of(&url)].databases;
    assert_ne!(*databases, before, "the login before");
    assert_eq!(*databases, read_anew(&running, &url).await);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_makes_databases_again_and_again_is_not_read_whole_for_ever() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    // Each has a number of its own, and that of the last one is above 127.
    let probe = "(async () => {
            for (let time = 0; time < 130; time++) {
                (await open('probe', 1, make)).close();
                await remove('probe');
            }
            return fill('kept', 3);
        })()";
    assert_eq!(evaluate(&page, probe).await, "done");
    // Events of all that come for a while.
    eventually("no database is read that nobody wrote", async || {
        let captured = running.live.capture(Depth::Whole, false).await.unwrap();
        let databases = &captured.state.origins[&key_of(&url)].databases;
        databases.len() == 1 && captured.databases_read == 0
    })
    .await;
    evaluate(&page, "fill('kept', 5)").await;
    let captured = running.live.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.databases_read, 1);
    assert_eq!(captured.state.origins[&key_of(&url)].databases[0].stores[0].records.len(), 5);
    running.crash().await;
}
