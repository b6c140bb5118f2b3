//! The node alone dies: browser, tabs and clients of the page notice nothing.

use crate::houses::house;
use crate::notes::{Notes, Paused, eventually, state_of};
use crate::writer;
use baton_playground::Page;
use baton_session::Lifecycle;

/// How many ticks of the site's stream the page must get afterwards.
const TICKS: u64 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_that_the_node_alone_died() {
    let site = writer::start_site().await;
    let mut house = house().await;
    let id = house.open("steady", [site.url("/writer").unwrap()]).await.unwrap();
    let page = writer::attach(&house, id, &site).await;
    let before: String = page.evaluate("window.loaded").await.unwrap();
    let holders = house.holders(id).await.unwrap();

    house.kill_node().await.unwrap();
    ticks_go_on(&page).await;
    house.start_node().await.unwrap();
    ticks_go_on(&page).await;

    assert_eq!(page.evaluate::<String>("window.loaded").await.unwrap(), before);
    assert_eq!(page.evaluate::<u64>("window.breaks").await.unwrap(), 0, "the stream broke");
    assert_eq!(house.holders(id).await.unwrap(), holders, "another keeper or browser");
    let least = writer::written(&page).await;
    let snapshot = house.client().unwrap().capture_session("steady").await.unwrap();
    assert!(snapshot.parts >= 4, "the node that came back captures again: {snapshot:?}");
    assert!(writer::written(&page).await >= least);
    house.client().unwrap().close_session("steady").await.unwrap();
    house.clear().await.unwrap();
}

/// The page's own connection to its site, and our own to the page, live on.
async fn ticks_go_on(page: &Page) {
    let ticks: u64 = page.evaluate("window.ticks").await.unwrap();
    page.wait_for(&format!("window.ticks >= {}", ticks + TICKS)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_slept_while_a_page_shouted_finds_the_browser_again() {
    let notes = Notes::start().await;
    let house = house().await;
    let id = notes.open(&house, "loud", "before").await;
    let holders = house.holders(id).await.unwrap();
    let sleeps = Paused::new(house.node_pid().unwrap());
    let page = notes.page(&house, id).await;
    // More events than a keeper keeps for a client that does not read: it hangs up.
    let shout = "for (let i = 0; i < 40_000; i++) localStorage.setItem('note', `loud ${i}`); true";
    assert!(page.evaluate::<bool>(shout).await.unwrap());
    let log = house.data().keeper_log(id);
    eventually("the keeper hung up", async || {
        std::fs::read_to_string(&log).unwrap().contains("it reads too slowly")
    })
    .await;
    drop(sleeps);
    let client = house.client().unwrap().clone();
    eventually("the last note is captured", async || {
        // The connection may end in the middle of a capture.
        let _ = client.capture_session("loud").await;
        client.fetch_state("loud", true).await.unwrap().state.to_string().contains("loud 39999")
    })
    .await;
    assert_eq!(state_of(&house, "loud").await, Lifecycle::Active);
    assert_eq!(house.holders(id).await.unwrap(), holders, "another keeper or browser");
    house.clear().await.unwrap();
}
