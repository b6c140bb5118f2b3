//! To watch: pictures, and who gets none.

use super::{LIMIT, Scene, Viewer};
use baton_api::live::{LiveMouse, MouseKind, ViewerMessage};
use baton_api::{ErrorCode, ListAudit, Scope};
use baton_playground::victims::kill;
use baton_testing::{freeze, wake};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use url::Url;

/// With which status a handshake is refused.
async fn refused(url: &Url, headers: &[(&'static str, &str)]) -> u16 {
    let mut request = url.as_str().into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(error) => panic!("expected a refusal, found {error}"),
        Ok(_) => panic!("expected a refusal, found a WebSocket"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_watches_sees_pictures_and_changes_nothing() {
    let scene = Scene::set().await;
    let (client, _) = scene.key("watcher", &[Scope::Watch]).await;
    let mut viewer = scene.watch(&client).await;
    let tab = viewer.tab().await;
    let (header, jpeg) = viewer.picture.clone().unwrap();
    assert!(jpeg.starts_with(&[0xff, 0xd8, 0xff]) && header.width > 300, "{header:?}");
    viewer.until("more of them", |viewer| viewer.pictures > 10).await;
    viewer.until("the tabs", |it| it.tabs.as_ref().is_some_and(|it| !it.tabs.is_empty())).await;
    let tabs = viewer.tabs.clone().unwrap();
    assert_eq!((tabs.front, tabs.tabs.len(), tabs.bad_pictures), (Some(tab), 1, 0));
    assert_eq!(tabs.tabs[0].title, "at the <b>counter</b>", "what a page calls itself is a text");
    // It may not act, nor take over.
    let (kind, x, y) = (MouseKind::Down, 150.0, 120.0);
    let press = LiveMouse { tab, kind, x, y, button: 0, clicks: 1, modifiers: 0 };
    viewer.say(&ViewerMessage::Mouse(press)).await;
    viewer.until("a refusal", |viewer| viewer.refused.len() == 1).await;
    let (name, reason) = ("ada".parse().unwrap(), None);
    viewer.say(&ViewerMessage::TakeOver { name, reason }).await;
    viewer.until("another one", |viewer| viewer.refused.len() == 2).await;
    insta::assert_snapshot!(viewer.refused.join("\n"), @r"
    mouse: expected a viewer that has taken over, found one that watches
    take_over: expected a key with the scope drive, found one with watch
    ");
    // Nothing comes while it does not look.
    viewer.say(&ViewerMessage::Rest {}).await;
    viewer.until("the count", |viewer| viewer.pace.is_some_and(|it| it.sent > 10)).await;
    drop(viewer);
    let log = async || {
        let items = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
        let watched = items.into_iter().rev().filter(|it| it.action.starts_with("session.watch"));
        watched.map(|entry| (entry.action, entry.actor)).collect::<Vec<_>>()
    };
    let noted = async {
        loop {
            let log = log().await;
            if log.len() == 2 {
                return log;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let noted = timeout(LIMIT, noted).await.unwrap();
    assert_eq!((noted[0].0.as_str(), noted[1].0.as_str()), ("session.watch", "session.watch_end"));
    assert!(noted[0].1.starts_with("watcher ("), "{noted:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_counts_once_for_one_session_and_from_no_foreign_origin() {
    let scene = Scene::set().await;
    let (client, _) = scene.key("watcher", &[Scope::Watch]).await;
    let url = client.open_live("shop").await.unwrap().live_url;
    let viewer = Viewer::connect(&url).await;
    assert_eq!(refused(&url, &[]).await, 401, "it counts once");
    let url = client.open_live("shop").await.unwrap().live_url;
    assert_eq!(refused(&url, &[("origin", "http://evil.test")]).await, 403);
    // It opens no browser.
    let mut other = url.clone();
    other.set_path(&url.path().replace("/live", "/cdp"));
    assert_eq!(refused(&other, &[]).await, 401);
    let mut bare = url.clone();
    bare.set_query(None);
    assert_eq!(refused(&bare, &[]).await, 401);
    bare.set_query(Some("ticket=nothing"));
    assert_eq!(refused(&bare, &[]).await, 401);
    for (name, scopes) in
        [("reader", &[Scope::Read][..]), ("driver", &[Scope::Drive, Scope::Reveal])]
    {
        let (client, _) = scene.key(name, scopes).await;
        let error = client.open_live("shop").await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Forbidden));
    }
    drop(viewer);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_ends_its_pictures_within_four_seconds() {
    let scene = Scene::set().await;
    let (client, id) = scene.key("watcher", &[Scope::Watch]).await;
    let mut viewer = scene.watch(&client).await;
    viewer.tab().await;
    scene.client().revoke_key(&id, None).await.unwrap();
    let revoked = Instant::now();
    viewer.until("its end", |viewer| viewer.closed.is_some()).await;
    let took = revoked.elapsed();
    let farewell = viewer.closed.unwrap();
    assert_eq!((u16::from(farewell.code), farewell.reason.as_str()), (1008, "the key was revoked"));
    // The promise is a second; a busy machine has some more.
    assert!(took < Duration::from_secs(4), "{took:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_that_reads_nothing_costs_nobody_anything() {
    let scene = Scene::set().await;
    let (client, _) = scene.key("watcher", &[Scope::Watch]).await;
    let mut silent = scene.watch(&client).await;
    // It never says that it has drawn one.
    let one = async {
        while silent.picture.is_none() {
            silent.hear_alone().await;
        }
    };
    timeout(LIMIT, one).await.unwrap();
    let mut viewer = scene.watch(&client).await;
    // What came since the one that it has not drawn is counted with the next one: that comes after 10 s.
    let counted = async {
        while silent.pace.is_none_or(|pace| pace.dropped == 0) {
            silent.hear_alone().await;
        }
    };
    let counted = timeout(LIMIT, counted);
    viewer.hear_during(counted).await.expect("what it missed is counted");
    let pace = silent.pace.unwrap();
    assert!(pace.dropped > 0 && pace.sent < 5, "it has one at a time: {pace:?}");
    silent.fall_silent();
    viewer.until("pictures all the time", |viewer| viewer.pictures > 100).await;
    drop((silent, viewer));
    scene.strike().await;
}

/// How coarse a JPEG is: all steps of its first table of quantization (ITU-T T.81, section B.2.4.1) together.
fn coarseness(jpeg: &[u8]) -> u32 {
    let at = jpeg.windows(2).position(|marker| marker == [0xff, 0xdb]).expect("a table");
    // Behind the marker are a length and what table it is.
    jpeg[at + 5..at + 69].iter().map(|step| u32::from(*step)).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_with_a_slow_line_gets_coarser_pictures() {
    let scene = Scene::set().await;
    let mut viewer = scene.watch(scene.client()).await;
    // It has drawn one once it hears how many went, which is told once a second.
    let coarser = async {
        let (mut told, mut first) = (0, None);
        loop {
            viewer.hear_alone().await;
            let (Some((header, jpeg)), Some(pace)) = (&viewer.picture, viewer.pace) else {
                continue;
            };
            let (number, found) = (header.number, coarseness(jpeg));
            if found > *first.get_or_insert(found) && pace.quality < 60 {
                return pace.quality;
            }
            if pace.sent > told {
                told = pace.sent;
                viewer.say(&ViewerMessage::Drawn { number }).await;
            }
        }
    };
    let quality = timeout(LIMIT, coarser).await.expect("coarser pictures");
    assert!([25, 40].contains(&quality), "{quality}");
    drop(viewer);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_dies_is_told_and_the_picture_comes_back_after_the_resume() {
    let scene = Scene::set().await;
    scene.client().capture_session("shop").await.unwrap();
    let mut viewer = scene.watch(&scene.client().clone()).await;
    viewer.tab().await;
    let holders = scene.test_node.holders(scene.id).await.unwrap();
    for (_, pid) in holders {
        kill(pid);
    }
    viewer.until("that it is gone", |viewer| viewer.is_gone).await;
    viewer.picture = None;
    let resumed = async {
        // The node has to notice that it is gone.
        while scene.client().resume_session("shop").await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(LIMIT, resumed).await.unwrap();
    viewer.until("pictures again", |viewer| viewer.picture.is_some() && !viewer.is_gone).await;
    drop(viewer);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_does_not_answer_keeps_the_viewers_of_others_from_nothing() {
    let scene = Scene::set().await;
    let hangs = scene.test_node.open("hangs", [scene.site.url("/").unwrap()]).await.unwrap();
    let [_, (_, browser)] = scene.test_node.holders(hangs).await.unwrap();
    freeze(browser).unwrap();
    let access = scene.client().open_live("hangs").await.unwrap();
    let mut waits = Viewer::connect(&access.live_url).await;
    waits.until("who drives", |viewer| viewer.driver.is_some()).await;
    let in_vain = async {
        while !waits.is_gone && waits.closed.is_none() {
            waits.hear().await;
        }
    };
    let other = async {
        let mut sees = scene.watch(scene.client()).await;
        sees.tab().await;
    };
    tokio::select! {
        () = in_vain => panic!("expected the other picture first, found the end of a wait for a browser that hangs"),
        () = other => {}
    }
    wake(browser).unwrap();
    scene.strike().await;
}
