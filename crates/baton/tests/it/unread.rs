//! A page that does not answer while it is captured is named: by the capture, by whoever looks at
//! the session, and by the receipt of the resume that brings back what was last known of it.

use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Page, Site};
use baton_session::receipt::{ItemKind, Outcome};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_hangs_is_named_and_costs_nothing_else() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let page = async || Html("<script>localStorage.kept = 'yes'</script>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let url = site.url("/").unwrap();
    let id = test_node.open("shop", [url.clone()]).await.unwrap();
    let client = test_node.client().unwrap().clone();
    assert_eq!(client.capture_session("shop").await.unwrap().unread, []);

    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let hang = "void setTimeout(() => { for (;;); })";
    page.evaluate::<Option<()>>(hang).await.unwrap();
    let unread = client.capture_session("shop").await.unwrap().unread;
    assert_eq!(unread.len(), 1, "{unread:?}");
    assert_eq!(unread[0].place, url.as_str());
    let shown = client.fetch_session("shop").await.unwrap();
    assert_eq!(shown.snapshot.unwrap().unread, unread);

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    let resumed = client.resume_session("shop").await.unwrap().session;
    let receipt = resumed.receipt.unwrap();
    let said: Vec<_> =
        receipt.items.iter().filter(|item| item.kind == ItemKind::Snapshot).collect();
    assert_eq!(said.len(), 1, "{receipt:?}");
    assert_eq!((said[0].outcome, said[0].place.as_str()), (Outcome::Restored, url.as_str()));
    assert!(said[0].reason.as_ref().unwrap().ends_with("as last known"), "{receipt:?}");
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert_eq!(page.evaluate::<String>("localStorage.kept").await.unwrap(), "yes");
    assert_eq!(client.capture_session("shop").await.unwrap().unread, []);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_popup_loses_is_said_by_the_capture_and_by_the_receipt() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let page = async || Html("<title>page</title>");
    let pages = Router::new().route("/", get(page)).route("/popup", get(page));
    let site = Site::start(pages).await.unwrap();
    let (url, popup) = (site.url("/").unwrap(), site.url("/popup").unwrap());
    let id = test_node.open("shop", [url.clone()]).await.unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let click = json!({ "expression": "window.popup = open('/popup'); 0", "userGesture": true });
    page.session().call("Runtime.evaluate", click).await.unwrap();
    page.wait_for("popup.location.pathname === '/popup'").await.unwrap();
    let client = test_node.client().unwrap().clone();
    let unread = client.capture_session("shop").await.unwrap().unread;
    assert_eq!(unread.len(), 1, "{unread:?}");
    assert!(unread[0].lost && unread[0].place == popup.as_str(), "{unread:?}");
    assert_eq!(client.fetch_session("shop").await.unwrap().snapshot.unwrap().unread, unread);

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    let receipt = client.resume_session("shop").await.unwrap().session.receipt.unwrap();
    let of_popup = receipt.items.iter().filter(|item| item.place == popup.as_str());
    let mut said: Vec<_> =
        of_popup.map(|item| (item.kind, item.outcome, item.reason.clone())).collect();
    said.sort_by_key(|(.., reason)| reason.clone());
    let reason = unread[0].reason.clone();
    let wanted = [
        (ItemKind::Tab, Outcome::Restored, None),
        (ItemKind::Tab, Outcome::NotPortable, Some(reason)),
    ];
    assert_eq!(said, wanted);
    let page = Page::attach(&test_node.keeper_socket(id), popup.as_str()).await.unwrap();
    assert!(page.evaluate::<bool>("opener === null").await.unwrap(), "as was said");
    test_node.clear().await.unwrap();
}
