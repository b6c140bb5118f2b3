//! Contexts that tools make for themselves are not kept, and `show` says so; on request what one holds
//! becomes a session of its own.

use crate::login::{SHOWN, log_in};
use crate::test_nodes::test_node;
use crate::two_nodes::{baton, said};
use axum::response::Html;
use axum::routing::get;
use baton_api::{Client, OpenSession};
use baton_browser::cdp::Connection;
use baton_browser::keeper::{self, KeeperLink, Role};
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use baton_session::egress::Egress;
use serde_json::{Value, json};
use std::net::TcpListener;
use url::Url;

/// Makes a context with a tab at an address, as Playwright's `newContext` and `newPage` do.
async fn make(connection: &Connection, url: &str) -> String {
    let browser = connection.browser();
    let made = json!({ "disposeOnDetach": true });
    let made = browser.call("Target.createBrowserContext", made).await.unwrap();
    let id = made["browserContextId"].as_str().unwrap().to_owned();
    let tab = json!({ "url": url, "browserContextId": id });
    browser.call("Target.createTarget", tab).await.unwrap();
    id
}

async fn tool(test_node: &TestNode, id: SessionId) -> KeeperLink {
    keeper::connect(&test_node.keeper_socket(id), Role::Client).await.unwrap()
}

async fn run<T: serde::de::DeserializeOwned>(
    test_node: &TestNode,
    id: SessionId,
    url: &Url,
    script: &str,
) -> T {
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("document.readyState === 'complete'").await.unwrap();
    page.evaluate(script).await.unwrap()
}

async fn capture(client: &Client, name: &str) -> (usize, usize) {
    client.capture_session(name).await.unwrap();
    let shown = client.fetch_session(name).await.unwrap();
    (shown.tabs.len(), shown.foreign_tabs)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_of_other_contexts_are_counted_and_not_kept() {
    let test_node = test_node().await;
    let request = OpenSession::new("contexts".parse().unwrap(), []);
    let opened = test_node.client().unwrap().open_session(&request).await.unwrap();
    assert_eq!((opened.tabs.len(), opened.foreign_tabs), (1, 0));
    let client = tool(&test_node, opened.session.id).await;
    make(&client.connection, "about:blank").await;
    let client = test_node.client().unwrap();
    assert_eq!(capture(client, "contexts").await, (1, 1));
    client.abandon_session("contexts").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_context_holds_becomes_a_session_of_its_own_on_request() {
    let page = || async { Html("<title>shop</title>") };
    let pages = crate::login::site().route("/ada", get(page)).route("/bob", get(page));
    let site = Site::start(pages).await.unwrap();
    let (ada, bob) = (site.url("/ada").unwrap(), site.url("/bob").unwrap());
    let mut test_node = test_node().await;
    let id = test_node.open("shop", [ada.clone()]).await.unwrap();
    assert!(run::<bool>(&test_node, id, &ada, &log_in("of ada")).await);
    let tool = tool(&test_node, id).await;
    let context = make(&tool.connection, bob.as_str()).await;
    // The same site in two contexts: neither sees the other's.
    assert!(run::<bool>(&test_node, id, &bob, &log_in("of bob")).await);
    run::<Value>(&test_node, id, &bob, "(document.cookie = 'who=bob; max-age=86400', 1)").await;

    let listed = said(&baton(&test_node, &["sessions", "contexts", "shop"]).success());
    let [only] = &listed["items"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((&only["id"], &only["tabs"][0]["title"]), (&context.clone().into(), &"shop".into()));
    let keep = ["sessions", "keep-context", "shop", "--name", "bob"];
    let kept = said(&baton(&test_node, &keep).success());
    assert_eq!(
        (&kept["state"], &kept["snapshot"]["reason"]),
        (&"recoverable".into(), &"request".into())
    );
    assert_eq!(kept["holds"]["tabs"], 1);
    baton(&test_node, &keep).code(4);

    // It is read, and neither ended nor followed; and the session itself is as it was.
    run::<Value>(&test_node, id, &bob, "(document.cookie = 'later=1', localStorage.clear(), 1)")
        .await;
    let shown = "document.cookie.split('; ').sort().join()";
    assert_eq!(
        run::<String>(&test_node, id, &bob, shown).await,
        "later=1,sid=ada,theme=dark,who=bob"
    );
    assert_eq!(capture(test_node.client().unwrap(), "shop").await, (1, 1));
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();

    let wanted = |who: &str, cookies: &str| format!("{cookies} | \"of {who}\" | 2 | 3 | 5 | one");
    let resumed = said(&baton(&test_node, &["sessions", "resume", "bob"]).success());
    let new: SessionId = resumed["id"].as_str().unwrap().parse().unwrap();
    let seen = run::<String>(&test_node, new, &bob, SHOWN).await;
    assert_eq!(seen, wanted("bob", "theme=dark; sid=ada; who=bob"));
    baton(&test_node, &["sessions", "resume", "shop"]).success();
    let seen = run::<String>(&test_node, id, &ada, SHOWN).await;
    assert_eq!(seen, wanted("ada", "theme=dark; sid=ada"));
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_contexts_is_named_and_keeps_to_the_fence_of_its_session() {
    let test_node = test_node().await;
    let client = test_node.client().unwrap();
    let mut request = OpenSession::new("shop".parse().unwrap(), []);
    let only = vec!["shop.example".to_owned()];
    request.environment.egress = Some(Egress { only: only.clone(), ..Egress::default() });
    let id = client.open_session(&request).await.unwrap().session.id;
    let none = baton(&test_node, &["sessions", "keep-context", "shop", "--name", "new"]);
    let error = said(&none.code(2))["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.ends_with("found none, of 0 that there are"), "{error}");
    let tool = tool(&test_node, id).await;
    let first = make(&tool.connection, "about:blank").await;
    make(&tool.connection, "about:blank").await;
    let several = baton(&test_node, &["sessions", "keep-context", "shop", "--name", "new"]);
    let error = said(&several.code(2))["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.ends_with("found several, of 2 that there are"), "{error}");
    let named = ["sessions", "keep-context", "shop", "--name", "new", "--context", &first];
    let kept = said(&baton(&test_node, &named).success());
    // A browser without a tab shows nobody anything.
    assert_eq!(kept["tabs"][0]["url"], "about:blank");

    assert_eq!(kept["egress"]["only"], json!(only));
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("tracker.localhost:{}", other.local_addr().unwrap().port());
    let new = client.resume_session("new").await.unwrap().session.session.id;
    let page = Page::attach(&test_node.keeper_socket(new), "about:blank").await.unwrap();
    let to = json!({ "url": format!("http://{tracker}/") });
    page.session().call("Page.navigate", to).await.unwrap();
    let hosts = client.fetch_session("new").await.unwrap().egress.unwrap().hosts;
    let refused = hosts.iter().find(|one| one.host.as_ref() == Some(&tracker)).unwrap();
    assert_eq!((refused.connections, refused.refused > 0), (0, true), "{refused:?}");
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");
    test_node.clear().await.unwrap();
}
