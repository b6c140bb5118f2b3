//! Browser, keeper and node are killed at random moments; what was acknowledged comes back.

use crate::writer;
use baton_api::OpenSession;
use baton_playground::{House, Page, Site, victims};
use baton_session::{Environment, Lifecycle, SessionId};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many rounds; `cargo xtask soak` asks for more.
fn rounds() -> u64 {
    std::env::var("BATON_SOAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20)
}

/// Who dies in a round.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Browser,
    Keeper,
    Node,
    All,
}

/// A sequence of choices that a seed decides, so that a failure can be had again.
struct Dice(u64);

impl Dice {
    /// A number below `bound` (`SplitMix64`).
    fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn victim(&mut self) -> Victim {
        match self.roll(4) {
            0 => Victim::Browser,
            1 => Victim::Keeper,
            2 => Victim::Node,
            _ => Victim::All,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_kill() {
    let seed = std::env::var("BATON_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut dice = Dice(seed.unwrap_or(20_260_101));
    let site = writer::start_site().await;
    let mut house = House::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    house.start_node().await.unwrap();
    let id = open(&house, &site).await;
    for round in 0..rounds() {
        let victim = dice.victim();
        let told = format!("round {round}, {victim:?} dies");
        let page = writer::attach(&house, id, &site).await;
        let least = writer::written(&page).await;
        house.client().unwrap().capture_session("writer").await.expect(&told);
        let loaded = before_the_kill(&house, &page, &mut dice).await;
        drop(page);
        kill(&mut house, id, victim).await;
        bring_back(&mut house, victim).await;
        let page = writer::attach(&house, id, &site).await;
        if matches!(victim, Victim::Node) {
            let still: String = page.evaluate("window.loaded").await.unwrap();
            assert_eq!(still, loaded, "{told}: the page was loaded again");
            assert!(writer::written(&page).await >= least, "{told}");
        } else {
            let found = writer::found(&page).await;
            assert!(found.least() >= least, "{told}: expected at least {least}, found {found:?}");
        }
    }
    house.client().unwrap().close_session("writer").await.unwrap();
    house.clear().await.unwrap();
}

async fn open(house: &House, site: &Site) -> SessionId {
    let request = OpenSession {
        name: "writer".parse().unwrap(),
        description: None,
        urls: vec![site.url("/writer").unwrap()],
        headed: false,
        environment: Environment::default(),
    };
    house.client().unwrap().open_session(&request).await.unwrap().session.id
}

/// Lets a random time pass, often with another capture under way.
async fn before_the_kill(house: &House, page: &Page, dice: &mut Dice) -> String {
    let loaded = page.evaluate("window.loaded").await.unwrap();
    if dice.roll(2) == 0 {
        let client = house.client().unwrap().clone();
        tokio::spawn(async move { client.capture_session("writer").await });
    }
    sleep(Duration::from_millis(dice.roll(300))).await;
    loaded
}

async fn kill(house: &mut House, id: SessionId, victim: Victim) {
    let [keeper, browser] = house.holders(id).await.unwrap();
    let node = ("node", house.node_pid().unwrap());
    match victim {
        Victim::Browser => victims::kill_all(&[browser]).await.unwrap(),
        Victim::Keeper => victims::kill_all(&[keeper]).await.unwrap(),
        Victim::Node => house.kill_node().await.unwrap(),
        Victim::All => {
            victims::kill_all(&[node, keeper, browser]).await.unwrap();
            house.bury_node().await.unwrap();
        }
    }
}

/// Starts what is needed, and resumes the session unless its browser never stopped.
async fn bring_back(house: &mut House, victim: Victim) {
    if matches!(victim, Victim::Node | Victim::All) {
        house.start_node().await.unwrap();
    }
    let client = house.client().unwrap().clone();
    if matches!(victim, Victim::Node) {
        let state = client.fetch_session("writer").await.unwrap().session.state;
        assert_eq!(state, Lifecycle::Active, "the browser never stopped");
        return;
    }
    let end = Instant::now() + Duration::from_secs(15);
    while client.fetch_session("writer").await.unwrap().session.state != Lifecycle::Recoverable {
        assert!(Instant::now() < end, "the node did not notice that the browser is gone");
        sleep(Duration::from_millis(20)).await;
    }
    let resumed = client.resume_session("writer").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{:#?}", receipt.losses().collect::<Vec<_>>());
}
