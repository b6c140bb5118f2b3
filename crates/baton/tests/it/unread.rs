//! A page that does not answer while it is captured is named: by the capture, by whoever looks at
//! the session, and by the receipt of the resume that brings back what was last known of it.

use crate::houses;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Page, Site};
use baton_session::receipt::{ItemKind, Outcome};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_hangs_is_named_and_costs_nothing_else() {
    let mut house = houses::build();
    house.start_node().await.unwrap();
    let page = async || Html("<script>localStorage.kept = 'yes'</script>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let url = site.url("/").unwrap();
    let id = house.open("shop", [url.clone()]).await.unwrap();
    let client = house.client().unwrap().clone();
    assert_eq!(client.capture_session("shop").await.unwrap().unread, []);

    let page = Page::attach(&house.keeper_socket(id), url.as_str()).await.unwrap();
    let hang = "void setTimeout(() => { for (;;); })";
    page.evaluate::<Option<()>>(hang).await.unwrap();
    let unread = client.capture_session("shop").await.unwrap().unread;
    assert_eq!(unread.len(), 1, "{unread:?}");
    assert_eq!(unread[0].place, url.as_str());
    let shown = client.fetch_session("shop").await.unwrap();
    assert_eq!(shown.snapshot.unwrap().unread, unread);

    house.kill_everybody(&[id]).await.unwrap();
    house.start_node().await.unwrap();
    let client = house.client().unwrap().clone();
    let resumed = client.resume_session("shop").await.unwrap().session;
    let receipt = resumed.receipt.unwrap();
    let said: Vec<_> =
        receipt.items.iter().filter(|item| item.kind == ItemKind::Snapshot).collect();
    assert_eq!(said.len(), 1, "{receipt:?}");
    assert_eq!((said[0].outcome, said[0].place.as_str()), (Outcome::Restored, url.as_str()));
    assert!(said[0].reason.as_ref().unwrap().ends_with("as last known"), "{receipt:?}");
    let page = Page::attach(&house.keeper_socket(id), url.as_str()).await.unwrap();
    assert_eq!(page.evaluate::<String>("localStorage.kept").await.unwrap(), "yes");
    assert_eq!(client.capture_session("shop").await.unwrap().unread, []);
    house.clear().await.unwrap();
}
