//! The node alone dies: browser, tabs and clients of the page notice nothing.

use crate::notes::{Notes, Paused, eventually, state_of};
use crate::test_nodes::test_node;
use crate::writer;
use baton_playground::Page;
use baton_session::Lifecycle;

/// How many ticks of the site's stream the page must get afterwards.
const TICKS: u64 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_that_the_node_alone_died() {
    let site = writer::start_site().await;
    let mut test_node = test_node().await;
    let id = test_node.open("steady", [site.url("/writer").unwrap()]).await.unwrap();
    let page = writer::attach(&test_node, id, &site).await;
    let before: String = page.evaluate("window.loaded").await.unwrap();
    let holders = test_node.holders(id).await.unwrap();

    test_node.kill_node().await.unwrap();
    ticks_go_on(&page).await;
    test_node.start_node().await.unwrap();
    ticks_go_on(&page).await;

    assert_eq!(page.evaluate::<String>("window.loaded").await.unwrap(), before);
    assert_eq!(page.evaluate::<u64>("window.breaks").await.unwrap(), 0, "the stream broke");
    assert_eq!(test_node.holders(id).await.unwrap(), holders, "another keeper or browser");
    let least = writer::written(&page).await;
    let snapshot = test_node.client().unwrap().capture_session("steady").await.unwrap();
    assert!(snapshot.parts >= 4, "the node that came back captures again: {snapshot:?}");
    assert!(writer::written(&page).await >= least);
    test_node.client().unwrap().close_session("steady").await.unwrap();
    test_node.clear().await.unwrap();
}

/// The page's own connection to its site, and our own to the page, live on.
async fn ticks_go_on(page: &Page) {
    let ticks: u64 = page.evaluate("window.ticks").await.unwrap();
    page.wait_for(&format!("window.ticks >= {}", ticks + TICKS)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_slept_while_a_page_shouted_finds_the_browser_again() {
    let notes = Notes::start().await;
    let test_node = test_node().await;
    let id = notes.open(&test_node, "loud", "before").await;
    let holders = test_node.holders(id).await.unwrap();
    let sleeps = Paused::new(test_node.node_pid().unwrap());
    let page = notes.page(&test_node, id).await;
    // More events than a keeper keeps for a client that does not read: it hangs up.
    let shout = "for (let i = 0; i < 40_000; i++) localStorage.setItem('note', `loud ${i}`); true";
    assert!(page.evaluate::<bool>(shout).await.unwrap());
    let log = test_node.data().keeper_log(id);
    eventually("the keeper hung up", async || {
        std::fs::read_to_string(&log).unwrap().contains("it reads too slowly")
    })
    .await;
    drop(sleeps);
    let client = test_node.client().unwrap().clone();
    eventually("the last note is captured", async || {
        // The connection may end in the middle of a capture.
        let _ = client.capture_session("loud").await;
        client.fetch_state("loud", true).await.unwrap().state.to_string().contains("loud 39999")
    })
    .await;
    assert_eq!(state_of(&test_node, "loud").await, Lifecycle::Active);
    assert_eq!(test_node.holders(id).await.unwrap(), holders, "another keeper or browser");
    test_node.clear().await.unwrap();
}
