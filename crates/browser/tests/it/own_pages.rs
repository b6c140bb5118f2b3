//! Pages of the browser's own: no client is shown one, whoever opens it.

use crate::fixture::{Kept, attach, evaluate, eventually, open_page, shows, targets};
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::Role;
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

#[tokio::test]
async fn what_the_page_of_a_pdf_opens_is_no_page_of_the_browsers_own() {
    let kept = Kept::new().await;
    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    open_page(&browser, "about:blank").await;
    let made = browser.call("Target.createTarget", json!({ "url": PDF })).await.unwrap();
    assert!(made["targetId"].is_string());
    let viewer = target(&browser, "chrome-extension://").await;
    let viewer = attach(&browser, &viewer).await;
    shows(&viewer, "typeof chrome.tabs?.create", "function").await;
    for own in ["chrome://settings/", "chrome://extensions/", "chrome://version/"] {
        evaluate(&viewer, &format!("chrome.tabs.create({{ url: '{own}' }}).then(() => 0)")).await;
        let opened = attach(&browser, &target(&browser, own).await).await;
        is_refused(&opened).await;
        // One that it sends there is refused as well, also to a script that was left for it before.
        let (moved, page) = open_page(&browser, "data:text/html,<title>moved</title>").await;
        leaves_a_script(&page).await;
        let moves = format!(
            "chrome.tabs.query({{ title: 'moved' }})\
             .then(([tab]) => chrome.tabs.update(tab.id, {{ url: '{own}' }})).then(() => 0)"
        );
        evaluate(&viewer, &moves).await;
        is_refused(&page).await;
        browser.call("Target.closeTarget", json!({ "targetId": moved })).await.unwrap();
    }
    kept.close().await;
}

#[tokio::test]
async fn a_new_tab_leads_to_no_page_of_the_browsers_own() {
    let kept = Kept::new().await;
    // The node is refused nothing, as a person.
    let node = kept.connect(Role::Node).await;
    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    for own in ["chrome://settings/", "chrome://downloads/", "chrome://newtab-footer/"] {
        let made = json!({ "url": "chrome://newtab/" });
        node.connection.browser().call("Target.createTarget", made).await.unwrap();
        let new = target(&browser, "chrome://new").await;
        let page = attach(&browser, &new).await;
        shows(&page, "location.protocol", "chrome:").await;
        leaves_a_script(&page).await;
        page.call("Runtime.evaluate", json!({ "expression": format!("location = '{own}'; 0") }))
            .await
            .unwrap();
        is_refused(&page).await;
        browser.call("Target.closeTarget", json!({ "targetId": new })).await.unwrap();
        eventually("it is closed", async || targets(&browser).await.is_empty()).await;
    }
    kept.close().await;
}
