//! A stand-in is taken for a keeper by a real node.

use baton_api::OpenSession;
use baton_session::Lifecycle;
use baton_walk::standin::Pair;
use std::collections::BTreeSet;
use tokio::runtime::Handle;

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

async fn story(is_shared: bool) {
    let pair = Pair::start(is_shared, &Handle::current()).await.unwrap();
    let client = pair.nodes[0].client().unwrap();
    let open = OpenSession::new("shop".parse().unwrap(), []);
    let id = client.open_session(&open).await.unwrap().session.id;
    assert!(pair.set_cookie(0, id, "one", "shop.test"));
    client.capture_session("shop").await.unwrap();
    assert!(pair.set_cookie(0, id, "two", "shop.test"), "it runs on");
    let before = pair.street.browser(0, id).unwrap().number;
    pair.street.kill(0, id).await;
    assert_eq!(pair.cookies(0, id), None);
    while client.fetch_session("shop").await.unwrap().session.state == Lifecycle::Active {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    client.resume_session("shop").await.unwrap();
    assert_eq!(
        pair.cookies(0, id).unwrap(),
        names(&["one"]),
        "what was captured is back, and nothing else"
    );
    assert_ne!(pair.street.browser(0, id).unwrap().number, before);
    client.close_session("shop").await.unwrap();
    assert!(pair.street.places(id).is_empty());
    assert_eq!(pair.street.findings(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_captured_comes_back_in_a_stand_in() {
    story(false).await;
    story(true).await;
}
