//! Frames that start in processes of their own while clients come and go: none waits for ever, and none says
//! anything else than its page.

use crate::fixture::{Kept, evaluate, open_page, shows};
use crate::site::{Page, Site};
use baton_browser::cdp::{CdpSessionId, Event};
use baton_browser::keeper::{PreludeCall, Role, TargetKind};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const AGENT: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                     (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";
/// How often the page with its frames is loaded.
const ROUNDS: usize = 8;

fn prelude() -> Vec<PreludeCall> {
    let brand = json!([{"brand": "Chromium", "version": "147"}]);
    let metadata = json!({
        "brands": brand, "platform": "macOS", "platformVersion": "15.5.0", "architecture": "arm",
        "model": "", "mobile": false,
    });
    let identity = json!({"userAgent": AGENT, "userAgentMetadata": metadata});
    vec![PreludeCall {
        method: "Emulation.setUserAgentOverride".to_owned(),
        params: identity,
        targets: vec![TargetKind::Page, TargetKind::Frame, TargetKind::Worker],
    }]
}

/// A page with frames of four other sites, each of which tells it who its browser says that it is.
async fn site() -> Site {
    let page = "<script>self.told = []; onmessage = ({ data }) => told.push(data);
        for (const host of ['b', 'c', 'd', 'e']) {
            const frame = document.createElement('iframe');
            frame.src = `http://${host}.localhost:${location.port}/frame`;
            document.documentElement.append(frame);
        }</script>";
    let frame = "<script>
        parent.postMessage(navigator.userAgentData.platform, '*');
        </script>";
    Site::builder().page("/", Page::html(page)).page("/frame", Page::html(frame)).start().await
}

#[tokio::test]
async fn a_frame_of_another_site_says_what_its_page_says() {
    let (kept, site) = (Kept::with_prelude(prelude()).await, site().await);
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site.url("a", "/")).await;
    shows(&page, "told.length", 4).await;
    assert_eq!(evaluate(&page, "[...new Set(told)].join()").await, "macOS");
    kept.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_start_whoever_attaches_to_their_page_meanwhile() {
    let (kept, site) = (Kept::with_prelude(prelude()).await, site().await);
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site.url("a", "/")).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let kept = Arc::new(kept);
    let visitors = [true, false].map(|lets_wait| {
        let (kept, is_over) = (Arc::clone(&kept), Arc::clone(&is_over));
        tokio::spawn(async move {
            let mut visits = 0;
            while !is_over.load(Ordering::Relaxed) {
                visit(&kept, lets_wait).await;
                visits += 1;
            }
            visits
        })
    });
    for round in 0..ROUNDS {
        let address = site.url("a", &format!("/?{round}"));
        page.call("Page.navigate", json!({"url": address})).await.unwrap();
        let all = format!("location.search === '?{round}' && self.told?.length");
        shows(&page, &all, 4).await;
        assert_eq!(evaluate(&page, "[...new Set(told)].join()").await, "macOS");
    }
    is_over.store(true, Ordering::Relaxed);
    for visitor in visitors {
        assert!(visitor.await.unwrap() > 0);
    }
    drop((page, client));
    Arc::into_inner(kept).unwrap().close().await;
}

/// A client comes, attaches to a page and to all that is in it, and leaves.
async fn visit(kept: &Kept, lets_wait: bool) {
    let mut client = kept.connect(Role::Client).await;
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": lets_wait, "flatten": true});
    client.connection.browser().call("Target.setAutoAttach", attach.clone()).await.unwrap();
    loop {
        let Some(Event::Message { method, params, .. }) = client.events.next().await else {
            panic!("a client lost its connection");
        };
        let params: Value = serde_json::from_str(params.get()).unwrap();
        if method != "Target.attachedToTarget" || params["targetInfo"]["type"] != "page" {
            continue;
        }
        let id = CdpSessionId::from(params["sessionId"].as_str().unwrap());
        let page = client.connection.session(id);
        // It may have gone.
        let _ = page.call("Target.setAutoAttach", attach).await;
        page.post("Runtime.runIfWaitingForDebugger", ());
        return;
    }
}
