//! What holds of a cluster, whatever is asked of its nodes and whatever breaks around them.

#![expect(clippy::print_stdout, reason = "whoever walks again needs the seed")]

use baton_playground::{Cut, Nats};
use baton_testing::skip;
use baton_walk::Plan;
use baton_walk::cluster::{
    Ask, Cluster, Event, Line, StandInMachines, follow_schedule, run_schedules,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many clusters there are at once: most of a schedule's time it waits for leases.
const AT_ONCE: usize = 4;

/// How many schedules: in the tests, and in each round of a soak.
const SCHEDULES: (u64, u64) = (50, 4);

async fn schedules(nats: PathBuf) {
    let (usual, a_round) = SCHEDULES;
    let Some(plan) = Plan::of_environment("cluster", usual, a_round, AT_ONCE) else { return };
    println!("{plan}");
    let begun = Instant::now();
    let tally = run_schedules::<StandInMachines>(&plan, &nats, &()).await.unwrap();
    println!("{} schedules, {} events in {:?}", tally.walked, tally.steps, begun.elapsed());
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_a_cluster_keep_what_they_promise() {
    let Some(nats) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    schedules(nats).await;
}

/// Lets these things happen to a cluster of its own, of which all has to hold.
async fn follow(events: &[Event]) {
    let Some(nats) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let mut cluster = Cluster::<StandInMachines>::start(nats, &()).await.unwrap();
    let followed = follow_schedule(&mut cluster, 0, events).await;
    assert!(followed.finding.is_none(), "{:?}\n{}", followed.finding, followed.told.join("\n"));
}

/// Two who ask about a session, so that one of them is not at its node.
fn asked_elsewhere(session: usize, ask: Ask) -> Event {
    Event::Both { session, one: (0, ask), other: (2, Ask::Capture), later: Duration::ZERO }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_by_way_of_another_node_for_one_that_stands_still_is_answered() {
    follow(&[Event::FreezeNode(1), asked_elsewhere(0, Ask::Close), asked_elsewhere(1, Ask::Close)])
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_by_way_of_another_node_for_one_that_others_do_not_reach_is_answered() {
    // What is asked goes by connections that are there already, of which nobody says that they lead nowhere.
    let once = |session| Event::One { at: 2, session, ask: Ask::Capture };
    let cut = Event::Cut(1, Line::Way, Cut::Silent);
    follow(&[
        once(0),
        once(1),
        cut,
        asked_elsewhere(0, Ask::Capture),
        asked_elsewhere(1, Ask::Capture),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_by_way_of_another_node_for_one_without_its_database_is_answered() {
    let cut = Event::Cut(1, Line::Database, Cut::Silent);
    follow(&[cut, asked_elsewhere(0, Ask::Pass(1)), asked_elsewhere(1, Ask::Pass(1))]).await;
}
