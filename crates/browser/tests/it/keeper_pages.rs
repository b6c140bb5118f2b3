//! The keeper's own pages: the anchor, hidden pages, the prelude.

use crate::fixture::{Kept, attach, evaluate, eventually, open_page, shows, site, targets};
use crate::site::{Page, Site};
use baton_browser::cdp::{CdpSession, CdpSessionId, Event};
use baton_browser::keeper::{KeeperLink, PreludeCall, Role};
use serde_json::{Value, json};

async fn cookies(browser: &CdpSession) -> Value {
    browser.call("Storage.getCookies", ()).await.unwrap()["cookies"].take()
}

#[tokio::test]
async fn session_cookies_outlive_the_last_tab() {
    let kept = Kept::new().await;
    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    for round in 0..3 {
        let (target, _) = open_page(&browser, &site("").await).await;
        assert_eq!(cookies(&browser).await[0]["session"], true);
        let closed = json!({"targetId": target});
        browser.call("Target.closeTarget", closed).await.unwrap();
        eventually("no tab is left", async || targets(&browser).await.is_empty()).await;
        let (target, _) = open_page(&browser, "about:blank").await;
        assert_eq!(cookies(&browser).await[0]["value"], "kept", "round {round}");
        browser.call("Target.closeTarget", json!({"targetId": target})).await.unwrap();
    }
    kept.close().await;
}

/// The next event of this name.
async fn next(link: &mut KeeperLink, wanted: &str) -> Value {
    loop {
        match link.events.next().await {
            Some(Event::Message { method, params, .. }) if method == wanted => {
                return serde_json::from_str(params.get()).unwrap();
            }
            Some(_) => {}
            None => panic!("expected {wanted}, found the end"),
        }
    }
}

#[tokio::test]
async fn a_hidden_page_of_the_node_is_unknown_to_clients_and_runs_even_so() {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    let mut client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    browser
        .call("Target.setDiscoverTargets", json!({"discover": true, "filter": [{}]}))
        .await
        .unwrap();
    let wait = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    browser.call("Target.setAutoAttach", wait).await.unwrap();
    let url = site("<title>hidden</title>").await;
    for hidden in ["hidden", "batonHidden"] {
        let params = json!({"url": "about:blank", hidden: true, "background": true});
        let made = node.connection.browser().call("Target.createTarget", params).await.unwrap();
        let target = made["targetId"].as_str().unwrap();
        let page = attach(&node.connection.browser(), target).await;
        page.call("Page.navigate", json!({"url": url})).await.unwrap();
        shows(&page, "document.title", "hidden").await;
        assert!(targets(&node.connection.browser()).await.iter().any(|id| id == target));
        assert!(targets(&browser).await.is_empty());
        for method in ["Target.attachToTarget", "Target.closeTarget", "Target.activateTarget"] {
            let refused = browser.call(method, json!({"targetId": target})).await.unwrap_err();
            assert!(refused.says("No target with given id found"), "{method}: {refused}");
        }
    }
    let params = json!({"url": "about:blank"});
    let visible = browser.call("Target.createTarget", params).await.unwrap();
    let attached = loop {
        let event = next(&mut client, "Target.attachedToTarget").await;
        if event["targetInfo"]["type"] == "page" {
            break event;
        }
    };
    assert_eq!(
        attached["targetInfo"]["targetId"], visible["targetId"],
        "the first page it hears of"
    );
    drop(node);
    kept.close().await;
}

#[tokio::test]
async fn hidden_pages_end_with_the_node_that_made_them() {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    let params = json!({"url": "about:blank", "batonHidden": true});
    node.connection.browser().call("Target.createTarget", params).await.unwrap();
    drop(node);
    let node = kept.connect(Role::Node).await;
    let browser = node.connection.browser();
    eventually("the hidden page is closed", async || targets(&browser).await.is_empty()).await;
    kept.close().await;
}

fn call(method: &str, params: Value) -> PreludeCall {
    PreludeCall { method: method.to_owned(), params, targets: Vec::new() }
}

fn somewhere() -> Vec<PreludeCall> {
    let permission = json!({"permission": {"name": "geolocation"}, "setting": "granted"});
    let place = json!({"latitude": 48.5, "longitude": 9.25, "accuracy": 1});
    vec![call("Browser.setPermission", permission), call("Emulation.setGeolocationOverride", place)]
}

const WHERE: &str = "new Promise((resolve) => navigator.geolocation.getCurrentPosition(
    (found) => resolve([found.coords.latitude, found.coords.longitude]),
    (error) => resolve(error.message)))";

#[tokio::test]
async fn the_prelude_holds_in_a_tab_that_a_client_opens_while_no_node_is_there() {
    let kept = Kept::with_prelude(somewhere()).await;
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site("").await).await;
    page.call("Page.bringToFront", ()).await.unwrap();
    assert_eq!(evaluate(&page, WHERE).await, json!([48.5, 9.25]));
    kept.close().await;
}

#[tokio::test]
async fn the_prelude_and_a_client_that_holds_new_pages_do_not_hold_each_other() {
    let kept = Kept::with_prelude(somewhere()).await;
    let mut client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let wait = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    browser.call("Target.setAutoAttach", wait).await.unwrap();
    browser.post("Target.createTarget", json!({"url": site("").await}));
    let attached = loop {
        let event = next(&mut client, "Target.attachedToTarget").await;
        if event["targetInfo"]["type"] == "page" {
            break event;
        }
    };
    let id = CdpSessionId::from(attached["sessionId"].as_str().unwrap());
    let page = client.connection.session(id);
    page.call("Runtime.runIfWaitingForDebugger", ()).await.unwrap();
    page.call("Page.bringToFront", ()).await.unwrap();
    shows(&page, "location.protocol", "http:").await;
    assert_eq!(evaluate(&page, WHERE).await, json!([48.5, 9.25]));
    kept.close().await;
}

#[tokio::test]
async fn the_prelude_can_be_set_later_and_holds_in_pages_that_exist() {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    let (_, page) = open_page(&node.connection.browser(), &site("").await).await;
    let prelude = json!({"prelude": somewhere()});
    node.connection.browser().call("Baton.setPrelude", prelude).await.unwrap();
    shows(&page, WHERE, json!([48.5, 9.25])).await;
    kept.close().await;
}

#[tokio::test]
async fn the_prelude_holds_in_a_frame_of_another_site() {
    let frame = format!("<script>{WHERE}.then((it) => parent.postMessage(it, '*'))</script>");
    let embed = "<script>onmessage = ({ data }) => { self.told = data; }</script>
        <iframe allow=geolocation src='http://b.localhost:{port}/frame'></iframe>";
    let site = Site::builder()
        .page("/", Page::html(embed))
        .page("/frame", Page::html(frame))
        .start()
        .await;
    let kept = Kept::with_prelude(somewhere()).await;
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site.url("a", "/")).await;
    page.call("Page.bringToFront", ()).await.unwrap();
    shows(&page, "self.told", json!([48.5, 9.25])).await;
    kept.close().await;
}
