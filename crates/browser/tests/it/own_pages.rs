//! Pages of the browser's own: no client is shown one, whoever opens it.

use crate::fixture::{
    Kept, attach, evaluate, eventually, open_page, options, shows, site, spec, targets,
};
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::{BrowserSpec, Role};
use baton_browser::launch::{Confine, LaunchOptions};
use futures_util::future::join_all;
use serde_json::{Value, json};

/// A document of one empty page.
const PDF: &str = "data:application/pdf,%25PDF-1.4%0A1%200%20obj<</Type/Catalog/Pages%202%200%20R>>endobj\
                   %202%200%20obj<</Type/Pages/Kids[3%200%20R]/Count%201>>endobj\
                   %203%200%20obj<</Type/Page/Parent%202%200%20R/MediaBox[0%200%209%209]>>endobj\
                   %20trailer<</Root%201%200%20R>>";
/// Left by a client for every document that its page comes to.
const LEFT: &str = "globalThis.left = location.href";

/// The targets that there are, with what they show.
async fn infos(browser: &CdpSession) -> Vec<(String, String)> {
    let told = browser.call("Target.getTargets", ()).await.unwrap();
    let text = |info: &Value, name: &str| info[name].as_str().unwrap_or_default().to_owned();
    let infos = told["targetInfos"].as_array().unwrap();
    infos.iter().map(|info| (text(info, "targetId"), text(info, "url"))).collect()
}

