//! What of the open tabs no snapshot holds is named by the capture, and by the receipt of a resume.

use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, profile};
use baton_browser::capture::Depth;
use baton_session::Unread;
use baton_session::receipt::{ItemKind, ReceiptItem};
use serde_json::json;

impl Running {
    /// What a whole capture does not hold, without the port of the site.
    async fn left_out(&self, site: &Site) -> Vec<String> {
        let unread = self.live.capture(Depth::Whole, false).await.unwrap().unread;
        let port = site.url("", "/");
        let port = port.trim_start_matches("http://.localhost");
        let line = |unread: Unread| {
            assert_eq!((unread.lost, unread.kind), (true, Some(ItemKind::Tab)));
            let ReceiptItem { place, outcome, reason, .. } = ReceiptItem::as_last_known(unread);
            format!("{outcome:?} {}: {}", place.replace(port, "/"), reason.unwrap())
        };
        unread.into_iter().map(line).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_resume_does_not_bring_back_of_a_tab_is_named() {
    let site = Site::builder()
        .page("/", Page::html(""))
        .page("/popup", Page::html(""))
        .page("/alone", Page::html(""))
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    let browser = running.live.browser();
    browser.call("Target.createTarget", json!({ "url": "chrome://newtab/" })).await.unwrap();
    assert_eq!(running.left_out(&site).await, Vec::<String>::new(), "a new tab holds nothing");

    for expression in ["window.popup = open('/popup'); 0", "open('/alone', '', 'noopener'); 0"] {
        let click = json!({ "expression": expression, "userGesture": true });
        page.call("Runtime.evaluate", click).await.unwrap();
    }
    let popup = running.page(&site.url("a", "/popup")).await;
    running.page(&site.url("a", "/alone")).await;
    assert_eq!(evaluate(&popup, "opener === null").await, false);
    for url in ["chrome://version/", &format!("view-source:{}?token=s3cret", site.url("a", "/"))] {
        browser.call("Target.createTarget", json!({ "url": url })).await.unwrap();
    }
    eventually("all are there", async || running.left_out(&site).await.len() == 3).await;
    insta::assert_snapshot!(running.left_out(&site).await.join("\n"), @r"
    NotPortable chrome://version/: a page of the browser's own is not kept: open it again
    NotPortable view-source:http://a.localhost/?token=[redacted]: it shows the source of a page, and comes as the page itself
    NotPortable http://a.localhost/popup: its tie to the tab that opened it is not kept: window.opener is null after a resume
    ");

    // Without the tab that opened it, a popup has nothing left to lose.
    page.call("Page.close", json!({})).await.unwrap();
    eventually("its opener is gone", async || running.left_out(&site).await.len() == 2).await;
    running.kept.close().await;
}
