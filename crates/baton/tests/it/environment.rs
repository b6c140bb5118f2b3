//! What pages see of the world stays the same over a crash.

use crate::one_way_in::refused;
use crate::test_nodes::test_node;
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::receipt::ItemKind;
use baton_session::state::{Environment, Geolocation, Viewport};
use serde_json::json;

const SEEN: &str = "(async () => {
    const place = await new Promise((resolve, reject) =>
        navigator.geolocation.getCurrentPosition((p) => resolve(p.coords), reject));
    const here = () => [Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language,
        navigator.userAgent].join(' | ');
    const source = URL.createObjectURL(new Blob([`const here = ${here}`, '; postMessage(here())']));
    const inWorker = await new Promise((resolve) =>
        new Worker(source).onmessage = ({ data }) => resolve(data));
    const same = inWorker === here() ? 'same in a worker' : inWorker;
    return [here(), `${innerWidth}x${innerHeight}`,
        `${place.latitude},${place.longitude}`, same].join(' | ');
})()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_does_not_say_that_it_is_another_one() {
    let test_node = test_node().await;
    let chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                  Chrome/147.0.0.0 Safari/537.36";
    let open = |more: &[&str]| {
        refused(&test_node, &[&["open", "--name", "posing", "--user-agent", chrome], more].concat())
    };
    let said = open(&["--locale", "de-DE", "--languages", "en-US,en"]);
    assert!(said.contains("right is ") && said.contains("de-DE"), "{said}");
    let said = open(&["--scale", "9"]);
    assert!(said.contains("0.5 to 5"), "{said}");
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let said = refused(&test_node, &["open", "--name", "posing", "--user-agent", firefox]);
    assert!(said.contains("and the user agent says Firefox"), "{said}");
    assert!(said.contains("add a name of your own at the end"), "{said}");
    let left = test_node.client().unwrap().fetch_session("posing").await.unwrap_err();
    assert!(left.to_string().contains("posing"), "nothing is left of it: {left}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_comes_back() {
    let headers = axum::routing::get(|headers: axum::http::HeaderMap| async move {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-");
        format!("{} | {}", header("user-agent"), header("accept-language"))
    });
    let site = Site::start(axum::Router::new().route("/", headers)).await.unwrap();
    let url = site.url_on("a", "/").unwrap();
    let mut test_node = test_node().await;
    let request = OpenSession {
        environment: Environment {
            viewport: Some(Viewport { width: 1024, height: 700 }),
            user_agent: Some("Baton test".to_owned()),
            identity: None,
            browser: None,
            // The browser knows it by an older name.
            timezone: Some("Asia/Kathmandu".to_owned()),
            locale: Some("ja-JP".to_owned()),
            geolocation: Some(Geolocation { latitude: 35.5, longitude: 139.5, accuracy: 10.0 }),
            permissions: Vec::new(),
            certificates: Vec::new(),
            egress: None,
        },
        ..OpenSession::new("kathmandu".parse().unwrap(), [url.clone()])
    };
    let id = test_node.client().unwrap().open_session(&request).await.unwrap().session.id;
    let wanted = "Asia/Katmandu | ja-JP | Baton test | 1024x700 | 35.5,139.5 | same in a worker";
    assert_eq!(
        seen(&test_node, id, url.as_str()).await,
        (wanted.to_owned(), "Baton test | ja-JP,ja;q=0.9".to_owned())
    );

    // What one client granted ends with it, and takes nothing of ours along.
    let agent = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let browser = agent.session().connection().browser();
    let granted = json!({ "permission": { "name": "notifications" }, "setting": "granted" });
    browser.call("Browser.setPermission", granted).await.unwrap();
    let state = "navigator.permissions.query({ name: 'notifications' }).then((it) => it.state)";
    assert_eq!(agent.evaluate::<String>(state).await.unwrap(), "granted");
    drop((browser, agent));
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for(&format!("{state}.then((state) => state === 'prompt')")).await.unwrap();
    assert_eq!(seen(&test_node, id, url.as_str()).await.0, wanted);

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let resumed = test_node.client().unwrap().resume_session("kathmandu").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    let environment = receipt.items.iter().filter(|item| item.kind == ItemKind::Environment);
    assert_eq!(environment.count(), 5, "{receipt:#?}");
    assert!(!receipt.has_losses(), "{receipt:#?}");
    assert_eq!(seen(&test_node, id, url.as_str()).await.0, wanted);
    test_node.client().unwrap().close_session("kathmandu").await.unwrap();
    test_node.clear().await.unwrap();
}

/// What the page's script sees, and what the site got as headers.
async fn seen(test_node: &TestNode, id: baton_session::SessionId, url: &str) -> (String, String) {
    let page = Page::attach(&test_node.keeper_socket(id), url).await.unwrap();
    let script = page.evaluate(SEEN).await.unwrap();
    (script, page.evaluate("document.body.innerText").await.unwrap())
}
