//! Browser, keeper and node are killed at random moments; what was acknowledged comes back.

use crate::test_nodes::test_node;
use crate::writer;
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use baton_testing::{Dice, rounds};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many rounds when nobody asks for more.
const ROUNDS: u64 = 20;

/// Who dies in a round.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Browser,
    Keeper,
    Node,
    All,
}

impl Victim {
    fn random(dice: &mut Dice) -> Self {
        match dice.roll(4) {
            0 => Self::Browser,
            1 => Self::Keeper,
            2 => Self::Node,
            _ => Self::All,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_kill() {
    let mut dice = Dice::new();
    let site = writer::start_site().await;
    let mut test_node = test_node().await;
    let id = open(&test_node, &site).await;
    for round in 0..rounds(ROUNDS) {
        let victim = Victim::random(&mut dice);
        let told = format!("round {round}, {victim:?} dies");
        let page = writer::attach(&test_node, id, &site).await;
        let least = writer::written(&page).await;
        test_node.client().unwrap().capture_session("writer").await.expect(&told);
        let loaded = before_the_kill(&test_node, &page, &mut dice).await;
        drop(page);
        kill(&mut test_node, id, victim).await;
        bring_back(&mut test_node, id, victim, &mut dice).await;
        let page = writer::attach(&test_node, id, &site).await;
        if matches!(victim, Victim::Node) {
            let still: String = page.evaluate("window.loaded").await.unwrap();
            assert_eq!(still, loaded, "{told}: the page was loaded again");
            assert!(writer::written(&page).await >= least, "{told}");
        } else {
            let found = writer::found(&page).await;
            assert!(found.least() >= least, "{told}: expected at least {least}, found {found:?}");
        }
    }
    test_node.client().unwrap().close_session("writer").await.unwrap();
    test_node.clear().await.unwrap();
}

async fn open(test_node: &TestNode, site: &Site) -> SessionId {
    test_node.open("writer", [site.url("/writer").unwrap()]).await.unwrap()
}

/// Lets a random time pass, often with another capture under way.
async fn before_the_kill(test_node: &TestNode, page: &Page, dice: &mut Dice) -> String {
    let loaded = page.evaluate("window.loaded").await.unwrap();
    if dice.roll(2) == 0 {
        let client = test_node.client().unwrap().clone();
        tokio::spawn(async move { client.capture_session("writer").await });
    }
    sleep(Duration::from_millis(dice.roll(300))).await;
    loaded
}

async fn kill(test_node: &mut TestNode, id: SessionId, victim: Victim) {
    let [keeper, browser] = test_node.holders(id).await.unwrap();
    match victim {
        Victim::Browser => victims::kill_all(&[browser]).await.unwrap(),
        Victim::Keeper => victims::kill_all(&[keeper]).await.unwrap(),
        Victim::Node => test_node.kill_node().await.unwrap(),
        Victim::All => test_node.kill_everybody(&[id]).await.unwrap(),
    }
}

/// Starts what is needed, and resumes the session unless its browser never stopped.
async fn bring_back(test_node: &mut TestNode, id: SessionId, victim: Victim, dice: &mut Dice) {
    if matches!(victim, Victim::Node | Victim::All) {
        test_node.start_node().await.unwrap();
    }
    let client = test_node.client().unwrap().clone();
    if matches!(victim, Victim::Node) {
        let state = client.fetch_session("writer").await.unwrap().session.state;
        assert_eq!(state, Lifecycle::Active, "the browser never stopped");
        return;
    }
    wait_until_recoverable(test_node).await;
    if dice.roll(3) == 0 {
        die_during_the_resume(test_node, id, dice).await;
    }
    let resumed = test_node.client().unwrap().resume_session("writer").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{:#?}", receipt.losses().collect::<Vec<_>>());
}

async fn wait_until_recoverable(test_node: &TestNode) {
    let client = test_node.client().unwrap();
    let end = Instant::now() + Duration::from_secs(15);
    while client.fetch_session("writer").await.unwrap().session.state != Lifecycle::Recoverable {
        assert!(Instant::now() < end, "the node did not notice that the browser is gone");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Kills the node, and whoever holds the session by then, at some moment of a resume.
async fn die_during_the_resume(test_node: &mut TestNode, id: SessionId, dice: &mut Dice) {
    let client = test_node.client().unwrap().clone();
    let resume = tokio::spawn(async move { client.resume_session("writer").await });
    sleep(Duration::from_millis(dice.roll(800))).await;
    let holders = test_node.holders(id).await;
    test_node.kill_node().await.unwrap();
    for (_, pid) in holders.into_iter().flatten() {
        // One that is gone already is as dead as the others.
        let _ = victims::kill_all(&[("holder", pid)]).await;
    }
    // It may have been told that it is back, a moment before it was not.
    let _ = resume.await.unwrap();
    test_node.start_node().await.unwrap();
    wait_until_recoverable(test_node).await;
}