/// Waits for a target whose address begins so.
async fn target(browser: &CdpSession, begin: &str) -> String {
    let mut found = None;
    eventually(begin, async || {
        let mut infos = infos(browser).await.into_iter();
        found = infos.find(|(_, url)| url.starts_with(begin)).map(|(id, _)| id);
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// Has a client leave a script for new documents of a page.
async fn leaves_a_script(page: &CdpSession) {
    page.call("Page.enable", ()).await.unwrap();
    let script = json!({ "source": LEFT });
    page.call("Page.addScriptToEvaluateOnNewDocument", script).await.unwrap();
}

/// Waits until a page was refused its address, and looks where the script that a client left has run.
async fn is_refused(page: &CdpSession) {
    shows(page, "location.href", "chrome-error://chromewebdata/").await;
    let left = evaluate(page, "globalThis.left ?? location.href").await;
    assert_eq!(left, "chrome-error://chromewebdata/");
}

/// A client's session on the frame in which Chromium shows a PDF.
async fn viewer(browser: &CdpSession) -> CdpSession {
    browser.call("Target.createTarget", json!({ "url": PDF })).await.unwrap();
    let viewer = attach(browser, &target(browser, "chrome-extension://").await).await;
    shows(&viewer, "typeof chrome.tabs?.create", "function").await;
    viewer
}

/// The client has no page at an address that begins so.
async fn is_unknown(client: &CdpSession, begin: &str, id: &str) {
    assert!(!infos(client).await.iter().any(|(_, url)| url.starts_with(begin)), "{begin}");
    let params = json!({ "targetId": id, "flatten": true });
    let refused = client.call("Target.attachToTarget", params).await.unwrap_err();
    assert!(refused.says("No target with given id found"), "{refused}");
}

#[tokio::test]
async fn what_the_page_of_a_pdf_opens_is_no_page_of_the_browsers_own() {
    let kept = Kept::new().await;
    // The node is refused nothing, as a person.
    let (node, client) = (kept.connect(Role::Node).await, kept.connect(Role::Client).await);
    let (node, browser) = (node.connection.browser(), client.connection.browser());
    let viewer = viewer(&browser).await;
    for own in ["chrome://settings/", "chrome://extensions/", "chrome://version/"] {
        evaluate(&viewer, &format!("chrome.tabs.create({{ url: '{own}' }}).then(() => 0)")).await;
        let opened = target(&node, own).await;
        is_refused(&attach(&node, &opened).await).await;
        is_unknown(&browser, own, &opened).await;
        // One that it sends there is refused as well, also to a script that was left for it before.
        let (moved, page) = open_page(&browser, "data:text/html,<title>moved</title>").await;
        leaves_a_script(&page).await;
        let sends = format!(
            "chrome.tabs.query({{ title: 'moved' }})\
             .then(([tab]) => chrome.tabs.update(tab.id, {{ url: '{own}' }})).then(() => 0)"
        );
        evaluate(&viewer, &sends).await;
        is_refused(&attach(&node, &moved).await).await;
        is_unknown(&browser, own, &moved).await;
        for gone in [moved, opened] {
            node.call("Target.closeTarget", json!({ "targetId": gone })).await.unwrap();
        }
    }
    kept.close().await;
}

#[tokio::test]
async fn a_new_tab_leads_to_no_page_of_the_browsers_own() {
    let kept = Kept::new().await;
    let (node, client) = (kept.connect(Role::Node).await, kept.connect(Role::Client).await);
    let (node, browser) = (node.connection.browser(), client.connection.browser());
    for own in ["chrome://settings/", "chrome://downloads/", "chrome://extensions/"] {
        node.call("Target.createTarget", json!({ "url": "chrome://newtab/" })).await.unwrap();
        let new = target(&browser, "chrome://new").await;
        let page = attach(&browser, &new).await;
        shows(&page, "location.protocol", "chrome:").await;
        leaves_a_script(&page).await;
        let goes = json!({ "expression": format!("location = '{own}'; 0") });
        page.call("Runtime.evaluate", goes).await.unwrap();
        is_refused(&attach(&node, &new).await).await;
        is_unknown(&browser, own, &new).await;
        node.call("Target.closeTarget", json!({ "targetId": new })).await.unwrap();
        eventually("it is closed", async || targets(&browser).await.is_empty()).await;
    }
    kept.close().await;
}

/// A browser in which pages of its own open, as where there are windows.
async fn with_own_pages() -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let confine = Confine::Off;
    let options = LaunchOptions { confine, ..options(&folder.path().join("profile")) };
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
    Kept::start(folder, spec).await.unwrap()
}

#[tokio::test]
async fn a_client_loses_a_page_that_a_person_brings_to_one_of_the_browsers_own() {
    let kept = with_own_pages().await;
    let (node, client) = (kept.connect(Role::Node).await, kept.connect(Role::Client).await);
    let (node, browser) = (node.connection.browser(), client.connection.browser());
    for own in ["chrome://version/", "chrome://settings/"] {
        let url = site("<title>shop</title>").await;
        let (id, page) = open_page(&browser, &url).await;
        let person = attach(&node, &id).await;
        person.call("Page.navigate", json!({ "url": own })).await.unwrap();
        // It asks as fast as it can, until its session has ended.
        let asks = json!({ "expression": "location.href + document.title" });
        let ended = loop {
            let asked = (0..50).map(|_| page.call("Runtime.evaluate", asks.clone()));
            let answers = join_all(asked).await;
            for answer in answers.iter().flatten() {
                let value = answer["result"]["value"].as_str().unwrap_or_default();
                assert!(!value.contains("chrome:"), "a client read {value}");
            }
            if let Some(error) = answers.into_iter().find_map(Result::err) {
                break error;
            }
        };
        assert!(ended.is_of_no_session() || ended.is_closed(), "{ended}");
        is_unknown(&browser, own, &id).await;
        // The person goes on there, and the client sees the page again when it is back.
        shows(&person, "location.href", own).await;
        person.call("Page.navigate", json!({ "url": url })).await.unwrap();
        target(&browser, &url).await;
        shows(&attach(&browser, &id).await, "document.title", "shop").await;
        browser.call("Target.closeTarget", json!({ "targetId": id })).await.unwrap();
    }
    kept.close().await;
}

#[tokio::test]
async fn a_client_is_shown_no_page_of_the_browsers_own_that_a_script_opens() {
    let kept = with_own_pages().await;
    let (node, client) = (kept.connect(Role::Node).await, kept.connect(Role::Client).await);
    let (node, browser) = (node.connection.browser(), client.connection.browser());
    let wait = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    browser.call("Target.setAutoAttach", wait).await.unwrap();
    let (_, page) = open_page(&node, &site("").await).await;
    let viewer = viewer(&browser).await;
    evaluate(&viewer, "chrome.tabs.create({ url: 'chrome://settings/' }).then(() => 0)").await;
    let opened = target(&node, "chrome://settings/").await;
    // Nobody holds it.
    shows(&attach(&node, &opened).await, "location.href", "chrome://settings/").await;
    is_unknown(&browser, "chrome:", &opened).await;
    drop(page);
    kept.close().await;
}
